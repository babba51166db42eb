//! `fairwire-gateway follow`: the column `leased` of the subscriber file follows the leases of DHCP
//! servers, by the Ethernet addresses of subscribers.

use super::client::since_1970;
use super::radius;
use super::subscriber::{change_file, path_of};
use crate::args::FollowArgs;
use fairwire_datapath::classify::parse_mac;
use fairwire_document::read_text;
use fairwire_subscribers::edit::{Edit, edited};
use fairwire_subscribers::leases;
use fairwire_subscribers::leases::Leases;
use fairwire_subscribers::sheet::read as read_sheet;
use fairwire_subscribers::sheet::{MAX_BYTES, SheetText};
use fairwire_terminal::failure::{Ending, Failure};
use fairwire_terminal::interrupt;
use fairwire_terminal::notice::notice;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

/// The interval at which files are looked at.
const LOOK: Duration = Duration::from_millis(500);
/// Leases end by themselves, and this often it is found out.
const ENDS: u32 = 20;

/// Follows until it is stopped.
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
    let mut last_trouble = String::new();
    for round in 0_u32.. {
        let mut has_changed = false;
        for file in &mut files {
            has_changed |= file.look();
        }
        if has_changed || round.is_multiple_of(ENDS) || args.once {
            let trouble = match put(args, &path, &mut files) {
                Ok(()) => String::new(),
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

/// What is wrong, in a line.
pub(crate) fn words(failure: Failure) -> String {
    match failure {
        Failure::Document(error) => error.to_string(),
        Failure::User { message, help } => format!("{message}; {help}"),
        Failure::Ours(message) => message,
    }
}

/// A file with leases.
struct LeaseFile {
    path: PathBuf,
    /// What it was when it was looked at last.
    seen: Option<Seen>,
    /// What it was when it was read last.
    read: Option<Seen>,
    /// Is it another now, and no server is writing it?
    is_new: bool,
    text: String,
}

/// Another value is another content.
type Seen = (u64, i64, i64, u64);

impl LeaseFile {
    fn new(path: &Path) -> Self {
        LeaseFile { path: path.to_owned(), seen: None, read: None, is_new: false, text: String::new() }
    }

    /// Has it another content, which has been the same for two looks? A server may be writing it.
    /// A file that is gone for a moment is as it was.
    fn look(&mut self) -> bool {
        let of = |about: Metadata| (about.ino(), about.mtime(), about.mtime_nsec(), about.size());
        let now = self.path.metadata().ok().map(of);
        let is_still = now.is_some() && now == self.seen;
        self.seen = now;
        self.is_new = is_still && now != self.read;
        self.is_new
    }

    /// Its leases; those that were read last where it is being written, or is not there now.
    fn leases(&mut self, now_s: u64) -> Result<Leases, Failure> {
        if self.is_new || self.read.is_none() {
            self.text = read_text(&self.path, MAX_BYTES, "the lease file of dnsmasq or of Kea")?;
            (self.read, self.is_new) = (self.seen, false);
        }
        leases::read(&self.text, now_s).map_err(|error| {
            Failure::user(format!("`{}`: {error}", self.path.display()), "it is read again when it changes")
        })
    }
}

/// Puts the leases in the subscriber file, where they are others than there.
fn put(args: &FollowArgs, path: &Path, files: &mut [LeaseFile]) -> Result<(), Failure> {
    let now_s = since_1970().as_secs();
    let mut all = Leases::new();
    for file in files {
        for (mac, addresses) in file.leases(now_s)? {
            all.entry(mac).or_default().extend(addresses);
        }
    }
    let name = path.display().to_string();
    let before = read_text(path, MAX_BYTES, "a table of subscribers in CSV")?;
    if changes(SheetText { name: &name, text: &before }, &all)?.is_empty() {
        return Ok(());
    }
    // It may be another by the time that it is ours to write.
    let mut done = BTreeMap::new();
    change_file(&args.whom, path, &mut |sheet| {
        done = changes(sheet, &all)?;
        let edits: Vec<(&str, Edit<'_>)> = done
            .iter()
            .map(|(name, value)| (name.as_str(), Edit::Change(std::slice::from_ref(value))))
            .collect();
        edited(sheet, &edits)
    })?;
    for (name, (_, addresses)) in &done {
        notice(format_args!("{name}: {}", if addresses.is_empty() { "no lease" } else { addresses }));
    }
    Ok(())
}

/// The values of the column `leased` that differ from those of the file, by subscriber. An address
/// that the file gives to another is left out.
fn changes(
    sheet: SheetText<'_>,
    leases: &Leases,
) -> Result<BTreeMap<String, (String, String)>, fairwire_document::DocumentError> {
    let sheet = read_sheet(sheet)?;
    let typed: BTreeSet<&str> =
        sheet.rows.iter().flat_map(|row| sheet.value(row, "addresses").split_whitespace()).collect();
    let mut changes = BTreeMap::new();
    for row in &sheet.rows {
        let mac = parse_mac(sheet.value(row, "mac"));
        let addresses = mac.and_then(|mac| leases.get(&mac)).into_iter().flatten().map(ToString::to_string);
        let addresses: Vec<String> = addresses.filter(|address| !typed.contains(address.as_str())).collect();
        let addresses = addresses.join(" ");
        if addresses != sheet.value(row, "leased") {
            changes.insert(row.name.clone(), ("leased".to_owned(), addresses));
        }
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leases_are_put_where_they_differ_and_taken_where_they_end() {
        let text = "name,mac,addresses,leased\n\
                    ann,02:00:00:00:00:01,,10.0.0.1\n\
                    bob,02:00:00:00:00:02,10.9.0.1,\n\
                    eve,02:00:00:00:00:03,,10.0.0.3\n\
                    zoe,,10.9.0.2,\n";
        let leases = leases::read(
            "0 02:00:00:00:00:01 10.0.0.1 * *\n0 02:00:00:00:00:02 10.0.0.2 * *\n0 02:00:00:00:00:02 10.9.0.2 * *\n",
            1,
        )
        .unwrap();
        let changes = changes(SheetText { name: "s.csv", text }, &leases).unwrap();
        let all: Vec<(&str, &str)> =
            changes.iter().map(|(name, (_, value))| (name.as_str(), value.as_str())).collect();
        assert_eq!(all, [("bob", "10.0.0.2"), ("eve", "")]);
    }
}
