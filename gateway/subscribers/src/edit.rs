//! Adds, changes or removes subscribers in the text of the subscriber file. All other lines stay as
//! they are.

use crate::sheet::{COLUMNS, Sheet, SheetText, SubscriberRow, read_names};
use fairwire_document::{DocumentError, Problem};
use std::collections::{BTreeMap, HashMap};

/// A change to one subscriber.
#[derive(Clone, Debug)]
pub enum Edit {
    /// Sets these columns to these values, and keeps all other columns. Creates the subscriber if
    /// it is missing.
    Set(Vec<(String, String)>),
    /// Sets these values of an existing subscriber.
    Change(Vec<(String, String)>),
    /// Removes the subscriber.
    Remove,
}

/// The text of `source` with each of `edits` applied to its subscriber. The resulting subscribers
/// may be invalid.
///
/// # Errors
/// If the file cannot be read, a column does not exist, or a subscriber to change or remove does
/// not exist.
pub fn edited(source: SheetText<'_>, edits: &[(String, Edit)]) -> Result<String, DocumentError> {
    let sheet = read_names(source)?;
    let columns = columns(&sheet, edits)?;
    let places: HashMap<&str, usize> = sheet.rows.iter().map(|row| row.name.as_str()).zip(0..).collect();
    // `None` for a removed row.
    let mut changed: HashMap<usize, Option<Vec<String>>> = HashMap::new();
    let mut new: Vec<Vec<String>> = Vec::new();
    for (name, edit) in edits {
        match (edit, places.get(name.as_str())) {
            (Edit::Set(values) | Edit::Change(values), Some(place)) => {
                let text = &source.text[sheet.rows[*place].at.clone()];
                let values_of = || Some(padded(fields(text), columns.len()));
                if let Some(record) = changed.entry(*place).or_insert_with(values_of) {
                    put(record, &columns, values);
                }
            }
            (Edit::Remove, Some(place)) => {
                changed.insert(*place, None);
            }
            (Edit::Set(values), None) => {
                let mut record = padded(Vec::new(), columns.len());
                put(&mut record, &columns, &[("name".to_owned(), name.clone())]);
                put(&mut record, &columns, values);
                new.push(record);
            }
            (Edit::Change(_) | Edit::Remove, None) => return Err(unknown(&sheet, name)),
        }
    }
    Ok(joined(source.text, &sheet, &columns, &changed, &new))
}

fn columns<'a>(sheet: &Sheet<'_>, edits: &'a [(String, Edit)]) -> Result<Vec<&'a str>, DocumentError> {
    let mut columns: Vec<&'a str> = sheet.columns.iter().map(|column| COLUMNS[*column]).collect();
    for (_, edit) in edits {
        let (Edit::Set(values) | Edit::Change(values)) = edit else { continue };
        for (column, _) in values {
            if !COLUMNS.contains(&column.as_str()) {
                let (given, allowed) = (column.clone(), COLUMNS.map(String::from).into());
                return Err(fault(Problem::Unknown { what: "column", given, allowed }));
            }
            if !columns.contains(&column.as_str()) {
                columns.push(column);
            }
        }
    }
    Ok(columns)
}

pub(crate) fn values_of(sheet: &Sheet<'_>, row: &SubscriberRow) -> BTreeMap<String, String> {
    let columns = sheet.columns.iter().map(|column| COLUMNS[*column]);
    let all = columns.zip(fields(&sheet.source.text[row.at.clone()]));
    let typed = all.filter(|(column, value)| *column != "name" && !value.is_empty());
    typed.map(|(column, value)| (column.to_owned(), value)).collect()
}

fn put(record: &mut [String], columns: &[&str], values: &[(String, String)]) {
    for (column, value) in values {
        if let Some(place) = columns.iter().position(|known| known == column) {
            record[place].clone_from(value);
        }
    }
}

fn padded(mut record: Vec<String>, length: usize) -> Vec<String> {
    record.resize(length, String::new());
    record
}

fn joined(
    text: &str,
    sheet: &Sheet<'_>,
    columns: &[&str],
    changed: &HashMap<usize, Option<Vec<String>>>,
    new: &[Vec<String>],
) -> String {
    let more = &columns[sheet.columns.len()..];
    let mut joined = String::with_capacity(text.len() + 64);
    joined += &text[..sheet.head.end];
    more.iter().for_each(|column| joined.extend([",", column]));
    let mut from = sheet.head.end;
    for (place, row) in sheet.rows.iter().enumerate() {
        joined += &text[from..row.at.start];
        from = row.at.end;
        match changed.get(&place) {
            None => {
                joined += &text[row.at.clone()];
                joined.extend(more.iter().map(|_| ","));
            }
            Some(Some(record)) => joined += &written(record),
            Some(None) => from += text[from..].find('\n').map_or(text.len() - from, |at| at + 1),
        }
    }
    joined += &text[from..];
    for record in new {
        if !joined.ends_with('\n') {
            joined.push('\n');
        }
        joined += &written(record);
        joined.push('\n');
    }
    joined
}

fn fields(line: &str) -> Vec<String> {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).trim(csv::Trim::All).from_reader(line.as_bytes());
    let record = reader.records().next().and_then(Result::ok).unwrap_or_default();
    record.iter().map(String::from).collect()
}

pub(crate) fn written(record: &[String]) -> String {
    let mut writer = csv::WriterBuilder::new().from_writer(Vec::new());
    let bytes = writer.write_record(record).ok().and_then(|()| writer.into_inner().ok()).unwrap_or_default();
    String::from_utf8_lossy(&bytes).trim_end_matches('\n').to_owned()
}

fn unknown(sheet: &Sheet<'_>, name: &str) -> DocumentError {
    let allowed = sheet.rows.iter().map(|row| row.name.clone()).collect();
    fault(Problem::Unknown { what: "subscriber", given: name.into(), allowed })
}

fn fault(problem: Problem) -> DocumentError {
    DocumentError { problem, location: None, more: Box::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::read;

    const TEXT: &str = "# ours\nname, addresses,weight\n\nann,10.0.0.1,2\n# a comment\n\"bob, sen.\",\"10.0.0.2 10.0.0.3\",\nzoe,10.0.0.4,1";

    fn after(name: &str, edit: Edit) -> Result<String, String> {
        edited(SheetText { name: "s.csv", text: TEXT }, &[(name.into(), edit)])
            .map_err(|error| error.problem.to_string())
    }

    fn values(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(column, value)| ((*column).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn an_edit_changes_only_its_line() {
        let text = after("bob, sen.", Edit::Change(values(&[("weight", "3")]))).unwrap();
        assert_eq!(
            text,
            TEXT.replace("10.0.0.3\",", "10.0.0.3\",3").replace("\"10.0.0.2 10.0.0.3\"", "10.0.0.2 10.0.0.3")
        );
        let text = after("ann", Edit::Set(values(&[("weight", ""), ("addresses", "10.0.0.9")]))).unwrap();
        assert_eq!(text, TEXT.replace("ann,10.0.0.1,2", "ann,10.0.0.9,"));
    }

    #[test]
    fn a_subscriber_is_added_at_the_end_and_removed_with_its_line() {
        let text = after("max", Edit::Set(values(&[("addresses", "10.0.0.8")]))).unwrap();
        assert_eq!(text, format!("{TEXT}\nmax,10.0.0.8,\n"));
        assert_eq!(after("ann", Edit::Remove).unwrap(), TEXT.replace("ann,10.0.0.1,2\n", ""));
        assert_eq!(after("zoe", Edit::Remove).unwrap(), TEXT.replace("zoe,10.0.0.4,1", ""));
    }

    #[test]
    fn a_missing_column_is_added_to_every_line() {
        let text = after("ann", Edit::Change(values(&[("suspended", "yes")]))).unwrap();
        let sheet = read(SheetText { name: "s.csv", text: &text }).unwrap();
        let all: Vec<(&str, bool)> =
            sheet.rows.iter().map(|row| (row.name.as_str(), row.is_suspended)).collect();
        assert_eq!(all, [("ann", true), ("bob, sen.", false), ("zoe", false)], "{text}");
        assert!(text.contains("# a comment\n"), "{text}");
    }

    #[test]
    fn several_edits_are_applied_together() {
        let (two, three) = (values(&[("weight", "2")]), values(&[("vlan", "3")]));
        let edits = [
            ("ann", Edit::Remove),
            ("zoe", Edit::Change(two)),
            ("zoe", Edit::Change(three.clone())),
            ("max", Edit::Set(three)),
        ]
        .map(|(name, edit)| (name.to_owned(), edit));
        let text = edited(SheetText { name: "s.csv", text: TEXT }, &edits).unwrap();
        let expected = TEXT
            .replace("addresses,weight", "addresses,weight,vlan")
            .replace("ann,10.0.0.1,2\n", "")
            .replace("10.0.0.3\",", "10.0.0.3\",,")
            .replace("zoe,10.0.0.4,1", "zoe,10.0.0.4,2,3\nmax,,,3\n");
        assert_eq!(text, expected);
    }

    #[test]
    fn edits_of_unknown_subscribers_and_columns_are_refused() {
        let refused = |name, edit| after(name, edit).unwrap_err();
        assert!(refused("nan", Edit::Remove).contains("subscriber"), "{}", refused("nan", Edit::Remove));
        assert!(refused("nan", Edit::Change(Vec::new())).contains("`nan`"));
        let rows: String = (0..20_000).map(|row| format!("line-{row},\n")).collect();
        let text = format!("name,addresses\n{rows}");
        let sheet = SheetText { name: "s.csv", text: &text };
        let message = edited(sheet, &[("Line-1234".into(), Edit::Remove)]).unwrap_err().to_string();
        assert!(message.contains("did you mean `line-1234`?") && message.len() < 300, "{message}");
        let error = refused("ann", Edit::Set(values(&[("wieght", "2")])));
        assert!(error.contains("column") && error.contains("wieght"), "{error}");
    }
}
