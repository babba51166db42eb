//! Programs in C, built by each installed compiler, with sanitizers.

use super::{folder, has, library};
use fairwire_testing::program::{Running, retried};
use fairwire_testing::skip::skipped_for_want_of_a_peer;
use std::net::UdpSocket;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

const STRICT: &[&str] = &["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-g"];
const SANITIZED: &[&str] = &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

fn compilers() -> Vec<&'static str> {
    let (there, missing): (Vec<_>, Vec<_>) = ["gcc", "clang"].into_iter().partition(|compiler| has(compiler));
    for compiler in missing {
        skipped_for_want_of_a_peer(format_args!("programs in C: {compiler} is missing"));
    }
    there
}

/// The compiled program; `None` if the compiler lacks sanitizers.
fn compiled(compiler: &str, source: &str, flags: &[&str]) -> Option<PathBuf> {
    let name = source.replace(['/', '.'], "-");
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{compiler}-{name}"));
    let mut command = Command::new(compiler);
    command.args(STRICT).args(flags).arg("-I").arg(folder().join("include"));
    command
        .arg(folder().join(source))
        .arg(library("a"))
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&program);
    let output = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    if !flags.is_empty() && said.contains("asan") && said.contains("cannot find") {
        skipped_for_want_of_a_peer(format_args!("{source} with sanitizers: {compiler} has none"));
        return None;
    }
    assert!(output.status.success(), "{compiler} {source}: {said}");
    Some(program)
}

fn run(compiler: &str, source: &str, arguments: &[&str]) {
    let Some(program) = compiled(compiler, source, SANITIZED) else { return };
    let output =
        Command::new(program).args(arguments).env("RUST_BACKTRACE", "0").output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{compiler} {source}: {:?}: {said}", output.status);
}

#[test]
fn each_function_refuses_the_documented_errors() {
    compilers().into_iter().for_each(|compiler| run(compiler, "tests/c/border.c", &[]));
}

#[test]
fn random_calls_lose_no_packet() {
    compilers().into_iter().for_each(|compiler| run(compiler, "tests/c/random.c", &["300000", "1"]));
}

#[test]
fn the_header_compiles_as_cpp() {
    if !has("g++") {
        return skipped_for_want_of_a_peer("fairwire.h in C++: g++ is missing");
    }
    let header = folder().join("include/fairwire.h");
    let arguments = ["-x", "c++", "-std=c++11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"];
    let output = Command::new("g++").args(arguments).arg(header).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_example_relays_the_packets_that_it_receives() {
    let Some(compiler) = compilers().first().copied() else { return };
    let Some(relay) = compiled(compiler, "examples/relay.c", &[]) else { return };
    let here = || UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let port = |socket: &UdpSocket| socket.local_addr().expect("it is bound").port().to_string();
    let (sender, receiver, relayed) = (here(), here(), port(&here()));
    receiver.set_read_timeout(Some(Duration::from_millis(20))).expect("a time");
    let mut relay = Command::new(relay);
    let relay = relay.args([&relayed, &port(&receiver), "100"]);
    let _relay = Running::start(relay).expect("it starts");
    let mut bytes = [0; 100];
    // A packet is lost if the relay has not started yet, or if a socket's buffer is full. So each number
    // is sent until it arrives.
    for number in 0..50u8 {
        let is_relayed = (0..3000).any(|_| {
            let _ = sender.send_to(&[number; 100], format!("127.0.0.1:{relayed}"));
            matches!(retried(|| receiver.recv(&mut bytes)), Ok(100) if bytes == [number; 100])
        });
        assert!(is_relayed, "number {number} was never relayed");
    }
}
