//! What `fairwire reproduce` leaves for readers: a picture and a CSV of each exhibit, a page of all, and the document in `docs`.

mod calibrated;
mod cause;
mod cells;
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

pub(crate) use document::document;
pub(crate) use tally::words;

use crate::chart::{Chart, Setting};
use crate::failure::Failure;
use crate::output::file;
use fairwire_study::record::{Depth, Exhibit, Panel, Results};
use std::io;
use std::path::{Path, PathBuf};

/// The page of all exhibits.
pub(crate) const PAGE: &str = "report.html";

/// Writes into `folder`, each file whole or not at all, and gives the page's place.
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

/// The picture of `exhibit`, with `panels` of it. The page says around it what a picture alone has to say itself.
fn picture(exhibit: &Exhibit, panels: Vec<Panel>, setting: Setting) -> String {
    let title = format!("{}: {}", exhibit.name(), exhibit.title);
    let mut detail = match setting {
        Setting::Alone => vec![exhibit.source.clone(), conditions(exhibit)],
        Setting::InPage => Vec::new(),
    };
    detail.extend(is_without_numbers(exhibit).then(|| NO_NUMBERS.to_string()));
    Chart { title: &title, detail, panels: &panels }.svg(setting)
}

/// Said of a figure beside which nothing of the paper's can be drawn.
const NO_NUMBERS: &str = "the paper prints no numbers of this figure";

/// Is it a figure of a paper that prints no numbers of it?
fn is_without_numbers(exhibit: &Exhibit) -> bool {
    let is_of_paper = exhibit.claims.iter().any(|claim| claim.origin.is_of_the_paper());
    exhibit.id.starts_with("fig") && is_of_paper && exhibit.published.is_empty()
}

/// Under which conditions numbers and curves came about.
fn conditions(exhibit: &Exhibit) -> String {
    let numbers = numbers_came(exhibit);
    match exhibit.panels.iter().find_map(|panel| panel.seed) {
        Some(seed) if exhibit.numbers.is_empty() => {
            let others = exhibit.seeds.len() > 1;
            format!("curves of seed {seed}{}; {}", if others { " alone" } else { "" }, depth(exhibit))
        }
        Some(seed) if exhibit.seeds.len() > 1 => format!("{numbers}; curves of seed {seed} alone"),
        _ => numbers,
    }
}

fn depth(exhibit: &Exhibit) -> &'static str {
    match exhibit.depth {
        Depth::Quick => "a quick first look",
        Depth::Full => "in full",
    }
}

fn numbers_came(exhibit: &Exhibit) -> String {
    let depth = depth(exhibit);
    match exhibit.seeds.as_slice() {
        [] => format!("computed without seeds; {depth}"),
        [seed] => format!("seed {seed}; {depth}"),
        seeds => format!("means of {} seeds ({}) with 95 % intervals; {depth}", seeds.len(), listed(seeds)),
    }
}

/// `seeds` as they are typed: those that follow each other as a range.
fn listed(seeds: &[u64]) -> String {
    let runs = seeds.chunk_by(|first, second| first.checked_add(1) == Some(*second));
    let text: Vec<String> = runs
        .flat_map(|run| match run {
            [first, .., last] if run.len() > 2 => vec![format!("{first}..={last}")],
            _ => run.iter().map(u64::to_string).collect(),
        })
        .collect();
    text.join(",")
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
    fn seeds_are_told_as_they_are_typed() {
        assert_eq!(listed(&[1, 2, 3, 4]), "1..=4");
        assert_eq!(listed(&[1, 2]), "1,2");
        assert_eq!(listed(&[7, 1, 2, 3, 9, u64::MAX]), format!("7,1..=3,9,{}", u64::MAX));
        assert_eq!(listed(&[]), "");
    }

    #[test]
    fn an_exhibit_of_curves_alone_has_no_means() {
        let mut exhibit = samples::all_kinds().exhibits.into_iter().find(|e| e.seeds.len() > 1).unwrap();
        exhibit.panels[0].seed = Some(7);
        assert!(conditions(&exhibit).starts_with("means of "), "{}", conditions(&exhibit));
        exhibit.numbers.clear();
        assert_eq!(conditions(&exhibit), "curves of seed 7 alone; a quick first look");
    }

    #[test]
    fn every_exhibit_leaves_a_picture_and_a_table_and_all_a_page() {
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
    fn a_folder_that_is_not_there_is_the_users_to_mend() {
        let refused = write(&samples::all_kinds(), Path::new("not/there")).unwrap_err();
        let Failure::User { message, help } = refused else { panic!("{refused:?}") };
        assert!(message.contains("not/there/") && help.contains("folder"), "{message} {help}");
    }
}
