//! The subscriber file: a table with a line of column names and one line per subscriber.

use crate::libreqos;
use fairwire_core::{Rate, Weight};
use fairwire_datapath::class_book::Bounds;
use fairwire_datapath::classify::{AccessKey, Prefix, parse_mac};
use fairwire_document::{DocumentError, Location, Problem, is_printable, listed, shortened};
use std::ops::Range;

/// The most subscribers. The largest allowed class number is slightly greater.
pub const MAX_ROWS: usize = 1_000_000;
/// The most faults that are reported at once. Reading stops after them.
pub const MAX_FAULTS: usize = 10;
/// The lowest rate of a plan, bit/s. A lower rate is probably in the wrong unit: a single G.711
/// call takes 64 kbit/s.
pub const MIN_PLAN_BPS: u64 = 64_000;
/// The largest file.
pub const MAX_BYTES: u64 = 64 << 20;
/// The name of the class for packets that match no subscriber and no other class.
pub const UNCLAIMED_NAME: &str = "unclaimed";
const MAX_NAME_BYTES: usize = 64;
/// VLAN identifiers that name a VLAN (IEEE 802.1Q, table 9-2).
pub const VLANS: std::ops::RangeInclusive<u16> = 1..=4094;
/// Identifiers of PPPoE sessions: 0 is for discovery, 0xffff is reserved (RFC 2516, section 4).
const PPPOE_SESSIONS: std::ops::RangeInclusive<u16> = 1..=0xfffe;

pub(crate) const COLUMNS: [&str; 16] = [
    "name",
    "addresses",
    "vlan",
    "inner_vlan",
    "pppoe",
    "mac",
    "leased",
    "class",
    "weight",
    "suspended",
    "download_burst",
    "upload_burst",
    "download_guaranteed",
    "download_ceiling",
    "upload_guaranteed",
    "upload_ceiling",
];
const NAME: usize = 0;
const ADDRESSES: usize = 1;
const VLAN: usize = 2;
const INNER_VLAN: usize = 3;
const PPPOE: usize = 4;
const MAC: usize = 5;
const LEASED: usize = 6;
const RECOGNIZES: [usize; 5] = [ADDRESSES, VLAN, PPPOE, MAC, LEASED];
const CLASS: usize = 7;
const WEIGHT: usize = 8;
const SUSPENDED: usize = 9;
/// The first column with a burst. Each direction has one burst.
const BURST: usize = 10;
const BURSTS: std::ops::Range<usize> = BURST..RATES;
/// The first column with a rate. Each direction has two rates: guaranteed and ceiling.
const RATES: usize = 12;

/// The text of a subscriber file, and the file's name for errors.
#[derive(Clone, Copy, Debug)]
pub struct SheetText<'a> {
    /// The file's name.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
}

/// A parsed subscriber file. References to other lines and to the configuration are not checked
/// yet.
#[derive(Debug)]
pub struct Sheet<'a> {
    pub(super) source: SheetText<'a>,
    /// The file's columns, as indexes into [`COLUMNS`].
    pub(super) columns: Vec<usize>,
    /// The byte range of the line of column names in the text.
    pub(super) head: Range<usize>,
    /// The subscribers, in the order of the file.
    pub rows: Vec<SubscriberRow>,
}

/// One subscriber.
#[derive(Debug)]
pub struct SubscriberRow {
    /// The byte range of the subscriber's line in the text.
    pub(super) at: Range<usize>,
    /// Its name.
    pub name: String,
    /// The subscriber's networks, including those that are leased.
    pub prefixes: Vec<Prefix>,
    vlans: [Option<u16>; 2],
    /// Its link-layer names.
    pub access: Vec<AccessKey>,
    /// Its parent class.
    pub class: Option<String>,
    /// Its weight.
    pub weight: Weight,
    /// The bounds of both directions.
    pub bounds: [Bounds; 2],
    /// Is the subscriber denied service?
    pub is_suspended: bool,
}

/// Reads the file. Every fault has its line and column. At most [`MAX_FAULTS`] faulty lines are
/// reported.
pub fn read(source: SheetText<'_>) -> Result<Sheet<'_>, DocumentError> {
    read_values(source, true)
}

/// Reads only the names, which is much faster.
pub(crate) fn read_names(source: SheetText<'_>) -> Result<Sheet<'_>, DocumentError> {
    read_values(source, false)
}

fn read_values(source: SheetText<'_>, wants_all: bool) -> Result<Sheet<'_>, DocumentError> {
    let mut sheet = Sheet { source, columns: Vec::new(), head: 0..0, rows: Vec::new() };
    // Spreadsheets write a byte order mark first, which is not part of a name.
    let skipped = if source.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(&source.text.as_bytes()[skipped..]);
    let mut record = csv::StringRecord::new();
    let mut faults = Vec::new();
    while faults.len() < MAX_FAULTS {
        let from = skipped + reader.position().byte() as usize;
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            // Reading stops: the next record's start is unknown.
            Err(error) => {
                faults.push(sheet.unreadable(from, &error));
                break;
            }
        }
        let at = line_of(source.text, from, skipped + reader.position().byte() as usize);
        if sheet.columns.is_empty() {
            sheet.columns = sheet.read_columns(&record, &at)?;
            sheet.head = at;
        } else {
            match sheet.read_row(&record, at, wants_all) {
                Ok(row) => sheet.rows.push(row),
                Err(fault) => faults.push(fault),
            }
        }
    }
    if let Some(fault) = DocumentError::of_all(faults) {
        return Err(fault);
    }
    if sheet.columns.is_empty() {
        let allowed = format!("a line of column names first: {}", listed(&COLUMNS.map(String::from)));
        return Err(sheet.refuse(
            0..source.text.len(),
            "file",
            "empty",
            "it needs a line of column names",
            allowed,
        ));
    }
    Ok(sheet)
}

/// The byte range of the record that was read between `from` and `to`, without its line end and any
/// skipped lines before it.
fn line_of(text: &str, from: usize, to: usize) -> Range<usize> {
    let mut start = from;
    for line in text[from..to].split_inclusive('\n') {
        let bare = line.trim();
        if !bare.is_empty() && !line.starts_with('#') {
            break;
        }
        start += line.len();
    }
    start.min(to)..start.min(to) + text[start.min(to)..to].trim_end().len()
}

fn other_separator(record: &csv::StringRecord) -> Option<&'static str> {
    let one = record.get(0).filter(|_| record.len() == 1)?;
    [(';', "semicolons"), ('\t', "tabs")].into_iter().find_map(|(separator, named)| {
        let mut names = one.split(separator);
        (one.contains(separator) && names.any(|name| COLUMNS.contains(&name.trim()))).then_some(named)
    })
}

impl Sheet<'_> {
    fn read_columns(
        &self,
        record: &csv::StringRecord,
        at: &Range<usize>,
    ) -> Result<Vec<usize>, DocumentError> {
        let mut columns = Vec::with_capacity(record.len());
        if let Some(separator) = other_separator(record) {
            let given = format!("a line with {separator} between its columns");
            return Err(self.refuse(
                at.clone(),
                "columns",
                given,
                "columns are separated otherwise",
                "commas",
            ));
        }
        if record.iter().any(|given| given == libreqos::FIRST_COLUMN) {
            let given = quoted(&self.source.text[at.clone()]);
            let why = "that is a table of LibreQoS";
            return Err(self.refuse(
                at.clone(),
                "columns",
                given,
                why,
                "what `fairwire-gateway import` makes of it",
            ));
        }
        for (field, given) in record.iter().enumerate() {
            let span = self.field(at, field);
            let Some(column) = COLUMNS.iter().position(|name| *name == given) else {
                let (given, allowed) = (given.into(), COLUMNS.map(String::from).into());
                return Err(self.fault(span, Problem::Unknown { what: "column", given, allowed }));
            };
            if columns.contains(&column) {
                return Err(self.refuse(
                    span,
                    "column",
                    quoted(given),
                    "an earlier column has the same name",
                    "each column once",
                ));
            }
            columns.push(column);
        }
        if !columns.contains(&NAME) {
            return Err(self.refuse(
                at.clone(),
                "columns",
                quoted(&self.source.text[at.clone()]),
                "`name` is missing",
                "a column `name`, and others",
            ));
        }
        if !RECOGNIZES.iter().any(|column| columns.contains(column)) {
            let why =
                "subscribers are recognized by their addresses, VLAN, PPPoE session or Ethernet address";
            return Err(self.refuse(
                at.clone(),
                "columns",
                quoted(&self.source.text[at.clone()]),
                why,
                "a column `addresses`, `vlan`, `pppoe` or `mac`, or several of them",
            ));
        }
        Ok(columns)
    }

    fn read_row(
        &self,
        record: &csv::StringRecord,
        at: Range<usize>,
        wants_all: bool,
    ) -> Result<SubscriberRow, DocumentError> {
        if self.rows.len() == MAX_ROWS {
            let allowed = format!("at most {MAX_ROWS} subscribers");
            return Err(self.refuse(at, "file", "longer", "that is above the maximum", allowed));
        }
        if record.len() != self.columns.len() {
            let plural = if record.len() == 1 { "" } else { "s" };
            let given = format!("a list of {} value{plural}", record.len());
            let why = format!("the line of column names has {}", self.columns.len());
            return Err(self.refuse(
                at,
                "line",
                given,
                why,
                "a value for each column, empty where there is none",
            ));
        }
        let mut row = SubscriberRow {
            at,
            name: String::new(),
            prefixes: Vec::new(),
            vlans: [None; 2],
            access: Vec::new(),
            class: None,
            weight: Weight::ONE,
            bounds: [Bounds::default(); 2],
            is_suspended: false,
        };
        for (field, &column) in self.columns.iter().enumerate() {
            let given = &record[field];
            if (given.is_empty() || !wants_all) && column != NAME {
                continue;
            }
            self.read_value(&mut row, column, given)?;
        }
        self.join_vlans(&mut row)?;
        Ok(row)
    }

    fn read_value(&self, row: &mut SubscriberRow, column: usize, given: &str) -> Result<(), DocumentError> {
        let refuse = |why: &str, allowed: &str| {
            Err(self.refuse_value(row, COLUMNS[column], quoted(given), why, allowed))
        };
        match column {
            NAME => match checked_name(given) {
                Ok(()) => row.name = given.into(),
                Err(refused) => return refuse(refused.why, refused.allowed),
            },
            ADDRESSES | LEASED => {
                let more = self.read_prefixes(row, COLUMNS[column], given)?;
                row.prefixes.extend(more);
            }
            VLAN | INNER_VLAN => match given.parse().ok().filter(|vlan| VLANS.contains(vlan)) {
                Some(vlan) => row.vlans[usize::from(column == INNER_VLAN)] = Some(vlan),
                None => return refuse("that is not a VLAN", "a whole number from 1 to 4094"),
            },
            PPPOE => match given.parse().ok().filter(|session| PPPOE_SESSIONS.contains(session)) {
                Some(session) => row.access.push(AccessKey::Pppoe(session)),
                None => return refuse("that is not a PPPoE session", "a whole number from 1 to 65534"),
            },
            MAC => match parse_mac(given).filter(|mac| mac[0] & 1 == 0 && *mac != [0; 6]) {
                Some(mac) => row.access.push(AccessKey::Mac(mac)),
                None => {
                    return refuse(
                        "that is not the Ethernet address of a host",
                        "an address that is neither zero nor multicast, such as `02:00:5e:00:53:01`",
                    );
                }
            },
            CLASS => row.class = Some(given.into()),
            WEIGHT => match given.parse().ok().and_then(Weight::new) {
                Some(weight) => row.weight = weight,
                None => return refuse("that is out of range", "a number from 0.000001 to 1000000"),
            },
            SUSPENDED => match given {
                "yes" => row.is_suspended = true,
                "no" => row.is_suspended = false,
                _ => return refuse("that is neither", "`yes` or `no`; empty for `no`"),
            },
            column if BURSTS.contains(&column) => match given.parse() {
                Ok(burst) => row.bounds[column - BURST].burst = Some(burst),
                Err(message) => {
                    let problem = Problem::BadValue { key: COLUMNS[column].into(), message };
                    return Err(self.fault_in(row, COLUMNS[column], problem));
                }
            },
            rate => match given.parse::<Rate>() {
                Ok(given) => {
                    let bounds = &mut row.bounds[(rate - RATES) / 2];
                    *(if (rate - RATES).is_multiple_of(2) {
                        &mut bounds.guaranteed
                    } else {
                        &mut bounds.ceiling
                    }) = Some(given);
                }
                Err(error) => {
                    let problem = Problem::BadValue { key: COLUMNS[rate].into(), message: error.to_string() };
                    return Err(self.fault_in(row, COLUMNS[rate], problem));
                }
            },
        }
        Ok(())
    }

    fn join_vlans(&self, row: &mut SubscriberRow) -> Result<(), DocumentError> {
        let key = match row.vlans {
            [None, None] => return Ok(()),
            [Some(vlan), None] => AccessKey::Vlan(vlan),
            [Some(outer), Some(inner)] => AccessKey::InnerVlan { outer, inner },
            [None, Some(inner)] => {
                let why = "the outer VLAN is missing";
                let allowed = "`inner_vlan` with the outer VLAN in `vlan`";
                return Err(self.refuse_value(row, COLUMNS[INNER_VLAN], inner.to_string(), why, allowed));
            }
        };
        row.access.push(key);
        Ok(())
    }

    fn read_prefixes(
        &self,
        row: &SubscriberRow,
        column: &str,
        given: &str,
    ) -> Result<Vec<Prefix>, DocumentError> {
        let read = |text: &str| {
            text.parse().map_err(|error: fairwire_datapath::classify::PrefixError| {
                let allowed = "prefixes such as `10.1.0.0/16` or `2001:db8::/48`, with spaces between";
                self.refuse_value(row, column, quoted(text), &error.to_string(), allowed)
            })
        };
        given.split_whitespace().map(read).collect()
    }

    /// The text in the column `column` of `row`; empty if absent.
    pub fn value(&self, row: &SubscriberRow, column: &str) -> &str {
        let field = self.columns.iter().position(|&at| COLUMNS[at] == column);
        field.map_or("", |field| self.source.text[self.field(&row.at, field)].trim_matches('"'))
    }

    /// The prefixes in the column `column` of `row`.
    pub fn prefixes<'b>(
        &'b self,
        row: &SubscriberRow,
        column: &str,
    ) -> impl Iterator<Item = Prefix> + use<'b> {
        self.value(row, column).split_whitespace().filter_map(|prefix| prefix.parse().ok())
    }

    /// The number of a subscriber's line, from 1.
    pub fn line(&self, row: &SubscriberRow) -> usize {
        self.source.text[..row.at.start].matches('\n').count() + 1
    }

    pub(crate) fn refuse_value(
        &self,
        row: &SubscriberRow,
        column: &str,
        given: impl Into<String>,
        why: &str,
        allowed: impl Into<String>,
    ) -> DocumentError {
        let problem = Problem::Refused {
            key: column.into(),
            given: given.into(),
            why: why.into(),
            allowed: allowed.into(),
        };
        self.fault_in(row, column, problem)
    }

    /// A fault in the column `column` of `row`, or in the entire line if there is no such column.
    pub fn fault_in(&self, row: &SubscriberRow, column: &str, problem: Problem) -> DocumentError {
        let field = self.columns.iter().position(|&at| COLUMNS[at] == column);
        self.fault(field.map_or(row.at.clone(), |field| self.field(&row.at, field)), problem)
    }

    fn refuse(
        &self,
        span: Range<usize>,
        key: &str,
        given: impl Into<String>,
        why: impl Into<String>,
        allowed: impl Into<String>,
    ) -> DocumentError {
        let (given, why, allowed) = (given.into(), why.into(), allowed.into());
        self.fault(span, Problem::Refused { key: key.into(), given, why, allowed })
    }

    fn fault(&self, span: Range<usize>, problem: Problem) -> DocumentError {
        let place = Location::in_long_text(self.source.name, self.source.text, span);
        DocumentError { problem, location: Some(Box::new(place)), more: Box::default() }
    }

    fn unreadable(&self, from: usize, error: &csv::Error) -> DocumentError {
        let span = from..from + self.source.text[from..].lines().next().map_or(0, str::len);
        self.refuse(
            span,
            "line",
            "no CSV",
            error.to_string(),
            "values with commas between, in quotes where they hold commas",
        )
    }

    fn field(&self, at: &Range<usize>, field: usize) -> Range<usize> {
        let text = &self.source.text[at.clone()];
        let (mut is_quoted, mut number, mut start) = (false, 0, 0);
        for (offset, byte) in text.bytes().enumerate() {
            match byte {
                b'"' => is_quoted = !is_quoted,
                b',' if !is_quoted && number == field => return trimmed(text, at.start, start..offset),
                b',' if !is_quoted => (number, start) = (number + 1, offset + 1),
                _ => {}
            }
        }
        trimmed(text, at.start, start..text.len())
    }
}

fn trimmed(text: &str, base: usize, span: Range<usize>) -> Range<usize> {
    let inner = &text[span.clone()];
    let start = base + span.start + (inner.len() - inner.trim_start().len());
    start..start + inner.trim().len()
}

/// Why a name is refused, and which names are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadName {
    /// Why.
    pub why: &'static str,
    /// The allowed names.
    pub allowed: &'static str,
}

/// Checks that a class or a subscriber may have this name.
pub fn checked_name(name: &str) -> Result<(), BadName> {
    let bad =
        |why| Err(BadName { why, allowed: "1 to 64 bytes of printable text, without a space at either end" });
    match name {
        "" => bad("a name is needed"),
        UNCLAIMED_NAME => Err(BadName {
            why: "that is the name of the class for unclaimed traffic",
            allowed: "another name",
        }),
        _ if name.len() > MAX_NAME_BYTES => bad("that is too long"),
        _ if !name.chars().all(is_printable) => {
            bad("it has a character that cannot be printed, or that changes the direction of text")
        }
        _ if name.trim() != name => bad("it begins or ends with a space"),
        _ => Ok(()),
    }
}

fn quoted(text: &str) -> String {
    format!("`{}`", shortened(text))
}
