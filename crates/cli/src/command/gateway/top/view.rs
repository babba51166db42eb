//! What is on the screen.

use super::feed::News;
use fairwire_gateway::telemetry::snapshot::{ClassSnapshot, FlowSnapshot, Snapshot, WaySnapshot};
use std::collections::VecDeque;
use std::path::Path;

/// Snapshots that the small pictures are made of; no terminal is wider.
const KEPT: usize = 512;

/// What is looked at, and how.
pub struct View {
    pub snapshot: Option<Snapshot>,
    /// Why there are no news, where there are none.
    pub trouble: Option<String>,
    pub pasts: [Past; 2],
    /// 0 for download, 1 for upload.
    pub way: usize,
    pub table: Table,
    pub order: Order,
    pub is_paused: bool,
    /// Is it one picture, without what changes over time?
    pub is_still: bool,
    /// The first row of the table that is shown.
    pub first: usize,
}

/// What happened lately on one way, the newest last.
#[derive(Default)]
pub struct Past {
    /// Bit/s between two snapshots.
    pub throughput_bps: VecDeque<u64>,
    /// Packets that waited.
    pub backlog_packets: VecDeque<u64>,
    last: Option<(f64, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    Classes,
    Flows,
}

/// What rows are ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Got,
    Offered,
    Drops,
    /// The distance from the fair share; of flows, which have none, the name.
    Unfair,
    Name,
}

impl Order {
    pub fn next(self) -> Self {
        match self {
            Order::Got => Order::Offered,
            Order::Offered => Order::Drops,
            Order::Drops => Order::Unfair,
            Order::Unfair => Order::Name,
            Order::Name => Order::Got,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Order::Got => "got",
            Order::Offered => "offered",
            Order::Drops => "drops",
            Order::Unfair => "unfairness",
            Order::Name => "name",
        }
    }
}

impl View {
    /// Nothing yet of the gateway at `socket`.
    pub fn new(socket: &Path) -> Self {
        View {
            snapshot: None,
            trouble: Some(format!("asking {}", socket.display())),
            pasts: Default::default(),
            way: 0,
            table: Table::Classes,
            order: Order::Got,
            is_paused: false,
            is_still: false,
            first: 0,
        }
    }

    /// Takes what came. While it is paused, nothing changes but that the gateway is lost.
    pub fn take(&mut self, news: News) {
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
            }
        }
    }

    /// The way that is looked at.
    pub fn way(&self) -> Option<&WaySnapshot> {
        self.snapshot.as_ref()?.ways.get(self.way)
    }

    /// Rows of the table.
    pub fn rows(&self) -> usize {
        self.way().map_or(0, |way| match self.table {
            Table::Classes => way.classes.len(),
            Table::Flows => way.flows.len(),
        })
    }

    /// The classes in their order.
    pub fn classes(&self) -> Vec<&ClassSnapshot> {
        let mut rows: Vec<&ClassSnapshot> =
            self.way().map(|way| way.classes.iter().collect()).unwrap_or_default();
        let off = |class: &ClassSnapshot| (class.throughput_bps - class.fair_bps).abs();
        rows.sort_by(|a, b| match self.order {
            Order::Got => b.throughput_bps.total_cmp(&a.throughput_bps),
            Order::Offered => b.offered_bps.total_cmp(&a.offered_bps),
            Order::Drops => b.drops_per_s.total_cmp(&a.drops_per_s),
            Order::Unfair => off(b).total_cmp(&off(a)),
            Order::Name => (&a.parent, &a.class).cmp(&(&b.parent, &b.class)),
        });
        rows
    }

    /// The flows in their order.
    pub fn flows(&self) -> Vec<&FlowSnapshot> {
        let mut rows: Vec<&FlowSnapshot> =
            self.way().map(|way| way.flows.iter().collect()).unwrap_or_default();
        rows.sort_by(|a, b| match self.order {
            Order::Got => b.throughput_bps.total_cmp(&a.throughput_bps),
            Order::Offered => b.offered_bps.total_cmp(&a.offered_bps),
            Order::Drops => b.drops_per_s.total_cmp(&a.drops_per_s),
            Order::Unfair | Order::Name => a.flow.cmp(&b.flow),
        });
        rows
    }
}

impl Past {
    fn take(&mut self, uptime_s: f64, way: &WaySnapshot) {
        let bytes = way.totals.bytes_out;
        if let Some((before_s, before)) = self.last {
            if uptime_s < before_s || bytes < before {
                *self = Past::default(); // another process
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
