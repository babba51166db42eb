//! The committed schema is the one that the code has.

#[test]
fn the_committed_schema_is_current() {
    let committed: serde_json::Value =
        serde_json::from_str(include_str!("../../../../docs/schema/scenario.json")).expect("it is JSON");
    assert_eq!(
        committed,
        fairwire_scenario::schema(),
        "docs/schema/scenario.json is stale; renew it with: cargo run -p fairwire -- schema scenario > docs/schema/scenario.json"
    );
}
