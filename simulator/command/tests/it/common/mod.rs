//! Code that the tests of the binary share.
#![allow(dead_code, reason = "not every test file needs all of it")]

use fairwire_testing::program::Program;
pub(crate) use fairwire_testing::program::{code, stderr, stdout};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub(crate) const FAIRWIRE: Program =
    Program { name: "fairwire", file: env!("CARGO_BIN_EXE_fairwire"), cache: env!("CARGO_TARGET_TMPDIR") };

pub(crate) fn fairwire() -> Command {
    FAIRWIRE.command()
}

pub(crate) fn run(args: &[&str]) -> Output {
    FAIRWIRE.run(args)
}

pub(crate) struct Contest {
    folder: tempfile::TempDir,
}

pub(crate) const SCENARIO: &str = r#"format = 2
name = "short"
title = "Three against one"
duration = "2 s"
warm_up = "500 ms"
seeds = "1..=3"
disciplines = ["tail-drop", "red"]

[link]
rate = "2 Mbit/s"
delay = "10 ms"
buffer = "40 packets"

[[flow]]
group = "tcp"
count = 3
source = "bulk"
tcp = { profile = "ns2-2002" }
access = { rate = "100 Mbit/s", delay = "3 ms" }
start = "0 s..100 ms"

[[flow]]
group = "udp"
source = { cbr = { rate = "1 Mbit/s" } }
access = { rate = "100 Mbit/s", delay = "3 ms" }
"#;

impl Contest {
    pub(crate) fn of(text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        std::fs::write(folder.path().join("short.toml"), text).expect("a scratch file");
        Contest { folder }
    }

    pub(crate) fn file(&self) -> String {
        self.path("short.toml").display().to_string()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }
}
