//! The numbers of one measure in a grid, with one row per series and one column per point, or
//! transposed.

use fairwire_study::record::{Exhibit, Measured, Number, Published};

/// The maximum number of columns for points. If there are more points than this, and more points
/// than series, each point has a row.
const MAX_ACROSS: usize = 8;

pub(super) struct Crosstab<'a> {
    /// The table's measure, with its unit; empty if the columns are measures.
    pub of: String,
    pub columns: Vec<String>,
    pub rows: Vec<(String, Vec<Option<Cell<'a>>>)>,
}

pub(super) struct Cell<'a> {
    pub number: &'a Number,
    pub printed: Option<&'a Published>,
}

pub(super) fn tables<'a>(exhibit: &'a Exhibit, measures: &[&'a Measured]) -> Vec<Crosstab<'a>> {
    let of =
        |measure: &Measured| exhibit.numbers.iter().filter(|n| n.measure == measure.id).collect::<Vec<_>>();
    let all: Vec<&Number> = measures.iter().flat_map(|measure| of(measure)).collect();
    let points = distinct(all.iter().map(|number| number.at.as_str()));
    if points.len() <= 1 && measures.len() > 1 {
        let series = distinct(all.iter().map(|number| number.series.as_str()));
        let row = |name: &&str| {
            let cell = |measure: &&Measured| {
                let found = exhibit.numbers.iter().find(|n| n.measure == measure.id && n.series == *name);
                found.map(|number| with_printed(exhibit, number))
            };
            (name.to_string(), measures.iter().map(cell).collect())
        };
        let columns = measures.iter().map(|measure| named(measure)).collect();
        return vec![Crosstab { of: String::new(), columns, rows: series.iter().map(row).collect() }];
    }
    measures
        .iter()
        .map(|measure| table(exhibit, measure, &of(measure)))
        .filter(|t| !t.rows.is_empty())
        .collect()
}

fn table<'a>(exhibit: &'a Exhibit, measure: &Measured, numbers: &[&'a Number]) -> Crosstab<'a> {
    let points = distinct(numbers.iter().map(|number| number.at.as_str()));
    let series = distinct(numbers.iter().map(|number| number.series.as_str()));
    let cell = |series: &str, at: &str| {
        let found = numbers.iter().find(|number| number.series == series && number.at == at);
        found.map(|number| with_printed(exhibit, number))
    };
    let are_below = points.len() > MAX_ACROSS && points.len() > series.len();
    let (across, down) = if are_below { (&series, &points) } else { (&points, &series) };
    let row = |down: &&str| {
        let cells =
            across.iter().map(|across| if are_below { cell(across, down) } else { cell(down, across) });
        (down.to_string(), cells.collect())
    };
    let (of, columns) = match across.as_slice() {
        // A single point has no name, so the column has the name of the measure.
        [""] => (String::new(), vec![named(measure)]),
        names => (named(measure), names.iter().map(|name| name.to_string()).collect()),
    };
    Crosstab { of, columns, rows: down.iter().map(row).collect() }
}

fn with_printed<'a>(exhibit: &'a Exhibit, number: &'a Number) -> Cell<'a> {
    Cell { number, printed: exhibit.published.iter().find(|printed| printed.is_beside(number)) }
}

pub(super) fn named(measure: &Measured) -> String {
    match measure.unit.as_str() {
        "" => measure.label.clone(),
        unit => format!("{}, {unit}", measure.label),
    }
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all: Vec<&str> = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::samples::table1;
    use super::*;

    #[test]
    fn series_have_rows_and_points_columns_unless_there_are_many() {
        let exhibit = table1();
        let measures: Vec<&Measured> = exhibit.measures.iter().collect();
        let [few] = &tables(&exhibit, &measures)[..] else { panic!("one measure, one table") };
        assert_eq!((few.columns.len(), few.rows.len(), few.columns[0].as_str()), (5, 5, "P/10"));
        let cell = few.rows[0].1[0].as_ref().unwrap();
        assert_eq!((cell.number.series.as_str(), cell.printed.unwrap().value), ("RED", 0.551));

        let mut many = table1();
        many.numbers = (0..9).map(|at| Number { at: at.to_string(), ..exhibit.numbers[0].clone() }).collect();
        let table = &tables(&many, &measures)[0];
        assert_eq!((table.columns.as_slice(), table.rows.len()), (&["RED".to_string()][..], 9));
    }

    #[test]
    fn measures_at_one_point_share_a_table() {
        let mut exhibit = table1();
        exhibit.measures.push(Measured { id: "udp".into(), label: "UDP".into(), unit: "Mbit/s".into() });
        exhibit.numbers.retain(|number| number.at == "P");
        let more: Vec<Number> =
            exhibit.numbers.iter().map(|number| Number { measure: "udp".into(), ..number.clone() }).collect();
        exhibit.numbers.extend(more);
        let measures: Vec<&Measured> = exhibit.measures.iter().collect();
        let [one] = &tables(&exhibit, &measures)[..] else { panic!("one point, one table") };
        assert_eq!(one.columns, ["share", "UDP, Mbit/s"]);
        assert!(one.rows.iter().all(|(_, cells)| cells.iter().all(Option::is_some)));
    }
}
