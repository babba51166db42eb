//! A discipline outside a scenario, for teaching and tests.

use crate::own::{self, Classes, Run};
use fairwire_catalogue::{Choice, build};
use fairwire_core::units::Amount;
use fairwire_core::{Cause, Packet, Probe, Rate, Seed, Signals, Time, Unit};
use fairwire_laws::Site;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

struct Inside {
    discipline: Box<dyn fairwire_core::Discipline>,
    now: Time,
    next: u32,
    happened: Happened,
    run: Arc<Run>, // ended by an exception of a class
}

/// Drops and marks since the last read: packet number and cause.
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

/// A queue discipline without a link: packets go in and come out.
///
/// `discipline`: a name in `fairwire.disciplines()`; a scheduler and a dropper such as "drr+faba";
/// a dict with parameters such as `{"red": {"gentle": False}}`; or your subclass of
/// `fairwire.Dropper` or `fairwire.Queue`. Methods raise the exceptions of your class. `rate`: the
/// link's rate, such as "10 Mbit/s". `buffer`: its size, such as "100 packets", "64 kB", "50 ms".
/// `packet`: bytes of a typical packet, for disciplines that count packets. Times are in seconds
/// and never decrease. Packets are numbered from 0, in the order of arrival.
#[pyclass(frozen, module = "fairwire")]
pub(crate) struct Discipline {
    name: String,
    inside: Mutex<Inside>,
}

impl Discipline {
    fn at<T>(&self, py: Python<'_>, now: f64, what: impl FnOnce(&mut Inside) -> T) -> PyResult<T> {
        let mut inside = self.inside(py);
        let earlier = inside.now.ns() as f64 / 1e9;
        if !(0.0..1e9).contains(&now) {
            return Err(PyValueError::new_err(format!("a time of {now} s; allowed: from 0 to 1e9 s")));
        }
        let time = Time::from_ns((now * 1e9).round() as u64);
        if time < inside.now {
            return Err(PyValueError::new_err(format!("a time of {now} s; allowed: {earlier} s or later")));
        }
        inside.now = time;
        let done = what(&mut inside);
        inside.run.recover()?;
        Ok(done)
    }

    fn look<T>(&self, py: Python<'_>, what: impl FnOnce(&mut Inside) -> T) -> T {
        what(&mut self.inside(py))
    }

    /// Locks the state. Waiting releases Python's lock, so the thread that holds the state can
    /// continue in a Python class.
    fn inside(&self, py: Python<'_>) -> MutexGuard<'_, Inside> {
        self.inside.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }
}

fn read<T: FromStr>(key: &str, text: &str) -> PyResult<T>
where
    T::Err: std::fmt::Display,
{
    text.parse().map_err(|error: T::Err| PyValueError::new_err(format!("`{key}`: {error}")))
}

fn choice(given: &Bound<'_, PyAny>) -> PyResult<Choice> {
    if let Ok(name) = given.extract::<String>() {
        return Ok(Choice::from(name));
    }
    let json: String = given.py().import("json")?.call_method1("dumps", (given,))?.extract()?;
    serde_json::from_str(&json).map_err(|error| PyValueError::new_err(format!("`discipline`: {error}")))
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
    #[pyo3(signature = (discipline, *, rate, buffer, packet=1500, seed=1))]
    fn new(
        discipline: &Bound<'_, PyAny>,
        rate: &str,
        buffer: &str,
        packet: u32,
        seed: u64,
    ) -> PyResult<Self> {
        let site = Site {
            rate: read::<Rate>("rate", rate)?,
            buffer: read::<Amount>("buffer", buffer)?,
            packet_bytes: packet,
            seed: Seed(seed),
            stream: "python",
        };
        let (mut classes, run) = (Classes::default(), Arc::<Run>::default());
        let choice = choice(&own::plain(discipline, &mut classes, "discipline")?)?;
        let parameters = choice.parameters().cloned().unwrap_or_default();
        let built = own::within(&classes, &run, || build(choice.name(), &parameters, &site));
        run.recover()?;
        let built = built.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let name = if classes.is_empty() { choice.name().into() } else { discipline.to_string() };
        let inside =
            Inside { discipline: built, now: Time::ZERO, next: 0, happened: Happened::default(), run };
        Ok(Discipline { name, inside: Mutex::new(inside) })
    }

    /// Offers a packet of `bytes` at `now` seconds. `flow` is any number. Returns the packet's
    /// number. `drops()` shows whether the packet was dropped.
    #[pyo3(signature = (flow, bytes, now, *, ecn=false))]
    fn enqueue(&self, py: Python<'_>, flow: u64, bytes: u32, now: f64, ecn: bool) -> PyResult<u32> {
        if !(1..=65_535).contains(&bytes) {
            return Err(PyValueError::new_err(format!(
                "a packet of {bytes} bytes; allowed: from 1 to 65535"
            )));
        }
        self.at(py, now, |inside| {
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

    /// Takes the next packet at `now` seconds: its number, or None if nothing may leave yet.
    fn dequeue(&self, py: Python<'_>, now: f64) -> PyResult<Option<u32>> {
        self.at(py, now, |inside| {
            inside.discipline.dequeue(inside.now, &mut inside.happened).map(|packet| packet.frame)
        })
    }

    /// The earliest time, in seconds, at which a dequeue is useful; None if the queue is empty.
    #[getter]
    fn ready_at(&self, py: Python<'_>) -> Option<f64> {
        self.look(py, |inside| inside.discipline.ready_at().map(|at| at.ns() as f64 / 1e9))
    }

    /// The packets and the bytes in the queue.
    #[getter]
    fn backlog(&self, py: Python<'_>) -> (u64, u64) {
        let backlog = self.look(py, |inside| inside.discipline.backlog());
        (backlog.packets.into(), backlog.bytes)
    }

    /// The packets dropped since the last call: a list of (number, cause).
    fn drops(&self, py: Python<'_>) -> Vec<(u32, &'static str)> {
        self.look(py, |inside| std::mem::take(&mut inside.happened.drops))
    }

    /// The packets marked since the last call: a list of (number, cause).
    fn marks(&self, py: Python<'_>) -> Vec<(u32, &'static str)> {
        self.look(py, |inside| std::mem::take(&mut inside.happened.marks))
    }

    /// The internal values of the discipline, such as its drop probability: (name, value) pairs.
    #[getter]
    fn gauges(&self, py: Python<'_>) -> Vec<(String, f64)> {
        self.look(py, |inside| {
            let mut found = Vec::new();
            inside.discipline.inspect(&mut Gauges(&mut found));
            found
        })
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (packets, bytes) = self.backlog(py);
        format!("<fairwire.Discipline {}: {packets} packets, {bytes} bytes wait>", self.name)
    }
}
