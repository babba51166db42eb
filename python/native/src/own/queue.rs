//! An entire queue written in Python, including the order of service.

use super::class::{Class, Kind, QUEUE};
use super::object::{Own, place};
use super::packet::{Packet, seconds};
use super::scope::Run;
use fairwire_core::{Backlog, Cause, Control, Discipline, Ecn, Limit, Probe, Room, Signals, Time, Unit};
use fairwire_laws::Site;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) struct Full {
    own: Own,
    enqueue: Py<PyAny>,
    dequeue: Py<PyAny>,
    ready_at: Option<Py<PyAny>>,
    idle: Option<Py<PyAny>>,
    /// The calls of `drop` and `mark` by a method of the class.
    orders: Py<PyList>,
    held: BTreeMap<u64, (fairwire_core::Packet, Py<Packet>)>,
    bytes: u64,
    limit: Limit,
    next: u64,
    ready: Option<Time>,
}

const ONE_THAT_WAITS: &str = "a packet that was enqueued and has not left";

impl Full {
    pub(super) fn new(
        py: Python<'_>,
        class: &Class,
        run: &Arc<Run>,
        at: (Limit, &Site<'_>),
    ) -> PyResult<Self> {
        let (orders, given) = (PyList::empty(py), place(py, QUEUE, at.0, at.1)?);
        given.set_item("_orders", &orders)?;
        let own = Own::new(py, class, run, &given)?;
        let method = |name| own.method(py, Kind::Queue, name);
        let needed = |name| {
            let missing = || format!("`{}` has no method `{name}`, which a fairwire.Queue needs", own.name);
            method(name)?.ok_or_else(|| PyTypeError::new_err(missing()))
        };
        Ok(Full {
            enqueue: needed("enqueue")?,
            dequeue: needed("dequeue")?,
            ready_at: method("ready_at")?,
            idle: method("idle")?,
            own,
            orders: orders.unbind(),
            held: BTreeMap::new(),
            bytes: 0,
            limit: at.0,
            next: 0,
            ready: None,
        })
    }

    fn take(&mut self, number: u64) -> Option<fairwire_core::Packet> {
        let (packet, _) = self.held.remove(&number)?;
        self.bytes -= u64::from(packet.len);
        Some(packet)
    }

    fn number(&self, packet: &Bound<'_, PyAny>) -> Option<u64> {
        let packet = packet.cast::<Packet>().ok()?;
        let number = packet.get().number();
        self.held.get(&number).filter(|(_, object)| object.is(packet)).map(|_| number)
    }

    fn carry_out(&mut self, py: Python<'_>, arrival: Option<u64>, signals: &mut dyn Signals) -> PyResult<()> {
        let orders = self.orders.bind(py);
        if orders.is_empty() {
            return Ok(());
        }
        let given: Vec<Bound<'_, PyAny>> = orders.iter().collect();
        orders.call_method0("clear")?;
        for order in given {
            let order = order.cast_into::<PyTuple>()?;
            let (packet, word) = (order.get_item(0)?, order.get_item(1)?.cast_into::<PyString>()?);
            let number = self.number(&packet).ok_or_else(|| {
                let (name, given) = (&self.own.name, packet.to_string());
                PyValueError::new_err(format!(
                    "{name}.{word} was given {given}, which does not wait; allowed: {ONE_THAT_WAITS}"
                ))
            })?;
            if word == "mark" {
                self.mark(number, signals)?;
                continue;
            }
            let fits =
                self.held.len() <= self.limit.max_packets() as usize && self.bytes <= self.limit.max_bytes();
            let cause = match arrival {
                Some(arrival) if arrival != number => Cause::PushOut,
                Some(_) if !fits => Cause::Overflow,
                _ => Cause::Early,
            };
            signals_dropped(self.take(number), cause, signals);
        }
        Ok(())
    }

    fn mark(&mut self, number: u64, signals: &mut dyn Signals) -> PyResult<()> {
        let Some((packet, object)) = self.held.get_mut(&number) else { return Ok(()) };
        if !packet.ecn.is_capable() {
            return Err(PyValueError::new_err(format!(
                "{}.mark was given packet {number}, which is not ECN-capable; allowed: one of which `ecn` is \
                 not \"not-ect\"; `drop` takes any",
                self.own.name
            )));
        }
        packet.ecn = Ecn::Ce;
        object.get().set_ecn(Ecn::Ce);
        signals.marked(packet, Cause::Early);
        Ok(())
    }

    fn offer(&mut self, py: Python<'_>, number: u64, now: Time, signals: &mut dyn Signals) -> PyResult<()> {
        let object = self.held[&number].1.clone_ref(py);
        let returned = self.enqueue.bind(py).call1((object, seconds(now)))?;
        if !returned.is_none() {
            let allowed = "None; `self.drop(packet)` drops a packet and `self.mark(packet)` marks one";
            return Err(self.own.nonsense("enqueue", &returned, allowed));
        }
        self.carry_out(py, Some(number), signals)?;
        let (packets, bytes) = (self.held.len(), self.bytes);
        let (max_packets, max_bytes) = (self.limit.max_packets(), self.limit.max_bytes());
        if packets > max_packets as usize || bytes > max_bytes {
            return Err(PyValueError::new_err(format!(
                "{}.enqueue keeps {packets} packets and {bytes} bytes; allowed: {max_packets} packets and \
                 {max_bytes} bytes, the buffer; `self.drop(packet)` drops one",
                self.own.name
            )));
        }
        Ok(())
    }

    fn poll(&mut self, py: Python<'_>, now: Time, signals: &mut dyn Signals) -> PyResult<Option<u64>> {
        let returned = self.dequeue.bind(py).call1((seconds(now),))?;
        self.carry_out(py, None, signals)?;
        if !returned.is_none() {
            let number = self.number(&returned);
            return number.map(Some).ok_or_else(|| {
                self.own.nonsense("dequeue", &returned, &format!("{ONE_THAT_WAITS}, or None"))
            });
        }
        if self.held.is_empty() {
            return Ok(None);
        }
        let Some(method) = &self.ready_at else {
            let (name, packets) = (&self.own.name, self.held.len());
            return Err(PyValueError::new_err(format!(
                "{name}.dequeue returned None while {packets} packets wait; allowed: one of them, or a method \
                 `ready_at` that returns when one may leave"
            )));
        };
        let returned = method.bind(py).call1((seconds(now),))?;
        let at = returned.extract::<f64>().ok().filter(|at| *at > seconds(now) && *at < 1e9);
        let allowed = format!("a time after {} s and before 1e9 s, as a float", seconds(now));
        let at = at.ok_or_else(|| self.own.nonsense("ready_at", &returned, &allowed))?;
        self.ready = Some(Time::from_ns((at * 1e9).ceil() as u64));
        Ok(None)
    }
}

fn signals_dropped(packet: Option<fairwire_core::Packet>, cause: Cause, signals: &mut dyn Signals) {
    if let Some(packet) = packet {
        signals.dropped(packet, cause);
    }
}

impl Discipline for Full {
    fn offer(&mut self, packet: fairwire_core::Packet, room: Room, now: Time, signals: &mut dyn Signals) {
        if room == Room::Full {
            return signals.dropped(packet, Cause::Overflow); // a class has no push-out method
        }
        if u64::from(packet.len) > self.limit.max_bytes() {
            return signals.dropped(packet, Cause::Oversize);
        }
        if self.own.run.is_over() {
            return signals.dropped(packet, Cause::Overflow); // later packets belong to no result
        }
        let number = self.next;
        self.next += 1;
        Python::attach(|py| {
            let offered = Packet::new(py, number, &packet).map(|object| {
                self.bytes += u64::from(packet.len);
                self.held.insert(number, (packet, object));
            });
            if let Err(error) = offered.and_then(|()| self.offer(py, number, now, signals)) {
                self.own.run.fail(py, error, now);
                signals_dropped(self.take(number), Cause::Overflow, signals);
            }
        });
    }

    fn dequeue(&mut self, now: Time, signals: &mut dyn Signals) -> Option<fairwire_core::Packet> {
        self.ready = None;
        if self.own.run.is_over() {
            let first = *self.held.first_key_value()?.0;
            return self.take(first);
        }
        if self.held.is_empty() {
            if let Some(method) = &self.idle {
                self.own.call(now, (), |py| method.bind(py).call1((seconds(now),)).map(drop));
            }
            return None;
        }
        let chosen = Python::attach(|py| {
            self.poll(py, now, signals).unwrap_or_else(|error| {
                self.own.run.fail(py, error, now);
                None
            })
        })?;
        self.take(chosen)
    }

    fn ready_at(&self) -> Option<Time> {
        (!self.held.is_empty()).then(|| self.ready.unwrap_or(Time::ZERO))
    }

    fn backlog(&self) -> Backlog {
        Backlog { packets: self.held.len() as u32, bytes: self.bytes }
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        probe.gauge("backlog_packets", Unit::Packets, self.held.len() as f64);
        probe.gauge("backlog_bytes", Unit::Bytes, self.bytes as f64);
    }

    fn drain(&mut self, take: &mut dyn FnMut(fairwire_core::Packet)) {
        self.bytes = 0;
        for (packet, _) in std::mem::take(&mut self.held).into_values() {
            take(packet);
        }
    }
}

impl Control for Full {
    fn inside(&mut self, _: Option<u32>, _: &mut dyn FnMut(&mut dyn Discipline)) {}
}
