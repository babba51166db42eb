//! Runs the commands on every page of the documents, and compares their output with the page. A
//! mark may exempt commands (docs/how-to/write-a-page.md).

mod page;
mod sandbox;

use page::{Block, Page, Run};
use sandbox::{Ended, Sandbox};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::{fs, thread};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository is there")
}

fn pages() -> Vec<Page> {
    let root = root();
    let mut git = Command::new("git");
    git.args(["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let listed = git.args(["--", "*.md"]).current_dir(&root).output().expect("git is there");
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let listed = String::from_utf8(listed.stdout).expect("paths are UTF-8");
    // git lists a removed page until the removal is committed.
    let is_there = |path: &&str| root.join(path).is_file() && !root.join(path).is_symlink();
    let page = |path: &str| {
        Page::new(path.to_owned(), fs::read_to_string(root.join(path)).expect("a page is UTF-8"))
    };
    let mut pages: Vec<Page> = listed.split_terminator('\0').filter(is_there).map(page).collect();
    pages.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(pages.len() > 100, "{} pages", pages.len());
    pages
}

fn over_pages(check: impl Fn(&Page) -> Vec<String> + Sync) -> Vec<String> {
    let (left, found) = (Mutex::new(pages()), Mutex::new(Vec::new()));
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let next = left.lock().expect("nothing panics while it holds this").pop();
                    let Some(page) = next else { return };
                    let wrong = check(&page);
                    found.lock().expect("nothing panics while it holds this").extend(wrong);
                }
            });
        }
    });
    found.into_inner().expect("every thread has ended")
}

#[test]
fn every_command_of_a_page_runs_and_prints_the_shown_output() {
    let is_renewed = std::env::var_os("FAIRWIRE_RENEW").is_some();
    let wrong = over_pages(|page| {
        let blocks: Vec<&Block> = page.blocks.iter().filter(|block| can_run(page, block)).collect();
        if blocks.is_empty() {
            return Vec::new();
        }
        let sandbox = Sandbox::new(&root());
        let needs_root = blocks.iter().any(|block| block.needs("root"));
        match sandbox.run(&blocks, needs_root) {
            Ended::Skipped(why) => {
                fairwire_testing::skipped(format_args!("{}: {why}", page.path));
                Vec::new()
            }
            Ended::Failed(at, message) => {
                vec![format!("{}:{}: a command failed\n{message}", page.path, blocks[at].line)]
            }
            Ended::Printed(printed) if is_renewed => {
                fs::write(root().join(&page.path), page.renewed(&blocks, &printed))
                    .expect("the page is ours");
                Vec::new()
            }
            Ended::Printed(printed) => differences(page, &blocks, &printed),
        }
    });
    assert!(
        wrong.is_empty(),
        "{}\n(FAIRWIRE_RENEW=1 writes what is printed into the pages)",
        wrong.join("\n")
    );
}

fn can_run(page: &Page, block: &Block) -> bool {
    let Run::With(tools) = &block.run else { return false };
    let missing: Vec<&str> =
        tools.iter().map(String::as_str).filter(|tool| !sandbox::is_there(tool)).collect();
    if !missing.is_empty() {
        let missing = missing.join(", ");
        fairwire_testing::skipped_for_want_of_a_peer(format_args!(
            "{}:{} needs {missing}",
            page.path, block.line
        ));
    }
    missing.is_empty()
}

fn differences(page: &Page, blocks: &[&Block], printed: &[String]) -> Vec<String> {
    let pairs = blocks.iter().zip(printed);
    let unlike = pairs.filter_map(|(block, printed)| {
        let output = block.output.as_ref()?;
        let is_alike = page::is_alike(&output.text, printed);
        (!is_alike).then(|| {
            format!(
                "{}:{}: the command prints something else:\n{printed}--- and the page has\n{}",
                page.path, output.line, output.text
            )
        })
    });
    unlike.collect()
}

#[test]
fn code_in_a_page_is_fenced_and_names_its_language() {
    let wrong: Vec<String> = pages().iter().flat_map(|page| page.wrong.clone()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The commands of past versions may no longer exist.
fn is_of_the_past(page: &Page) -> bool {
    page.path == "CHANGELOG.md"
}

#[test]
fn commands_that_are_not_run_use_existing_names_and_options() {
    let makefile = fs::read_to_string(root().join("Makefile")).expect("the Makefile is there");
    let wrong = over_pages(|page| {
        if is_of_the_past(page) {
            return Vec::new();
        }
        let commands = page.commands.iter();
        commands.filter_map(|command| unknown(page, command, &makefile)).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The message about an unknown `make` target, command or option, if any. `--help` makes the
/// program do nothing. Words after `--` are a command for `lab shell`, and are ignored.
fn unknown(page: &Page, command: &page::Typed, makefile: &str) -> Option<String> {
    let message = match command.words.first()?.as_str() {
        "make" => {
            let target = command.words.get(1).filter(|word| !word.contains(['=', '-', '$', '…']))?;
            let is_there = makefile.contains(&format!("\n{target}:"));
            (!is_there).then(|| format!("there is no target `{target}`"))
        }
        program if sandbox::PROGRAMS.contains(&program) => {
            let own = command.words.split(|word| word == "--").next().unwrap_or_default();
            let mut command = Command::new(sandbox::built().join(program));
            command.args(&own[1..]).arg("--help").env("NO_COLOR", "1");
            let ended = command.output().expect("`make prove` builds the programs");
            let said = String::from_utf8_lossy(&ended.stderr).into_owned();
            let is_known = ended.status.success()
                || ["unknown value", "` is `", "without a value", "; allowed: "]
                    .iter()
                    .any(|of_a_value| said.contains(of_a_value));
            (!is_known).then_some(said)
        }
        _ => None,
    };
    message.map(|message| format!("{}:{}: `{}`: {message}", page.path, command.line, command.words.join(" ")))
}
