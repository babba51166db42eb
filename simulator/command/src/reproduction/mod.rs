//! The output of `fairwire reproduce`.

mod calibrated;
mod cause;
mod cells;
mod conditions;
mod crosstab;
mod csv;
mod document;
mod marker;
mod page;
pub(crate) mod readme;
#[cfg(test)]
pub(crate) mod samples;
pub(crate) mod shares;
mod tally;

pub(crate) use calibrated::share;
pub(crate) use document::document;
pub(crate) use tally::words;

use conditions::conditions;
use fairwire_figures::{Figure, Setting};
use fairwire_study::record::{Exhibit, Panel, Results};
use fairwire_terminal::failure::Failure;
use fairwire_terminal::file;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) const PAGE: &str = "report.html";

/// Writes all files of `results` into `folder`, each atomically, and returns the path of the page.
pub(crate) fn write(results: &Results, folder: &Path) -> Result<PathBuf, Failure> {
    for exhibit in &results.exhibits {
        let name = exhibit.name();
        replace(folder, &format!("{name}.svg"), &picture(exhibit, exhibit.panels.clone(), Setting::Alone))?;
        replace(folder, &format!("{name}.csv"), &csv::numbers(exhibit)?)?;
        if let Some(samples) = csv::samples(exhibit)? {
            replace(folder, &csv::samples_name(exhibit), &samples)?;
        }
    }
    page::pages(results).iter().try_for_each(|(name, html)| replace(folder, name, html).map(drop))?;
    Ok(folder.join(PAGE))
}

/// A picture in a separate file contains the title and conditions. A page has them as text.
fn picture(exhibit: &Exhibit, panels: Vec<Panel>, setting: Setting) -> String {
    let title = format!("{}: {}", exhibit.name(), exhibit.title);
    let mut detail = match setting {
        Setting::Alone => vec![exhibit.source.clone(), conditions(exhibit)],
        Setting::InPage => Vec::new(),
    };
    detail.extend(is_without_numbers(exhibit).then(|| NO_NUMBERS.to_string()));
    Figure { title: &title, detail, panels: &panels, ..Figure::default() }.svg(setting)
}

const NO_NUMBERS: &str = "the paper prints no numbers of this figure";

fn is_without_numbers(exhibit: &Exhibit) -> bool {
    let is_of_paper = exhibit.claims.iter().any(|claim| claim.origin.is_of_the_paper());
    exhibit.id.starts_with("fig") && is_of_paper && exhibit.published.is_empty()
}

fn replace(folder: &Path, name: &str, content: &str) -> Result<PathBuf, Failure> {
    let path = folder.join(name);
    file::try_write(&path, content.as_bytes()).map_err(|error| refused(&path, &error))?;
    Ok(path)
}

fn refused(path: &Path, error: &io::Error) -> Failure {
    Failure::user(
        format!("`{}` cannot be written: {error}", path.display()),
        "allowed: a folder that can be written, with room for the results; what has been measured is kept",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn every_exhibit_writes_a_picture_and_a_table_and_all_share_a_page() {
        let folder = tempfile::tempdir().unwrap();
        let results = samples::all_kinds();
        let page = write(&results, folder.path()).unwrap();
        assert_eq!(page, folder.path().join("report.html"));
        for exhibit in &results.exhibits {
            for ending in ["svg", "csv"] {
                assert!(folder.path().join(format!("{}.{ending}", exhibit.name())).is_file());
            }
        }
        let files: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
        let samples = files.iter().filter(|name| name.to_string_lossy().ends_with(".samples.csv")).count();
        assert_eq!(samples, 2, "of the exhibits over time and in steps alone");
        assert_eq!(files.len(), 2 * results.exhibits.len() + samples + 1, "nothing else stays: {files:?}");
    }

    #[test]
    fn a_missing_folder_is_an_error_of_the_user() {
        let refused = write(&samples::all_kinds(), Path::new("not/there")).unwrap_err();
        let Failure::User { message, help } = refused else { panic!("{refused:?}") };
        assert!(message.contains("not/there/") && help.contains("folder"), "{message} {help}");
    }
}
