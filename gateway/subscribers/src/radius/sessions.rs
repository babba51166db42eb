//! Turns requests into edits of the subscriber file.
//!
//! The column `leased` records the addresses of open sessions. In memory, this module keeps the
//! addresses of each session, so the end of one session removes no address of another. After a
//! restart, the module relearns the sessions from the periodic reports of access servers.

use super::plan::{CEILINGS, Plan};
use super::{ErrorCause, Purpose, Request};
use crate::held::written;
use crate::sheet::{MIN_PLAN_BPS, Sheet, SubscriberRow};
use fairwire_core::Rate;
use fairwire_datapath::classify::{Prefix, parse_mac};
use fairwire_document::shortened;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The most sessions kept. When a session that is not kept ends, the addresses in its last report
/// are removed.
const MAX_SESSIONS: usize = 1_000_000;

/// An access server's name, and its identifier for the session.
type Key = (String, String);
type Open = BTreeMap<Key, Vec<Prefix>>;

/// The parts of the configuration that requests refer to.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// The existing classes.
    pub classes: BTreeSet<String>,
    /// The rates of download and upload; `None` without shaping.
    pub rates: [Option<Rate>; 2],
}

/// The open sessions.
#[derive(Clone, Debug, Default)]
pub struct Sessions {
    /// The open sessions, by the subscriber's name.
    open: HashMap<String, Open>,
    count: usize,
}

/// The result of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Success, or the reason for the failure.
    pub answer: Result<(), ErrorCause>,
    /// A line for the log; empty if nothing is new.
    pub line: String,
}

/// The effect of several requests on the file.
#[derive(Debug, Default)]
pub struct Batch {
    /// The new values of each changed subscriber. Each value has its column name.
    pub edits: BTreeMap<String, Vec<(String, String)>>,
    /// The result of each request.
    pub outcomes: Vec<Outcome>,
    open: BTreeMap<String, Open>,
}

impl Sessions {
    /// Applies `requests` to `sheet`, one after another. The batch takes effect only with
    /// [`commit`](Sessions::commit).
    pub fn batch(&self, network: &Network, sheet: &Sheet<'_>, requests: &[Request]) -> Batch {
        let mut work = Work::new(self, network, sheet);
        let outcomes = requests.iter().map(|request| work.take(request)).collect();
        Batch { outcomes, edits: work.edits(), open: work.open }
    }

    /// Applies a batch that was written to the file.
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

    /// The number of sessions.
    pub fn count(&self) -> usize {
        self.count
    }
}

struct Work<'a> {
    sessions: &'a Sessions,
    network: &'a Network,
    sheet: &'a Sheet<'a>,
    by_name: HashMap<&'a str, &'a SubscriberRow>,
    by_mac: HashMap<[u8; 6], &'a SubscriberRow>,
    /// The sessions before this batch, by the identifier that the access server gave.
    by_session: OnceCell<HashMap<&'a str, Vec<(&'a str, &'a Key)>>>,
    /// The subscriber of each network in the column `addresses`.
    typed: HashMap<Prefix, &'a str>,
    /// The subscriber of each leased network.
    owners: HashMap<Prefix, &'a str>,
    leased: BTreeMap<&'a str, Vec<Prefix>>,
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
    fn new(sessions: &'a Sessions, network: &'a Network, sheet: &'a Sheet<'a>) -> Self {
        let of = |column: &'static str| {
            let rows = sheet.rows.iter();
            rows.flat_map(move |row| {
                sheet.prefixes(row, column).map(move |prefix| (prefix, row.name.as_str()))
            })
        };
        Work {
            sessions,
            network,
            sheet,
            by_name: sheet.rows.iter().map(|row| (row.name.as_str(), row)).collect(),
            by_mac: sheet
                .rows
                .iter()
                .filter_map(|row| Some((parse_mac(sheet.value(row, "mac"))?, row)))
                .collect(),
            by_session: OnceCell::new(),
            typed: of("addresses").collect(),
            owners: of("leased").collect(),
            leased: BTreeMap::new(),
            others: BTreeMap::new(),
            open: BTreeMap::new(),
        }
    }

    fn take(&mut self, request: &Request) -> Outcome {
        match &request.purpose {
            Purpose::Noted => done(String::new()),
            Purpose::AllEnded => self.end_all(&request.server),
            Purpose::Began | Purpose::Ended => match self.named(request) {
                None => done(unknown(request)),
                Some(row) if request.purpose == Purpose::Began => self.begin(row, request),
                Some(row) => self.end(row, request),
            },
            Purpose::Change(plan) => match (self.meant(request), plan) {
                (None, _) => refused(ErrorCause::NoSession, unknown(request)),
                (Some((row, _)), Err(no)) => refused(no.cause, format!("{}: {}", row.name, no.why)),
                (Some((row, _)), Ok(plan)) => self.change(row, plan),
            },
            Purpose::Disconnect => match self.meant(request) {
                None => refused(ErrorCause::NoSession, unknown(request)),
                Some((row, session)) => self.disconnect(row, session.as_ref()),
            },
        }
    }

    fn named(&self, request: &Request) -> Option<&'a SubscriberRow> {
        let by_name = request.user.as_deref().and_then(|user| self.by_name.get(user));
        by_name.or_else(|| self.by_mac.get(request.mac.as_ref()?)).copied()
    }

    /// The subscriber that a change concerns, and the session if known. All identifiers in the
    /// request must agree (RFC 5176, section 3).
    fn meant(&self, request: &Request) -> Option<(&'a SubscriberRow, Option<Key>)> {
        let named = self.named(request);
        if request.user.is_some() && named.is_none() {
            return None;
        }
        let session = self.session(request);
        let by_session = session.as_ref().and_then(|(name, _)| self.by_name.get(name.as_str()).copied());
        let by_address = request.addresses.iter().filter_map(|address| self.owner(address));
        let mut all = named.into_iter().chain(by_session).chain(by_address);
        let first = all.next()?;
        all.all(|row| row.name == first.name).then(|| (first, session.map(|(_, key)| key)))
    }

    /// The session with the request's identifier, and its subscriber. If sessions of the request's
    /// access server match, other sessions are ignored. `None` unless exactly one session remains.
    fn session(&self, request: &Request) -> Option<(String, Key)> {
        let wanted = request.session.as_deref()?;
        let before = self.by_session.get_or_init(|| {
            let mut by_session: HashMap<&str, Vec<(&str, &Key)>> = HashMap::new();
            for (name, key) in
                self.sessions.open.iter().flat_map(|(name, open)| open.keys().map(move |key| (name, key)))
            {
                by_session.entry(&key.1).or_default().push((name, key));
            }
            by_session
        });
        let before = before.get(wanted).into_iter().flatten().copied();
        let before = before.filter(|(name, _)| !self.open.contains_key(*name));
        let now = self.open.iter().flat_map(|(name, open)| open.keys().map(move |key| (name.as_str(), key)));
        let all: Vec<(&str, &Key)> = before.chain(now.filter(|(_, key)| key.1 == wanted)).collect();
        let of_server: Vec<(&str, &Key)> =
            all.iter().filter(|(_, key)| key.0 == request.server).copied().collect();
        let &[(name, key)] = (if of_server.is_empty() { &all[..] } else { &of_server[..] }) else {
            return None;
        };
        Some((name.to_owned(), key.clone()))
    }

    fn owner(&self, address: &Prefix) -> Option<&'a SubscriberRow> {
        let name = self.owners.get(address).or_else(|| self.typed.get(address)).copied().or_else(|| {
            let around = self.typed.iter().filter(|(typed, _)| typed.contains(address.address()));
            around.max_by_key(|(typed, _)| typed.bits()).map(|(_, name)| *name)
        });
        self.by_name.get(name?).copied()
    }

    fn leased(&mut self, row: &'a SubscriberRow) -> &mut Vec<Prefix> {
        let sheet = self.sheet;
        self.leased.entry(&row.name).or_insert_with(|| sheet.prefixes(row, "leased").collect())
    }

    fn open(&mut self, row: &SubscriberRow) -> &mut Open {
        let before = || self.sessions.open.get(&row.name).cloned().unwrap_or_default();
        self.open.entry(row.name.clone()).or_insert_with(before)
    }

    fn begin(&mut self, row: &'a SubscriberRow, request: &Request) -> Outcome {
        if request.addresses.is_empty() && request.implausible.is_empty() {
            return done(String::new());
        }
        let before = self.open(row).insert(key(request), request.addresses.clone());
        // Omitted addresses are logged once, not with each Interim-Update.
        let is_new = before.as_ref() != Some(&request.addresses);
        self.give_back(row, &before.unwrap_or_default());
        let mut said = Vec::new();
        for &address in &request.addresses {
            match self.typed.get(&address) {
                Some(owner) if *owner == row.name => continue,
                Some(owner) if is_new => {
                    said.push(format!(
                        "without {}, which is typed for `{}`",
                        written(&address),
                        shortened(owner)
                    ));
                    continue;
                }
                Some(_) => continue,
                None => {}
            }
            let owner = self.owners.insert(address, &row.name);
            if owner == Some(row.name.as_str()) {
                continue;
            }
            if let Some(other) = owner.and_then(|owner| self.by_name.get(owner).copied()) {
                self.leased(other).retain(|known| *known != address);
            }
            self.leased(row).push(address);
            said.push(written(&address));
        }
        if is_new {
            let absurd = request.implausible.iter();
            said.extend(absurd.map(|address| format!("without {address}, which no subscriber can have")));
        }
        done(if said.is_empty() { String::new() } else { format!("{}: {}", row.name, said.join(", ")) })
    }

    fn disconnect(&mut self, row: &'a SubscriberRow, session: Option<&Key>) -> Outcome {
        let addresses = match session {
            Some(key) => self.open(row).remove(key).unwrap_or_default(),
            None => {
                self.open(row).clear();
                self.leased(row).clone()
            }
        };
        self.give_back(row, &addresses);
        done(format!("{}: disconnected", row.name))
    }

    fn end(&mut self, row: &'a SubscriberRow, request: &Request) -> Outcome {
        let known = self.open(row).remove(&key(request));
        let mut addresses = request.addresses.clone();
        match known {
            Some(known) => addresses.extend(known),
            // No address of this session is known, so the subscriber loses all leased addresses
            // except those of its other sessions.
            None if addresses.is_empty() => addresses = self.leased(row).clone(),
            None => {}
        }
        let count = self.leased(row).len();
        self.give_back(row, &addresses);
        let has_changed = self.leased(row).len() < count;
        done(if has_changed { format!("{}: a session ended", row.name) } else { String::new() })
    }

    fn give_back(&mut self, row: &'a SubscriberRow, addresses: &[Prefix]) {
        let held: BTreeSet<Prefix> = self.open(row).values().flatten().copied().collect();
        let is_over = |address: &Prefix| addresses.contains(address) && !held.contains(address);
        for address in addresses.iter().filter(|address| is_over(address)) {
            if self.owners.get(address).is_some_and(|owner| *owner == row.name) {
                self.owners.remove(address);
            }
        }
        self.leased(row).retain(|address| !is_over(address));
    }

    fn end_all(&mut self, server: &str) -> Outcome {
        let names: BTreeSet<&String> = self.sessions.open.keys().chain(self.open.keys()).collect();
        let rows: Vec<&'a SubscriberRow> =
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
        let server = shortened(server);
        done(format!("the access server `{server}` began or ended: {ended} sessions ended"))
    }

    fn change(&mut self, row: &'a SubscriberRow, plan: &Plan) -> Outcome {
        let name = &row.name;
        let mut values = plan.values.clone();
        match plan.filter.as_deref() {
            Some("suspended") => {
                values.insert("suspended", "yes".to_owned());
            }
            Some(class) if !self.network.classes.contains(class) => {
                let line = format!("{name}: there is no class `{}`", shortened(class));
                return refused(ErrorCause::InvalidValue, line);
            }
            Some(class) => {
                values.extend([("suspended", "no".to_owned()), ("class", class.to_owned())]);
            }
            None => {}
        }
        if values.is_empty() {
            let line = format!("{name}: neither Filter-Id nor a bandwidth");
            return refused(ErrorCause::MissingAttribute, line);
        }
        let notes = CEILINGS.into_iter().zip(self.network.rates).filter_map(|(column, link)| {
            let rate = values.get(column)?.parse::<Rate>().ok()?;
            match link {
                _ if rate.bps() < MIN_PLAN_BPS => Some(format!("; {rate} is no plan: is it in kbit/s?")),
                Some(link) if rate > link => Some(format!("; {rate} bounds nothing on a link of {link}")),
                _ => None,
            }
        });
        let notes: String = notes.collect();
        let list: Vec<String> = values.iter().map(|(column, value)| format!("{column}={value}")).collect();
        self.others.entry(name).or_default().extend(values);
        done(format!("{name}: {}{notes}", list.join(" ")))
    }

    fn edits(&self) -> BTreeMap<String, Vec<(String, String)>> {
        let mut edits: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
        for (name, addresses) in &self.leased {
            if !self.sheet.prefixes(self.by_name[name], "leased").eq(addresses.iter().copied()) {
                let value: Vec<String> = addresses.iter().map(written).collect();
                let value = value.join(" ");
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

fn unknown(request: &Request) -> String {
    let shown = |what, given: Option<&str>| given.map(|given| format!("{what} `{}`", shortened(given)));
    let mut by: Vec<String> = shown("User-Name", request.user.as_deref()).into_iter().collect();
    by.extend(
        request.mac.filter(|_| request.user.is_none()).map(|mac| format!("Calling-Station-Id {mac:02x?}")),
    );
    by.extend(shown("Acct-Session-Id", request.session.as_deref()));
    by.extend(request.addresses.iter().map(written));
    format!("no subscriber, or more than one, is meant by {}", by.join(", "))
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

    fn network() -> Network {
        let rate = Rate::from_bps(50_000_000);
        Network { classes: BTreeSet::from(["gold".to_owned()]), rates: [rate, rate] }
    }

    fn after(sessions: &mut Sessions, file: &str, requests: &[Request]) -> (Vec<String>, Vec<Outcome>) {
        let sheet = read_sheet(SheetText { name: "s.csv", text: file }).unwrap();
        let batch = sessions.batch(&network(), &sheet, requests);
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
    fn a_late_session_end_takes_no_address_from_the_next_session() {
        let mut sessions = Sessions::default();
        let both = [report(1, "ann", "s1", SEVEN), report(1, "ann", "s2", SEVEN)];
        after(&mut sessions, FILE, &both);
        let with = FILE.replace("01,,", "01,,10.0.0.7");
        let (edits, _) = after(&mut sessions, &with, &[report(2, "ann", "s1", SEVEN)]);
        assert!(edits.is_empty(), "{edits:?}");
    }

    #[test]
    fn reported_addresses_move_to_their_subscriber_and_typed_ones_stay() {
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
    fn a_restarted_server_has_no_sessions() {
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
            (&[ann, (kind::FILTER_ID, b"")], ErrorCause::MissingAttribute),
            (&[ann, (kind::FILTER_ID, b"silver")], ErrorCause::InvalidValue),
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

    fn sent(code: u8, attributes: &[(u8, &[u8])]) -> Request {
        read(&packet(code, attributes, SECRET), SECRET, 0).unwrap()
    }

    #[test]
    fn an_address_typed_in_another_form_is_left_out_and_named_once() {
        let mut sessions = Sessions::default();
        let file = FILE.replace("10.9.0.1,", "10.9.0.1/32,");
        let bad = report(1, "ann", "s1", [10, 9, 0, 1]);
        let (edits, outcomes) = after(&mut sessions, &file, &[bad.clone(), report(1, "ann", "s2", SEVEN)]);
        assert_eq!(edits, ["ann leased=10.0.0.7"]);
        assert!(outcomes.iter().all(|outcome| outcome.answer == Ok(())));
        assert_eq!(outcomes[0].line, "ann: without 10.9.0.1, which is typed for `bob`");
        let (_, outcomes) = after(&mut sessions, &file, &[bad]);
        assert_eq!(outcomes[0].line, "", "an Interim-Update says it no more");
        let (edits, outcomes) = after(&mut sessions, &file, &[report(1, "bob", "s3", [0, 0, 0, 1])]);
        assert!(
            edits.is_empty() && outcomes[0].line.contains("0.0.0.1, which no subscriber"),
            "{outcomes:?}"
        );
    }

    #[test]
    fn a_leased_address_in_another_form_is_the_same_one() {
        let mut sessions = Sessions::default();
        let file = FILE.replace("10.0.0.8", "10.0.0.8/32");
        let (edits, _) = after(&mut sessions, &file, &[report(1, "ann", "s1", [10, 0, 0, 8])]);
        assert_eq!(edits, ["ann leased=10.0.0.8", "bob leased="]);
        let (edits, _) = after(&mut sessions, &file, &[report(1, "bob", "s2", [10, 0, 0, 8])]);
        assert!(edits.is_empty(), "{edits:?}");
    }

    #[test]
    fn session_and_address_of_a_change_must_name_one_subscriber() {
        let mut sessions = Sessions::default();
        after(&mut sessions, FILE, &[report(1, "ann", "s1", SEVEN), report(1, "bob", "s2", [10, 0, 0, 8])]);
        let file = FILE.replace("01,,", "01,,10.0.0.7");
        let mut change = |identity: &[(u8, &[u8])]| {
            let gold: (u8, &[u8]) = (kind::FILTER_ID, b"gold");
            let (edits, outcomes) = after(&mut sessions, &file, &[sent(43, &[identity, &[gold]].concat())]);
            (edits.join(""), outcomes[0].answer)
        };
        let ann = ("ann class=gold, suspended=no".to_owned(), Ok(()));
        let bob = ("bob class=gold, suspended=no".to_owned(), Ok(()));
        let none = (String::new(), Err(ErrorCause::NoSession));
        let address: (u8, &[u8]) = (kind::FRAMED_IP_ADDRESS, &SEVEN);
        let session = |name: &'static [u8]| -> (u8, &[u8]) { (kind::ACCT_SESSION_ID, name) };
        let user: (u8, &[u8]) = (kind::USER_NAME, b"ann");
        let typed: (u8, &[u8]) = (kind::FRAMED_IP_ADDRESS, &[10, 9, 0, 1]);
        assert_eq!(change(&[address]), ann);
        assert_eq!(change(&[session(b"s1")]), ann);
        assert_eq!(change(&[address, session(b"s1"), (kind::NAS_IDENTIFIER, b"bras")]), ann);
        assert_eq!(change(&[user, session(b"s9")]), ann, "a session from before a restart is not known");
        assert_eq!(change(&[typed]), bob);
        for contradiction in [&[address, session(b"s2")][..], &[user, typed], &[user, session(b"s2")]] {
            assert_eq!(change(contradiction), none);
        }
        assert_eq!(change(&[session(b"s9")]), none);
    }

    #[test]
    fn a_disconnected_session_loses_only_its_addresses() {
        let mut sessions = Sessions::default();
        let both = [report(1, "ann", "s1", SEVEN), report(1, "ann", "s2", [10, 0, 0, 9])];
        after(&mut sessions, FILE, &both);
        let file = FILE.replace("01,,", "01,,10.0.0.7 10.0.0.9");
        let (edits, _) = after(&mut sessions, &file, &[sent(40, &[(kind::ACCT_SESSION_ID, b"s1")])]);
        assert_eq!(edits, ["ann leased=10.0.0.9"]);
    }

    #[test]
    fn an_absurd_plan_is_made_and_noted() {
        let mut sessions = Sessions::default();
        let mut line = |bps: u32| {
            let limit = [&14122_u32.to_be_bytes()[..], &[8, 6], &bps.to_be_bytes()].concat();
            let request = sent(43, &[(kind::USER_NAME, b"ann"), (kind::VENDOR_SPECIFIC, &limit)]);
            let (_, outcomes) = after(&mut sessions, FILE, &[request]);
            assert_eq!(outcomes[0].answer, Ok(()));
            outcomes[0].line.clone()
        };
        assert_eq!(line(20_000_000), "ann: download_ceiling=20 Mbit/s");
        assert!(line(4096).ends_with("; 4096 bit/s is no plan: is it in kbit/s?"), "{}", line(4096));
        assert!(line(4_000_000_000).contains("bounds nothing on a link of 50 Mbit/s"));
    }
}
