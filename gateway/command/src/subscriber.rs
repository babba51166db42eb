//! `fairwire-gateway subscriber`: one subscriber added, changed, suspended or removed in the
//! subscriber file, and the running gateway reads it.

use super::client;
use crate::args::{SubscriberArgs, SubscriberCommand, WhomArgs};
use fairwire_control::client::{RequestError, send};
use fairwire_control::handed::Handed;
use fairwire_control::protocol::{Answer, Request};
use fairwire_document::{DocumentError, read_text};
use fairwire_service::config::Config;
use fairwire_service::service::{files_of, socket_of};
use fairwire_subscribers::edit::{Edit, edited};
use fairwire_subscribers::sheet::{MAX_BYTES, SheetText};
use fairwire_terminal::failure::{Ending, Failure};
use fairwire_terminal::print::print;
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};

/// Carries out the command.
pub(crate) fn subscriber(command: &SubscriberCommand) -> Result<Ending, Failure> {
    let is_suspended = |value: &str| [("suspended".to_owned(), value.to_owned())];
    match command {
        SubscriberCommand::Set { args, values } => change(args, Edit::Set(values)),
        SubscriberCommand::Suspend(args) => change(args, Edit::Change(&is_suspended("yes"))),
        SubscriberCommand::Resume(args) => change(args, Edit::Change(&is_suspended("no"))),
        SubscriberCommand::Remove(args) => change(args, Edit::Remove),
    }
}

fn change(SubscriberArgs { whom, name }: &SubscriberArgs, edit: Edit<'_>) -> Result<Ending, Failure> {
    let file = path_of(whom)?;
    match change_file(whom, &file, Beside::Nothing, &mut |sheet| edited(sheet, &[(name, edit)]))? {
        Some(answer) => client::print(&answer),
        None => {
            let line = format!("written to {}; no gateway runs, and the next one reads it\n", file.display());
            print(line.as_bytes())?;
            Ok(Ending::Done)
        }
    }
}

/// The subscriber file of a configuration. Nothing else of it is read.
pub(crate) fn path_of(whom: &WhomArgs) -> Result<PathBuf, Failure> {
    socket_of(&whom.config)?; // can it be read at all?
    files_of(&whom.config).into_iter().nth(1).ok_or_else(|| {
        Failure::user(
            format!("`{}` has no subscribers", whom.config.display()),
            "allowed: a configuration with a table `[subscribers]` and its `file`",
        )
    })
}

/// What changes beside the subscriber file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beside {
    /// Nothing: the lines that change are enough for the gateway, where none is new or gone.
    Nothing,
    /// The configuration.
    Configuration,
}

/// Has the gateway read what `edit` makes of the subscriber file at `path`, and puts that in its
/// place. Returns the gateway's answer; none where no gateway runs, and the file is checked here.
/// Where it is refused, the file stays as it is.
pub(crate) fn change_file(
    whom: &WhomArgs,
    path: &Path,
    beside: Beside,
    edit: &mut dyn FnMut(SheetText<'_>) -> Result<String, DocumentError>,
) -> Result<Option<Answer>, Failure> {
    let cannot = |error: io::Error| {
        let help = "allowed: a file that you may write, in a folder that you may write to";
        Failure::user(format!("`{}` cannot be changed: {error}", path.display()), help)
    };
    // Other writers wait. One that came before may have put another file in its place.
    let (file, kept) = loop {
        let file = File::open(path).map_err(cannot)?;
        file.lock().map_err(cannot)?;
        let kept = file.metadata().map_err(cannot)?;
        if path.metadata().is_ok_and(|now| now.ino() == kept.ino()) {
            break (file, kept);
        }
    };
    let before = read_text(path, MAX_BYTES, "a table of subscribers in CSV")?;
    let name = path.display().to_string();
    let socket = whom.socket.clone().map_or_else(|| socket_of(&whom.config), Ok)?;
    let after = edit(SheetText { name: &name, text: &before })?;
    let next = NextFile::written(path, &after, &kept).map_err(cannot)?;
    let sheet = std::path::absolute(path).map_err(cannot)?;
    let with_next = client::reload_with(&whom.config, true, |path| match path == sheet {
        true => File::open(next.file.path()),
        false => File::open(path),
    });
    let checked = || Config::load_edited(&whom.config, &[(path, &after)]);
    let changed = of_changes(&before, &after).map_err(cannot)?;
    let answered = match changed
        .filter(|_| beside == Beside::Nothing)
        .map(|handed| send(&socket, &Request::Subscribers { handed }))
    {
        Some(answered @ (Ok(Answer::Reloaded(_)) | Err(_))) => answered,
        _ => send(&socket, &with_next),
    };
    let answer = match answered {
        Ok(Answer::Refused { message }) => {
            checked()?; // where the file is wrong, its place is shown
            return Err(Failure::user(message, format!("`{name}` stays as it is")));
        }
        Ok(answer) => Ok(Some(answer)),
        Err(RequestError::Silent { source, .. }) if is_of_no_gateway(&source) => {
            checked().map(|_| Ok(None))?
        }
        Err(error) => checked().map(|_| {
            Err(client::silent(format!(
                "`{name}` is written, but whether the gateway has read it is not known: {error}"
            )))
        })?,
    };
    if let Err(error) = next.put_in_place() {
        // The file is the record: the gateway does what it says, again.
        let _ = send(&socket, &client::reload_with(&whom.config, true, |path| File::open(path)));
        return Err(cannot(error));
    }
    drop(file);
    answer
}

/// Two tables, open: the lines of `before` that are others in `after`, and those in their place. `None`
/// where lines are new or gone, or columns are, or nothing changes.
fn of_changes(before: &str, after: &str) -> io::Result<Option<Handed>> {
    let (mut tables, mut is_first, mut is_same) = ([String::new(), String::new()], true, true);
    let (mut old, mut new) = (before.lines(), after.lines());
    loop {
        let (was, is) = match (old.next(), new.next()) {
            (Some(was), Some(is)) => (was, is),
            (None, None) => break,
            _ => return Ok(None),
        };
        let is_head = is_first && !is.trim().is_empty() && !is.starts_with('#');
        if is_head && was != is {
            return Ok(None);
        }
        is_first &= !is_head;
        is_same &= was == is;
        if is_head || was != is {
            for (table, line) in tables.iter_mut().zip([was, is]) {
                *table += line;
                table.push('\n');
            }
        }
    }
    if is_same {
        return Ok(None);
    }
    let opened = tables.map(|table| {
        let mut file = tempfile::tempfile()?;
        file.write_all(table.as_bytes())?;
        Ok(OwnedFd::from(file))
    });
    let opened: io::Result<Handed> = opened.into_iter().collect();
    opened.map(Some)
}

/// Is nothing at the socket, or a socket at which no process listens?
fn is_of_no_gateway(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

/// What is to be in the place of a file: beside it until then, and gone if it never is.
pub(crate) struct NextFile {
    file: tempfile::NamedTempFile,
    place: PathBuf,
}

impl NextFile {
    /// A file with `text` beside that at `path`, with the owner and the rights of `like`. What a
    /// writer left that was killed goes: the caller has the lock of all writers.
    pub(crate) fn written(path: &Path, text: &str, like: &Metadata) -> io::Result<Self> {
        // Where it is a link, what it leads to is replaced.
        let place = path.canonicalize()?;
        let folder = place.parent().unwrap_or(Path::new("."));
        let prefix = format!(".{}.new-", place.file_name().unwrap_or_default().display());
        for left in fs::read_dir(folder)?.flatten() {
            if left.file_name().to_string_lossy().starts_with(&prefix) {
                fs::remove_file(left.path())?;
            }
        }
        let mut file = tempfile::Builder::new().prefix(&prefix).tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().set_permissions(like.permissions())?;
        match fchown(file.as_file(), Some(like.uid()), Some(like.gid())) {
            Ok(()) => {}
            // It is ours, then, as whatever we write.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            Err(error) => return Err(error),
        }
        file.as_file().sync_all()?;
        Ok(NextFile { file, place })
    }

    /// Whole or not at all.
    pub(crate) fn put_in_place(self) -> io::Result<()> {
        self.file.persist(self.place)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_that_change_are_found_where_none_is_new_and_no_column_is() {
        let tables = |before: &str, after: &str| {
            let handed = of_changes(before, after).expect("a temporary file")?;
            Some([0, 1].map(|place: usize| {
                let file = handed.file(place).expect("a descriptor").expect("two");
                fairwire_document::read_open(&file, Path::new("table"), MAX_BYTES, "lines").expect("text")
            }))
        };
        let before = "# ours\nname,weight\nann,1\n# of bob\nbob,2\nzoe,3\n";
        let found = tables(before, &before.replace("bob,2", "bob,4").replace("zoe,3", "zoe,5"));
        let expected = ["name,weight\nbob,2\nzoe,3\n", "name,weight\nbob,4\nzoe,5\n"];
        assert_eq!(found, Some(expected.map(String::from)));
        assert_eq!(tables(before, before), None);
        assert_eq!(tables(before, &format!("{before}max,1\n")), None);
        assert_eq!(tables(before, &before.replace("zoe,3\n", "")), None);
        assert_eq!(tables(before, &before.replace("weight", "vlan")), None);
    }

    #[test]
    fn what_a_killed_writer_left_goes_and_that_of_another_file_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let sheet = folder.path().join("plans.csv");
        for name in ["plans.csv", ".plans.csv.new-Ab3dE6", ".others.csv.new-Ab3dE6"] {
            fs::write(folder.path().join(name), "name,addresses\n").expect("the folder is ours");
        }
        let like = fs::metadata(&sheet).expect("it is there");
        let next = NextFile::written(&sheet, "name,addresses\nann,10.0.0.1\n", &like).expect("it may be");
        next.put_in_place().expect("it may be");
        let mut names: Vec<String> = fs::read_dir(folder.path())
            .expect("it is there")
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        assert_eq!(names, [".others.csv.new-Ab3dE6", "plans.csv"]);
    }
}
