//! Tests the messages that users' mistakes cause.
//!
//! A folder has a file `AREA.toml` for each area. Each case in this file describes one mistake.
//! `messages.txt` records what the program prints on stderr for each case. Set `FAIRWIRE_RENEW=1`
//! in the environment to renew `messages.txt`.

use crate::program::{Program, code, stderr, stdout};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::thread::{CapabilitySet, remove_capability_from_bounding_set};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Stdio;
use std::sync::Mutex;
use std::thread;
use tempfile::TempDir;

const MAX_SHOWN: usize = 5;

const REFUSED: i32 = 2;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Area {
    /// The default command line of a case.
    command: String,
    file: String,
    files: BTreeMap<String, String>,
    case: Vec<Case>,
}

/// One mistake.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// The mistake in words, unique in the area.
    name: String,
    command: Option<String>,
    set: Option<String>,
    /// The file that `change`, `add` and `text` edit; by default, the area's file.
    file: Option<String>,
    /// Texts in the file, each with its replacement.
    #[serde(default)]
    change: BTreeMap<String, String>,
    add: Option<String>,
    text: Option<String>,
    #[serde(default)]
    make: BTreeMap<String, Kind>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Folder,
    LockedFolder,
    LockedFile,
    Pipe,
    /// A symbolic link to itself.
    Loop,
    Gigabyte,
    Bytes,
    /// TOML in Latin-1.
    Latin,
    Brackets,
    TenMegabytes,
    CutParquet,
    /// A capture whose packet has an impossible length.
    JunkCapture,
    EmptyCapture,
    CutCapture,
    DeadSocket,
}

impl Kind {
    fn make(self, path: &Path) {
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("a scratch folder");
        let made = match self {
            Kind::Folder => fs::create_dir_all(path),
            Kind::LockedFolder => fs::create_dir_all(path).and_then(|()| lock(path)),
            Kind::LockedFile => fs::write(path, "locked\n").and_then(|()| lock(path)),
            Kind::Pipe => mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).map_err(Into::into),
            Kind::Loop => symlink(path.file_name().expect("a name"), path),
            Kind::Gigabyte => fs::File::create(path).and_then(|file| file.set_len(1 << 30)),
            Kind::Bytes => fs::write(path, b"name = \"\xff\"\n"),
            Kind::Latin => fs::write(path, b"name = \"Gr\xf6\xdfe\"\n"),
            Kind::Brackets => fs::write(path, "a = ".to_owned() + &"[".repeat(100_000)),
            Kind::TenMegabytes => fs::write(path, "# ten megabytes\n".repeat(10 << 16)),
            Kind::CutParquet => fs::write(path, [&b"PAR1"[..], &[0; 40]].concat()),
            Kind::JunkCapture => fs::write(path, [&EMPTY_CAPTURE[..], &[0xff; 64]].concat()),
            Kind::EmptyCapture => fs::write(path, EMPTY_CAPTURE),
            Kind::CutCapture => fs::write(path, [&EMPTY_CAPTURE[..], &[0; 8]].concat()),
            Kind::DeadSocket => std::os::unix::net::UnixListener::bind(path).map(drop),
        };
        made.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

/// A capture's header: version 2.4, Ethernet, up to 65535 bytes of each packet.
const EMPTY_CAPTURE: [u8; 24] =
    [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0];

fn lock(path: &Path) -> std::io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(0o000))
}

fn read(folder: &Path, area: &str) -> Area {
    let path = folder.join(area).with_extension("toml");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for c in line.chars() {
        match c {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            c => words.last_mut().expect("never empty").push(c),
        }
    }
    words
}

impl Case {
    fn edited(&self, file: &str, text: &str) -> (String, String) {
        let (mut edited, mut shown) = (text.to_owned(), String::new());
        if let Some(text) = &self.text {
            edited.clone_from(text);
            let _ = writeln!(shown, "{file} is:\n{}", indented(text));
        }
        for (from, to) in &self.change {
            assert!(edited.contains(from), "{}: no `{from}` in {file}", self.name);
            edited = edited.replacen(from, to, 1);
            let _ = writeln!(shown, "{file}:\n{}{}", marked('-', from), marked('+', to));
        }
        if let Some(added) = &self.add {
            edited += added;
            let _ = writeln!(shown, "{file}:\n{}", marked('+', added));
        }
        for (name, kind) in &self.make {
            let _ = writeln!(shown, "{name}: {kind:?}");
        }
        (edited, shown)
    }

    fn run(&self, area: &Area, program: &Program) -> Ran {
        let scratch = TempDir::new().expect("a scratch folder");
        let shown = self.prepare(area, scratch.path());
        let mut line = self.command.as_ref().unwrap_or(&area.command).clone();
        if let Some(set) = &self.set {
            let _ = write!(line, " --set '{set}'");
        }
        let mut command = program.command();
        command.args(words(&line)).current_dir(scratch.path()).stdin(Stdio::null());
        command.env("XDG_CACHE_HOME", scratch.path().join("cache"));
        command.env("XDG_RUNTIME_DIR", scratch.path().join("runtime"));
        let output = command.output().expect("the binary starts");
        unlock(&scratch, &self.make);
        let (code, said, printed) = (code(&output), stderr(&output), stdout(&output));
        let wrong = match (code, printed.as_str()) {
            (REFUSED, "") => None,
            (REFUSED, _) => Some(format!("{}: it is refused, and prints\n{printed}", self.name)),
            _ => Some(format!("{}: it ends with {code}\n{said}{printed}", self.name)),
        };
        let said = said.replace(&scratch.path().display().to_string(), "FOLDER");
        let said: String = said.trim_end().lines().map(|line| line.trim_end().to_owned() + "\n").collect();
        Ran { text: format!("### {}\n$ {} {line}\n{shown}{said}", self.name, program.name), wrong }
    }

    fn prepare(&self, area: &Area, scratch: &Path) -> String {
        let file = self.file.as_ref().unwrap_or(&area.file);
        let mut shown = String::new();
        for (name, text) in &area.files {
            let path = scratch.join(name);
            fs::create_dir_all(path.parent().expect("it has a folder")).expect("a scratch folder");
            let mut text = text.clone();
            if name == file {
                (text, shown) = self.edited(file, &text);
            }
            fs::write(path, text).expect("a scratch file");
        }
        for (name, kind) in &self.make {
            kind.make(&scratch.join(name));
        }
        shown
    }
}

struct Ran {
    text: String,
    /// The reason for failure: an exit code other than 2, or output on stdout.
    wrong: Option<String>,
}

/// Unlocks the locked files, so that the scratch folder can be removed.
fn unlock(scratch: &TempDir, made: &BTreeMap<String, Kind>) {
    for (name, kind) in made {
        if let Kind::LockedFolder | Kind::LockedFile = kind {
            let open = fs::Permissions::from_mode(0o700);
            fs::set_permissions(scratch.path().join(name), open).expect("it is ours");
        }
    }
}

fn marked(mark: char, text: &str) -> String {
    text.trim_matches('\n').lines().map(|line| format!("  {mark} {line}\n")).collect()
}

fn indented(text: &str) -> String {
    text.trim_matches('\n').lines().map(|line| format!("    {line}\n")).collect()
}

fn all_of(area: &Area, program: &Program) -> Vec<Ran> {
    let left = Mutex::new(area.case.iter().enumerate().collect::<Vec<_>>());
    let ran = Mutex::new(BTreeMap::new());
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                give_up_reading_everything();
                loop {
                    let next = left.lock().expect("no holder panics").pop();
                    let Some((at, case)) = next else { return };
                    let one = case.run(area, program);
                    ran.lock().expect("no holder panics").insert(at, one);
                }
            });
        }
    });
    ran.into_inner().expect("every thread has ended").into_values().collect()
}

/// Makes locked files unreadable for all processes that this thread starts, even if they run as
/// root.
fn give_up_reading_everything() {
    for capability in [CapabilitySet::DAC_OVERRIDE, CapabilitySet::DAC_READ_SEARCH] {
        // Without root, the call fails, but the process then has neither capability.
        let _ = remove_capability_from_bounding_set(capability);
    }
}

/// Runs the cases of all `areas` in `folder`. Each case must end with code 2, print nothing on
/// stdout, and print the message that `messages.txt` records, without words that `readability.toml`
/// retires. `test` is the command that runs this test.
///
/// # Panics
/// If any output differs.
pub fn check(program: &Program, folder: &Path, areas: &[&str], test: &str) {
    let mut all = format!(
        "What `{}` says of each mistake in tests/messages/*.toml, with exit code 2. Written by\n\
         FAIRWIRE_RENEW=1 {test}\n",
        program.name
    );
    let mut wrong = Vec::new();
    for area in areas {
        let cases = read(folder, area);
        check_names(&cases, area);
        let ran = all_of(&cases, program);
        let texts: Vec<&str> = ran.iter().map(|one| one.text.as_str()).collect();
        let _ = write!(all, "\n## {area}\n\n{}", texts.join("\n"));
        wrong.extend(ran.into_iter().filter_map(|one| one.wrong));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    check_words(&all);
    let path = folder.join("messages.txt");
    if std::env::var_os("FAIRWIRE_RENEW").is_some() {
        fs::write(&path, &all).expect("the snapshot can be written");
    }
    let recorded = fs::read_to_string(&path).unwrap_or_default();
    let pairs = recorded.split("\n### ").zip(all.split("\n### "));
    let differing: Vec<String> = pairs
        .filter(|(was, is)| was != is)
        .map(|(was, is)| format!("{is}\n--- and recorded is\n{was}"))
        .take(MAX_SHOWN)
        .collect();
    assert!(
        recorded == all,
        "{}\ntests/messages/messages.txt has other messages (FAIRWIRE_RENEW=1 writes it again)",
        differing.join("\n")
    );
}

fn check_names(cases: &Area, area: &str) {
    let mut names: Vec<&str> = cases.case.iter().map(|case| case.name.as_str()).collect();
    names.sort_unstable();
    let before = names.len();
    names.dedup();
    assert_eq!(names.len(), before, "{area}: two cases have one name");
}

fn check_words(messages: &str) {
    let rules = concat!(env!("CARGO_MANIFEST_DIR"), "/../../proof/xtask/readability.toml");
    let rules: toml::Table = toml::from_str(&fs::read_to_string(rules).expect("the rules")).expect("TOML");
    let retired = rules["retired"].as_array().expect("a list").iter();
    let retired = retired.flat_map(|entry| entry["words"].as_array().expect("a list"));
    let retired: Vec<&str> = retired.filter_map(toml::Value::as_str).collect();
    for message in messages.lines().filter(|line| line.contains("  × ") || line.starts_with("  help: ")) {
        let plain = format!(" {} ", message.replace(|c: char| !c.is_alphabetic(), " "));
        let found = retired.iter().find(|word| plain.contains(&format!(" {word} ")));
        assert_eq!(found, None, "{message}");
    }
}
