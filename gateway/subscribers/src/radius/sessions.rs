//! What requests make of the subscriber file.
//!
//! The file is the record: its column `leased` has the addresses of open sessions. What is kept
//! here beside it is which session has which of them, so that the end of one takes no address away
//! that another has. After a restart that is learnt again from the reports that access servers send
//! while sessions go on.

use super::{ErrorCause, Purpose, Request};
use crate::sheet::{Row, Sheet};
use fairwire_core::Rate;
use fairwire_datapath::classify::parse_mac;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The most sessions that are kept. The end of another takes the addresses away that it names.
const MAX_SESSIONS: usize = 1_000_000;

/// Server and session.
type Key = (String, String);
/// The sessions of a subscriber, and their addresses.
type Open = BTreeMap<Key, Vec<String>>;

/// The open sessions.
#[derive(Clone, Debug, Default)]
pub struct Sessions {
    /// By the name of the subscriber.
    open: HashMap<String, Open>,
    count: usize,
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Whether it is done, and why not.
    pub answer: Result<(), ErrorCause>,
    /// What to say of it; empty where there is nothing new.
    pub line: String,
}

/// What several requests make of the file.
#[derive(Debug, Default)]
pub struct Batch {
    /// Of each subscriber that changes its new values, each with the name of its column.
    pub edits: BTreeMap<String, Vec<(String, String)>>,
    /// By request.
    pub outcomes: Vec<Outcome>,
    /// The sessions of the subscribers that were named.
    open: BTreeMap<String, Open>,
}

impl Sessions {
    /// What `requests`, in this order, make of `sheet`. Nothing is changed before
    /// [`commit`](Sessions::commit).
    pub fn batch(&self, sheet: &Sheet<'_>, requests: &[Request]) -> Batch {
        let mut work = Work::new(self, sheet);
        let outcomes = requests.iter().map(|request| work.take(request)).collect();
        Batch { outcomes, edits: work.edits(), open: work.open }
    }

    /// The batch is in the file.
    pub fn commit(&mut self, batch: Batch) {
        for (name, open) in batch.open {
            let before = self.open.remove(&name).map_or(0, |open| open.len());
            self.count -= before;
            if !open.is_empty() && self.count + open.len() <= MAX_SESSIONS {
                self.count += open.len();
                self.open.insert(name, open);
            }
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }
}

/// The file while requests change it.
struct Work<'a> {
    sessions: &'a Sessions,
    sheet: &'a Sheet<'a>,
    by_name: HashMap<&'a str, &'a Row>,
    by_mac: HashMap<[u8; 6], &'a Row>,
    /// Addresses that are typed in the file.
    typed: BTreeSet<&'a str>,
    /// Which subscriber has a leased address.
    owners: HashMap<String, &'a str>,
    leased: BTreeMap<&'a str, Vec<String>>,
    others: BTreeMap<&'a str, BTreeMap<&'static str, String>>,
    open: BTreeMap<String, Open>,
}

fn done(line: String) -> Outcome {
    Outcome { answer: Ok(()), line }
}

fn refused(cause: ErrorCause, line: String) -> Outcome {
    Outcome { answer: Err(cause), line }
}

impl<'a> Work<'a> {
    fn new(sessions: &'a Sessions, sheet: &'a Sheet<'a>) -> Self {
        let of = |column: &'static str| {
            sheet.rows.iter().flat_map(move |row| {
                sheet.value(row, column).split_whitespace().map(move |value| (value, row.name.as_str()))
            })
        };
        Work {
            sessions,
            sheet,
            by_name: sheet.rows.iter().map(|row| (row.name.as_str(), row)).collect(),
            by_mac: sheet
                .rows
                .iter()
                .filter_map(|row| Some((parse_mac(sheet.value(row, "mac"))?, row)))
                .collect(),
            typed: of("addresses").map(|(address, _)| address).collect(),
            owners: of("leased").map(|(address, name)| (address.to_owned(), name)).collect(),
            leased: BTreeMap::new(),
            others: BTreeMap::new(),
            open: BTreeMap::new(),
        }
    }

    fn take(&mut self, request: &Request) -> Outcome {
        match &request.purpose {
            Purpose::Noted => return done(String::new()),
            Purpose::AllEnded => return self.end_all(&request.server),
            _ => {}
        }
        let by_name = request.user.as_deref().and_then(|user| self.by_name.get(user));
        let row = by_name.or_else(|| self.by_mac.get(request.mac.as_ref()?)).copied();
        let Some(row) = row else {
            let user = request.user.as_deref().unwrap_or("");
            let line = format!("no subscriber is called `{}`", fairwire_document::shortened(user));
            let is_report = matches!(request.purpose, Purpose::Began | Purpose::Ended);
            return if is_report { done(line) } else { refused(ErrorCause::NoSession, line) };
        };
        match &request.purpose {
            Purpose::Began => self.begin(row, request),
            Purpose::Ended => self.end(row, request),
            Purpose::Disconnect => {
                let addresses = self.leased(row).clone();
                self.open(row).clear();
                self.give_back(row, &addresses);
                done(format!("{}: disconnected", row.name))
            }
            Purpose::Change { filter, ceilings_bps, unsupported } => {
                self.change(row, filter.as_deref(), *ceilings_bps, *unsupported)
            }
            Purpose::Noted | Purpose::AllEnded => done(String::new()),
        }
    }

    /// The addresses that the subscriber has by its sessions.
    fn leased(&mut self, row: &'a Row) -> &mut Vec<String> {
        let sheet = self.sheet;
        let of_file = || sheet.value(row, "leased").split_whitespace().map(String::from).collect();
        self.leased.entry(&row.name).or_insert_with(of_file)
    }

    fn open(&mut self, row: &Row) -> &mut Open {
        let before = || self.sessions.open.get(&row.name).cloned().unwrap_or_default();
        self.open.entry(row.name.clone()).or_insert_with(before)
    }

    fn begin(&mut self, row: &'a Row, request: &Request) -> Outcome {
        if request.addresses.is_empty() {
            return done(String::new());
        }
        let before = self.open(row).insert(key(request), request.addresses.clone()).unwrap_or_default();
        self.give_back(row, &before);
        let mut taken = Vec::new();
        for address in &request.addresses {
            if self.typed.contains(address.as_str()) {
                continue;
            }
            let owner = self.owners.insert(address.clone(), &row.name);
            if owner == Some(row.name.as_str()) {
                continue;
            }
            if let Some(other) = owner.and_then(|owner| self.by_name.get(owner).copied()) {
                self.leased(other).retain(|known| known != address);
            }
            self.leased(row).push(address.clone());
            taken.push(address.as_str());
        }
        done(if taken.is_empty() { String::new() } else { format!("{}: {}", row.name, taken.join(" ")) })
    }

    fn end(&mut self, row: &'a Row, request: &Request) -> Outcome {
        let known = self.open(row).remove(&key(request));
        let mut addresses = request.addresses.clone();
        match known {
            Some(known) => addresses.extend(known),
            // A session of which nothing is known, not even by its end.
            None if addresses.is_empty() => addresses = self.leased(row).clone(),
            None => {}
        }
        let count = self.leased(row).len();
        self.give_back(row, &addresses);
        let has_changed = self.leased(row).len() < count;
        done(if has_changed { format!("{}: a session ended", row.name) } else { String::new() })
    }

    /// Takes these addresses away, but for those that another session of the subscriber has.
    fn give_back(&mut self, row: &'a Row, addresses: &[String]) {
        let held: BTreeSet<String> = self.open(row).values().flatten().cloned().collect();
        let is_over = |address: &String| addresses.contains(address) && !held.contains(address);
        for address in addresses.iter().filter(|address| is_over(address)) {
            if self.owners.get(address).is_some_and(|owner| *owner == row.name) {
                self.owners.remove(address);
            }
        }
        self.leased(row).retain(|address| !is_over(address));
    }

    fn end_all(&mut self, server: &str) -> Outcome {
        let names: BTreeSet<&String> = self.sessions.open.keys().chain(self.open.keys()).collect();
        let rows: Vec<&'a Row> =
            names.into_iter().filter_map(|name| self.by_name.get(name.as_str()).copied()).collect();
        let mut ended = 0;
        for row in rows {
            let keys: Vec<Key> =
                self.open(row).keys().filter(|(known, _)| known == server).cloned().collect();
            for key in keys {
                let addresses = self.open(row).remove(&key).unwrap_or_default();
                self.give_back(row, &addresses);
                ended += 1;
            }
        }
        let server = fairwire_document::shortened(server);
        done(format!("the access server `{server}` began or ended: {ended} sessions ended"))
    }

    fn change(
        &mut self,
        row: &'a Row,
        filter: Option<&str>,
        ceilings_bps: [Option<u64>; 2],
        unsupported: Option<u8>,
    ) -> Outcome {
        let name = &row.name;
        if let Some(kind) = unsupported {
            let line = format!("{name}: attribute {kind} cannot be changed");
            return refused(ErrorCause::UnsupportedAttribute, line);
        }
        let mut values = BTreeMap::new();
        match filter {
            Some("suspended") => {
                values.insert("suspended", "yes".to_owned());
            }
            Some(class) => {
                values.extend([("suspended", "no".to_owned()), ("class", class.to_owned())]);
            }
            None => {}
        }
        for (column, bps) in ["download_ceiling", "upload_ceiling"].into_iter().zip(ceilings_bps) {
            let Some(bps) = bps else { continue };
            let Some(rate) = Rate::from_bps(bps) else {
                let line =
                    format!("{name}: `{column}` of 0 bit/s; allowed: a rate, or Filter-Id `suspended`");
                return refused(ErrorCause::InvalidValue, line);
            };
            values.insert(column, rate.to_string());
        }
        if values.is_empty() {
            let line = format!("{name}: neither Filter-Id nor a bandwidth of WISPr");
            return refused(ErrorCause::MissingAttribute, line);
        }
        let list: Vec<String> = values.iter().map(|(column, value)| format!("{column}={value}")).collect();
        self.others.entry(name).or_default().extend(values);
        done(format!("{name}: {}", list.join(" ")))
    }

    /// What differs from the file.
    fn edits(&self) -> BTreeMap<String, Vec<(String, String)>> {
        let mut edits: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
        for (name, addresses) in &self.leased {
            let value = addresses.join(" ");
            if value != self.sheet.value(self.by_name[name], "leased") {
                edits.entry((*name).to_owned()).or_default().push(("leased".into(), value));
            }
        }
        for (name, values) in &self.others {
            for (column, value) in values {
                if *value != self.sheet.value(self.by_name[name], column) {
                    edits.entry((*name).to_owned()).or_default().push(((*column).into(), value.clone()));
                }
            }
        }
        edits
    }
}

fn key(request: &Request) -> Key {
    (request.server.clone(), request.session.clone().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SECRET, packet};
    use super::super::{kind, read};
    use super::*;
    use crate::sheet::SheetText;
    use crate::sheet::read as read_sheet;

    const FILE: &str = "name,mac,addresses,leased\n\
                        ann,02:00:00:00:00:01,,\n\
                        bob,,10.9.0.1,10.0.0.8\n";

    fn report(status: u8, user: &str, session: &str, address: [u8; 4]) -> Request {
        let all: [(u8, &[u8]); 5] = [
            (kind::ACCT_STATUS_TYPE, &[0, 0, 0, status]),
            (kind::USER_NAME, user.as_bytes()),
            (kind::NAS_IDENTIFIER, b"bras"),
            (kind::ACCT_SESSION_ID, session.as_bytes()),
            (kind::FRAMED_IP_ADDRESS, &address),
        ];
        let all = if address == [0; 4] { &all[..4] } else { &all[..] };
        read(&packet(4, all, SECRET), SECRET, 0).unwrap()
    }

    /// What these requests make of the file, and what came of each.
    fn after(sessions: &mut Sessions, file: &str, requests: &[Request]) -> (Vec<String>, Vec<Outcome>) {
        let sheet = read_sheet(SheetText { name: "s.csv", text: file }).unwrap();
        let batch = sessions.batch(&sheet, requests);
        let edit = |(name, values): (&String, &Vec<(String, String)>)| {
            let values: Vec<String> =
                values.iter().map(|(column, value)| format!("{column}={value}")).collect();
            format!("{name} {}", values.join(", "))
        };
        let edits = batch.edits.iter().map(edit).collect();
        let outcomes = batch.outcomes.clone();
        sessions.commit(batch);
        (edits, outcomes)
    }

    const SEVEN: [u8; 4] = [10, 0, 0, 7];

    #[test]
    fn a_session_gives_its_subscriber_an_address_until_it_ends() {
        let mut sessions = Sessions::default();
        let (edits, _) = after(&mut sessions, FILE, &[report(1, "ann", "s1", SEVEN)]);
        assert_eq!(edits, ["ann leased=10.0.0.7"]);
        let with = FILE.replace("01,,", "01,,10.0.0.7");
        let (edits, _) = after(&mut sessions, &with, &[report(3, "ann", "s1", SEVEN)]);
        assert!(edits.is_empty(), "it goes on: {edits:?}");
        assert_eq!(sessions.count(), 1);
        let (edits, _) = after(&mut sessions, &with, &[report(2, "ann", "s1", [0; 4])]);
        assert_eq!((edits.join(""), sessions.count()), ("ann leased=".to_owned(), 0));
    }

    #[test]
    fn a_session_that_ends_late_takes_no_address_from_the_one_after_it() {
        let mut sessions = Sessions::default();
        let both = [report(1, "ann", "s1", SEVEN), report(1, "ann", "s2", SEVEN)];
        after(&mut sessions, FILE, &both);
        let with = FILE.replace("01,,", "01,,10.0.0.7");
        let (edits, _) = after(&mut sessions, &with, &[report(2, "ann", "s1", SEVEN)]);
        assert!(edits.is_empty(), "{edits:?}");
    }

    #[test]
    fn an_address_moves_to_whom_it_is_reported_for_and_a_typed_one_does_not() {
        let mut sessions = Sessions::default();
        let by_mac = {
            let all: [(u8, &[u8]); 3] = [
                (kind::ACCT_STATUS_TYPE, &[0, 0, 0, 1]),
                (kind::CALLING_STATION_ID, b"02-00-00-00-00-01"),
                (kind::FRAMED_IP_ADDRESS, &[10, 0, 0, 8]),
            ];
            read(&packet(4, &all, SECRET), SECRET, 0).unwrap()
        };
        let (edits, _) = after(&mut sessions, FILE, &[by_mac, report(1, "ann", "s2", [10, 9, 0, 1])]);
        assert_eq!(edits, ["ann leased=10.0.0.8", "bob leased="]);
    }

    #[test]
    fn a_server_that_begins_anew_has_no_sessions() {
        let mut sessions = Sessions::default();
        after(&mut sessions, FILE, &[report(1, "ann", "s1", SEVEN)]);
        let with = FILE.replace("01,,", "01,,10.0.0.7");
        let (edits, outcomes) = after(&mut sessions, &with, &[report(7, "", "", [0; 4])]);
        assert_eq!(edits, ["ann leased="]);
        assert!(outcomes[0].line.ends_with("1 sessions ended"), "{}", outcomes[0].line);
        assert_eq!(sessions.count(), 0);
    }

    #[test]
    fn changes_are_made_or_refused_with_their_cause() {
        let mut sessions = Sessions::default();
        let mut change = |attributes: &[(u8, &[u8])]| {
            let request = read(&packet(43, attributes, SECRET), SECRET, 0).unwrap();
            let (edits, outcomes) = after(&mut sessions, FILE, &[request]);
            (edits.join(""), outcomes[0].answer)
        };
        let ann: (u8, &[u8]) = (kind::USER_NAME, b"ann");
        assert_eq!(change(&[ann, (kind::FILTER_ID, b"suspended")]), ("ann suspended=yes".into(), Ok(())));
        let up: &[u8] = &[0, 0, 0x37, 0x2a, 7, 6, 0, 0x0f, 0x42, 0x40];
        let gold: (u8, &[u8]) = (kind::FILTER_ID, b"gold");
        let (edits, answer) = change(&[ann, gold, (kind::VENDOR_SPECIFIC, up)]);
        assert_eq!(edits, "ann class=gold, suspended=no, upload_ceiling=1 Mbit/s");
        assert_eq!(answer, Ok(()));
        let none: &[u8] = &[0, 0, 0x37, 0x2a, 8, 6, 0, 0, 0, 0];
        for (attributes, cause) in [
            (&[ann][..], ErrorCause::MissingAttribute),
            (&[ann, (27, &[0, 0, 0, 1])], ErrorCause::UnsupportedAttribute),
            (&[(kind::USER_NAME, b"eve"), gold], ErrorCause::NoSession),
            (&[ann, (kind::VENDOR_SPECIFIC, none)], ErrorCause::InvalidValue),
        ] {
            assert_eq!(change(attributes), (String::new(), Err(cause)));
        }
    }

    #[test]
    fn a_disconnected_subscriber_has_no_address() {
        let mut sessions = Sessions::default();
        let request = read(&packet(40, &[(kind::USER_NAME, b"bob")], SECRET), SECRET, 0).unwrap();
        assert_eq!(after(&mut sessions, FILE, &[request]).0, ["bob leased="]);
    }
}
