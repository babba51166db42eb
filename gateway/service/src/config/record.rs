//! The subscriber file, and the journal of changes next to it.

use fairwire_document::{DocumentError, Problem, read_text};
use fairwire_subscribers::journal::Table;
use fairwire_subscribers::sheet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Reads the text of a file. The number is the limit in bytes; the last argument describes the
/// expected file.
pub(crate) type ReadFile<'a> = dyn FnMut(&Path, u64, &'static str) -> Result<String, DocumentError> + 'a;

/// The subscriber file at `path`, with its journal.
///
/// # Errors
/// If either file cannot be read.
pub fn table(path: &Path) -> Result<Table, DocumentError> {
    table_by(path, "a table of subscribers in CSV", &mut |path, limit, wanted| read_text(path, limit, wanted))
}

/// The number of attempts to read a file and its matching journal while another process replaces
/// them.
const TRIES: usize = 10;

pub(super) fn table_by(
    path: &Path,
    wanted: &'static str,
    read: &mut ReadFile<'_>,
) -> Result<Table, DocumentError> {
    let journal = journal_of(path);
    let mut before = lines(&journal, read)?;
    for _ in 0..TRIES {
        let text = read(path, sheet::MAX_BYTES, wanted)?;
        // If the journal changed, the text may belong to another version of the file, and is read
        // again.
        let after = lines(&journal, read)?;
        if before == after {
            let name = |path: &Path| path.display().to_string();
            return Table::new((name(path), text), (name(&journal), after));
        }
        before = after;
    }
    Err(Problem::Unreadable { path: path.into(), cause: ErrorKind::ResourceBusy.into() }.into())
}

/// The maximum length of a journal, in bytes: enough to change every line of the longest file.
pub const MAX_JOURNAL: u64 = 4 * sheet::MAX_BYTES;

fn lines(journal: &Path, read: &mut ReadFile<'_>) -> Result<String, DocumentError> {
    match read(journal, MAX_JOURNAL, "a journal of changes of subscribers") {
        Err(DocumentError { problem: Problem::NotFound { .. }, .. }) => Ok(String::new()),
        other => other,
    }
}

/// The path of the journal of the subscriber file at `path`: next to the linked file if `path` is a
/// link.
pub fn journal_of(path: &Path) -> PathBuf {
    let mut name = path.canonicalize().unwrap_or_else(|_| path.to_owned()).into_os_string();
    name.push(".journal");
    name.into()
}

pub(crate) fn is_of(file: &Path, path: &Path) -> bool {
    file == path || file == journal_of(path)
}
