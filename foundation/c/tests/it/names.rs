//! The library's exported names, its header and its manual page agree.

use super::{folder, has, library};
use fairwire_testing::skip::skipped_for_want_of_a_peer;
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

fn declared() -> BTreeSet<String> {
    let header = fs::read_to_string(folder().join("include/fairwire.h")).expect("the header");
    let at_start = |line: &&str| !line.starts_with([' ', '/', '#', '*']) && !line.starts_with("typedef");
    let name = |line: &str| {
        let before = line.split('(').next()?;
        before.rsplit([' ', '*']).next().filter(|name| name.starts_with("fw_")).map(String::from)
    };
    header.lines().filter(at_start).filter(|line| line.contains('(')).filter_map(name).collect()
}

#[test]
fn the_shared_library_exports_exactly_the_declared_functions() {
    if !has("nm") {
        return skipped_for_want_of_a_peer("the names of libfairwire.so: nm is missing (binutils)");
    }
    let output =
        Command::new("nm").args(["-D", "--defined-only"]).arg(library("so")).output().expect("nm runs");
    let listed = String::from_utf8(output.stdout).expect("text");
    let exported: BTreeSet<String> =
        listed.lines().filter_map(|line| line.rsplit(' ').next()).map(String::from).collect();
    assert!(exported.len() > 20, "{exported:?}");
    assert_eq!(exported, declared());
}

#[test]
fn the_header_matches_the_output_of_cbindgen() {
    let tool = [
        "cbindgen".into(),
        format!("{}/tools/bin/cbindgen", env!("CARGO_TARGET_TMPDIR").trim_end_matches("/tmp")),
    ];
    let Some(cbindgen) = tool.iter().find(|tool| has(tool)) else {
        return skipped_for_want_of_a_peer("fairwire.h: cbindgen is missing; `make c-header` installs it");
    };
    let arguments =
        ["--quiet", "--verify", "--config", "cbindgen.toml", "--output", "include/fairwire.h", "."];
    let output =
        Command::new(cbindgen).args(arguments).current_dir(folder()).output().expect("cbindgen runs");
    assert!(output.status.success(), "run make c-header: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_manual_page_names_every_function() {
    let page = fs::read_to_string(folder().join("man/fairwire.3")).expect("the page");
    let missing: Vec<String> =
        declared().into_iter().filter(|name| !page.contains(&format!("{name}("))).collect();
    assert_eq!(missing, <[String; 0]>::default());
}
