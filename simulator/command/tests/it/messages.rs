//! Every message that a user of `fairwire` can cause.

use crate::common::FAIRWIRE;
use std::path::Path;

#[test]
fn every_message_is_as_recorded_and_ends_with_two() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messages");
    let areas = ["arguments", "files", "mistakes", "scenario", "studies", "sweep"];
    fairwire_testing::messages::check(
        &FAIRWIRE,
        &folder,
        &areas,
        "cargo test -p fairwire --test it messages",
    );
}
