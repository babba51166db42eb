//! The journal next to the subscriber file. Each operation writes one line instead of the entire
//! file.
//!
//! A line is a JSON list of [`Change`]s. A line without a line end does not count.
//!
//! A subscriber's changes apply only if the subscriber's line in the file equals one of the states
//! in the journal. Otherwise the file was edited later, and takes precedence.

use crate::edit::{Edit, edited, values_of};
use crate::sheet::{COLUMNS, SheetText, read_names};
use fairwire_document::{DocumentError, Location, Problem, shortened};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// The maximum length of a journal, in bytes: some 300 operations, read in half a millisecond. A
/// longer journal is merged into the file.
pub const MAX_BYTES: u64 = 64 << 10;

/// The non-empty values of a subscriber's line by column, except the name. `None` if there is no
/// line.
pub type Values = Option<BTreeMap<String, String>>;

/// One subscriber before and after an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Its name.
    pub name: String,
    /// The values before the operation.
    #[serde(deserialize_with = "Option::deserialize")] // otherwise the key would be optional
    pub before: Values,
    /// The values after the operation.
    #[serde(deserialize_with = "Option::deserialize")]
    pub after: Values,
}

/// A parsed journal.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    /// For each subscriber's name: the subscriber's states, oldest first, and the number of the
    /// last journal line about the subscriber.
    states: BTreeMap<String, (Vec<Values>, usize)>,
    names: Vec<String>,
    length: usize,
    /// A note for each line that is left out.
    notes: Vec<String>,
}

/// The journal's line for an operation. It is ASCII, so a torn line is valid text.
pub fn line(changes: &[Change]) -> String {
    let json = serde_json::to_string(changes).expect("maps of text can be written");
    let mut line = String::with_capacity(json.len() + 1);
    for letter in json.chars() {
        match letter.is_ascii() {
            true => line.push(letter),
            false => {
                let mut units = [0; 2];
                line.extend(letter.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
            }
        }
    }
    line.push('\n');
    line
}

impl Journal {
    /// Parses the journal.
    ///
    /// # Errors
    /// If a line is malformed. The error has the line's position. A last line without a line end is
    /// only noted: its writer was killed before answering the operation.
    pub fn read(source: SheetText<'_>) -> Result<Journal, DocumentError> {
        let mut journal = Journal::default();
        for (number, text) in (1..).zip(source.text.split_inclusive('\n')) {
            let Some(whole) = text.strip_suffix('\n') else {
                journal.notes.push(format!(
                    "{}:{number}: the line has no end: its writer ended before, and it is left out",
                    source.name
                ));
                break;
            };
            let span = journal.length..journal.length + whole.len();
            let changes: Vec<Change> = serde_json::from_str(whole)
                .map_err(|error| no_line(source, span.clone(), error.to_string()))?;
            for change in changes {
                journal.take(change, number).map_err(|column| {
                    no_line(source, span.clone(), format!("there is no column `{}`", shortened(&column)))
                })?;
            }
            journal.length += text.len();
        }
        Ok(journal)
    }

    fn take(&mut self, Change { name, before, after }: Change, number: usize) -> Result<(), String> {
        let columns = [&before, &after].into_iter().flatten().flat_map(BTreeMap::keys);
        if let Some(unknown) = columns.into_iter().find(|column| !COLUMNS.contains(&column.as_str())) {
            return Err(unknown.clone());
        }
        if !self.states.contains_key(&name) {
            self.names.push(name.clone());
        }
        let (states, last) = self.states.entry(name).or_default();
        states.extend([before, after]);
        *last = number;
        Ok(())
    }

    /// True if the journal has no complete line.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The length of the complete lines, in bytes. A torn line may follow.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The current values of subscriber `name`. `listed` are the values in the file. If the journal
    /// contradicts `listed`, `Err` has the number of the journal's last line on the subscriber.
    fn now<'a>(&'a self, name: &str, listed: &'a Values) -> Result<&'a Values, usize> {
        match self.states.get(name) {
            None => Ok(listed),
            Some((states, line)) if !states.contains(listed) => Err(*line),
            Some((states, _)) => Ok(states.last().unwrap_or(listed)),
        }
    }

    /// The text of `source` after the journal's changes, and notes. Changes of a subscriber whose
    /// line was edited later are left out. For each such subscriber, a note gives the position of
    /// its last change in the journal `name`.
    ///
    /// # Errors
    /// If the file cannot be parsed.
    pub fn merged(&self, source: SheetText<'_>, name: &str) -> Result<(String, Vec<String>), DocumentError> {
        let mut notes = self.notes.clone();
        if self.is_empty() {
            return Ok((source.text.to_owned(), notes));
        }
        let sheet = read_names(source)?;
        let rows: BTreeMap<&str, _> = sheet.rows.iter().map(|row| (row.name.as_str(), row)).collect();
        let mut edits = Vec::new();
        for subscriber in &self.names {
            let listed = rows.get(subscriber.as_str()).map(|row| values_of(&sheet, row));
            match self.now(subscriber, &listed) {
                Ok(now) if *now == listed => {}
                Ok(now) => edits.push((subscriber.clone(), whole(&listed, now))),
                Err(line) => notes.push(format!(
                    "{name}:{line}: the change of `{}` is left out: {} has another line for it since",
                    shortened(subscriber),
                    source.name
                )),
            }
        }
        Ok((edited(source, &edits)?, notes))
    }
}

fn whole(before: &Values, after: &Values) -> Edit {
    let Some(after) = after else { return Edit::Remove };
    let cleared = before.iter().flatten().filter(|(column, _)| !after.contains_key(*column));
    let cleared = cleared.map(|(column, _)| (column.clone(), String::new()));
    Edit::Set(after.clone().into_iter().chain(cleared).collect())
}

/// The subscriber file and its journal.
#[derive(Debug)]
pub struct Table {
    /// The file's name.
    name: String,
    text: String,
    journal: Journal,
    journal_name: String,
}

impl Table {
    /// The table of a subscriber file and its journal, each given as name and text. The text of a
    /// missing journal is empty.
    ///
    /// # Errors
    /// As for [`Journal::read`].
    pub fn new(file: (String, String), journal: (String, String)) -> Result<Table, DocumentError> {
        let [(name, text), (journal_name, lines)] = [file, journal];
        let journal = Journal::read(SheetText { name: &journal_name, text: &lines })?;
        Ok(Table { name, text, journal, journal_name })
    }

    /// The journal.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The file's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The merged text, and the notes on changes that are left out.
    ///
    /// # Errors
    /// As for [`Journal::merged`].
    pub fn merged(&self) -> Result<(String, Vec<String>), DocumentError> {
        self.journal.merged(self.file(), &self.journal_name)
    }

    /// The changes that `edits` cause. The new values are not checked.
    ///
    /// # Errors
    /// As for [`edited`].
    pub fn changes(&self, edits: &[(String, Edit)]) -> Result<Vec<Change>, DocumentError> {
        let one = match edits {
            [(name, _)] => row_of(self.file(), name),
            _ => None,
        };
        let listed: BTreeMap<String, BTreeMap<String, String>> = match one {
            Some(row) => edits.iter().map(|(name, _)| name.clone()).zip(row).collect(),
            None => {
                let sheet = read_names(self.file())?;
                sheet.rows.iter().map(|row| (row.name.clone(), values_of(&sheet, row))).collect()
            }
        };
        let mut changes: Vec<Change> = Vec::new();
        for (name, edit) in edits {
            let listed = listed.get(name).cloned();
            let before = self.journal.now(name, &listed).unwrap_or(&listed).clone();
            let place = changes.iter().position(|change| change.name == *name);
            let now = place.map_or(&before, |place| &changes[place].after);
            let after = match (edit, now) {
                (Edit::Remove, Some(_)) => None,
                (Edit::Set(values) | Edit::Change(values), Some(now)) => Some(put(now, values)),
                (Edit::Set(values), None) => Some(put(&BTreeMap::new(), values)),
                (Edit::Remove | Edit::Change(_), None) => {
                    return Err(self.edited(edits).err().unwrap_or_else(|| unknown(name)));
                }
            };
            match place {
                Some(place) => changes[place].after = after,
                None => changes.push(Change { name: name.clone(), before, after }),
            }
        }
        changes.retain(|change| change.before != change.after);
        let columns = changes.iter().filter_map(|change| change.after.as_ref()).flat_map(BTreeMap::keys);
        match columns.into_iter().all(|column| COLUMNS.contains(&column.as_str())) {
            true => Ok(changes),
            false => self.edited(edits).map(|_| changes), // reports the reason
        }
    }

    /// The merged text after `edits`.
    ///
    /// # Errors
    /// As for [`edited`].
    pub fn edited(&self, edits: &[(String, Edit)]) -> Result<String, DocumentError> {
        let (text, _) = self.merged()?;
        edited(SheetText { name: &self.name, text: &text }, edits)
    }

    fn file(&self) -> SheetText<'_> {
        SheetText { name: &self.name, text: &self.text }
    }
}

fn put(now: &BTreeMap<String, String>, values: &[(String, String)]) -> BTreeMap<String, String> {
    let mut after = now.clone();
    after.extend(values.iter().cloned());
    after.retain(|_, value| !value.is_empty());
    after
}

/// The lines of the changed subscribers as two CSV tables: before and after the changes.
pub fn tables(changes: &[Change]) -> [String; 2] {
    let all = changes.iter().flat_map(|change| [&change.before, &change.after]).flatten();
    let mut columns: Vec<&str> = all.flat_map(BTreeMap::keys).map(String::as_str).collect();
    columns.extend(["addresses"]); // every table has one that recognizes subscribers
    columns.sort_unstable();
    columns.dedup();
    let of = |values: &dyn Fn(&Change) -> Values| {
        let mut text = format!("name,{}\n", columns.join(","));
        for (change, values) in changes.iter().filter_map(|change| Some((change, values(change)?))) {
            let value = |column: &&str| values.get(*column).cloned().unwrap_or_default();
            let record: Vec<String> =
                std::iter::once(change.name.clone()).chain(columns.iter().map(value)).collect();
            text += &crate::edit::written(&record);
            text.push('\n');
        }
        text
    };
    [of(&|change| change.before.clone()), of(&|change| change.after.clone())]
}

/// The values of subscriber `name`; `Some(None)` if the subscriber has no line. `None` if the text
/// requires a full parser, for example because of quotes.
fn row_of(source: SheetText<'_>, name: &str) -> Option<Option<BTreeMap<String, String>>> {
    let text = source.text.strip_prefix('\u{feff}').unwrap_or(source.text);
    let is_plain = !text.contains('"') && text.split('\r').skip(1).all(|rest| rest.starts_with('\n'));
    let is_head = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
    let head = text.lines().find(is_head).filter(|_| is_plain && !name.is_empty())?;
    let columns: Vec<&str> = head.split(',').map(str::trim).collect();
    let place = columns.iter().position(|column| *column == "name")?;
    if columns.iter().any(|column| !COLUMNS.contains(column)) {
        return None;
    }
    let from = head.as_ptr() as usize - text.as_ptr() as usize + head.len();
    for (at, _) in text[from..].match_indices(name) {
        let at = from + at;
        let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let line = text[start..].lines().next().unwrap_or_default();
        let values: Vec<&str> = line.split(',').map(str::trim).collect();
        if !line.starts_with('#') && values.get(place) == Some(&name) && values.len() == columns.len() {
            let all =
                columns.iter().zip(&values).filter(|(column, value)| **column != "name" && !value.is_empty());
            return Some(Some(all.map(|(column, value)| ((*column).into(), (*value).into())).collect()));
        }
    }
    Some(None)
}

fn unknown(name: &str) -> DocumentError {
    let problem = Problem::Unknown { what: "subscriber", given: name.into(), allowed: Vec::new() };
    DocumentError { problem, location: None, more: Box::default() }
}

fn no_line(source: SheetText<'_>, span: Range<usize>, why: String) -> DocumentError {
    let place = Location::in_long_text(source.name, source.text, span);
    let allowed = "a line that `fairwire-gateway subscriber` wrote; or take the line away".to_owned();
    let problem =
        Problem::Refused { key: "line".into(), given: "no change of subscribers".into(), why, allowed };
    DocumentError { problem, location: Some(Box::new(place)), more: Box::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FILE: &str = "name,addresses,weight\n# ours\nann,10.0.0.1,2\nbob,10.0.0.2,\n";

    fn table(text: &str, lines: &str) -> Table {
        let named = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        Table::new(named("s.csv", text), named("s.csv.journal", lines)).expect("both can be read")
    }

    fn set(name: &str, values: &[(&str, &str)]) -> (String, Edit) {
        let values = values.iter().map(|(column, value)| ((*column).to_owned(), (*value).to_owned()));
        (name.to_owned(), Edit::Set(values.collect()))
    }

    fn rows(text: &str) -> BTreeMap<String, BTreeMap<String, String>> {
        let sheet = read_names(SheetText { name: "s.csv", text }).expect("a table");
        sheet.rows.iter().map(|row| (row.name.clone(), values_of(&sheet, row))).collect()
    }

    /// The journal of `edits`, and the file with the edits written directly.
    fn after(text: &str, edits: &[(String, Edit)]) -> (String, String) {
        let (mut lines, mut whole) = (String::new(), text.to_owned());
        for edit in edits {
            let edit = std::slice::from_ref(edit);
            lines += &line(&table(text, &lines).changes(edit).expect("it can be made"));
            whole = edited(SheetText { name: "s.csv", text: &whole }, edit).expect("it can be made");
        }
        (lines, whole)
    }

    fn operation() -> impl Strategy<Value = (String, Edit)> {
        let name = prop_oneof![Just("ann"), Just("bob"), Just("zoë, sen."), Just("max")];
        let value = prop_oneof![Just(""), Just("1"), Just("2"), Just("a \"b\"")];
        let column = prop_oneof![Just("weight"), Just("class"), Just("vlan")];
        (name, column, value).prop_map(|(name, column, value)| set(name, &[(column, value)]))
    }

    proptest! {
        #[test]
        fn file_plus_journal_equals_the_written_file_even_after_a_merge(
            edits in prop::collection::vec(prop_oneof![operation(), operation().prop_map(|(name, _)| (name, Edit::Remove))], 0..12),
            folded in 0..12usize,
        ) {
            let mut there = std::collections::BTreeSet::from(["ann".to_owned(), "bob".to_owned()]);
            let edits: Vec<(String, Edit)> = edits.into_iter().filter(|(name, edit)| match edit {
                Edit::Remove => there.remove(name),
                _ => { there.insert(name.clone()); true }
            }).collect();
            let (lines, whole) = after(FILE, &edits);
            let merged = table(FILE, &lines).merged().expect("a table");
            prop_assert_eq!(rows(&merged.0), rows(&whole));
            prop_assert_eq!(merged.1, Vec::<String>::new());
            // A writer may be killed between merging the first `folded` edits and removing the
            // journal.
            let folded = folded.min(edits.len());
            let (first, _) = after(FILE, &edits[..folded]);
            let text = table(FILE, &first).merged().expect("a table").0;
            let merged = table(&text, &lines).merged().expect("a table");
            prop_assert_eq!(rows(&merged.0), rows(&whole));
            prop_assert_eq!(merged.1, Vec::<String>::new());
        }

        #[test]
        fn a_search_finds_the_same_line_as_a_full_read(
            text in "(name|name,class|class, name|vlan,name,class)(\r?\n(#?[ab]{0,2},? ?[ab]{0,2}|\"a\",b|a,b,1))*\r?\n?",
            name in "[ab]{1,2}",
        ) {
            let source = SheetText { name: "s.csv", text: &text };
            let found = read_names(source).ok().filter(|sheet| {
                let mut names: Vec<&str> = sheet.rows.iter().map(|row| row.name.as_str()).collect();
                names.sort_unstable();
                names.windows(2).all(|pair| pair[0] != pair[1])
            });
            if let (Some(sheet), Some(row)) = (found, row_of(source, &name)) {
                let all: BTreeMap<&str, _> = sheet.rows.iter().map(|row| (row.name.as_str(), row)).collect();
                prop_assert_eq!(row, all.get(name.as_str()).map(|row| values_of(&sheet, row)));
            }
        }
    }

    #[test]
    fn a_line_of_a_killed_writer_counts_entirely_or_not_at_all() {
        let edits =
            [set("ann", &[("weight", "3")]), set("zoë", &[("vlan", "7")]), ("bob".into(), Edit::Remove)];
        let (lines, _) = after(FILE, &edits);
        assert!(lines.is_ascii(), "{lines}");
        for end in 0..=lines.len() {
            let table = table(FILE, &lines[..end]);
            let whole = lines[..end].matches('\n').count();
            let (text, notes) = table.merged().expect("a table");
            assert_eq!(rows(&text), rows(&after(FILE, &edits[..whole]).1), "{end}");
            let is_torn = !lines[..end].ends_with('\n') && end > 0;
            assert_eq!(notes.len(), usize::from(is_torn), "{notes:?}");
            assert_eq!(table.journal().length(), lines[..end].rfind('\n').map_or(0, |at| at + 1));
            let place = format!("s.csv.journal:{}: the line has no end", whole + 1);
            assert!(!is_torn || notes[0].starts_with(&place), "{notes:?}");
        }
    }

    #[test]
    fn later_edits_of_the_file_win_and_the_journal_keeps_the_rest() {
        let edits =
            [set("ann", &[("weight", "3")]), set("bob", &[("weight", "4")]), set("eve", &[("vlan", "7")])];
        let (lines, _) = after(FILE, &edits);
        let typed = FILE.replace("ann,10.0.0.1,2", "ann,10.0.0.1,9");
        let (text, notes) = table(&typed, &lines).merged().expect("a table");
        let expected = typed.replace("addresses,weight", "addresses,weight,vlan");
        let expected = expected.replace("1,9", "1,9,").replace("bob,10.0.0.2,", "bob,10.0.0.2,4,");
        assert_eq!(text, format!("{expected}eve,,,7\n"));
        let why = "s.csv.journal:1: the change of `ann` is left out: s.csv has another line for it since";
        assert_eq!(notes, [why]);
        // Later changes start from the edited line.
        let next =
            line(&table(&typed, &lines).changes(&[set("ann", &[("class", "gold")])]).expect("it can be"));
        let (text, notes) = table(&typed, &(lines + &next)).merged().expect("a table");
        assert_eq!(
            rows(&text)["ann"].iter().map(|(column, value)| format!("{column} {value}")).collect::<Vec<_>>(),
            ["addresses 10.0.0.1", "class gold", "weight 9"]
        );
        assert_eq!(notes, [""; 0]);
    }

    #[test]
    fn a_bad_line_is_refused_with_its_location() {
        let good = line(&table(FILE, "").changes(&[set("ann", &[("weight", "3")])]).expect("it can be"));
        let unknown = good.replace("weight", "wieght");
        for (bad, column) in
            [("{}\n", 1), ("garbage\n", 1), ("[{\"name\":\"ann\"}]\n", 1), (&unknown, 1), ("\n", 1)]
        {
            let text = format!("{good}{bad}{good}");
            let error = Journal::read(SheetText { name: "j", text: &text }).expect_err("it is none");
            let place = error.location.as_ref().expect("a place");
            assert_eq!((place.source.as_str(), place.line, place.column), ("j", 2, column), "{bad}");
        }
    }

    #[test]
    fn repeated_edits_change_nothing_and_unknown_subscribers_are_refused() {
        let twice = set("eve", &[("weight", "3")]);
        let (lines, _) = after(FILE, std::slice::from_ref(&twice));
        assert_eq!(table(FILE, &lines).changes(&[twice]).expect("it can be"), []);
        let error = table(FILE, &lines).changes(&[("evw".into(), Edit::Remove)]).expect_err("none");
        assert!(error.to_string().contains("did you mean `eve`?"), "{error}");
        let error = table(FILE, "").changes(&[set("ann", &[("wieght", "3")])]).expect_err("no column");
        assert!(error.to_string().contains("did you mean `weight`?"), "{error}");
    }

    #[test]
    fn the_lines_before_and_after_form_complete_tables() {
        let edits = [set("ann", &[("class", "gold, \"x\"")]), ("bob".into(), Edit::Remove), set("eve", &[])];
        let changes = table(FILE, "").changes(&edits).expect("they can be made");
        assert_eq!(
            tables(&changes),
            [
                "name,addresses,class,weight\nann,10.0.0.1,,2\nbob,10.0.0.2,,\n",
                "name,addresses,class,weight\nann,10.0.0.1,\"gold, \"\"x\"\"\",2\neve,,,\n"
            ]
        );
    }
}
