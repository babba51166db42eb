//! A Markdown page and its commands.

use std::path::Path;

/// The mark that matches any text in a line or, alone in a line, any lines.
const ANYTHING: &str = "…";

/// A page.
pub(crate) struct Page {
    pub(crate) path: String,
    text: String,
    pub(crate) blocks: Vec<Block>,
    /// The commands in the text, and the commands of blocks that are not run.
    pub(crate) commands: Vec<Typed>,
    pub(crate) wrong: Vec<String>,
}

pub(crate) struct Typed {
    pub(crate) line: usize,
    pub(crate) words: Vec<String>,
}

pub(crate) struct Block {
    /// Counted from 1.
    pub(crate) line: usize,
    pub(crate) run: Run,
    pub(crate) code: String,
    pub(crate) output: Option<Output>,
}

pub(crate) struct Output {
    pub(crate) line: usize,
    pub(crate) text: String,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Run {
    /// Runs if all these programs are available. `root` means root's rights.
    With(Vec<String>),
    /// Never.
    No,
}

impl Block {
    pub(crate) fn needs(&self, tool: &str) -> bool {
        matches!(&self.run, Run::With(tools) if tools.iter().any(|needed| needed == tool))
    }
}

struct Fence {
    line: usize,
    info: String,
    code: String,
}

impl Page {
    pub(crate) fn new(path: String, text: String) -> Page {
        let mut page =
            Page { path, text: String::new(), blocks: Vec::new(), commands: Vec::new(), wrong: Vec::new() };
        let mut fences = Vec::new();
        let mut open: Option<(usize, Fence)> = None;
        let (mut above, mut paragraph) = ("", (0, String::new()));
        for (at, line) in text.lines().enumerate() {
            let indent = line.len() - line.trim_start().len();
            let was_open = open.is_some();
            match &mut open {
                Some((depth, fence)) if line.trim() == "```" && indent == *depth => {
                    fences.extend(open.take().map(|(_, fence)| fence));
                }
                Some((depth, fence)) => {
                    fence.code += line.get((*depth).min(indent)..).unwrap_or_default();
                    fence.code.push('\n');
                }
                None => match line.trim_start().strip_prefix("```") {
                    Some(info) => {
                        let fence = Fence { line: at + 1, info: info.trim().into(), code: String::new() };
                        open = Some((indent, fence));
                    }
                    None => page.take_text(at + 1, line, above),
                },
            }
            if was_open || open.is_some() || line.trim().is_empty() {
                page.take_paragraph(&mut paragraph);
            } else {
                if paragraph.1.is_empty() {
                    paragraph.0 = at + 1;
                }
                paragraph.1 += &format!("{} ", line.trim());
                above = line;
            }
        }
        page.take_paragraph(&mut paragraph);
        fences.into_iter().for_each(|fence| page.take_fence(fence));
        page.text = text;
        page
    }

    fn take_text(&mut self, line: usize, text: &str, above: &str) {
        let is_list = above.starts_with(' ')
            || above.starts_with(['-', '*', '|'])
            || above.starts_with(char::is_numeric);
        let begins = ["make ", "cargo ", "fairwire ", "sudo ", "target/"];
        if text.starts_with("    ")
            && !is_list
            && begins.iter().any(|begin| text.trim_start().starts_with(begin))
        {
            self.wrong.push(format!("{}:{line}: commands are in a block ```sh", self.path));
        }
    }

    fn take_paragraph(&mut self, (line, text): &mut (usize, String)) {
        for code in text.split('`').skip(1).step_by(2) {
            self.commands.extend(typed(*line, code));
        }
        text.clear();
    }

    fn take_fence(&mut self, fence: Fence) {
        let (language, mark) = fence.info.split_once(' ').unwrap_or((fence.info.as_str(), ""));
        let mut wrong = |message: &str| self.wrong.push(format!("{}:{}: {message}", self.path, fence.line));
        match language {
            "" => wrong("a block of code says its language: `sh` for commands, `text` for what is none"),
            "bash" | "console" | "shell" => wrong("a block of commands is `sh`"),
            "output" => {
                match self.blocks.last_mut().filter(|block| block.output.is_none() && block.run != Run::No) {
                    Some(block) => block.output = Some(Output { line: fence.line, text: fence.code }),
                    None => wrong("a block `output` is below the block of commands that prints it"),
                }
            }
            "sh" => match run(mark) {
                Ok(run) => {
                    if run == Run::No {
                        let commands = commands(&fence.code);
                        self.commands.extend(commands.iter().filter_map(|code| typed(fence.line, code)));
                    }
                    self.blocks.push(Block { line: fence.line, run, code: fence.code, output: None });
                }
                Err(message) => wrong(&message),
            },
            _ => {}
        }
    }

    /// The page with the printed outputs. An output with `…` is unchanged.
    pub(crate) fn renewed(&self, blocks: &[&Block], printed: &[String]) -> String {
        let mut text = self.text.clone();
        for (block, printed) in blocks.iter().zip(printed) {
            if let Some(output) = block.output.as_ref().filter(|output| !output.text.contains(ANYTHING)) {
                let (old, new) =
                    (format!("```output\n{}```", output.text), format!("```output\n{printed}```"));
                text = text.replacen(&old, &new, 1);
            }
        }
        text
    }
}

/// Parses the mark after `sh`: nothing, `needs: root, curl`, or `no-test: ` and a reason.
fn run(mark: &str) -> Result<Run, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if mark.is_empty() {
        return Ok(Run::With(Vec::new()));
    }
    if let Some(tools) = mark.strip_prefix("needs: ") {
        return Ok(Run::With(tools.split(',').map(|tool| tool.trim().into()).collect()));
    }
    let why = mark.strip_prefix("no-test: ").map(str::trim).filter(|why| !why.is_empty());
    let why = why.ok_or("behind `sh` is nothing, `needs: root, PROGRAM` or `no-test: WHY`")?;
    let missing = why.split_whitespace().find(|word| word.ends_with(".rs") && !root.join(word).is_file());
    missing.map_or(Ok(Run::No), |path| Err(format!("`{path}` is not there")))
}

fn commands(code: &str) -> Vec<String> {
    code.replace("\\\n", " ").lines().map(str::to_owned).collect()
}

/// The words of a command of this project, without `sudo`, comments and pipes.
fn typed(line: usize, code: &str) -> Option<Typed> {
    let mut words = Vec::new();
    let (mut word, mut quote, mut is_word) = (String::new(), None, false);
    for c in code.chars() {
        match (c, quote) {
            (c, Some(end)) if c == end => quote = None,
            (c, Some(_)) => word.push(c),
            ('\'' | '"', None) => (quote, is_word) = (Some(c), true),
            ('|' | '>' | '<' | '&' | ';' | '#', None) => break,
            (c, None) if c.is_whitespace() => {
                if is_word || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                is_word = false;
            }
            (c, None) => word.push(c),
        }
    }
    if is_word || !word.is_empty() {
        words.push(word);
    }
    if words.first().is_some_and(|word| word == "sudo") {
        words.remove(0);
    }
    let program = words.first_mut()?;
    if let Some(("target/release" | "target/quick", name)) = program.rsplit_once('/') {
        *program = name.to_owned();
    }
    words.retain(|word| word != ANYTHING);
    let is_ours =
        words.len() > 1 && (words[0] == "make" || super::sandbox::PROGRAMS.contains(&words[0].as_str()));
    is_ours.then_some(Typed { line, words })
}

pub(crate) fn is_alike(page: &str, printed: &str) -> bool {
    let (page, printed): (Vec<&str>, Vec<&str>) = (page.lines().collect(), printed.lines().collect());
    lines_alike(&page, &printed)
}

fn lines_alike(page: &[&str], printed: &[&str]) -> bool {
    match page {
        [] => printed.is_empty(),
        [first, rest @ ..] if first.trim() == ANYTHING => {
            (0..=printed.len()).any(|skipped| lines_alike(rest, &printed[skipped..]))
        }
        [first, rest @ ..] => {
            printed.first().is_some_and(|line| text_alike(first, line)) && lines_alike(rest, &printed[1..])
        }
    }
}

fn text_alike(page: &str, printed: &str) -> bool {
    match page.split_once(ANYTHING) {
        None => page.trim_end() == printed.trim_end(),
        Some((before, after)) => printed.strip_prefix(before).is_some_and(|left| {
            left.char_indices().map(|(at, _)| at).chain([left.len()]).any(|at| text_alike(after, &left[at..]))
        }),
    }
}

#[test]
fn a_page_is_read_with_its_blocks_and_their_output() {
    let text = "Run `sudo fairwire run x.toml --jobs 2` or `make demo`.\n\n```sh needs: root, curl\necho a\n```\n\n```output\na\n```\n\
                \n```sh no-test: it takes hours\nmake soak ARGS=\"--minutes 60\" # long\ntarget/release/fairwire list \\\n  stages\n```\n";
    let page = Page::new("a.md".into(), text.into());
    assert_eq!(page.wrong, Vec::<String>::new());
    assert_eq!(page.blocks[0].run, Run::With(vec!["root".into(), "curl".into()]));
    assert_eq!(page.blocks[0].output.as_ref().map(|output| output.text.as_str()), Some("a\n"));
    assert_eq!(page.blocks[1].run, Run::No);
    let commands: Vec<String> = page.commands.iter().map(|command| command.words.join(" ")).collect();
    let expected =
        ["fairwire run x.toml --jobs 2", "make demo", "make soak ARGS=--minutes 60", "fairwire list stages"];
    assert_eq!(commands, expected);
}

#[test]
fn wrong_markers_are_found() {
    let wrong = |text: &str| Page::new("a.md".into(), text.into()).wrong.len();
    for text in [
        "```\nx\n```\n",
        "```console\n$ x\n```\n",
        "```sh untested\nx\n```\n",
        "```sh no-test:\nx\n```\n",
        "```sh no-test: not/there.rs runs it\nx\n```\n",
        "```output\nx\n```\n",
        "Text.\n\n    fairwire list stages\n",
    ] {
        assert_eq!(wrong(text), 1, "{text}");
    }
    assert_eq!(wrong("```text\nx\n```\n- a list\n\n    fairwire list stages\n"), 0);
}

#[test]
fn three_dots_match_anything() {
    assert!(is_alike("a\n…\nd\n", "a\nb\nc\nd\n"));
    assert!(is_alike("…\n", ""));
    assert!(is_alike("x … y … z\n", "x 1 y 22 z\n"));
    assert!(!is_alike("a\n…\nd\n", "a\nb\n"));
    assert!(!is_alike("x … z\n", "x 1\n"));
    assert!(!is_alike("a\n", "a\nb\n"));
}
