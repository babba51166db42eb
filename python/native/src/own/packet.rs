//! A packet, as Python sees it.

use fairwire_core::{Ecn, Time};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicU8, Ordering};

/// A packet, as a discipline gets it. A discipline cannot create packets.
#[pyclass(frozen, module = "fairwire")]
pub(crate) struct Packet {
    number: u64,
    flow: u64,
    bytes: u32,
    arrived: f64,
    class: u32,
    dscp: u8,
    color: u8,
    ecn: AtomicU8,
}

impl Packet {
    pub(super) fn new(py: Python<'_>, number: u64, packet: &fairwire_core::Packet) -> PyResult<Py<Self>> {
        Py::new(
            py,
            Packet {
                number,
                flow: packet.flow.0,
                bytes: packet.len,
                arrived: seconds(packet.arrived),
                class: packet.class,
                dscp: packet.dscp,
                color: packet.color,
                ecn: AtomicU8::new(packet.ecn as u8),
            },
        )
    }

    pub(super) fn set_ecn(&self, ecn: Ecn) {
        self.ecn.store(ecn as u8, Ordering::Relaxed);
    }
}

#[pymethods]
impl Packet {
    /// The packet's number at this queue, from 0 in the order of arrival.
    #[getter]
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// A number shared by all packets of a flow.
    #[getter]
    fn flow(&self) -> u64 {
        self.flow
    }

    /// The length, bytes on the wire.
    #[getter]
    fn bytes(&self) -> u32 {
        self.bytes
    }

    /// The time of arrival at this queue, seconds.
    #[getter]
    fn arrived(&self) -> f64 {
        self.arrived
    }

    /// The number of the packet's class; 0 without classes.
    #[getter]
    fn class_(&self) -> u32 {
        self.class
    }

    /// The differentiated-services codepoint, 0 to 63.
    #[getter]
    fn dscp(&self) -> u8 {
        self.dscp
    }

    /// The drop precedence: 0 is green, 1 yellow, 2 red.
    #[getter]
    fn color(&self) -> u8 {
        self.color
    }

    /// The ECN codepoint: "not-ect", "ect0", "ect1", or "ce" if marked.
    #[getter]
    fn ecn(&self) -> &'static str {
        Ecn::from_bits(self.ecn.load(Ordering::Relaxed)).name()
    }

    fn __repr__(&self) -> String {
        format!("<fairwire.Packet {}: {} bytes of flow {}>", self.number, self.bytes, self.flow)
    }
}

pub(super) fn seconds(time: Time) -> f64 {
    time.ns() as f64 / 1e9
}
