//! An exhibit's numbers as CSV, next to the paper's.

use crate::report::csv::text;
use fairwire_study::record::{Exhibit, Kind, Number, Published};
use fairwire_terminal::failure::Failure;
use std::iter::once;

const HEAD: [&str; 11] =
    ["measure", "unit", "series", "x", "at", "mean", "half_width_95", "min", "max", "published", "where"];

/// One row per number, with one column per seed. The last rows are the paper's numbers that we did
/// not measure.
pub(super) fn numbers(exhibit: &Exhibit) -> Result<String, Failure> {
    let seeds = exhibit.seeds.iter().map(|seed| format!("seed_{seed}"));
    let head = HEAD.map(String::from).into_iter().chain(seeds).collect();
    let ours = exhibit.numbers.iter().map(|number| row(exhibit, number));
    let alone = exhibit.printed_alone();
    text(once(head).chain(ours).chain(alone.map(|published| lonely_row(exhibit, published))))
}

fn row(exhibit: &Exhibit, number: &Number) -> Vec<String> {
    let published = exhibit.published.iter().find(|published| published.is_beside(number));
    let text = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let estimate = number.estimate.as_ref();
    let mut row = vec![
        number.measure.clone(),
        exhibit.unit(&number.measure).into(),
        number.series.clone(),
        number.x.to_string(),
        number.at.clone(),
        text(estimate.map(|estimate| estimate.mean)),
        text(estimate.and_then(|estimate| estimate.half_width_95)),
        text(estimate.map(|estimate| estimate.min)),
        text(estimate.map(|estimate| estimate.max)),
        text(published.map(|published| published.value)),
        published.map_or(String::new(), |published| published.place.clone()),
    ];
    row.extend(exhibit.seeds.iter().map(|seed| text(number.values.get(seed).copied())));
    row
}

fn lonely_row(exhibit: &Exhibit, published: &Published) -> Vec<String> {
    let mut row = vec![
        published.measure.clone(),
        exhibit.unit(&published.measure).into(),
        published.series.clone(),
        published.x.map_or(String::new(), |x| x.to_string()),
        published.at.clone(),
    ];
    row.extend(std::iter::repeat_n(String::new(), 4));
    row.extend([published.value.to_string(), published.place.clone()]);
    row.extend(exhibit.seeds.iter().map(|_| String::new()));
    row
}

pub(super) fn samples_name(exhibit: &Exhibit) -> String {
    format!("{}.samples.csv", exhibit.name())
}

/// One row per sample of the curves over time or in steps. [`numbers`] omits these curves. `None`
/// if there are no such curves.
pub(super) fn samples(exhibit: &Exhibit) -> Result<Option<String>, Failure> {
    let is_sampled = |kind: Kind| matches!(kind, Kind::Time | Kind::Steps);
    if !exhibit.panels.iter().any(|panel| is_sampled(panel.kind)) {
        return Ok(None);
    }
    let head = ["panel", "line", "x", "y"].map(String::from).to_vec();
    let panels = exhibit.panels.iter().enumerate().filter(|(_, panel)| is_sampled(panel.kind));
    let rows = panels.flat_map(|(at, panel)| {
        // A panel without a title, or with the same title as another panel, is named by its number.
        let is_name = exhibit.panels.iter().filter(|other| other.title == panel.title).count() == 1;
        let is_name = is_name && !panel.title.is_empty();
        let name = if is_name { panel.title.clone() } else { format!("{}", at + 1) };
        panel.lines.iter().flat_map(move |line| {
            let name = name.clone();
            line.marks.iter().map(move |mark| {
                vec![name.clone(), line.label.clone(), mark.x.to_string(), mark.y.to_string()]
            })
        })
    });
    text(once(head).chain(rows)).map(Some)
}

#[cfg(test)]
mod tests {
    use super::super::samples::{exhibit, table1};
    use super::*;

    #[test]
    fn the_number_of_the_paper_is_next_to_ours_and_every_seed_has_a_column() {
        let csv = numbers(&table1()).unwrap();
        let mut lines = csv.lines();
        assert!(lines.next().unwrap().ends_with("max,published,where,seed_1,seed_2,seed_3"));
        let red = csv.lines().find(|line| line.starts_with("tcp,,RED,78,P/10,")).unwrap();
        assert!(red.contains(",0.551,Table 1,"), "{red}");
        assert_eq!(red.matches(',').count(), HEAD.len() + 3 - 1);
    }

    #[test]
    fn a_published_number_without_one_of_ours_has_its_own_row() {
        let mut alone = table1();
        alone.numbers.retain(|number| number.series != "RED");
        let csv = numbers(&alone).unwrap();
        assert_eq!(csv.lines().filter(|line| line.starts_with("tcp,,RED,")).count(), 5);
        let columns: Vec<usize> = csv.lines().map(|line| line.matches(',').count()).collect();
        assert!(columns.iter().all(|count| *count == columns[0]), "{csv}");
    }

    #[test]
    fn samples_of_two_panels_of_one_title_are_kept_apart() {
        let mut exhibit = exhibit("faba", "fig7", Kind::Time);
        exhibit.panels[0].title = "queue".into();
        let rows = |exhibit: &Exhibit, name: &str| {
            let csv = samples(exhibit).unwrap().unwrap();
            csv.lines().filter(|line| line.starts_with(&format!("{name},"))).count()
        };
        let all = rows(&exhibit, "queue");
        assert!(all > 0);
        exhibit.panels.push(exhibit.panels[0].clone());
        assert_eq!(["queue", "1", "2"].map(|name| rows(&exhibit, name)), [0, all, all]);
    }

    #[test]
    fn only_time_and_step_plots_have_samples() {
        assert_eq!(samples(&table1()).unwrap(), None);
        let csv = samples(&exhibit("faba", "fig7", Kind::Time)).unwrap().unwrap();
        assert!(csv.lines().count() > 10, "{csv}");
        assert!(csv.starts_with("panel,line,x,y\n1,"), "{csv}");
    }
}
