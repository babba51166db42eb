//! `fairwire-gateway follow`: updates the column `leased` of the subscriber file from DHCP leases.

use super::client::{self, since_1970};
use super::radius;
use super::subscriber::{Beside, change_file, path_of};
use crate::args::FollowArgs;
use fairwire_control::protocol::{MAX_LEFT_OUT, Request};
use fairwire_datapath::classify::{Prefix, parse_mac};
use fairwire_document::{DocumentError, read_text, shortened};
use fairwire_service::config::table;
use fairwire_subscribers::edit::Edit;
use fairwire_subscribers::held::written;
use fairwire_subscribers::journal::Table;
use fairwire_subscribers::leases;
use fairwire_subscribers::leases::{LeaseText, Leases};
use fairwire_subscribers::sheet::read as read_sheet;
use fairwire_subscribers::sheet::{MAX_BYTES, SheetText};
use fairwire_terminal::failure::{Ending, Failure};
use fairwire_terminal::interrupt;
use fairwire_terminal::notice::notice;
use std::collections::{BTreeMap, HashMap};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

const LOOK: Duration = Duration::from_millis(500);
/// An unchanged file is read again after this many checks, because its leases may have expired.
const ENDS: u32 = 20;

pub(crate) fn follow(args: &FollowArgs) -> Result<Ending, Failure> {
    if let (Some(at), Some(secret_file)) = (args.radius, &args.secret_file) {
        return radius::serve(args, at, secret_file);
    }
    let path = path_of(&args.whom)?;
    let mut files: Vec<LeaseFile> = args.leases.iter().map(|path| LeaseFile::new(path)).collect();
    if let Some(file) = files.iter().find(|file| file.path.is_dir()) {
        return Err(Failure::user(
            format!("`--leases` is `{}`, but that is a folder", file.path.display()),
            "allowed: the lease file of dnsmasq or of Kea",
        ));
    }
    let stop = interrupt::flag();
    let (mut last_trouble, mut last_left_out) = (String::new(), None);
    for round in 0_u32.. {
        let mut has_changed = false;
        for file in &mut files {
            has_changed |= file.look();
        }
        if has_changed || round.is_multiple_of(ENDS) || args.once {
            let trouble = match put(args, &path, &mut files) {
                Ok(left_out) => {
                    report(args, left_out, &mut last_left_out);
                    String::new()
                }
                Err(failure) if args.once => return Err(failure),
                Err(failure) => words(failure),
            };
            if !trouble.is_empty() && trouble != last_trouble {
                notice(format_args!("{trouble}; the subscribers stay as they are"));
            }
            last_trouble = trouble;
        }
        if args.once || stop.load(Ordering::Relaxed) {
            break;
        }
        thread::sleep(LOOK);
    }
    Ok(Ending::Done)
}

fn report(args: &FollowArgs, left_out: Vec<String>, last: &mut Option<Vec<String>>) {
    let is_new = |line: &&String| !last.as_ref().is_some_and(|last| last.contains(line));
    left_out.iter().filter(is_new).for_each(|line| notice(format_args!("left out: {line}")));
    // The lines are sent even if unchanged, because the gateway may have restarted. Errors are
    // ignored: without a gateway there is no status.
    if !left_out.is_empty() || last.as_ref() != Some(&left_out) {
        let mut lines: Vec<String> =
            left_out.iter().take(MAX_LEFT_OUT).map(|line| line.chars().take(300).collect()).collect();
        if let Some(more) = left_out.len().checked_sub(MAX_LEFT_OUT).filter(|more| *more > 0) {
            lines.truncate(MAX_LEFT_OUT - 1);
            lines.push(format!("and {} more", more + 1));
        }
        let _ = client::answer(&args.whom, &Request::LeftOut { by: "follow".into(), lines });
    }
    *last = Some(left_out);
}

pub(crate) fn words(failure: Failure) -> String {
    match failure {
        Failure::Document(error) => error.to_string(),
        Failure::User { message, help } => format!("{message}; {help}"),
        Failure::Ours(message) => message,
    }
}

struct LeaseFile {
    path: PathBuf,
    seen: Option<FileStamp>,
    read: Option<FileStamp>,
    /// True if the file has unread content, unchanged at the last check.
    is_new: bool,
    text: Option<String>,
    /// The reason why the current file cannot be read.
    trouble: Option<String>,
}

/// Inode, modification time and size.
type FileStamp = (u64, i64, i64, u64);

impl LeaseFile {
    fn new(path: &Path) -> Self {
        LeaseFile { path: path.to_owned(), seen: None, read: None, is_new: false, text: None, trouble: None }
    }

    /// Updates and returns `is_new`. A changing file may be incomplete, so its content must be
    /// unchanged since the last check. A file that is briefly missing counts as unchanged.
    fn look(&mut self) -> bool {
        let of = |about: Metadata| (about.ino(), about.mtime(), about.mtime_nsec(), about.size());
        let now = self.path.metadata().ok().map(of);
        let is_still = now.is_some() && now == self.seen;
        self.seen = now;
        self.is_new = is_still && now != self.read;
        self.is_new
    }

    /// The leases in the file, or in its last readable text while the file is missing, invalid or
    /// being written.
    fn leases(&mut self, now_s: u64) -> Result<LeaseText, Failure> {
        let bad = |error: leases::BadLine| {
            Failure::user(format!("`{}`: {error}", self.path.display()), "it is read again when it changes")
        };
        if self.is_new || self.text.is_none() {
            (self.read, self.is_new) = (self.seen, false);
            let next = read_text(&self.path, MAX_BYTES, "the lease file of dnsmasq or of Kea")
                .map_err(Failure::from)
                .and_then(|text| leases::read(&text, now_s).map(|_| text).map_err(bad));
            self.trouble = match (next, &self.text) {
                (Ok(text), _) => {
                    self.text = Some(text);
                    None
                }
                (Err(failure), Some(_)) => Some(words(failure)),
                (Err(failure), None) => return Err(failure),
            };
        }
        leases::read(self.text.as_deref().unwrap_or_default(), now_s).map_err(bad)
    }
}

fn put(args: &FollowArgs, path: &Path, files: &mut [LeaseFile]) -> Result<Vec<String>, Failure> {
    let now_s = since_1970().as_secs();
    let (mut left_out, mut texts) = (Vec::new(), Vec::new());
    for file in files {
        let text = file.leases(now_s)?;
        let name = file.path.display().to_string();
        left_out.extend(file.trouble.clone());
        left_out.extend(text.bad.iter().map(|bad| format!("{name}: {bad}")));
        if text.nameless > 0 {
            left_out.push(format!("{name}: {} leases, of which no Ethernet address is known", text.nameless));
        }
        texts.push((name, text));
    }
    let (all, contradictions) = leases::joined(&texts);
    left_out.extend(contradictions);
    let of = |table: &Table| {
        let text = table.merged()?.0;
        changes(SheetText { name: table.name(), text: &text }, &all)
    };
    let mut done = of(&table(path)?)?;
    if !done.edits.is_empty() {
        // The file may have changed before we hold its lock, so the edits are chosen again.
        change_file(&args.whom, path, Beside::Nothing, &mut |table| {
            done = of(table)?;
            let edit = |(name, value): (&String, &(String, String))| {
                (name.clone(), Edit::Change(vec![value.clone()]))
            };
            Ok(done.edits.iter().map(edit).collect())
        })?;
    }
    for (name, (_, addresses)) in &done.edits {
        notice(format_args!("{name}: {}", if addresses.is_empty() { "no lease" } else { addresses }));
    }
    left_out.extend(done.left_out);
    Ok(left_out)
}

#[derive(Debug)]
struct Done {
    /// Changes of the column `leased`, by subscriber: the column's name and the new value.
    edits: BTreeMap<String, (String, String)>,
    /// Leases of addresses that the file gives to another subscriber, one per line.
    left_out: Vec<String>,
}

fn changes(sheet: SheetText<'_>, leases: &Leases) -> Result<Done, DocumentError> {
    let sheet = read_sheet(sheet)?;
    let rows = sheet.rows.iter();
    let typed: HashMap<Prefix, &str> = rows
        .flat_map(|row| sheet.prefixes(row, "addresses").map(|prefix| (prefix, row.name.as_str())))
        .collect();
    let mut done = Done { edits: BTreeMap::new(), left_out: Vec::new() };
    for row in &sheet.rows {
        let mac = parse_mac(sheet.value(row, "mac"));
        let mut addresses = Vec::new();
        for (prefix, place) in mac.and_then(|mac| leases.get(&mac)).into_iter().flatten() {
            match typed.get(prefix) {
                None => addresses.push(*prefix),
                Some(owner) if *owner == row.name => {}
                Some(owner) => done.left_out.push(format!(
                    "{place}: {} of `{}`, since it is typed for `{}`",
                    written(prefix),
                    shortened(&row.name),
                    shortened(owner)
                )),
            }
        }
        if !sheet.prefixes(row, "leased").eq(addresses.iter().copied()) {
            let addresses: Vec<String> = addresses.iter().map(written).collect();
            done.edits.insert(row.name.clone(), ("leased".to_owned(), addresses.join(" ")));
        }
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_leases_are_written_and_ended_ones_removed() {
        let text = "name,mac,addresses,leased\n\
                    ann,02:00:00:00:00:01,,10.0.0.1\n\
                    bob,02:00:00:00:00:02,10.9.0.1,\n\
                    eve,02:00:00:00:00:03,,10.0.0.3\n\
                    zoe,,10.9.0.2/32,\n";
        let leases = leases::read(
            "0 02:00:00:00:00:01 10.0.0.1 * *\n0 02:00:00:00:00:02 10.0.0.2 * *\n0 02:00:00:00:00:02 10.9.0.2 * *\n\
             0 02:00:00:00:00:02 10.9.0.1 * *\n",
            1,
        )
        .unwrap();
        let (leases, _) = leases::joined(&[("d".to_owned(), leases)]);
        let changes = changes(SheetText { name: "s.csv", text }, &leases).unwrap();
        assert_eq!(changes.left_out, ["d:3: 10.9.0.2 of `bob`, since it is typed for `zoe`"]);
        let all: Vec<(&str, &str)> =
            changes.edits.iter().map(|(name, (_, value))| (name.as_str(), value.as_str())).collect();
        assert_eq!(all, [("bob", "10.0.0.2"), ("eve", "")]);
    }
}
