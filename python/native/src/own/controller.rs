//! A congestion controller written in Python.

use super::class::{CONTROLLER, Class, Kind};
use super::object::Own;
use super::packet::seconds;
use super::scope::{self, Run};
use fairwire_core::Time;
use fairwire_parameters::{OutOfRange, parameters};
use fairwire_tcp::congestion::{
    About, Acked, Congested, Control, ControlConfig, ControllerSpec, Feedback, Outside, Start,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::fmt::{self, Debug};
use std::sync::Arc;

/// Parameters of `python-controller`.
#[parameters(name = "python-controller")]
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Spec {
    /// The class, a `fairwire.Controller`, with its arguments.
    #[parameter(unset = "none, which is refused", unit = "text")]
    class: Option<String>,
}

/// Its description.
pub(super) const ABOUT: About = About::new("a controller that is a class of Python", "fairwire.own");

impl ControllerSpec for Spec {
    fn config(&self) -> Result<ControlConfig, OutOfRange> {
        let text = self.class.as_deref().unwrap_or_default();
        let found = scope::find(text).filter(|(class, _)| class.kind == Kind::Controller);
        let (class, _) = found.ok_or_else(|| OutOfRange {
            name: "class",
            given: format!("`{text}`"),
            allowed: "a class of Python itself, a fairwire.Controller, in place of this table".into(),
        })?;
        Ok(ControlConfig::Outside(Outside::new(CONTROLLER, move |start| Law::new(&class, start))))
    }
}

/// An acknowledgement of new data, as controllers get it.
#[pyclass(frozen, module = "fairwire")]
pub(crate) struct Ack {
    acked: Acked,
}

#[pymethods]
impl Ack {
    /// The time of arrival, seconds.
    #[getter]
    fn now(&self) -> f64 {
        seconds(self.acked.now)
    }

    /// Segments that are newly acknowledged; at least 1.
    #[getter]
    fn newly(&self) -> u32 {
        self.acked.newly
    }

    /// Acknowledged segments that may grow the window. Segments that arrived during loss recovery
    /// do not count (RFC 5681, section 3.2).
    #[getter]
    fn growth(&self) -> u32 {
        self.acked.growth
    }

    /// Segments newly considered lost.
    #[getter]
    fn lost(&self) -> u32 {
        self.acked.lost
    }

    /// Segments in flight before the acknowledgement arrived.
    #[getter]
    fn in_flight(&self) -> u32 {
        self.acked.in_flight
    }

    /// The measured round-trip time, seconds; None without a measurement.
    #[getter]
    fn rtt(&self) -> Option<f64> {
        self.acked.rtt.map(|rtt| rtt.secs())
    }

    /// Does this acknowledgement end a round trip?
    #[getter]
    fn ends_round(&self) -> bool {
        self.acked.ends_round
    }

    /// The delivery rate over about a round trip, segments per second; None at first.
    #[getter]
    fn rate(&self) -> Option<f64> {
        self.acked.rate.map(|rate| rate.per_second)
    }

    /// Did the window limit the sender?
    #[getter]
    fn is_window_used(&self) -> bool {
        self.acked.is_window_used
    }

    fn __repr__(&self) -> String {
        format!("<fairwire.Ack of {} segments at {} s>", self.newly(), self.now())
    }
}

/// A congestion signal, as controllers get it.
#[pyclass(frozen, module = "fairwire")]
pub(crate) struct Congestion {
    congested: Congested,
}

#[pymethods]
impl Congestion {
    /// The time of the signal, seconds.
    #[getter]
    fn now(&self) -> f64 {
        seconds(self.congested.now)
    }

    /// The window in use, segments. It is the smaller of the congestion window and the receiver's
    /// window.
    #[getter]
    fn in_use(&self) -> f64 {
        self.congested.in_use
    }

    /// Segments in flight.
    #[getter]
    fn in_flight(&self) -> u32 {
        self.congested.in_flight
    }

    fn __repr__(&self) -> String {
        format!("<fairwire.Congestion at {} s, {} segments in use>", self.now(), self.in_use())
    }
}

#[derive(Clone, Copy)]
struct State {
    window: f64,
    threshold: f64,
    pace: Option<f64>,
}

/// The controller of one flow. Its state is copied from Python after each call, since the sender
/// reads it often.
struct Law {
    own: Option<Own>,
    state: State,
}

impl Law {
    fn new(class: &Class, start: &Start) -> Self {
        let run = scope::run();
        let state = State { window: start.initial_window.into(), threshold: f64::INFINITY, pace: None };
        let mut law = Law { own: None, state };
        law.own = Python::attach(|py| {
            let made = law.made(py, class, start, &run);
            made.map_err(|error| run.fail(py, error, Time::ZERO)).ok()
        });
        law
    }

    fn made(&mut self, py: Python<'_>, class: &Class, start: &Start, run: &Arc<Run>) -> PyResult<Own> {
        let place = PyDict::new(py);
        place.set_item("window", self.state.window)?;
        place.set_item("threshold", self.state.threshold)?;
        place.set_item("pace", py.None())?;
        place.set_item("segment_bytes", start.segment.0)?;
        let own = Own::new(py, class, run, &place)?;
        self.state = own.state(py, "__init__")?;
        Ok(own)
    }

    fn call(&mut self, method: &str, now: Time, argument: impl FnOnce(Python<'_>) -> PyResult<Py<PyAny>>) {
        let Some(own) = &self.own else { return };
        self.state = own.call(now, self.state, |py| {
            own.object.bind(py).call_method1(method, (argument(py)?,))?;
            own.state(py, method)
        });
    }

    fn congestion(&mut self, method: &str, congested: &Congested) {
        self.call(method, congested.now, |py| {
            Ok(Py::new(py, Congestion { congested: *congested })?.into_any())
        });
    }
}

impl Own {
    fn state(&self, py: Python<'_>, method: &str) -> PyResult<State> {
        let object = self.object.bind(py);
        let window = self.number(object, method, ("window", 1.0, 1e9))?;
        let threshold = self.number(object, method, ("threshold", 0.0, f64::INFINITY))?;
        let paces = !object.getattr("pace")?.is_none();
        let pace = paces.then(|| self.number(object, method, ("pace", 1e-3, 1e12))).transpose()?;
        Ok(State { window, threshold, pace })
    }

    fn number(
        &self,
        object: &Bound<'_, PyAny>,
        method: &str,
        (name, min, max): (&str, f64, f64),
    ) -> PyResult<f64> {
        let value = object.getattr(name)?;
        let number = value.extract::<f64>().ok().filter(|number| (min..=max).contains(number));
        number.ok_or_else(|| {
            let class = &self.name;
            let also = if name == "pace" { ", or None" } else { "" };
            PyValueError::new_err(format!(
                "{class}.{method} set {name} to {value}; allowed: a number from {min} to {max}{also}"
            ))
        })
    }
}

impl Debug for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.own.as_ref().map_or("nothing", |own| &own.name))
    }
}

impl Control for Law {
    fn window(&self) -> f64 {
        self.state.window
    }

    fn threshold(&self) -> f64 {
        self.state.threshold
    }

    fn pace(&self) -> Option<f64> {
        self.state.pace
    }

    fn acked(&mut self, acked: &Acked) {
        self.call("on_ack", acked.now, |py| Ok(Py::new(py, Ack { acked: *acked })?.into_any()));
    }

    fn lost(&mut self, congested: &Congested) {
        self.congestion("on_loss", congested);
    }

    fn marked(&mut self, congested: &Congested) {
        self.congestion("on_mark", congested);
    }

    fn timed_out(&mut self, congested: &Congested) {
        self.congestion("on_timeout", congested);
    }

    fn recovered(&mut self, now: Time) {
        self.call("on_recovered", now, |py| Ok(seconds(now).into_pyobject(py)?.into_any().unbind()));
    }

    fn restarted(&mut self, window: f64) {
        self.call("on_restart", Time::ZERO, |py| Ok(window.into_pyobject(py)?.into_any().unbind()));
    }

    fn feedback(&self) -> Feedback {
        Feedback { exact_rtt: true, rate: true, counted_marks: false }
    }
}
