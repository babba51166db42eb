//! Python classes, and the text that identifies each in a scenario.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use std::sync::Arc;

pub(super) const DROPPER: &str = "python";

pub(super) const QUEUE: &str = "python-queue";

pub(super) const CONTROLLER: &str = "python-controller";

/// Is `name` a catalogue entry for Python classes?
pub(crate) fn is_entry(name: &str) -> bool {
    [DROPPER, QUEUE, CONTROLLER].contains(&name)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Dropper,
    Queue,
    Controller,
}

impl Kind {
    const ALL: [Kind; 3] = [Kind::Dropper, Kind::Queue, Kind::Controller];

    pub(super) fn base(self) -> &'static str {
        match self {
            Kind::Dropper => "Dropper",
            Kind::Queue => "Queue",
            Kind::Controller => "Controller",
        }
    }

    pub(super) fn entry(self) -> &'static str {
        match self {
            Kind::Dropper => DROPPER,
            Kind::Queue => QUEUE,
            Kind::Controller => CONTROLLER,
        }
    }

    /// The parameters of the catalogue entry, except `class`. All other arguments belong to the
    /// class.
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

pub(crate) struct Class {
    /// The text that identifies the class in a scenario: its name and its arguments.
    pub(super) text: String,
    pub(super) kind: Kind,
    pub(super) class: Py<PyType>,
    pub(super) arguments: Py<PyDict>,
}

#[derive(Clone, Default)]
pub(crate) struct Classes(Vec<Arc<Class>>);

/// A class in a pickle: its text, the class, and its arguments.
pub(crate) type Listed = (String, Py<PyType>, Py<PyDict>);

impl Classes {
    pub(crate) fn listed(&self, py: Python<'_>) -> Vec<Listed> {
        let one = |class: &Arc<Class>| {
            (class.text.clone(), class.class.clone_ref(py), class.arguments.clone_ref(py))
        };
        self.0.iter().map(one).collect()
    }

    pub(crate) fn from_listed(py: Python<'_>, listed: Vec<Listed>) -> PyResult<Self> {
        let class = |(text, class, arguments): Listed| {
            let kind = Kind::of(class.bind(py))?;
            Ok(Arc::new(Class { text, kind, class, arguments }))
        };
        listed.into_iter().map(class).collect::<PyResult<_>>().map(Classes)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn find(&self, text: &str) -> Option<Arc<Class>> {
        self.0.iter().find(|class| class.text == text).cloned()
    }

    /// Adds a class. Returns the text that identifies the class in a scenario.
    pub(super) fn add(
        &mut self,
        class: &Bound<'_, PyType>,
        arguments: &Bound<'_, PyDict>,
    ) -> PyResult<String> {
        let kind = Kind::of(class)?;
        fits(class, arguments)?;
        warn_of_slips(class, kind)?;
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

/// Warns of a method whose name resembles the name of a method that fairwire calls.
fn warn_of_slips(class: &Bound<'_, PyType>, kind: Kind) -> PyResult<()> {
    let py = class.py();
    let base = kind.base_class(py)?;
    let public = |of: &Bound<'_, PyType>| -> PyResult<Vec<String>> {
        let mut names = Vec::new();
        for name in of.dir()? {
            let name: String = name.extract()?;
            if !name.starts_with('_') && of.getattr(name.as_str())?.is_callable() {
                names.push(name);
            }
        }
        Ok(names)
    };
    let known = public(&base)?;
    for name in public(class)?.iter().filter(|name| !known.contains(name)) {
        let likely = fairwire_core::spelling::likely(name, known.iter().map(String::as_str));
        if let Some(question) = fairwire_core::spelling::question(&likely) {
            let message = format!("`{}.{name}` is never called by fairwire; {question}", class.name()?);
            py.import("warnings")?.call_method1("warn", (message,))?;
        }
    }
    Ok(())
}

fn fits(class: &Bound<'_, PyType>, arguments: &Bound<'_, PyDict>) -> PyResult<()> {
    let signature = class.py().import("inspect")?.call_method1("signature", (class,))?;
    signature.call_method("bind", (), Some(arguments)).map(drop).map_err(|error| {
        let name = class.name().map(|name| name.to_string()).unwrap_or_default();
        PyTypeError::new_err(format!("`{name}`: {}; allowed: {name}{signature}", error.value(class.py())))
    })
}
