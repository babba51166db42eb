//! Results, printed and written.

mod again;
mod completion;
pub(crate) mod csv;
mod folder;
mod json;
pub(crate) mod latex;
pub(crate) mod picture;
mod presence;
#[cfg(test)]
mod samples;
mod sequence;
mod shown;
pub(crate) mod sweep;
pub(crate) mod table;

pub(crate) use again::Again;
pub(crate) use folder::{Folder, PICTURE};
pub(crate) use sequence::{Member, Sequence};
pub(crate) use shown::Headline;

use crate::args::Format;
use fairwire_metrics::record::Report;
use fairwire_terminal::failure::Failure;
use fairwire_terminal::print::checked;
pub(crate) use fairwire_terminal::print::print;
use std::io;

#[derive(Debug)]
pub(crate) struct Destination<'a> {
    /// The format of printed results.
    pub format: Format,
    /// The folder of `--out`.
    pub folder: Option<&'a Folder>,
    /// The files for a repetition, to be written into the folder.
    pub again: Option<&'a Again<'a>>,
    /// The position among several scenarios.
    pub member: Option<Member<'a>>,
}

impl Destination<'_> {
    /// Writes the folder, calls `judge`, then prints. Each step is taken even if an earlier one
    /// fails.
    pub(crate) fn take<J>(
        &self,
        report: &Report,
        headline: &Headline,
        judge: impl FnOnce() -> J,
    ) -> Result<J, Failure> {
        let written = self.folder.map_or(Ok(()), |folder| folder.write(report, headline, self.again));
        let judged = judge();
        let printed = match &self.member {
            Some(member) => member.show(report, headline, self.format),
            None => show(report, headline, self.format),
        };
        written.and(printed).map(|()| judged)
    }
}

fn show(report: &Report, headline: &Headline, format: Format) -> Result<(), Failure> {
    let text = match format {
        Format::Table => table::text(report, headline),
        Format::Json => return checked(json::write(report, io::stdout().lock())),
        Format::Csv => csv::summary(report, &report.differences)?,
        Format::Latex => table::for_latex(report, headline),
    };
    print(text.as_bytes())
}
