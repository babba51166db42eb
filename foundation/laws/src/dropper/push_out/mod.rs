//! What the push-out disciplines of Suter et al. 1998 (section II.B) share: soft partitions of one
//! buffer.
//!
//! The buffer B is one pool. Each of the n backlogged queues has a nominal part of it, b = B/n, or
//! by weight. A queue may hold more than its part while there is room; once there is none, a queue
//! that holds more gives a packet up. The disciplines differ in which queue that is.
//!
//! What the paper leaves open is settled here, once:
//! - n counts the queue of the arrival, even if nothing waits there yet. So with packets some queue
//!   always holds more than its part when an arrival finds less than its own.
//! - The rule is the same where the arrival's queue holds its part or more. Then it may itself be
//!   the one that gives a packet up.
//! - The weight of a queue is that of the class of the packet that made it backlogged.

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

/// Which packet of the queue that makes room is dropped.
#[word(gated)]
pub enum End {
    /// The oldest: its sender hears of it soonest. The paper's choice.
    #[default]
    Front,
    /// The newest: the arrival itself, where its own queue has to give.
    Tail,
}

/// The parameters that all push-out droppers have.
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
    /// Which packet of a queue is dropped.
    ///
    /// Whether the oldest or the newest packet of that queue goes.
    #[parameter(default = End::Front, source = "The paper drops from the front, so that TCP retransmits sooner (section II.B).")]
    pub drop: Option<End>,
}

/// A search goes through the different weights at each push-out, so their number bounds its work.
const MAX_WEIGHTS: usize = 256;

/// A checked `Spec` of any of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The size of the buffer.
    pub limit: Limit,
    /// The unit in which queues are counted.
    pub measure: Measure,
    /// B, in the same: what the parts add up to.
    pub pool: f64,
    /// Which packet of a queue is dropped.
    pub drop: End,
    /// The weights of the parts at the start, by class.
    pub weights: WeightOf,
}

impl Parameters {
    /// Checks what was typed for `discipline` against the site.
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
    /// Itself, unless there are more than [`MAX_WEIGHTS`] different weights: to look at the longest
    /// queue of each would hold up the link.
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

    /// What waits in `flow`, in the measure.
    #[inline]
    pub(crate) fn length(&self, flow: FlowKey, buffer: &Buffer) -> u64 {
        let backlog = buffer.flow_backlog(flow);
        match self.measure {
            Measure::Packets => backlog.packets.into(),
            Measure::Bytes => backlog.bytes,
        }
    }

    /// The packet that goes when `flow` makes room for `arrival`.
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
