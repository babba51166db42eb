//! Replaces the Python classes in a scenario's values by names.

use super::class::{Classes, Kind};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};

/// The labels of compared disciplines. Results name a class by its label.
type Labels = Vec<String>;

enum Place {
    Compared(Labels),
    Control,
    /// Any other key. Droppers and queues are allowed here, but no controllers.
    Elsewhere,
}

impl Place {
    fn under(key: &str) -> Self {
        match key.rsplit('.').next() {
            Some("disciplines") => Place::Compared(Labels::new()),
            Some("control") => Place::Control,
            _ => Place::Elsewhere,
        }
    }

    fn check(&self, class: &Bound<'_, PyType>, kind: Kind) -> PyResult<()> {
        let is_control = matches!(self, Place::Control);
        if is_control == (kind == Kind::Controller) {
            return Ok(());
        }
        let (name, base) = (class.name()?, kind.base());
        let allowed = if is_control { "fairwire.Controller" } else { "fairwire.Dropper or fairwire.Queue" };
        Err(PyTypeError::new_err(format!("`{name}` is a fairwire.{base}; allowed here: a {allowed}")))
    }
}

/// Replaces each class in `value` by its catalogue entry, and adds the classes to `classes`.
/// `value` belongs to `key`.
pub(crate) fn plain<'py>(
    value: &Bound<'py, PyAny>,
    classes: &mut Classes,
    key: &str,
) -> PyResult<Bound<'py, PyAny>> {
    within(value, classes, &mut Place::under(key))
}

fn within<'py>(
    value: &Bound<'py, PyAny>,
    classes: &mut Classes,
    place: &mut Place,
) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    if let Ok(class) = value.cast::<PyType>() {
        return named(class, &PyDict::new(py), PyDict::new(py), classes, place);
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        let class = dict.iter().find(|(key, _)| key.is_instance_of::<PyType>());
        if let Some((class, arguments)) = class {
            let arguments = arguments.cast_into::<PyDict>().map_err(|_| {
                PyTypeError::new_err(format!(
                    "the value beside {class} is not a dict; allowed: its arguments"
                ))
            })?;
            let others = dict.copy()?;
            others.del_item(&class)?;
            return named(&class.cast_into()?, &arguments, others, classes, place);
        }
        let copy = PyDict::new(py);
        for (key, inner) in dict {
            let mut under = Place::under(key.extract::<&str>().unwrap_or_default());
            copy.set_item(&key, within(&inner, classes, &mut under)?)?;
        }
        return Ok(copy.into_any());
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value.try_iter()?.map(|item| within(&item?, classes, place));
        return Ok(PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any());
    }
    Ok(value.clone())
}

/// Adds the catalogue entry of `class` to `others`. `arguments` has the arguments of the class and
/// the parameters of the entry.
fn named<'py>(
    class: &Bound<'py, PyType>,
    arguments: &Bound<'py, PyDict>,
    others: Bound<'py, PyDict>,
    classes: &mut Classes,
    place: &mut Place,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let kind = Kind::of(class)?;
    place.check(class, kind)?;
    let (own, table) = (PyDict::new(py), PyDict::new(py));
    for (key, value) in arguments {
        let key: String = key.extract()?;
        let of = if kind.parameters().contains(&&*key) { &table } else { &own };
        of.set_item(key, value)?;
    }
    table.set_item("class", classes.add(class, &own)?)?;
    if let Place::Compared(labels) = place
        && !others.contains("label")?
    {
        others.set_item("label", label(class, &table, labels)?)?;
    }
    others.set_item(kind.entry(), table)?;
    Ok(others.into_any())
}

/// The name of `class` in results. It is the class's name, after the scheduler's name if there is
/// one. A number follows if that name is taken.
fn label(class: &Bound<'_, PyType>, table: &Bound<'_, PyDict>, labels: &mut Labels) -> PyResult<String> {
    let name = class.name()?.to_string();
    let scheduler = table.get_item("scheduler")?.and_then(|given| given.extract::<String>().ok());
    let plain = scheduler.map_or(name.clone(), |scheduler| format!("{}-{name}", scheduler.replace('+', "")));
    let plain: String = plain
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' })
        .collect();
    let mut label = plain.clone();
    for number in 2.. {
        if !labels.contains(&label) {
            break;
        }
        label = format!("{plain}-{number}");
    }
    labels.push(label.clone());
    Ok(label)
}
