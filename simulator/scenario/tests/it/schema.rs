//! The committed schema equals the code's.

#[test]
fn the_committed_schema_is_current() {
    let committed: serde_json::Value =
        serde_json::from_str(include_str!("../../../../docs/schema/scenario.json")).expect("it is JSON");
    // `assert_eq` would print both schemas.
    assert!(committed == fairwire_scenario::schema(), "docs/schema/scenario.json is stale: `make schema`");
}
