//! One row per run and flow.

use super::formats;
use super::plan::{Destination, Request};
use super::written::{Done, Looks, Writer};
use fairwire_metrics::record::Report;
use fairwire_scenario::Output;
use fairwire_terminal::failure::Failure;
use std::path::Path;

type Form = fn(&Path, &Report) -> Result<(), Failure>;

pub(super) const FORMS: [(&str, Form); 2] =
    [("csv", formats::csv::flows), ("parquet", formats::parquet::flows)];

pub(super) fn prepare<'a>(request: &Request<'a>) -> Result<Option<Box<dyn Writer + 'a>>, Failure> {
    let place = request.destination(Output::Flows, &FORMS)?;
    Ok(place.map(|(place, form)| Box::new(Flows { place, form }) as _))
}

struct Flows {
    place: Destination,
    form: Form,
}

impl Writer for Flows {
    fn looks(&self) -> Looks {
        Looks::AtRecords
    }

    fn close(&self, report: &mut Report, done: &mut Done) {
        done.wrote(&self.place.path, (self.form)(&self.place.path, report));
    }
}
