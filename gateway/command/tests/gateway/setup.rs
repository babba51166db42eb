//! A configuration that `setup` writes.

use super::bed::Bed;
use std::process::Stdio;

#[test]
fn setup_writes_runnable_files_once_and_completely() {
    let Some(bed) = Bed::new("setup") else { return };
    let file = bed.folder.path().join("mine.toml");
    let path = file.to_str().expect("UTF-8");
    let setup = |arguments: &[&str]| {
        let mut command = bed.fairwire(&["setup", path]);
        command.args(arguments).stdin(Stdio::null());
        let output = bed.output(&mut command);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned(), said)
    };
    let (code, _, said) = setup(&["--outside", "g0", "--inside", "g1", "--measure", "2 s"]);
    assert!(code == Some(2) && said.contains("that was no speed test") && !file.exists(), "{said}");
    let (code, _, said) = setup(&["--outside", "g0", "--inside", "g0", "--download", "9 Mbit/s"]);
    assert!(code == Some(2) && said.contains("`g0` is the other one") && !file.exists(), "{said}");
    // Both interfaces lack addresses, so nothing shows which is outside.
    let rates = ["--download", "100 Mbit/s", "--upload", "20 Mbit/s"];
    let (code, _, said) = setup(&rates);
    let (why, allowed) = ("nothing here shows which it is", "allowed: `g0` or `g1`");
    assert!(code == Some(2) && said.contains(why) && said.contains(allowed) && !file.exists(), "{said}");
    assert!(said.contains("`--outside`"), "{said}");
    let (code, shown, said) = setup(&[&["--inside", "g1"], &rates[..]].concat());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("g0: up, no address") && said.contains("it forwards nothing"), "{said}");
    assert!(shown.contains("download: 95 Mbit/s") && shown.contains("packet sockets"), "{shown}");
    let text = std::fs::read_to_string(&file).expect("it was written");
    assert!(text.contains("inside = \"g1\"") && text.contains("outside = \"g0\""), "{text}");
    for line in
        ["name = \"mine\"", "backend = \"af-packet\"", "on_failure = \"open\"", "rate = \"19 Mbit/s\""]
    {
        assert!(text.lines().any(|written| written == line), "{line}: {text}");
    }
    let (code, _, said) = setup(&[&["--inside", "g1"], &rates[..]].concat());
    assert!(code == Some(2) && said.contains("nothing is written over it"), "{said}");
    let gateway = bed.start(&file);
    bed.hosts().wait_until_it_passes();
    assert!(gateway.end().0.success());
}
