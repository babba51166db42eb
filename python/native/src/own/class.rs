//! Classes of Python, and the text that each has in a scenario.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use std::sync::Arc;

/// The entry behind which droppers are.
pub(super) const DROPPER: &str = "python";

/// The entry behind which whole queues are.
pub(super) const QUEUE: &str = "python-queue";

/// The entry behind which controllers are.
pub(super) const CONTROLLER: &str = "python-controller";

/// What a class is, by its base class in `fairwire.own`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Dropper,
    Queue,
    Controller,
}

impl Kind {
    const ALL: [Kind; 3] = [Kind::Dropper, Kind::Queue, Kind::Controller];

    /// The name of the base class.
    pub(super) fn base(self) -> &'static str {
        match self {
            Kind::Dropper => "Dropper",
            Kind::Queue => "Queue",
            Kind::Controller => "Controller",
        }
    }

    /// The entry behind which such classes are.
    pub(super) fn entry(self) -> &'static str {
        match self {
            Kind::Dropper => DROPPER,
            Kind::Queue => QUEUE,
            Kind::Controller => CONTROLLER,
        }
    }

    /// The parameters that the entry has beside the class. All others are the class's own.
    pub(super) fn parameters(self) -> &'static [&'static str] {
        match self {
            Kind::Dropper => &["buffer", "ecn", "scheduler"],
            Kind::Queue => &["buffer"],
            Kind::Controller => &[],
        }
    }

    pub(super) fn base_class(self, py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
        Ok(py.import("fairwire.own")?.getattr(self.base())?.cast_into()?)
    }

    /// The kind of `class`.
    pub(super) fn of(class: &Bound<'_, PyType>) -> PyResult<Kind> {
        for kind in Kind::ALL {
            let base = kind.base_class(class.py())?;
            if class.is_subclass(&base)? {
                return Ok(kind);
            }
        }
        let bases = Kind::ALL.map(|kind| format!("fairwire.{}", kind.base()));
        let name = class.name()?;
        Err(PyTypeError::new_err(format!(
            "`{name}` is a class of its own; allowed: a subclass of {}",
            bases.join(" or ")
        )))
    }
}

/// A class, and what it is constructed with.
pub(crate) struct Class {
    /// What names it in a scenario: its name, with its arguments.
    pub(super) text: String,
    pub(super) kind: Kind,
    pub(super) class: Py<PyType>,
    pub(super) arguments: Py<PyDict>,
}

/// The classes of a scenario.
#[derive(Clone, Default)]
pub(crate) struct Classes(Vec<Arc<Class>>);

impl Classes {
    /// Has it none?
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The class with this text.
    pub(super) fn find(&self, text: &str) -> Option<Arc<Class>> {
        self.0.iter().find(|class| class.text == text).cloned()
    }

    /// The text by which `class` with `arguments` is found again.
    pub(super) fn add(
        &mut self,
        class: &Bound<'_, PyType>,
        arguments: &Bound<'_, PyDict>,
    ) -> PyResult<String> {
        let kind = Kind::of(class)?;
        fits(class, arguments)?;
        let mut given = Vec::new();
        for (key, value) in arguments {
            given.push(format!("{key}={}", value.repr()?));
        }
        let name = class.name()?.to_string();
        let plain = if given.is_empty() { name } else { format!("{name}({})", given.join(", ")) };
        let mut text = plain.clone();
        for number in 2.. {
            let Some(other) = self.0.iter().find(|other| other.text == text) else { break };
            if other.class.is(class) && other.arguments.bind(class.py()).eq(arguments)? {
                return Ok(text);
            }
            text = format!("{plain} {number}"); // two classes may have one name
        }
        let class = Class {
            text: text.clone(),
            kind,
            class: class.clone().unbind(),
            arguments: arguments.clone().unbind(),
        };
        self.0.push(Arc::new(class));
        Ok(text)
    }
}

/// Refuses arguments that the class does not take, before anything runs.
fn fits(class: &Bound<'_, PyType>, arguments: &Bound<'_, PyDict>) -> PyResult<()> {
    let signature = class.py().import("inspect")?.call_method1("signature", (class,))?;
    signature.call_method("bind", (), Some(arguments)).map(drop).map_err(|error| {
        let name = class.name().map(|name| name.to_string()).unwrap_or_default();
        PyTypeError::new_err(format!("`{name}`: {}; allowed: {name}{signature}", error.value(class.py())))
    })
}
