//! A folder in which a page's commands run as in a checkout, without leaving files in the checkout.

use super::page::Block;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// These folders are copied, since a page may write to them. Everything else is linked, except
/// hidden entries, `target` and `out`.
const COPIED: &[&str] = &["scenarios", "docs", "proof", "studies", "examples"];

/// The folder of the programs and examples that `make prove` builds.
pub(crate) fn built() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_fairwire-proof")).parent().expect("it is in a folder").to_path_buf()
}

pub(crate) const PROGRAMS: [&str; 3] = ["fairwire", "fairwire-gateway", "fairwire-proof"];

/// The separator between the outputs of two blocks.
const BETWEEN: char = '\u{1e}';

/// The exit code of a command that cannot run here.
const SKIPPED: i32 = 77;

const SUDO: &str = "#!/bin/sh\nexec \"$@\"\n";
const MAKE: &str = "#!/bin/sh\n[ \"$*\" = build ] || [ \"$*\" = build-gateway ] || { echo \"make $*: mark the block `no-test: WHY`\" >&2; exit 1; }\n";

/// Replaces cargo: `run -p NAME -- ARGUMENTS` runs the program that was built for the tests, since
/// another build takes minutes.
const CARGO: &str = r#"#!/bin/sh
case "$*" in "run -p "*) ;; *) echo "cargo $*: mark the block \`no-test: WHY\`" >&2; exit 1;; esac
name=$3
while [ $# -gt 0 ] && [ "$1" != -- ]; do shift; done
[ $# -gt 0 ] && shift
[ -x "$BUILT/$name" ] || { echo "$name is not built: cargo test --workspace" >&2; exit 77; }
exec "$BUILT/$name" "$@"
"#;

pub(crate) fn is_there(tool: &str) -> bool {
    let mut command = Command::new("sh");
    let ended = match tool {
        "root" => command.args(["-c", "[ \"$(id -u)\" = 0 ] && unshare --mount --net true"]).output(),
        _ => command.args(["-c", &format!("command -v {tool}")]).output(),
    };
    ended.is_ok_and(|ended| ended.status.success())
}

/// The folder.
pub(crate) struct Sandbox {
    folder: tempfile::TempDir,
}

pub(crate) enum Ended {
    Printed(Vec<String>),
    /// The number of the failed block, from 0, and the output.
    Failed(usize, String),
    Skipped(String),
}

impl Sandbox {
    pub(crate) fn new(root: &Path) -> Sandbox {
        let folder = tempfile::tempdir().expect("a folder");
        // A gateway becomes another user, who must be able to enter the folder.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("it is ours");
        for entry in fs::read_dir(root).expect("the root is readable") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let to = folder.path().join(&name);
            if COPIED.contains(&name.as_str()) {
                copy(&path, &to);
            } else if !name.starts_with('.') && name != "target" && name != "out" {
                symlink(&path, &to).expect("a link");
            }
        }
        for place in ["target/release", "bin"] {
            let place = folder.path().join(place);
            fs::create_dir_all(&place).expect("a folder");
            for program in PROGRAMS {
                symlink(built().join(program), place.join(program)).expect("a link");
            }
        }
        for (name, text) in [("sudo", SUDO), ("make", MAKE), ("cargo", CARGO)] {
            let path = folder.path().join("bin").join(name);
            fs::write(&path, text).expect("a file");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
        }
        Sandbox { folder }
    }

    /// Runs the blocks in one shell. With `is_apart`, the shell has separate network, mount and
    /// process namespaces.
    pub(crate) fn run(&self, blocks: &[&Block], is_apart: bool) -> Ended {
        let mut script = "set -eu\n".to_string();
        if is_apart {
            script += "mount --make-rprivate /\nmount -t tmpfs tmpfs /run\nip link set lo up\n";
        }
        for block in blocks {
            let _ = writeln!(script, "{}printf '{BETWEEN}'", block.code);
        }
        let folder = self.folder.path();
        fs::write(folder.join("bin/page"), script).expect("a file");
        let mut words: Vec<&str> = Vec::new();
        if is_apart {
            words.extend(["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]);
        }
        words.extend(["bash", "bin/page"]);
        let path = std::env::var("PATH").unwrap_or_default();
        let ended = Command::new(words[0])
            .args(&words[1..])
            .current_dir(folder)
            .env("PATH", format!("{}:{path}", folder.join("bin").display()))
            .env("BUILT", built())
            .env("HOME", folder)
            .envs([("NO_COLOR", "1"), ("CI", "true"), ("LC_ALL", "C.UTF-8"), ("TERM", "xterm")])
            .env_remove("COLUMNS")
            .env_remove("XDG_CACHE_HOME")
            .output()
            .expect("bash starts");
        let stdout = String::from_utf8_lossy(&ended.stdout).into_owned();
        let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
        let mut printed: Vec<String> = stdout.split(BETWEEN).map(str::to_owned).collect();
        match ended.status.code() {
            Some(0) if printed.len() > blocks.len() => {
                printed.truncate(blocks.len());
                Ended::Printed(printed)
            }
            Some(SKIPPED) => Ended::Skipped(stderr.lines().last().unwrap_or_default().into()),
            code => {
                let at = printed.len().min(blocks.len()) - 1;
                Ended::Failed(at, format!("exit code {code:?}\n{}{stderr}", printed[at]))
            }
        }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a readable folder") {
        let path = entry.expect("an entry").path();
        let to = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(&path, &to).expect("a copy");
        }
    }
}
