//! A discipline by itself, for teaching and tests.

use fairwire_catalogue::{Choice, build};
use fairwire_core::units::Amount;
use fairwire_core::{Cause, Packet, Probe, Rate, Seed, Signals, Time, Unit};
use fairwire_laws::Site;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

/// What is behind a [`Discipline`].
struct Inside {
    discipline: Box<dyn fairwire_core::Discipline>,
    now: Time,
    next: u32,
    happened: Happened,
}

/// Drops and marks since they were last read: the packet's number, and the cause.
#[derive(Default)]
struct Happened {
    drops: Vec<(u32, &'static str)>,
    marks: Vec<(u32, &'static str)>,
}

impl Signals for Happened {
    fn dropped(&mut self, packet: Packet, cause: Cause) {
        self.drops.push((packet.frame, cause.name()));
    }
    fn marked(&mut self, packet: &Packet, cause: Cause) {
        self.marks.push((packet.frame, cause.name()));
    }
}

/// A queue discipline by itself, without a link: packets go in and come out.
///
/// `name`: one of `fairwire.disciplines()`, or a scheduler and a dropper such as "drr+faba".
/// `rate`: of the link, such as "10 Mbit/s". `buffer`: such as "100 packets", "64 kB", "50 ms".
/// `packet`: bytes of a typical packet, for laws that count packets. Times are seconds and never
/// decrease. Packets have numbers from 0 on, in the order in which they were offered.
#[pyclass(frozen, module = "fairwire")]
pub(crate) struct Discipline {
    name: String,
    inside: Mutex<Inside>,
}

impl Discipline {
    /// Does something at `now`, in seconds.
    fn at<T>(&self, now: f64, what: impl FnOnce(&mut Inside) -> T) -> PyResult<T> {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier = inside.now.ns() as f64 / 1e9;
        if !(0.0..1e9).contains(&now) {
            return Err(PyValueError::new_err(format!("a time of {now} s; allowed: from 0 to 1e9 s")));
        }
        let time = Time::from_ns((now * 1e9).round() as u64);
        if time < inside.now {
            return Err(PyValueError::new_err(format!("a time of {now} s; allowed: {earlier} s or later")));
        }
        inside.now = time;
        Ok(what(&mut inside))
    }

    fn look<T>(&self, what: impl FnOnce(&mut Inside) -> T) -> T {
        what(&mut self.inside.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn read<T: FromStr>(key: &str, text: &str) -> PyResult<T>
where
    T::Err: std::fmt::Display,
{
    text.parse().map_err(|error: T::Err| PyValueError::new_err(format!("`{key}`: {error}")))
}

/// Gauges by name.
struct Gauges<'a>(&'a mut Vec<(String, f64)>);

impl Probe for Gauges<'_> {
    fn gauge(&mut self, name: &'static str, _unit: Unit, value: f64) {
        self.0.push((name.into(), value));
    }
}

#[pymethods]
impl Discipline {
    #[new]
    #[pyo3(signature = (name, *, rate, buffer, packet=1500, seed=1))]
    fn new(name: &str, rate: &str, buffer: &str, packet: u32, seed: u64) -> PyResult<Self> {
        let site = Site {
            rate: read::<Rate>("rate", rate)?,
            buffer: read::<Amount>("buffer", buffer)?,
            packet_bytes: packet,
            seed: Seed(seed),
            stream: "python",
        };
        let choice = Choice::from(name.to_owned());
        let parameters = choice.parameters().cloned().unwrap_or_default();
        let discipline = build(choice.name(), &parameters, &site)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let inside = Inside { discipline, now: Time::ZERO, next: 0, happened: Happened::default() };
        Ok(Discipline { name: name.into(), inside: Mutex::new(inside) })
    }

    /// Offers a packet of `bytes` of `flow`, any number, at `now` seconds. Returns the number of
    /// the packet. Whether it waits or was dropped is in `drops()`.
    #[pyo3(signature = (flow, bytes, now, *, ecn=false))]
    fn enqueue(&self, flow: u64, bytes: u32, now: f64, ecn: bool) -> PyResult<u32> {
        if !(1..=65_535).contains(&bytes) {
            return Err(PyValueError::new_err(format!(
                "a packet of {bytes} bytes; allowed: from 1 to 65535"
            )));
        }
        self.at(now, |inside| {
            let number = inside.next;
            inside.next += 1;
            let mut packet = Packet::new(number, bytes, flow.into(), inside.now);
            if ecn {
                packet.ecn = fairwire_core::Ecn::Ect0;
            }
            inside.discipline.enqueue(packet, inside.now, &mut inside.happened);
            number
        })
    }

    /// Takes the packet that leaves next at `now` seconds: its number, or None if nothing may leave
    /// yet.
    fn dequeue(&self, now: f64) -> PyResult<Option<u32>> {
        self.at(now, |inside| {
            inside.discipline.dequeue(inside.now, &mut inside.happened).map(|packet| packet.frame)
        })
    }

    /// The earliest time, in seconds, at which a dequeue is useful; None if nothing waits.
    #[getter]
    fn ready_at(&self) -> Option<f64> {
        self.look(|inside| inside.discipline.ready_at().map(|at| at.ns() as f64 / 1e9))
    }

    /// The packets and the bytes that wait.
    #[getter]
    fn backlog(&self) -> (u64, u64) {
        let backlog = self.look(|inside| inside.discipline.backlog());
        (backlog.packets.into(), backlog.bytes)
    }

    /// The packets dropped since the last call: a list of (number, cause).
    fn drops(&self) -> Vec<(u32, &'static str)> {
        self.look(|inside| std::mem::take(&mut inside.happened.drops))
    }

    /// The packets marked since the last call: a list of (number, cause).
    fn marks(&self) -> Vec<(u32, &'static str)> {
        self.look(|inside| std::mem::take(&mut inside.happened.marks))
    }

    /// What the law knows, such as its drop probability: (name, value) pairs.
    #[getter]
    fn gauges(&self) -> Vec<(String, f64)> {
        self.look(|inside| {
            let mut found = Vec::new();
            inside.discipline.inspect(&mut Gauges(&mut found));
            found
        })
    }

    fn __repr__(&self) -> String {
        let (packets, bytes) = self.backlog();
        format!("<fairwire.Discipline {}: {packets} packets, {bytes} bytes wait>", self.name)
    }
}
