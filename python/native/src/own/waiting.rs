//! The queue in a dropper's buffer, as Python sees it.

use super::packet::Packet;
use fairwire_core::{Key, Limit};
use pyo3::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The queued packets, as a dropper gets them: `len(queue)`, `for packet in queue` from the oldest,
/// and the backlog of each flow.
#[pyclass(frozen, module = "fairwire")]
pub(crate) struct Waiting {
    limit: Limit,
    kept: Mutex<Kept>,
}

/// A copy of the buffer's contents, with the Python objects of packets. The buffer is available
/// only during a call of the dropper.
#[derive(Default)]
struct Kept {
    packets: BTreeMap<u64, (Py<Packet>, Key, u64)>,
    numbers: BTreeMap<u32, u64>, // by frame
    flows: BTreeMap<u64, OfFlow>,
    bytes: u64,
}

#[derive(Default)]
struct OfFlow {
    numbers: BTreeSet<u64>,
    bytes: u64,
}

impl Waiting {
    pub(super) fn new(limit: Limit) -> Self {
        Waiting { limit, kept: Mutex::default() }
    }

    /// Locks the copy. The holder must not call Python, because the call could wait for the
    /// interpreter.
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn entered(&self, object: Py<Packet>, number: u64, key: Key, packet: &fairwire_core::Packet) {
        let mut kept = self.kept();
        kept.packets.insert(number, (object, key, packet.flow.0));
        kept.numbers.insert(packet.frame, number);
        kept.bytes += u64::from(packet.len);
        let flow = kept.flows.entry(packet.flow.0).or_default();
        flow.numbers.insert(number);
        flow.bytes += u64::from(packet.len);
    }

    pub(super) fn left(&self, packet: &fairwire_core::Packet) -> Option<Py<Packet>> {
        let mut kept = self.kept();
        let number = kept.numbers.remove(&packet.frame)?;
        let (object, _, name) = kept.packets.remove(&number)?;
        kept.bytes -= u64::from(packet.len);
        let flow = kept.flows.get_mut(&name)?;
        flow.numbers.remove(&number);
        flow.bytes -= u64::from(packet.len);
        if flow.numbers.is_empty() {
            kept.flows.remove(&name);
        }
        Some(object)
    }

    pub(super) fn key(&self, packet: &Bound<'_, Packet>) -> Option<Key> {
        let kept = self.kept();
        let (object, key, _) = kept.packets.get(&packet.get().number())?;
        object.is(packet).then_some(*key)
    }
}

#[pymethods]
impl Waiting {
    /// The number of queued packets.
    fn __len__(&self) -> usize {
        self.kept().packets.len()
    }

    /// Iterates over the packets, oldest first.
    fn __iter__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let all: Vec<Py<Packet>> =
            self.kept().packets.values().map(|(object, ..)| object.clone_ref(py)).collect();
        Ok(all.into_pyobject(py)?.try_iter()?.into_any().unbind())
    }

    /// The queued bytes.
    #[getter]
    fn bytes(&self) -> u64 {
        self.kept().bytes
    }

    /// The size of the buffer, packets.
    #[getter]
    fn max_packets(&self) -> u32 {
        self.limit.max_packets()
    }

    /// The size of the buffer, bytes.
    #[getter]
    fn max_bytes(&self) -> u64 {
        self.limit.max_bytes()
    }

    /// The packet that has waited longest; None if the queue is empty.
    #[getter]
    fn oldest(&self, py: Python<'_>) -> Option<Py<Packet>> {
        self.kept().packets.first_key_value().map(|(_, (object, ..))| object.clone_ref(py))
    }

    /// The packet that arrived last; None if the queue is empty.
    #[getter]
    fn newest(&self, py: Python<'_>) -> Option<Py<Packet>> {
        self.kept().packets.last_key_value().map(|(_, (object, ..))| object.clone_ref(py))
    }

    /// The flows with queued packets, as a list of their numbers.
    #[getter]
    fn flows(&self) -> Vec<u64> {
        self.kept().flows.keys().copied().collect()
    }

    /// The flow with the most queued bytes; None if the queue is empty.
    #[getter]
    fn longest(&self) -> Option<u64> {
        let kept = self.kept();
        kept.flows.iter().max_by_key(|(_, flow)| flow.bytes).map(|(name, _)| *name)
    }

    /// The queued packets and bytes of `flow`.
    fn backlog(&self, flow: u64) -> (usize, u64) {
        self.kept().flows.get(&flow).map_or((0, 0), |flow| (flow.numbers.len(), flow.bytes))
    }

    /// The packet of `flow` that has waited longest; None if `flow` has no packet.
    fn head(&self, py: Python<'_>, flow: u64) -> Option<Py<Packet>> {
        let kept = self.kept();
        let number = kept.flows.get(&flow)?.numbers.first()?;
        kept.packets.get(number).map(|(object, ..)| object.clone_ref(py))
    }

    /// The queued packets of `flow`, oldest first.
    fn of(&self, py: Python<'_>, flow: u64) -> Vec<Py<Packet>> {
        let kept = self.kept();
        let numbers = kept.flows.get(&flow).map(|flow| flow.numbers.iter());
        let objects = numbers.into_iter().flatten().filter_map(|number| kept.packets.get(number));
        objects.map(|(object, ..)| object.clone_ref(py)).collect()
    }

    fn __repr__(&self) -> String {
        let kept = self.kept();
        format!("<fairwire.Waiting: {} packets, {} bytes>", kept.packets.len(), kept.bytes)
    }
}
