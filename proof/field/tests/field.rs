//! The quick tests on real networks. This file has a `main`, because the program starts itself
//! again as a helper. If network namespaces are refused, the program reports this and passes.

use fairwire_field::contest::{self, Case, Judged};
use fairwire_field::fault::FAULTS;
use fairwire_field::gateway::{self, PROGRAM};
use fairwire_field::tries::attempt;
use fairwire_field::{Fallible, report};
use fairwire_testbed::error::TroubleKind;
use fairwire_testbed::message::AGENT_COMMAND;
use fairwire_testbed::{agent, pid_namespace};
use fairwire_testing::skipped;
use std::convert::Infallible;
use std::path::Path;
use std::process::{Command, ExitCode};

const SUITE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../suite/field");
/// The warm-up and the length, in seconds, of the shortest contest in which ten TCP flows settle.
const WARM_UP: u64 = 1;
const SECONDS: u64 = 4;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.first().map(String::as_str) {
        Some(AGENT_COMMAND) => std::process::exit(agent::main(words.into_iter().skip(1))),
        Some("--list") => return ExitCode::SUCCESS, // for a test runner: there are no names to select
        _ => {}
    }
    match pid_namespace::run(run) {
        Ok(code) => code,
        Err(trouble) if trouble.kind == TroubleKind::NoRights => {
            skipped(format_args!("all field tests: {trouble}"));
            ExitCode::SUCCESS
        }
        Err(trouble) => panic!("a field test needs a process namespace: {trouble}"),
    }
}

fn run() -> ExitCode {
    let has_service = has_service();
    if !has_service {
        skipped(
            "field tests of classes and faults: there is no `fairwire-gateway` beside this test (cargo build -p fairwire-gateway)",
        );
        if std::env::var_os(PROGRAM).is_none() {
            return ExitCode::SUCCESS; // nothing to test
        }
    }
    let mut bad = Vec::new();
    let cases = contest::read_all(Path::new(SUITE)).unwrap_or_else(|error| panic!("{error}"));
    let quick = cases.into_iter().filter(|case| case.is_quick && (has_service || case.classes.is_empty()));
    for case in quick.map(|case: Case| case.lasting(WARM_UP, SECONDS)) {
        let tried = attempt(case.is_exact, &mut || -> Fallible<Judged> {
            let judged = case.hold()?;
            print!("field: {}", report::rows(&judged));
            Ok(judged)
        });
        let tried = tried.unwrap_or_else(|error| panic!("{}: {error}", case.name));
        bad.extend(tried.bad.into_iter().map(|fault| format!("{}: {fault}", case.name)));
    }
    for fault in FAULTS.iter().filter(|fault| fault.is_quick && has_service) {
        let Ok(tried) = attempt(false, &mut || {
            let happened = fault.happen();
            print!("field: {}", report::happened(&happened));
            Ok::<_, Infallible>(happened)
        });
        bad.extend(tried.bad.into_iter().map(|miss| format!("{}: {miss}", fault.name)));
    }
    assert!(bad.is_empty(), "{bad:#?}");
    ExitCode::SUCCESS
}

fn has_service() -> bool {
    let Ok((program, arguments)) = gateway::program() else { return false };
    let is_whole = arguments.iter().any(|word| word == "run");
    is_whole
        && Command::new(program)
            .args(arguments)
            .arg("--help")
            .output()
            .is_ok_and(|output| output.status.success())
}
