//! A dropper written in Python.

use super::class::{Class, DROPPER, Kind};
use super::object::{Own, place};
use super::packet::{Packet, seconds};
use super::scope::Run;
use super::waiting::Waiting;
use fairwire_core::{Buffer, Cause, Dropper, FlowKey, Left, Limit, Needs, Time, Verdict, Victim};
use fairwire_laws::Site;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::sync::Arc;

pub(super) struct Law {
    own: Own,
    on_arrival: Option<Py<PyAny>>,
    on_departure: Option<Py<PyAny>>,
    victim: Option<Py<PyAny>>,
    idle: Option<Py<PyAny>>,
    waiting: Py<Waiting>,
    arriving: Option<Py<Packet>>,
    leaving: Option<Py<Packet>>,
    number: u64, // of the arriving packet
    next: u64,
}

impl Law {
    pub(super) fn new(
        py: Python<'_>,
        class: &Class,
        run: &Arc<Run>,
        at: (Limit, &Site<'_>),
    ) -> PyResult<Self> {
        let own = Own::new(py, class, run, &place(py, DROPPER, at.0, at.1)?)?;
        let method = |name| own.method(py, Kind::Dropper, name);
        Ok(Law {
            on_arrival: method("on_arrival")?,
            on_departure: method("on_departure")?,
            victim: method("victim")?,
            idle: method("idle")?,
            own,
            waiting: Py::new(py, Waiting::new(at.0))?,
            arriving: None,
            leaving: None,
            number: 0,
            next: 0,
        })
    }

    fn arriving(&mut self, py: Python<'_>, packet: &fairwire_core::Packet) -> PyResult<Py<Packet>> {
        if let Some(object) = &self.arriving {
            return Ok(object.clone_ref(py));
        }
        let object = Packet::new(py, self.number, packet)?;
        self.arriving = Some(object.clone_ref(py));
        Ok(object)
    }
}

impl Own {
    fn verdict(&self, method: &str, returned: &Bound<'_, PyAny>) -> PyResult<Verdict> {
        if returned.is_none() {
            return Ok(Verdict::Pass);
        }
        let word = returned.cast::<PyString>().ok().map(|word| word.to_cow()).transpose()?;
        match word.as_deref() {
            Some("drop") => Ok(Verdict::Drop(Cause::Early)),
            Some("mark") => Ok(Verdict::Signal(Cause::Early)),
            _ => Err(self.nonsense(method, returned, "None, \"drop\" or \"mark\"")),
        }
    }
}

impl Dropper for Law {
    fn needs(&self) -> Needs {
        Needs::ORDER
    }

    fn on_arrival(&mut self, packet: &fairwire_core::Packet, _: &Buffer, now: Time) -> Verdict {
        self.arriving = None;
        self.number = self.next;
        self.next += 1;
        if self.on_arrival.is_none() || self.own.run.is_over() {
            return Verdict::Pass;
        }
        Python::attach(|py| {
            let object = self.arriving(py, packet);
            self.own.call(now, Verdict::Pass, |py| {
                let Some(method) = &self.on_arrival else { return Ok(Verdict::Pass) };
                let returned = method.bind(py).call1((object?, &self.waiting, seconds(now)))?;
                self.own.verdict("on_arrival", &returned)
            })
        })
    }

    fn on_departure(&mut self, packet: &fairwire_core::Packet, _: Left, _: &Buffer, now: Time) -> Verdict {
        let (Some(method), Some(object)) = (&self.on_departure, self.leaving.take()) else {
            return Verdict::Pass;
        };
        self.own.call(now, Verdict::Pass, |py| {
            object.get().set_ecn(packet.ecn);
            let returned = method.bind(py).call1((object, &self.waiting, seconds(now)))?;
            self.own.verdict("on_departure", &returned)
        })
    }

    fn victim(&mut self, packet: &fairwire_core::Packet, _: &Buffer, now: Time) -> Victim {
        if self.victim.is_none() || self.own.run.is_over() {
            return Victim::Arrival;
        }
        Python::attach(|py| {
            let object = self.arriving(py, packet);
            self.own.call(now, Victim::Arrival, |py| {
                let Some(method) = &self.victim else { return Ok(Victim::Arrival) };
                let object = object?;
                let returned = method.bind(py).call1((&object, &self.waiting, seconds(now)))?;
                if returned.is_none() || returned.is(&object) {
                    return Ok(Victim::Arrival);
                }
                let allowed = "a packet of the queue, or None to refuse the arrival";
                let chosen =
                    returned.cast::<Packet>().map_err(|_| self.own.nonsense("victim", &returned, allowed))?;
                let key = self.waiting.get().key(chosen);
                key.map(Victim::Waiting).ok_or_else(|| {
                    let (name, number) = (&self.own.name, chosen.get().number());
                    PyValueError::new_err(format!(
                        "{name}.victim returned packet {number}, which does not wait; allowed: {allowed}"
                    ))
                })
            })
        })
    }

    fn tracked(&mut self, packet: &fairwire_core::Packet, _: FlowKey, inside: bool, buffer: &Buffer) {
        if self.own.run.is_over() {
            return;
        }
        Python::attach(|py| {
            if !inside {
                self.leaving = self.waiting.get().left(packet);
            } else if let (Ok(object), Some(key)) = (self.arriving(py, packet), buffer.newest()) {
                let number = object.get().number();
                self.waiting.get().entered(object, number, key, packet);
                self.arriving = None;
            }
        });
    }

    fn idle(&mut self, now: Time) {
        if let Some(method) = &self.idle {
            self.own.call(now, (), |py| method.bind(py).call1((seconds(now),)).map(drop));
        }
    }
}
