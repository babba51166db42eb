//! The state of the screen.

use super::feed::News;
use fairwire_control::snapshot::{ClassSnapshot, FlowSnapshot, Snapshot, WaySnapshot};
use std::cell::Cell;
use std::collections::VecDeque;
use std::path::Path;

/// The number of snapshots kept. A sparkline has one column per snapshot, and is half as wide as
/// the terminal.
const KEPT: usize = 512;

pub(super) struct View {
    pub snapshot: Option<Snapshot>,
    /// The reason why no snapshots arrive; `None` while they arrive.
    pub trouble: Option<String>,
    pub pasts: [Past; 2],
    /// The shown direction: 0 for download, 1 for upload.
    pub way: usize,
    pub table: Table,
    pub order: RowOrder,
    pub is_paused: bool,
    /// The first shown row.
    pub first: usize,
    /// The number of table rows that fitted at the last drawing.
    pub page: Cell<usize>,
    /// The search text: only rows whose names contain it are shown.
    pub search: String,
    pub is_typing: bool,
    /// All classes, from the latest [`News::Classes`]. Empty until needed: snapshots have the
    /// busiest classes.
    all: [Vec<ClassSnapshot>; 2],
}

/// Recent values, newest last.
#[derive(Default)]
pub(super) struct Past {
    /// Bit/s between two snapshots.
    pub throughput_bps: VecDeque<u64>,
    /// Waiting packets at each snapshot.
    pub backlog_packets: VecDeque<u64>,
    /// The gateway's uptime in the latest snapshot, seconds, and the bytes sent since its start.
    last: Option<(f64, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    Classes,
    Flows,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowOrder {
    Got,
    Offered,
    Drops,
    /// Sorts classes by the distance from their fair share. Flows have no fair share, and are
    /// sorted by name.
    Unfair,
    Name,
}

impl RowOrder {
    pub(super) fn next(self) -> Self {
        match self {
            RowOrder::Got => RowOrder::Offered,
            RowOrder::Offered => RowOrder::Drops,
            RowOrder::Drops => RowOrder::Unfair,
            RowOrder::Unfair => RowOrder::Name,
            RowOrder::Name => RowOrder::Got,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            RowOrder::Got => "got",
            RowOrder::Offered => "offered",
            RowOrder::Drops => "drops",
            RowOrder::Unfair => "unfairness",
            RowOrder::Name => "name",
        }
    }
}

impl View {
    pub(super) fn new(socket: &Path) -> Self {
        View {
            snapshot: None,
            trouble: Some(format!("waiting for {}", socket.display())),
            pasts: Default::default(),
            way: 0,
            table: Table::Classes,
            order: RowOrder::Got,
            is_paused: false,
            first: 0,
            page: Cell::new(0),
            search: String::new(),
            is_typing: false,
            all: Default::default(),
        }
    }

    /// Updates the view from `news`. A paused view updates only `trouble`.
    pub(super) fn take(&mut self, news: News) {
        match news {
            News::Lost(why) => self.trouble = Some(why),
            News::Snapshot(snapshot) => {
                self.trouble = None;
                if self.is_paused {
                    return;
                }
                for (past, way) in self.pasts.iter_mut().zip(&snapshot.ways) {
                    past.take(snapshot.uptime_s, way);
                }
                self.snapshot = Some(*snapshot);
                if !self.wants_all() {
                    self.all = Default::default();
                }
            }
            News::Classes(snapshot) if !self.is_paused => {
                for (all, way) in self.all.iter_mut().zip(snapshot.ways) {
                    *all = way.classes;
                }
            }
            News::Classes(_) => {}
        }
    }

    pub(super) fn is_stale(&self) -> bool {
        self.snapshot.is_some() && self.trouble.is_some()
    }

    pub(super) fn way(&self) -> Option<&WaySnapshot> {
        self.snapshot.as_ref()?.ways.get(self.way)
    }

    pub(super) fn show(&mut self, way: usize, table: Table) {
        (self.way, self.table, self.first) = (way, table, 0);
    }

    pub(super) fn search_for(&mut self, text: String) {
        (self.search, self.first) = (text, 0);
    }

    pub(super) fn scroll(&mut self, rows: isize) {
        // While classes are missing, one step must be possible. This step makes `wants_all` true,
        // which fetches the missing classes.
        let last = self.rows().saturating_sub(self.page.get()).max(usize::from(self.is_cut()));
        self.first = self.first.saturating_add_signed(rows).min(last);
    }

    fn is_cut(&self) -> bool {
        self.table == Table::Classes
            && self.way().is_some_and(|way| way.class_count > way.classes.len() as u64)
    }

    pub(super) fn wants_all(&self) -> bool {
        let is_beyond =
            self.first > 0 || self.is_typing || !self.search.is_empty() || self.order != RowOrder::Got;
        self.is_cut() && is_beyond
    }

    pub(super) fn rows(&self) -> usize {
        match self.table {
            Table::Classes => self.classes().len(),
            Table::Flows => self.flows().len(),
        }
    }

    pub(super) fn all_rows(&self) -> u64 {
        self.way().map_or(0, |way| match self.table {
            Table::Classes => way.class_count.max(way.classes.len() as u64),
            Table::Flows => way.active_flows.max(way.flows.len() as u64),
        })
    }

    /// The sorted classes.
    pub(super) fn classes(&self) -> Vec<&ClassSnapshot> {
        let Some(way) = self.way() else { return Vec::new() };
        let all = if self.all[self.way].is_empty() { &way.classes } else { &self.all[self.way] };
        let mut rows: Vec<&ClassSnapshot> =
            all.iter().filter(|class| self.finds(&full_name(class))).collect();
        let off = |class: &ClassSnapshot| (class.throughput_bps - class.fair_bps).abs();
        rows.sort_by(|a, b| match self.order {
            RowOrder::Got => b.throughput_bps.total_cmp(&a.throughput_bps),
            RowOrder::Offered => b.offered_bps.total_cmp(&a.offered_bps),
            RowOrder::Drops => b.drops_per_s.total_cmp(&a.drops_per_s),
            RowOrder::Unfair => off(b).total_cmp(&off(a)),
            RowOrder::Name => (&a.parent, &a.class).cmp(&(&b.parent, &b.class)),
        });
        rows
    }

    /// The sorted flows.
    pub(super) fn flows(&self) -> Vec<&FlowSnapshot> {
        let Some(way) = self.way() else { return Vec::new() };
        let mut rows: Vec<&FlowSnapshot> = way.flows.iter().filter(|flow| self.finds(&flow.flow)).collect();
        rows.sort_by(|a, b| match self.order {
            RowOrder::Got => b.throughput_bps.total_cmp(&a.throughput_bps),
            RowOrder::Offered => b.offered_bps.total_cmp(&a.offered_bps),
            RowOrder::Drops => b.drops_per_s.total_cmp(&a.drops_per_s),
            RowOrder::Unfair | RowOrder::Name => a.flow.cmp(&b.flow),
        });
        rows
    }

    fn finds(&self, name: &str) -> bool {
        name.to_lowercase().contains(&self.search.to_lowercase())
    }
}

pub(super) fn full_name(class: &ClassSnapshot) -> String {
    match class.parent.as_str() {
        "" => class.class.clone(),
        parent => format!("{parent}/{}", class.class),
    }
}

impl Past {
    fn take(&mut self, uptime_s: f64, way: &WaySnapshot) {
        let bytes = way.totals.bytes_out;
        if let Some((before_s, before)) = self.last {
            if uptime_s < before_s || bytes < before {
                *self = Past::default(); // the gateway was restarted
            } else if uptime_s > before_s {
                let bps = (bytes - before) as f64 * 8.0 / (uptime_s - before_s);
                push(&mut self.throughput_bps, bps as u64);
                push(&mut self.backlog_packets, way.backlog_packets);
            }
        }
        self.last = Some((uptime_s, bytes));
    }
}

fn push(values: &mut VecDeque<u64>, value: u64) {
    if values.len() == KEPT {
        values.pop_front();
    }
    values.push_back(value);
}
