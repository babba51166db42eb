//! Pictures of results: panels from runs in progress (`run --plot`) or from result files (`fairwire
//! plot`).

mod distribution;
mod flent;
mod flows;
mod found;
mod over_time;
mod show;
mod sweeps;
mod table;

pub(crate) use found::Found;
pub(crate) use over_time::{RATE, Sampled, conditions, over_time};
pub(crate) use show::{Picture, Show, Wanted};

use fairwire_figures::{Figure, Paper, Setting};

pub(crate) type Form = fn(&Figure<'_>, Option<Paper>) -> Vec<u8>;

pub(crate) const FORMS: [(&str, Form); 3] = [("svg", svg), ("pdf", pdf), ("tex", tex)];

fn svg(figure: &Figure<'_>, paper: Option<Paper>) -> Vec<u8> {
    paper.map_or_else(|| figure.svg(Setting::Alone), |paper| figure.paper_svg(paper)).into_bytes()
}

fn pdf(figure: &Figure<'_>, paper: Option<Paper>) -> Vec<u8> {
    figure.paper_pdf(paper.unwrap_or_default())
}

fn tex(figure: &Figure<'_>, paper: Option<Paper>) -> Vec<u8> {
    figure.tex(paper.unwrap_or_default()).into_bytes()
}
