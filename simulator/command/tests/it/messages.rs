//! Every message that a user of `fairwire` can cause.

use crate::common::FAIRWIRE;
use std::path::Path;

#[test]
fn every_message_matches_its_record_and_ends_with_exit_code_2() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messages");
    let areas = ["arguments", "files", "mistakes", "scenario", "studies", "sweep"];
    fairwire_testing::messages::check(
        &FAIRWIRE,
        &folder,
        &areas,
        "cargo test -p fairwire --test it messages",
    );
}
