//! `fairwire plot`.

use crate::args::PlotArgs;
use crate::figure::{FORMS, Found, Picture};
use fairwire_figures::Figure;
use fairwire_terminal::failure::{Ending, Failure};
use fairwire_terminal::file;
use fairwire_terminal::notice::notice;

/// Draws finished results.
pub(crate) fn plot(args: &PlotArgs) -> Result<Ending, Failure> {
    let endings: Vec<&str> = FORMS.iter().map(|(ending, _)| *ending).collect();
    let ending = file::check_writable("--figure", &args.figure, &endings)?;
    let found = Found::read(&args.results)?;
    let Picture { what, detail, panels, has_one_scale } = Picture::of(&found, &args.wanted())?;
    let of = found.report.as_ref().map(|report| report.manifest.scenario.clone());
    let title = of.map_or(what.clone(), |scenario| format!("{scenario}: {what}"));
    let title = args.title.clone().unwrap_or(title);
    let detail = if detail.is_empty() { Vec::new() } else { vec![detail] };
    let figure = Figure { title: &title, detail, panels: &panels, has_one_scale, ..Figure::default() };
    let form = FORMS.iter().find(|(of, _)| *of == ending).map(|(_, form)| *form);
    let drawn = form.map(|form| form(&figure, args.paper())).unwrap_or_default();
    file::write(&args.figure, &drawn)?;
    notice(format_args!("written: {}", args.figure.display()));
    Ok(Ending::Done)
}
