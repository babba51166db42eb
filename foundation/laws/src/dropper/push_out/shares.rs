//! The shares of the backlogged queues in the buffer B: b = B w / sum of w, for a queue of weight
//! w.

use super::Config;
use crate::spec::WeightOf;
use alloc::boxed::Box;
use alloc::vec;
use fairwire_core::{Buffer, FlowKey, Packet, SetWeightError, Weight};

/// The weights of the backlogged queues and their sum.
#[derive(Debug)]
pub struct Shares {
    pool: f64,
    weights: WeightOf,
    /// For each queue, the class from which it takes its weight while it is backlogged. Empty if
    /// all weights are 1.
    of_flow: Box<[u32]>,
    /// For each listed class, the number of backlogged queues that take their weight from it.
    queues: Box<[u32]>,
    sum: u128,
}

/// Weights are added as integers in units of 2^-32, so removing a weight undoes its addition
/// exactly. 2^24 weights of 10^6 sum to less than 2^76.
const ONE: f64 = (1u64 << 32) as f64;

fn fixed(weight: f64) -> u128 {
    (weight * ONE + 0.5) as u128
}

impl Shares {
    /// Starts without backlogged queues.
    pub fn new(config: &Config) -> Self {
        let flows = if config.weights.is_equal() { 0 } else { config.limit.max_packets() as usize };
        Shares {
            pool: config.pool,
            weights: config.weights.clone(),
            of_flow: vec![0; flows].into(),
            queues: vec![0; config.weights.len()].into(),
            sum: 0,
        }
    }

    /// Takes over the buffer size. Returns false if `fresh` has other weights or more queues.
    pub fn retune(&mut self, fresh: &Shares) -> bool {
        let takes = self.weights == fresh.weights && self.of_flow.len() >= fresh.of_flow.len();
        if takes {
            self.pool = fresh.pool;
        }
        takes
    }

    #[inline]
    pub(crate) fn are_equal(&self) -> bool {
        self.of_flow.is_empty()
    }

    /// Counts `packet`, which has entered or left `buffer`.
    #[inline]
    pub fn tracked(&mut self, packet: &Packet, flow: FlowKey, inside: bool, buffer: &Buffer) {
        if !self.are_equal() {
            self.count(packet, flow, inside, buffer);
        }
    }

    /// Inlined, this function would make the caller save registers at each packet.
    #[inline(never)]
    fn count(&mut self, packet: &Packet, flow: FlowKey, inside: bool, buffer: &Buffer) {
        match (inside, buffer.flow_backlog(flow).packets) {
            (true, 1) => {
                self.of_flow[flow.index()] = packet.class;
                self.sum += fixed(self.weights.class(packet.class));
                if let Some(queues) = self.queues.get_mut(packet.class as usize) {
                    *queues += 1;
                }
            }
            (false, 0) => {
                let class = self.of_flow[flow.index()];
                self.sum -= fixed(self.weights.class(class));
                if let Some(queues) = self.queues.get_mut(class as usize) {
                    *queues -= 1;
                }
            }
            _ => {}
        }
    }

    /// Gives `class`, and so all its queues, another weight. O(1).
    pub fn set_weight(&mut self, class: u32, weight: Weight) -> Result<Weight, SetWeightError> {
        let before = self.weights.set(class, weight)?;
        let queues = u128::from(self.queues[class as usize]);
        self.sum = self.sum - queues * fixed(before.get()) + queues * fixed(weight.get());
        Ok(before)
    }

    /// The class from which `flow` takes its weight. The queue must be backlogged or just emptied.
    #[inline]
    pub fn class(&self, flow: FlowKey) -> u32 {
        if self.are_equal() { 0 } else { self.of_flow[flow.index()] }
    }

    /// The weight of `flow`. The queue must be backlogged or just emptied.
    #[inline]
    pub fn weight(&self, flow: FlowKey) -> f64 {
        if self.are_equal() { 1.0 } else { self.weights.class(self.of_flow[flow.index()]) }
    }

    /// The share of a queue of weight 1, with the queue of `arrival` counted as backlogged.
    #[inline]
    pub(crate) fn unit_for(&self, arrival: &Packet, buffer: &Buffer) -> f64 {
        let is_new = buffer.flow(arrival).is_none();
        if self.are_equal() {
            self.pool / f64::from(buffer.backlogged_flows() + u32::from(is_new))
        } else {
            let more = if is_new { fixed(self.weights.class(arrival.class)) } else { 0 };
            self.pool / ((self.sum + more) as f64 / ONE)
        }
    }

    /// The share of a queue of weight 1; 0 if no queue is backlogged.
    #[inline]
    pub fn unit(&self, buffer: &Buffer) -> f64 {
        let sum = if self.are_equal() { f64::from(buffer.backlogged_flows()) } else { self.sum as f64 / ONE };
        if sum > 0.0 { self.pool / sum } else { 0.0 }
    }
}
