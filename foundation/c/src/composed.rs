//! Builds the disciplines that contain others.

use crate::code::{FW_ERROR_NAME, FW_ERROR_PARAMETER, FW_ERROR_TEXT};
use crate::queue::Built;
use core::iter::once;
use fairwire_catalogue::{self as catalogue, Choice, Parameters, nested};
use fairwire_laws::{Site, named};
use serde::Deserialize as _;
use serde::de::value::MapDeserializer;

/// The discipline called `name`, and its capacity in packets; `None` if `name` is a law.
pub(crate) fn built(name: &str, text: &str, site: &Site<'_>) -> Option<Built> {
    match catalogue::find(name) {
        Err(unknown) => Some(Err((FW_ERROR_NAME, unknown.to_string()))),
        Ok(entry) if named::ALL.iter().any(|law| law.name == entry.key) => None,
        Ok(entry) => Some(build(entry.key, text, site)),
    }
}

fn build(key: &str, text: &str, site: &Site<'_>) -> Built {
    let parameters = read(key, text).map_err(|error| (FW_ERROR_TEXT, error.to_string()))?;
    let discipline = catalogue::build(key, &parameters, site);
    let discipline = discipline.map_err(|error| (FW_ERROR_PARAMETER, error.to_string()))?;
    Ok((discipline, nested::slots(&(&Choice::new(key, parameters), *site))))
}

fn read(key: &str, text: &str) -> Result<Parameters, toml::de::Error> {
    Parameters::deserialize(MapDeserializer::new(once((key, toml::Deserializer::parse(text)?))))
}
