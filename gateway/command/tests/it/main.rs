//! Integration tests without a network, in one binary, because each binary is linked separately.

mod check;
mod follow;
mod front;
mod import;
mod journal;

use fairwire_testing::program::Program;
use std::path::Path;

const GATEWAY: Program = Program {
    name: "fairwire-gateway",
    file: env!("CARGO_BIN_EXE_fairwire-gateway"),
    cache: env!("CARGO_TARGET_TMPDIR"),
};

#[test]
fn every_message_matches_its_record_and_ends_with_exit_code_2() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messages");
    let test = "cargo test -p fairwire-gateway --test it message";
    fairwire_testing::messages::check(&GATEWAY, &folder, &["gateway"], test);
}
