//! The page's queries of the past.

use super::slot::OTHERS;
use fairwire_control::snapshot::Change;
use fairwire_wire::Way;
use rusqlite::{Connection, Row, params};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The time span of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Span {
    /// Five minutes, in steps of a second.
    Now,
    /// An hour, in steps of ten seconds.
    Hour,
    /// A day, in steps of a minute.
    Day,
    /// The complete history, in steps of a minute.
    All,
}

impl Span {
    /// The length of the span and of its slots, in seconds.
    fn lengths_s(self) -> (u64, u64) {
        match self {
            Span::Now => (300, 1),
            Span::Hour => (3600, 10),
            Span::Day => (86_400, 60),
            Span::All => (u64::MAX, 60),
        }
    }
}

/// A query of the past.
#[derive(Clone, Debug)]
pub struct PastRequest {
    /// The time span.
    pub span: Span,
    /// The class to return; if absent, the classes with the most traffic.
    pub class: Option<String>,
}

const SHOWN_CLASSES: u32 = 8;
const SHOWN_CHANGES: u32 = 100;

/// The past: one list per quantity, oldest first.
#[derive(Clone, Debug, Default, Serialize)]
pub struct HistoryAnswer {
    /// The length of a slot, in seconds.
    pub step_s: u64,
    /// The history file; `None` if none is configured.
    pub place: Option<String>,
    /// Is the history only in memory?
    pub is_in_memory: bool,
    /// The fault in keeping the history.
    pub fault: Option<String>,
    /// Download, upload.
    pub ways: Vec<WayHistory>,
    /// Changes, newest first.
    pub changes: Vec<Change>,
}

/// The past of one direction.
#[derive(Clone, Debug, Default, Serialize)]
pub struct WayHistory {
    /// `download` or `upload`.
    pub way: String,
    /// Starts of the slots, in seconds since 1970.
    pub at_s: Vec<u64>,
    /// The rate of the link, bit/s.
    pub rate_bps: Vec<u64>,
    /// Bit/s that arrived.
    pub offered_bps: Vec<f64>,
    /// Bit/s sent on.
    pub throughput_bps: Vec<f64>,
    /// Bytes waiting at the end of each slot.
    pub backlog_bytes: Vec<u64>,
    /// Median waits, in seconds.
    pub p50_s: Vec<f64>,
    /// 95th percentiles of waits, in seconds.
    pub p95_s: Vec<f64>,
    /// 99th percentiles of waits, in seconds.
    pub p99_s: Vec<f64>,
    /// The lowest Jain's index in each slot.
    pub jain: Vec<f64>,
    /// The largest deviation of a class from its fair share, in percentage points.
    pub worst_share_error_points: Vec<f64>,
    /// Drops, marks and losses per slot.
    pub causes: Vec<CauseHistory>,
    /// The requested class, or the classes with the most traffic.
    pub classes: Vec<ClassHistory>,
}

/// The past of one cause.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CauseHistory {
    /// `dropped`, `marked` or `lost`.
    pub fate: String,
    /// The reason.
    pub reason: String,
    /// Events per slot.
    pub counts: Vec<u64>,
}

/// The past of one class; `None` in slots without the class.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ClassHistory {
    /// The class's name; empty for the sum of all unnamed classes.
    pub class: String,
    /// Bit/s offered, per slot.
    pub offered_bps: Vec<Option<f64>>,
    /// Bit/s that the class got, per slot.
    pub throughput_bps: Vec<Option<f64>>,
    /// The class's fair share in bit/s, per slot.
    pub fair_bps: Vec<Option<f64>>,
}

pub(super) fn read(
    connection: &Connection,
    request: &PastRequest,
    now_s: u64,
) -> Result<HistoryAnswer, rusqlite::Error> {
    let (length_s, step_s) = request.span.lengths_s();
    let from_s = now_s.saturating_sub(length_s);
    let ways = Way::ALL.map(|way| way_history(connection, way, step_s, from_s, request.class.as_deref()));
    let [download, upload] = ways;
    let mut statement = connection.prepare_cached(
        "SELECT at, kind, text FROM change WHERE at >= ? ORDER BY at DESC, rowid DESC LIMIT ?",
    )?;
    let change = |row: &Row<'_>| Ok(Change { at_s: row.get(0)?, kind: row.get(1)?, text: row.get(2)? });
    let changes = statement.query_map(params![from_s, SHOWN_CHANGES], change)?.collect::<Result<_, _>>()?;
    Ok(HistoryAnswer { step_s, ways: vec![download?, upload?], changes, ..HistoryAnswer::default() })
}

/// The traffic of a period.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Happened {
    /// Seconds on record.
    pub seconds: u64,
    /// Bit/s sent on.
    pub throughput_bps: f64,
    /// Packets dropped by the discipline.
    pub dropped: u64,
    /// The median of the per-second median waits, in seconds.
    pub p50_s: f64,
    /// The highest of the per-second 99th percentiles, in seconds.
    pub p99_s: f64,
}

pub(super) fn happened(
    connection: &Connection,
    way: Way,
    from_s: u64,
    to_s: u64,
) -> Result<Happened, rusqlite::Error> {
    let between = params![from_s, to_s, way as usize];
    let mut statement = connection.prepare_cached(
        "SELECT bytes_out, p50, p99 FROM slot WHERE step = 1 AND at > ? AND at < ? AND way = ?",
    )?;
    let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let slots: Vec<(u64, f64, f64)> = statement.query_map(between, row)?.collect::<Result<_, _>>()?;
    let dropped = connection.query_row(
        "SELECT COALESCE(SUM(count), 0) FROM cause WHERE step = 1 AND at > ? AND at < ? AND way = ? AND fate = 'dropped'",
        between,
        |row| row.get(0),
    )?;
    let bytes: u64 = slots.iter().map(|(bytes, ..)| bytes).sum();
    let mut medians: Vec<f64> = slots.iter().map(|(_, p50, _)| *p50).collect();
    medians.sort_by(f64::total_cmp);
    Ok(Happened {
        seconds: slots.len() as u64,
        throughput_bps: bytes as f64 * 8.0 / slots.len().max(1) as f64,
        dropped,
        p50_s: medians.get(medians.len() / 2).copied().unwrap_or_default(),
        p99_s: slots.iter().map(|(.., p99)| *p99).fold(0.0, f64::max),
    })
}

fn way_history(
    connection: &Connection,
    way: Way,
    step_s: u64,
    from_s: u64,
    class: Option<&str>,
) -> Result<WayHistory, rusqlite::Error> {
    let mut history = WayHistory { way: way.name().to_owned(), ..WayHistory::default() };
    let (number, step) = (way as usize, step_s as f64);
    let mut statement = connection.prepare_cached(
        "SELECT at, rate, bytes_in, bytes_out, backlog, p50, p95, p99, jain, worst FROM slot \
         WHERE step = ? AND at >= ? AND way = ? ORDER BY at",
    )?;
    let mut rows = statement.query(params![step_s, from_s, number])?;
    while let Some(row) = rows.next()? {
        history.at_s.push(row.get(0)?);
        history.rate_bps.push(row.get(1)?);
        history.offered_bps.push(row.get::<_, f64>(2)? * 8.0 / step);
        history.throughput_bps.push(row.get::<_, f64>(3)? * 8.0 / step);
        history.backlog_bytes.push(row.get(4)?);
        history.p50_s.push(row.get(5)?);
        history.p95_s.push(row.get(6)?);
        history.p99_s.push(row.get(7)?);
        history.jain.push(row.get(8)?);
        history.worst_share_error_points.push(row.get(9)?);
    }
    let places: BTreeMap<u64, usize> =
        history.at_s.iter().enumerate().map(|(place, at)| (*at, place)).collect();
    history.causes = causes(connection, number, step_s, from_s, &places)?;
    history.classes = classes(connection, number, step_s, from_s, class, &places)?;
    Ok(history)
}

fn causes(
    connection: &Connection,
    way: usize,
    step_s: u64,
    from_s: u64,
    places: &BTreeMap<u64, usize>,
) -> Result<Vec<CauseHistory>, rusqlite::Error> {
    let mut statement = connection
        .prepare_cached("SELECT at, fate, reason, count FROM cause WHERE step = ? AND at >= ? AND way = ?")?;
    let mut rows = statement.query(params![step_s, from_s, way])?;
    let mut found: BTreeMap<(String, String), Vec<u64>> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let Some(place) = places.get(&row.get(0)?) else { continue };
        let counts = found.entry((row.get(1)?, row.get(2)?)).or_insert_with(|| vec![0; places.len()]);
        counts[*place] = row.get(3)?;
    }
    Ok(found.into_iter().map(|((fate, reason), counts)| CauseHistory { fate, reason, counts }).collect())
}

fn classes(
    connection: &Connection,
    way: usize,
    step_s: u64,
    from_s: u64,
    class: Option<&str>,
    places: &BTreeMap<u64, usize>,
) -> Result<Vec<ClassHistory>, rusqlite::Error> {
    let names: Vec<String> = match class {
        Some(class) => vec![class.to_owned()],
        None => {
            let mut statement = connection.prepare_cached(
                "SELECT class FROM share WHERE step = ? AND at >= ? AND way = ? AND class != ? \
                 GROUP BY class ORDER BY SUM(bytes_out) DESC LIMIT ?",
            )?;
            let rows =
                statement.query_map(params![step_s, from_s, way, OTHERS, SHOWN_CLASSES], |row| row.get(0))?;
            rows.collect::<Result<_, _>>()?
        }
    };
    let mut statement = connection.prepare_cached(
        "SELECT at, bytes_in, bytes_out, fair FROM share WHERE step = ? AND at >= ? AND way = ? AND class = ?",
    )?;
    let bps = |bytes: f64| Some(bytes * 8.0 / step_s as f64);
    let of = |class: String| {
        let empty = || vec![None; places.len()];
        let (mut offered_bps, mut throughput_bps, mut fair_bps) = (empty(), empty(), empty());
        let mut rows = statement.query(params![step_s, from_s, way, class])?;
        while let Some(row) = rows.next()? {
            let Some(place) = places.get(&row.get(0)?).copied() else { continue };
            offered_bps[place] = bps(row.get(1)?);
            throughput_bps[place] = bps(row.get(2)?);
            fair_bps[place] = bps(row.get(3)?);
        }
        Ok(ClassHistory { class, offered_bps, throughput_bps, fair_bps })
    };
    names.into_iter().map(of).collect()
}
