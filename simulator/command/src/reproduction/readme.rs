//! Numbers in the README of a study, filled in from the results.
//!
//! The text from `<!-- results: EXHIBIT MEASURE... -->` to `<!-- end -->` becomes a table. The text
//! from `<!-- = EXHIBIT MEASURE SERIES AT -->` to `<!-- / -->` becomes one number.

use super::crosstab::{Cell, tables};
use super::document::cell;
use super::marker::{Kind, Marked, known, marks};
use fairwire_study::record::{Depth, Exhibit, Measured, Number};
use fairwire_study::text::{shown, with_interval};
use fairwire_study::{Plan, Study};
use fairwire_terminal::failure::Failure;
use std::fmt::Write;

/// A table.
const BLOCK: Kind = Kind {
    open: "<!-- results:",
    end: "<!-- end -->",
    words: 2..=usize::MAX,
    form: "EXHIBIT MEASURE [MEASURE...]",
};
/// One number.
const ONE: Kind =
    Kind { open: "<!-- = ", end: "<!-- / -->", words: 3..=4, form: "EXHIBIT MEASURE SERIES [AT]" };
const MAX_DIGITS: i32 = 4;

/// Checks the markers in `text` as far as possible without runs. `text` is the README of `study`.
pub(crate) fn check(path: &str, text: &str, study: &Study) -> Result<(), Failure> {
    let ids: Vec<String> = study.spec.exhibit.iter().map(|exhibit| exhibit.id.clone()).collect();
    for marked in marks(path, text, &[BLOCK, ONE])? {
        let place = format!("{path}:{}", marked.line);
        known(&place, "exhibit", &marked.words[0], &ids)?;
        let Some(at) = ids.iter().position(|id| *id == marked.words[0]) else { continue };
        let plan = Plan::of(study, at, Depth::Full)?;
        let measures: Vec<String> = plan.measures.iter().map(|measure| measure.id.clone()).collect();
        let points: Vec<String> = plan.points.iter().map(|point| point.at.clone()).collect();
        // The series and points of a computed exhibit are known only after the computation.
        let has_names = plan.spec().compute.is_none();
        names(&place, &marked, &measures, has_names.then_some((&plan.series, &points)))?;
    }
    Ok(())
}

/// `text` with its markers filled from `exhibits`, which are all from one study. Markers of other
/// exhibits stay unchanged.
pub(crate) fn filled(path: &str, text: &str, exhibits: &[&Exhibit]) -> Result<String, Failure> {
    let mut out = String::new();
    let mut done = 0;
    for marked in marks(path, text, &[BLOCK, ONE])? {
        let Some(exhibit) = exhibits.iter().find(|exhibit| exhibit.id == marked.words[0]) else { continue };
        let place = format!("{path}:{}", marked.line);
        out += &text[done..marked.content.start];
        out += &if is_block(&marked) {
            block(&place, &marked, exhibit)?
        } else {
            one(&place, &marked, exhibit)?
        };
        done = marked.content.end;
    }
    Ok(out + &text[done..])
}

fn is_block(marked: &Marked) -> bool {
    marked.kind == BLOCK.open
}

fn names(
    place: &str,
    marked: &Marked,
    measures: &[String],
    within: Option<(&Vec<String>, &Vec<String>)>,
) -> Result<(), Failure> {
    let of = if is_block(marked) { &marked.words[1..] } else { &marked.words[1..2] };
    of.iter().try_for_each(|name| known(place, "measure", name, measures))?;
    let (false, Some((series, points))) = (is_block(marked), within) else { return Ok(()) };
    known(place, "series", &marked.words[2], series)?;
    match marked.words.get(3) {
        Some(at) => known(place, "point", at, points),
        None if points.len() == 1 => Ok(()),
        None => Err(Failure::user(
            format!("{place}: no point was given, and there are {}", points.len()),
            format!("allowed: {}", fairwire_document::listed(points)),
        )),
    }
}

fn measures(exhibit: &Exhibit) -> Vec<String> {
    exhibit.measures.iter().map(|measure| measure.id.clone()).collect()
}

/// One table per measure of the marker, or a single table if there is only one point.
fn block(place: &str, marked: &Marked, exhibit: &Exhibit) -> Result<String, Failure> {
    names(place, marked, &measures(exhibit), None)?;
    let by_name = |name: &String| exhibit.measures.iter().find(|measure| measure.id == *name);
    let measures: Vec<&Measured> = marked.words[1..].iter().filter_map(by_name).collect();
    let mut out = String::new();
    let mut has_printed = false;
    for table in tables(exhibit, &measures) {
        let _ = write!(out, "\n| {} |", cell(&table.of));
        table.columns.iter().for_each(|name| out += &format!(" {} |", cell(name)));
        let _ = write!(out, "\n|---|{}\n", "---:|".repeat(table.columns.len()));
        for (name, cells) in &table.rows {
            let _ = write!(out, "| {} |", cell(name));
            for one in cells {
                has_printed |= one.as_ref().is_some_and(|one| one.printed.is_some());
                out += &format!(" {} |", one.as_ref().map_or(String::new(), text_of));
            }
            out.push('\n');
        }
    }
    if has_printed {
        out += "\nIn brackets: as printed.\n";
    }
    Ok(out.replacen("\n|", "\n\n|", 1) + "\n")
}

fn text_of(cell: &Cell<'_>) -> String {
    let ours = cell.number.estimate.map_or("no value".into(), |e| with_interval(e.mean, e.half_width_95));
    cell.printed.map_or(ours.clone(), |printed| format!("{ours} ({})", shown(printed.value)))
}

fn one(place: &str, marked: &Marked, exhibit: &Exhibit) -> Result<String, Failure> {
    let here: Vec<&Number> = exhibit.numbers.iter().filter(|n| n.measure == marked.words[1]).collect();
    let mut series: Vec<String> = Vec::new();
    for number in &here {
        if !series.contains(&number.series) {
            series.push(number.series.clone());
        }
    }
    let of_it: Vec<&&Number> = here.iter().filter(|number| number.series == marked.words[2]).collect();
    let points: Vec<String> = of_it.iter().map(|number| number.at.clone()).collect();
    let points = if points.is_empty() { marked.words[3..].to_vec() } else { points };
    names(place, marked, &measures(exhibit), Some((&series, &points)))?;
    let found = of_it.iter().find(|number| marked.words.get(3).is_none_or(|at| number.at == *at));
    Ok(found.and_then(|number| number.estimate).map_or("no value".into(), |e| plain(e.mean, e.half_width_95)))
}

/// Rounds `mean` to the second significant digit of its interval, but to at most four significant
/// digits.
fn plain(mean: f64, half: Option<f64>) -> String {
    let places = |value: f64, digits: i32| digits - 1 - value.abs().log10().floor() as i32;
    let Some(half) = half.filter(|half| *half > 1e-9 * mean.abs() && half.is_finite()) else {
        return shown(mean);
    };
    let own = if mean == 0.0 { i32::MAX } else { places(mean, MAX_DIGITS) };
    let decimals = places(half, 2).min(own).clamp(0, 12) as usize;
    let text = format!("{mean:.decimals$}");
    if text.trim_start_matches('-').chars().all(|c| c == '0' || c == '.') {
        text.replace('-', "")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::table1;
    use super::*;

    const TEXT: &str = "# A study\n\nAt P it is <!-- = table1 tcp FABA P -->?<!-- / -->, typed \"0.9\".\n\n\
        <!-- results: table1 tcp -->\nold\n<!-- end -->\nmore\n";

    fn refused(text: &str) -> (String, String) {
        match filled("README.md", text, &[&table1()]) {
            Err(Failure::User { message, help }) => (message, help),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn numbers_and_tables_are_filled_in_and_filling_again_changes_nothing() {
        let once = filled("README.md", TEXT, &[&table1()]).unwrap();
        assert!(once.contains("<!-- = table1 tcp FABA P -->0.9770<!-- / -->, typed \"0.9\"."), "{once}");
        assert!(once.contains("<!-- results: table1 tcp -->\n\n| share | P/10 | P/5 |"), "{once}");
        assert!(once.contains("| FABA | 0.8780 ± 0.0080 (0.888) |"), "{once}");
        assert!(
            once.contains("\n\nIn brackets: as printed.\n\n<!-- end -->\nmore\n") && !once.contains("old"),
            "{once}"
        );
        assert_eq!(filled("README.md", &once, &[&table1()]).unwrap(), once);
    }

    #[test]
    fn markers_of_exhibits_that_were_not_run_stay() {
        assert_eq!(filled("README.md", TEXT, &[]).unwrap(), TEXT);
    }

    #[test]
    fn a_wrong_name_is_refused_with_its_line_and_the_allowed_names() {
        let (message, help) = refused(&TEXT.replace("tcp FABA", "tcp FABBA"));
        assert_eq!(message, "README.md:3: there is no series `FABBA`");
        assert!(help.contains("RED") && help.contains("did you mean `FABA`?"), "{help}");
        let (message, help) = refused(&TEXT.replace("results: table1 tcp", "results: table1 udp"));
        assert!(
            message.contains("README.md:5: there is no measure `udp`") && help.contains("tcp"),
            "{message}"
        );
        let (message, help) = refused(&TEXT.replace(" P -->", " -->"));
        assert!(
            message.contains("no point was given, and there are 5") && help.contains("P/10"),
            "{message} {help}"
        );
        assert!(refused(&TEXT.replace(" P -->", " Q -->")).0.contains("there is no point `Q`"));
    }

    #[test]
    fn an_incomplete_marker_is_refused() {
        assert!(refused(&TEXT.replace("<!-- / -->", "")).0.contains("README.md:3: `<!-- = ` has no end"));
        assert!(
            refused(&TEXT.replace("<!-- end -->", "")).0.contains("README.md:5: `<!-- results:` has no end")
        );
        assert!(refused("<!-- results: table1\n").0.contains("is not closed"));
        assert!(refused("<!-- results: table1 --> <!-- end -->").1.contains("EXHIBIT MEASURE"));
    }

    #[test]
    fn the_markers_in_every_study_of_the_repository_name_existing_things() {
        for folder in fairwire_study::library::embedded() {
            let path = format!("{}/../../studies/{}/README.md", env!("CARGO_MANIFEST_DIR"), folder.name);
            let text = std::fs::read_to_string(&path).unwrap();
            let study = Study::read(&folder).unwrap();
            if let Err(wrong) = check(&format!("{}/README.md", folder.name), &text, &study) {
                panic!("{wrong:?}");
            }
        }
    }

    #[test]
    fn one_number_has_the_digits_that_its_interval_leaves_and_at_most_four() {
        assert_eq!(plain(0.953_12, Some(0.004)), "0.9531");
        assert_eq!(plain(0.953_12, Some(0.04)), "0.953");
        assert_eq!(plain(0.543_471, Some(0.000_42)), "0.5435");
        assert_eq!(plain(1234.6, Some(20.0)), "1235");
        assert_eq!(plain(-0.001, Some(0.2)), "0.00");
        assert_eq!(plain(0.5, None), "0.5");
    }
}
