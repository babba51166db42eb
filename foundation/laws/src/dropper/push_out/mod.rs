//! The code shared by the push-out disciplines of Suter et al. 1998 (section II.B): soft partitions
//! of one buffer.
//!
//! Each of the n backlogged queues has a share of the buffer B: B/n, or a share by weight. A queue
//! may exceed its share while there is room. Once the buffer is full, a queue above its share loses
//! a packet. The disciplines differ in the choice of that queue.
//!
//! n counts the queue of the arrival, even if it is still empty. So if packets are counted, some
//! queue is above its share whenever the arrival's is below. If the arrival's queue holds its share
//! or more, that queue may lose the packet.

mod backlogs;
mod lengths;
mod numbers;
mod ranking;
mod shares;

use alloc::format;
pub use backlogs::Backlogs;
pub use lengths::Lengths;
use numbers::Numbers;
pub(crate) use ranking::Ranking;
pub use shares::Shares;

use crate::error::{BadParameter, Of as _, Parameter};
use crate::queueing::{CheckedQueue, Queueing};
use crate::site::Site;
use crate::spec::{Measure, WeightOf};
use fairwire_core::{Buffer, FlowKey, Limit, Packet, Unit, Victim};
use fairwire_parameters::{parameters, word};

/// The packet that the chosen queue loses.
#[word(gated)]
pub enum End {
    /// The oldest packet: its sender learns of the loss soonest. The paper's choice.
    #[default]
    Front,
    /// The newest packet, which is the arrival if its queue is chosen.
    Tail,
}

/// The parameters that all push-out droppers share.
#[parameters(gated, checked = Checked, group)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters {
    /// The buffer, the response to signals, and the order of service.
    #[parameter(flatten)]
    pub queue: Queueing,
    /// The unit in which queues are counted.
    #[parameter(
        unset = "`bytes` where the buffer is in bytes or time, else `packets`",
        source = "The paper's simulations count packets; its section IV allows for bytes."
    )]
    pub measure: Option<Measure>,
    /// Whether the oldest or the newest packet of a queue is dropped.
    #[parameter(default = End::Front, source = "The paper drops from the front, so that TCP retransmits sooner (section II.B).")]
    pub drop: Option<End>,
}

/// The maximum number of different weights, all searched at a push-out.
const MAX_WEIGHTS: usize = 256;

/// The checked [`Parameters`].
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The size of the buffer.
    pub limit: Limit,
    /// The unit in which queues are counted.
    pub measure: Measure,
    /// The buffer B, in the unit of `measure`.
    pub pool: f64,
    /// The end of a queue that loses a packet.
    pub drop: End,
    /// The initial weights of the shares, by class.
    pub weights: WeightOf,
}

impl Parameters {
    pub(crate) fn check(
        &self,
        discipline: &'static str,
        site: &Site<'_>,
    ) -> Result<(CheckedQueue, Config), BadParameter> {
        let Checked { drop } = self.checked().of(discipline)?;
        let queue = self.queue.check(discipline, site)?;
        let room = queue.room;
        let of_buffer = if room.limit.is_in_bytes() { Measure::Bytes } else { Measure::Packets };
        let measure = self.measure.unwrap_or(of_buffer);
        let pool = measure.counted(room.amount, site);
        let weights = queue.service.weights.clone();
        Ok((queue, Config { limit: room.limit, measure, pool, drop, weights }))
    }
}

impl Config {
    /// Refuses more than [`MAX_WEIGHTS`] different weights: searching them would delay the link.
    pub(crate) fn with_few_weights(
        self,
        discipline: &'static str,
        queue: &Queueing,
    ) -> Result<Config, BadParameter> {
        let different = self.weights.distinct().len();
        if different <= MAX_WEIGHTS {
            return Ok(self);
        }
        let given = format!("a table of {different} different weights");
        let allowed = format!("at most {MAX_WEIGHTS} different ones, the 1 of classes not listed among them");
        let bad = Parameter { discipline, name: "scheduler.weights" }.refuse(given, allowed);
        Err(queue.scheduler.iter().fold(bad, |bad, service| service.placed(bad)))
    }

    /// In packets or bytes as configured.
    #[inline]
    pub(crate) fn length(&self, flow: FlowKey, buffer: &Buffer) -> u64 {
        let backlog = buffer.flow_backlog(flow);
        match self.measure {
            Measure::Packets => backlog.packets.into(),
            Measure::Bytes => backlog.bytes,
        }
    }

    #[inline]
    pub(crate) fn victim(&self, flow: FlowKey, arrival: &Packet, buffer: &Buffer) -> Victim {
        match self.drop {
            End::Front => Victim::Waiting(buffer.flow_head(flow)),
            End::Tail if buffer.flow(arrival) == Some(flow) => Victim::Arrival,
            End::Tail => Victim::Waiting(buffer.flow_tail(flow)),
        }
    }

    pub(crate) fn unit(&self) -> Unit {
        self.measure.unit()
    }
}
