//! The reference page of a discipline, for `fairwire describe` and `docs/reference`: its
//! documentation and its declared parameters.

use fairwire_parameters::{Entry, Field, Kind};
use schemars::SchemaGenerator;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The headings of a discipline's documentation, in their order.
pub const HEADINGS: [&str; 6] =
    ["What it does", "Why", "State and cost", "Source (section, equation)", "Where we differ", "Example"];

/// The documentation of one discipline or marker.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// Its name in the catalogue.
    pub name: &'static str,
    /// A one-line summary.
    pub title: String,
    /// Its function.
    pub what: String,
    /// Its purpose.
    pub why: String,
    /// Its parameters, in the order of their declaration.
    pub parameters: Vec<ParameterPage>,
    /// Its state, and the work per packet.
    pub state_and_cost: String,
    /// Papers and RFCs.
    pub source: String,
    /// The differences from its source, with reasons.
    pub where_we_differ: String,
    /// A piece of a scenario file, in TOML.
    pub example: String,
    /// The names of the discipline on a command line and in a scenario, in Markdown. Empty if the
    /// example suffices.
    pub usage: String,
    /// Related topics, each with the names of its pages.
    pub related: Vec<(&'static str, Vec<&'static str>)>,
    /// Its source file, from the workspace root; empty if unknown.
    pub code: &'static str,
}

/// The documentation of one parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterPage {
    /// Its name, as given.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Its default.
    pub default: String,
    /// Its description and the allowed values.
    pub allowed: String,
    /// Further notes, and the source of its default; may be empty.
    pub notes: String,
    /// Each allowed word and its meaning.
    pub choices: Vec<(String, String)>,
    /// Each field and its meaning, if the parameter allows tables.
    pub fields: Vec<(String, String)>,
    /// The other pages with the same parameter, described in the same words.
    pub shared_with: Vec<&'static str>,
}

/// Each unit whose values are names, with the index heading that lists these names.
const LISTS: [(&str, &str); 3] =
    [("discipline", "the-disciplines"), ("marker", "the-markers"), ("scheduler", "the-schedulers")];

/// The maximum number of other pages that a parameter's row lists. If more pages have the
/// parameter, only the index lists them.
const MAX_SHARED: usize = 6;

/// The error for documentation that does not have the form of a page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the documentation of `{name}` {fault}")]
pub struct BadDocumentation {
    name: &'static str,
    fault: String,
}

impl Page {
    /// The page of `entry`. If the file's documentation lacks the first of the [`HEADINGS`], the
    /// page has only the summary, the source and the parameters. Otherwise a wrong form is an
    /// error.
    pub fn of<K: Kind>(entry: &Entry<K>) -> Result<Page, BadDocumentation> {
        let Entry { name, fields, documentation, file, .. } = *entry;
        let is_page = documentation.lines().any(|line| line.strip_prefix("# ") == Some(HEADINGS[0]));
        let page = if is_page {
            Page::read(name, documentation, fields).map_err(|fault| BadDocumentation { name, fault })?
        } else {
            Page::of_fields(name, entry.summary(), entry.source(), fields)
        };
        Ok(page.with_code(file))
    }

    /// The page of an item with parameters and no other documentation.
    pub fn of_fields(name: &'static str, title: &str, source: &str, fields: &[Field]) -> Page {
        Page {
            name,
            title: title.into(),
            what: String::new(),
            why: String::new(),
            parameters: fields.iter().map(ParameterPage::of).collect(),
            state_and_cost: String::new(),
            source: source.into(),
            where_we_differ: String::new(),
            example: String::new(),
            usage: String::new(),
            related: Vec::new(),
            code: "",
        }
    }

    /// Sets `file` as the page's source if it is in this workspace.
    #[must_use]
    pub fn with_code(self, file: &'static str) -> Page {
        let is_ours = ["foundation/", "simulator/"].iter().any(|group| file.starts_with(group));
        let code = if is_ours { file } else { "" };
        Page { code, ..self }
    }

    /// Sets `usage`. `takes_scheduler` adds a name such as `drr+red`.
    pub(crate) fn of_discipline(self, takes_scheduler: bool) -> Page {
        let name = self.name;
        let mut usage = format!(
            "`--discipline {name}`, or `disciplines = [\"{name}\"]` with parameters in `[discipline.{name}]`."
        );
        if takes_scheduler {
            write!(usage, " Under a scheduler: `drr+{name}`.").expect("writing to a string succeeds");
        }
        Page { usage, ..self }
    }

    fn read(name: &'static str, doc: &str, fields: &[Field]) -> Result<Page, String> {
        let (title, mut sections) = split(doc)?;
        let mut next = || sections.remove(0);
        let (what, why) = (next(), next());
        let page = Page {
            name,
            title,
            what,
            why,
            parameters: fields.iter().map(ParameterPage::of).collect(),
            state_and_cost: next(),
            source: next(),
            where_we_differ: next(),
            example: code(&next())?,
            usage: String::new(),
            related: Vec::new(),
            code: "",
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
            if body.is_empty() {
                return;
            }
            write!(text, "\n## {heading}\n\n{body}\n").expect("writing to a string succeeds");
        };
        section("What it does", &self.what);
        section("Why", &self.why);
        section("How to use it", &self.usage);
        section("What goes with it", &self.related_pages());
        section("Parameters", &self.parameter_table());
        section("State and cost", &self.state_and_cost);
        section("Source", &self.source);
        section("Where we differ", &self.where_we_differ);
        if !self.example.is_empty() {
            section("Example", &format!("```toml\n{}\n```", self.example));
        }
        if !self.code.is_empty() {
            section("Code", &format!("[{code}](../../{code})", code = self.code));
        }
        text
    }

    fn related_pages(&self) -> String {
        let line = |(what, names): &(&str, Vec<&str>)| format!("- {what}: {}", linked(names));
        self.related.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    fn parameter_table(&self) -> String {
        if self.parameters.is_empty() {
            return "None.".into();
        }
        let mut text = String::from(
            "| parameter | unit (1: a plain number) | default | what it is | notes and source |\n|---|---|---|---|---|\n",
        );
        for parameter in &self.parameters {
            let ParameterPage { name, unit, default, notes, allowed, choices, fields, shared_with } =
                parameter;
            let choices = choices.iter().map(|(word, what)| format!("`{word}`: {what}"));
            let fields = fields.iter().map(|(name, what)| format!("field `{name}`: {what}"));
            let choices: Vec<_> = choices.chain(fields).collect();
            let allowed = [vec![allowed.clone()], choices].concat().join("<br>");
            let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
            let list = LISTS.iter().find(|(part, _)| part == unit);
            let unit = list.map_or_else(|| unit.clone(), |(part, at)| format!("[{part}](README.md#{at})"));
            let notes = match shared_with.len() {
                1..=MAX_SHARED => format!("{notes} Also of {}.", linked(shared_with)).trim_start().to_owned(),
                _ => notes.clone(),
            };
            writeln!(
                text,
                "| `{name}` | {} | {} | {} | {} |",
                cell(&unit),
                cell(default),
                cell(&allowed),
                cell(&notes)
            )
            .expect("writing to a string succeeds");
        }
        text.truncate(text.trim_end().len());
        text
    }
}

/// The names, each a link to its page.
pub fn linked(names: &[&str]) -> String {
    names.iter().map(|name| format!("[`{name}`]({name}.md)")).collect::<Vec<_>>().join(", ")
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

/// Replaces Rust's links to items, such as ``[`Ramp`]`` and `[module](self)`, by their text.
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

impl ParameterPage {
    /// The page of a parameter, with the words and tables that its schema allows.
    pub fn of(field: &Field) -> Self {
        let mut generator = SchemaGenerator::default();
        let schema = (field.schema)(&mut generator).to_value();
        let root = json!({ "$defs": generator.take_definitions(false) });
        let mut choices = Vec::new();
        words(&schema, &root, &mut choices);
        choices.retain(|(_, text)| !text.is_empty()); // a choice without text here has its own page
        let mut fields = fields(&schema, &root);
        fields.retain(|(_, text)| !text.is_empty());
        let notes = [field.notes, field.source].into_iter().filter(|text| !text.is_empty());
        ParameterPage {
            name: field.name.into(),
            unit: field.unit.into(),
            default: field.default.into(),
            allowed: field.text_with_range(),
            notes: without_links(&notes.collect::<Vec<_>>().join(" ")),
            choices,
            fields,
            shared_with: Vec::new(),
        }
    }
}

/// A page omits a table with more fields. Such fields are disciplines, which have their own pages.
const MAX_FIELDS: usize = 20;

fn fields(schema: &Value, root: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let properties = schema["properties"].as_object();
    // This table's only key is a name: `{ drr = { quantum = "300 B" } }`. All allowed names have
    // the same fields.
    if schema["maxProperties"] == 1
        && let Some(properties) = properties.filter(|properties| properties.len() <= MAX_FIELDS)
    {
        return properties.values().next().map_or(Vec::new(), |any| fields(any, root));
    }
    for (name, field) in properties.into_iter().flatten() {
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
    if found.len() > MAX_FIELDS { Vec::new() } else { found }
}

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
    use fairwire_parameters::{Declared as _, parameters};
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    #[parameters(group)]
    #[derive(Clone, Default)]
    struct Spec {
        /// How many there are.
        #[parameter(default = 3, min = 1, unit = "1")]
        count: Option<u32>,
        /// A choice.
        ///
        /// See [`Word`].
        #[parameter(default = Word::One, source = "RFC 1.")]
        word: Option<Word>,
    }

    #[derive(Clone, Deserialize, JsonSchema, Serialize)]
    #[serde(rename_all = "lowercase")]
    enum Word {
        /// The first.
        One,
        /// The second.
        Two,
    }

    fn doc() -> String {
        let section = |heading: &&str| match *heading {
            "Example" => format!("# {heading}\n```toml\n[discipline.some]\n# no heading\n```"),
            _ => format!("# {heading}\nText."),
        };
        format!("Some.\n\n{}", HEADINGS.iter().map(section).collect::<Vec<_>>().join("\n\n"))
    }

    fn read(doc: &str) -> Result<Page, String> {
        Page::read("some", doc, Spec::FIELDS)
    }

    #[test]
    fn documentation_and_declaration_make_a_page() {
        let page = read(&doc()).expect("of the right form");
        assert_eq!((page.title.as_str(), page.why.as_str()), ("Some.", "Text."));
        assert_eq!(page.example, "[discipline.some]\n# no heading");
        let [count, word] = &page.parameters[..] else { panic!("two: {page:?}") };
        assert_eq!((count.name.as_str(), count.unit.as_str(), count.default.as_str()), ("count", "1", "3"));
        assert_eq!((count.notes.as_str(), count.allowed.as_str()), ("", "How many there are (at least 1)."));
        assert_eq!((word.notes.as_str(), word.default.as_str()), ("See `Word`. RFC 1.", "`one`"));
        let choices = [("one", "The first."), ("two", "The second.")];
        assert_eq!(word.choices, choices.map(|(word, what)| (word.to_owned(), what.to_owned())));
        assert!(page.markdown().contains("| `count` | 1 | 3 | How many there are (at least 1). |  |"));
    }

    #[test]
    fn documentation_of_another_form_is_refused() {
        assert!(read("Some.\n\n# Why\nText.").unwrap_err().contains("has the headings [\"Why\"]"));
        assert!(read(&doc().replace("```toml", "```")).unwrap_err().contains("no ```toml block"));
    }

    #[test]
    fn rust_links_become_plain_text_and_others_stay() {
        assert_eq!(
            without_links("a [`B`] and [c](self), x[1], [d](https://e)"),
            "a `B` and c, x[1], [d](https://e)"
        );
    }
}
