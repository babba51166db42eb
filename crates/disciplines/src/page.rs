//! The reference page of a discipline, made of its module's documentation and of the schema of its parameters.
//!
//! `fairwire describe` prints it and `docs/reference` keeps it, so neither can say anything that the code's own
//! documentation does not say.

use schemars::JsonSchema;
use serde_json::Value;
use std::fmt::Write as _;

/// The documentation of every module of this crate, by path.
const DOCS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/docs.rs"));

/// The headings of a discipline's documentation, in their order.
pub const HEADINGS: [&str; 7] = [
    "What it does",
    "Why",
    "Parameters (unit, default, source)",
    "State and cost",
    "Source (section, equation)",
    "Where we differ",
    "Example",
];

/// Everything said of one discipline or marker.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// Its name in the catalogue.
    pub name: &'static str,
    /// One line: what it is.
    pub title: String,
    /// What it does.
    pub what: String,
    /// What that is good for.
    pub why: String,
    /// Its parameters, in the order of their documentation.
    pub parameters: Vec<ParameterPage>,
    /// What it remembers, and the work per packet.
    pub state_and_cost: String,
    /// Papers and RFCs.
    pub source: String,
    /// Where it differs from its source, and why.
    pub where_we_differ: String,
    /// A piece of a scenario file, in TOML.
    pub example: String,
}

/// Everything said of one parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterPage {
    /// Its name, as typed.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Its default.
    pub default: String,
    /// What it is and what is allowed.
    pub allowed: String,
    /// More of it, and the source of its default; empty where there is nothing to add.
    pub notes: String,
    /// Each allowed word and what it means, where words are allowed.
    pub choices: Vec<(String, String)>,
    /// Each field and what it is, where a table or a list of tables is allowed.
    pub fields: Vec<(String, String)>,
}

/// Documentation that does not have the form that pages are made of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the documentation of `{name}` {fault}")]
pub struct BadDocumentation {
    name: &'static str,
    fault: String,
}

impl Page {
    /// The page of `name`, documented in `module` and with parameters of type `S`.
    pub(crate) fn of<S: JsonSchema>(name: &'static str, module: &str) -> Result<Page, BadDocumentation> {
        let bad = |fault: String| BadDocumentation { name, fault };
        let module = module.trim_start_matches(':');
        let doc = DOCS.iter().find(|(path, _)| *path == module).map(|(_, doc)| *doc);
        let doc = doc.ok_or_else(|| bad(format!("was looked for in `{module}`, which is not there")))?;
        let schema = schemars::schema_for!(S);
        Page::read(name, doc, schema.as_value()).map_err(bad)
    }

    fn read(name: &'static str, doc: &str, schema: &Value) -> Result<Page, String> {
        let (title, mut sections) = split(doc)?;
        let mut next = || sections.remove(0);
        let (what, why, bullets) = (next(), next(), next());
        let page = Page {
            name,
            title,
            what,
            why,
            parameters: parameters(&bullets, schema)?,
            state_and_cost: next(),
            source: next(),
            where_we_differ: next(),
            example: code(&next())?,
        };
        Ok(page)
    }

    /// The page in Markdown.
    pub fn markdown(&self) -> String {
        let mut text = format!(
            "<!-- Made by `make reference` from the documentation in the code; change it there. -->\n\n# `{}`\n\n{}\n",
            self.name, self.title
        );
        let mut section = |heading: &str, body: &str| {
            write!(text, "\n## {heading}\n\n{body}\n").expect("writing to a string succeeds");
        };
        section("What it does", &self.what);
        section("Why", &self.why);
        section("Parameters", &self.parameter_table());
        section("State and cost", &self.state_and_cost);
        section("Source", &self.source);
        section("Where we differ", &self.where_we_differ);
        section("Example", &format!("```toml\n{}\n```", self.example));
        text
    }

    fn parameter_table(&self) -> String {
        let mut text = String::from(
            "| parameter | unit | default | what it is | notes and source |\n|---|---|---|---|---|\n",
        );
        for parameter in &self.parameters {
            let ParameterPage { name, unit, default, notes, allowed, choices, fields } = parameter;
            let choices = choices.iter().map(|(word, what)| format!("`{word}`: {what}"));
            let fields = fields.iter().map(|(name, what)| format!("field `{name}`: {what}"));
            let choices: Vec<_> = choices.chain(fields).collect();
            let allowed = [vec![allowed.clone()], choices].concat().join("<br>");
            let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
            writeln!(
                text,
                "| `{name}` | {} | {} | {} | {} |",
                cell(unit),
                cell(default),
                cell(&allowed),
                cell(notes)
            )
            .expect("writing to a string succeeds");
        }
        text.truncate(text.trim_end().len());
        text
    }
}

/// The first paragraph, and the text under each of the [`HEADINGS`].
fn split(doc: &str) -> Result<(String, Vec<String>), String> {
    let mut parts = vec![String::new()];
    let mut headings = Vec::new();
    let mut is_code = false;
    for line in doc.lines() {
        is_code ^= line.starts_with("```");
        match line.strip_prefix("# ").filter(|_| !is_code) {
            Some(heading) => {
                headings.push(heading.to_owned());
                parts.push(String::new());
            }
            None => {
                let part = parts.last_mut().expect("never empty");
                part.push_str(line);
                part.push('\n');
            }
        }
    }
    if headings != HEADINGS {
        return Err(format!("has the headings {headings:?}; they must be {HEADINGS:?}"));
    }
    let mut parts: Vec<_> = parts.iter().map(|part| without_links(part.trim())).collect();
    if let Some(empty) = parts.iter().position(String::is_empty) {
        return Err(format!("says nothing in part {empty}, where part 0 is before the first heading"));
    }
    Ok((parts.remove(0), parts))
}

/// Rust's links to items, such as ``[`Ramp`]`` and `[module](self)`, as plain text.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('[') {
        plain.push_str(&rest[..start]);
        rest = &rest[start..];
        let Some(end) = rest.find(']') else { break };
        let (inside, after) = (&rest[1..end], &rest[end + 1..]);
        let target = after.strip_prefix('(').and_then(|after| after.split_once(')'));
        match target {
            Some((to, after)) if !to.contains("://") => {
                plain.push_str(inside);
                rest = after;
            }
            None if inside.starts_with('`') && inside.ends_with('`') => {
                plain.push_str(inside);
                rest = after;
            }
            _ => {
                plain.push_str(&rest[..=end]);
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    plain
}

fn code(section: &str) -> Result<String, String> {
    let code = section.split_once("```toml\n").and_then(|(_, rest)| rest.split_once("\n```"));
    code.map(|(code, _)| code.to_owned()).ok_or_else(|| "has no ```toml block as its example".into())
}

/// What the bullets say, joined with what the schema says; both must speak of the same parameters.
fn parameters(bullets: &str, schema: &Value) -> Result<Vec<ParameterPage>, String> {
    let fields = schema["properties"].as_object().ok_or("has a schema without fields")?;
    let mut pages = Vec::new();
    for bullet in format!("\n{bullets}").split("\n- ").skip(1) {
        let bullet = bullet.split_whitespace().collect::<Vec<_>>().join(" ");
        pages.extend(read_bullet(&bullet, schema)?);
    }
    for name in fields.keys() {
        match pages.iter().filter(|page| page.name == *name).count() {
            1 => {}
            n => return Err(format!("speaks {n} times of the parameter `{name}`")),
        }
    }
    match pages.iter().find(|page| !fields.contains_key(&page.name)) {
        Some(page) => Err(format!("speaks of a parameter `{}` that is not there", page.name)),
        None => Ok(pages),
    }
}

/// Reads "`a`, `b` (unit; default of a and of b): text".
fn read_bullet(bullet: &str, schema: &Value) -> Result<Vec<ParameterPage>, String> {
    let bad = || format!("has a parameter not of the form \"`name` (unit; default): text\": {bullet}");
    let (names, rest) = bullet.split_once(" (").ok_or_else(bad)?;
    let (terms, text) = rest.split_once("): ").ok_or_else(bad)?;
    let (unit, default) = terms.split_once("; ").ok_or_else(bad)?;
    let names: Vec<_> = names.split(", ").map(|name| name.trim_matches('`').to_owned()).collect();
    let defaults: Vec<_> = default.split(" and ").collect();
    let page = |(at, name): (usize, String)| {
        let (allowed, choices) = allowed(&name, schema);
        // "a and b" are the defaults of two parameters; with one parameter it is one text.
        let own = if defaults.len() == names.len() { defaults[at] } else { default };
        let notes = sentence(&added(text, &allowed));
        let fields = fields(&schema["properties"][&name], schema);
        ParameterPage { name, unit: unit.into(), default: own.into(), allowed, notes, choices, fields }
    };
    Ok(names.iter().cloned().enumerate().map(page).collect())
}

/// Of the words of a clause, so many are already said where it says nothing new.
const SAID: f64 = 0.75;
/// Words that say nothing.
const SMALL: [&str; 24] = [
    "a", "an", "and", "as", "at", "be", "by", "for", "how", "in", "is", "it", "its", "of", "on", "or",
    "than", "that", "the", "to", "what", "whether", "which", "with",
];

/// What `text` says that is not `said` already: without the clauses that only repeat it.
fn added(text: &str, said: &str) -> String {
    let said = content(said);
    let is_new = |clause: &str| {
        let words = content(clause);
        let repeated = words.iter().filter(|word| said.contains(word)).count();
        words.is_empty() || (repeated as f64) < SAID * words.len() as f64
    };
    let kept: String = clauses(text).into_iter().filter(|clause| is_new(clause)).collect();
    match kept.trim_end().strip_suffix([';', ':']) {
        Some(rest) => format!("{rest}."),
        None => kept.trim_end().into(),
    }
}

/// The pieces of `text` that end with a full stop, a colon or a semicolon outside of brackets, and their spaces.
fn clauses(text: &str) -> Vec<&str> {
    let (mut found, mut start, mut depth) = (Vec::new(), 0, 0i32);
    for (at, c) in text.char_indices() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        let is_end = matches!(c, '.' | ':' | ';') && text[at + 1..].starts_with(' ') && depth == 0;
        if is_end && !text[start..at].ends_with("et al") {
            found.push(&text[start..at + 2]);
            start = at + 2;
        }
    }
    found.push(&text[start..]);
    found
}

/// The words of `text` that say something, in one form for singular and plural.
fn content(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let words = text.split(|c| !is_part(c)).map(str::to_lowercase);
    let words = words.filter(|word| !word.is_empty() && !SMALL.contains(&word.as_str()));
    words.map(|word| word.strip_suffix('s').map(str::to_owned).unwrap_or(word)).collect()
}

/// `text` with its first letter as at the start of a sentence; a name such as `ns-2` stays as it is.
fn sentence(text: &str) -> String {
    let word = text.split(' ').next().unwrap_or_default();
    if word.contains(|c: char| c == '-' || c == '_' || c.is_ascii_digit()) {
        return text.into();
    }
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// What the schema says of a field: its description without the default, and the words it may be.
fn allowed(name: &str, schema: &Value) -> (String, Vec<(String, String)>) {
    let field = &schema["properties"][name];
    let description = field["description"].as_str().unwrap_or_default();
    let description = description.split(" Default:").next().unwrap_or_default();
    let mut choices = Vec::new();
    words(field, schema, &mut choices);
    (description.split_whitespace().collect::<Vec<_>>().join(" "), choices)
}

/// A table with more fields than this is one of all disciplines, which have pages of their own.
const MOST_FIELDS: usize = 20;

/// The fields of the table, or of the tables in the list, that a schema allows.
fn fields(schema: &Value, root: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let description = field["description"].as_str().unwrap_or_default();
        found.push((name.clone(), description.split_whitespace().collect::<Vec<_>>().join(" ")));
    }
    for one in ["anyOf", "oneOf"].iter().filter_map(|key| schema[key].as_array()).flatten() {
        found.extend(fields(one, root));
    }
    if schema["items"].is_object() {
        found.extend(fields(&schema["items"], root));
    }
    let target = schema["$ref"].as_str().and_then(|target| root.pointer(target.trim_start_matches('#')));
    found.extend(target.into_iter().flat_map(|target| fields(target, root)));
    if found.len() > MOST_FIELDS { Vec::new() } else { found }
}

/// Every constant that a schema allows, with its description, through references and alternatives.
fn words(schema: &Value, root: &Value, found: &mut Vec<(String, String)>) {
    if let Some(word) = schema["const"].as_str() {
        let description = schema["description"].as_str().unwrap_or_default();
        found.push((word.into(), description.split_whitespace().collect::<Vec<_>>().join(" ")));
    }
    for word in schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        found.push((word.into(), String::new()));
    }
    for one in ["anyOf", "oneOf"].iter().filter_map(|key| schema[key].as_array()).flatten() {
        words(one, root, found);
    }
    let target = schema["$ref"].as_str().and_then(|target| root.pointer(target.trim_start_matches('#')));
    if let Some(target) = target {
        words(target, root, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Spec {
        /// So many, from 1. Default: 3.
        count: Option<u32>,
        /// A choice. Default: `one`.
        word: Option<Word>,
    }

    #[derive(JsonSchema)]
    #[serde(rename_all = "lowercase")]
    #[expect(dead_code, reason = "only its schema is looked at")]
    enum Word {
        /// The first.
        One,
        /// The second.
        Two,
    }

    const BULLETS: &str = "- `count` (1; 3): how\n  many.\n- `word` (choice; `one`): see [`Word`].";

    fn doc(bullets: &str) -> String {
        let section = |heading: &&str| match *heading {
            "Parameters (unit, default, source)" => format!("# {heading}\n{bullets}"),
            "Example" => format!("# {heading}\n```toml\n[discipline.some]\n# no heading\n```"),
            _ => format!("# {heading}\nText."),
        };
        format!("Some.\n\n{}", HEADINGS.iter().map(section).collect::<Vec<_>>().join("\n\n"))
    }

    fn read(doc: &str) -> Result<Page, String> {
        Page::read("some", doc, schemars::schema_for!(Spec).as_value())
    }

    #[test]
    fn documentation_and_schema_make_a_page() {
        let page = read(&doc(BULLETS)).expect("of the right form");
        assert_eq!((page.title.as_str(), page.why.as_str()), ("Some.", "Text."));
        assert_eq!(page.example, "[discipline.some]\n# no heading");
        let [count, word] = &page.parameters[..] else { panic!("two: {page:?}") };
        assert_eq!((count.name.as_str(), count.unit.as_str(), count.default.as_str()), ("count", "1", "3"));
        // The page says nothing that the schema does not.
        assert_eq!((count.notes.as_str(), count.allowed.as_str()), ("", "So many, from 1."));
        assert_eq!(word.notes, "See `Word`.");
        let choices = [("one", "The first."), ("two", "The second.")];
        assert_eq!(word.choices, choices.map(|(word, what)| (word.to_owned(), what.to_owned())));
        assert!(page.markdown().contains("| `count` | 1 | 3 | So many, from 1. |  |"));
    }

    #[test]
    fn what_was_said_is_not_said_again() {
        let said = "Whether an early signal drops or marks ECN-capable packets.";
        let text = "whether an early signal marks ECN-capable packets; forced drops always drop.";
        assert_eq!(sentence(&added(text, said)), "Forced drops always drop.");
        let weight = "The weight of each arrival's queue in the average, above 0 and at most 1.";
        let text = "W_q, the weight of each arrival's queue in the average: Floyd and Jacobson; ns-2 (until 2001; later not).";
        assert_eq!(added(text, weight), "Floyd and Jacobson; ns-2 (until 2001; later not).");
        assert_eq!(added("which packet leaves next.", "Which packet leaves next."), "");
        assert_eq!(
            added("its height: the one; which packet leaves next.", "Which packet leaves next."),
            "its height: the one."
        );
        assert_eq!(sentence("ns-2 has 0.1."), "ns-2 has 0.1.");
    }

    #[test]
    fn documentation_that_does_not_fit_the_code_is_refused() {
        let refusal = |bullets: &str| read(&doc(bullets)).unwrap_err();
        assert!(refusal("- `count` (1; 3): how many.").contains("speaks 0 times of the parameter `word`"));
        assert!(refusal(&format!("{BULLETS}\n- `size` (B; 1): it.")).contains("`size` that is not there"));
        assert!(refusal(&format!("{BULLETS}\n- `count` (1; 3): again.")).contains("speaks 2 times"));
        assert!(refusal("- `count`: how many.").contains("not of the form"));
        assert!(read("Some.\n\n# Why\nText.").unwrap_err().contains("has the headings [\"Why\"]"));
        assert!(read(&doc(BULLETS).replace("```toml", "```")).unwrap_err().contains("no ```toml block"));
    }

    #[test]
    fn rust_links_become_plain_text_and_others_stay() {
        assert_eq!(
            without_links("a [`B`] and [c](self), x[1], [d](https://e)"),
            "a `B` and c, x[1], [d](https://e)"
        );
    }
}
