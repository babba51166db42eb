//! Results as a LaTeX table: rules by `booktabs`, and columns of numbers with intervals by
//! `siunitx`.

const NEEDS: &str =
    "% \\usepackage{booktabs,siunitx}\n% \\sisetup{separate-uncertainty,retain-zero-uncertainty}\n";

/// A LaTeX table. Numeric columns contain only numbers, numbers with a `±` interval, and empty
/// cells.
pub(crate) fn table(head: &[String], rows: &[Vec<String>]) -> String {
    let is_numbers = |column: usize| {
        let cells = || rows.iter().filter_map(|row| row.get(column)).filter(|cell| !cell.is_empty());
        cells().next().is_some() && cells().all(|cell| is_number(cell))
    };
    let numbers: Vec<bool> = (0..head.len()).map(is_numbers).collect();
    let line = |cells: &[String], is_head: bool| {
        let cell = |(cell, &is_number): (&String, &bool)| match (is_number, is_head) {
            (true, true) => format!("{{{}}}", escaped(cell)),
            (true, false) => number(cell),
            (false, _) => escaped(cell),
        };
        let cells: Vec<String> = cells.iter().zip(&numbers).map(cell).collect();
        format!("  {} \\\\\n", cells.join(" & "))
    };
    let columns: String = numbers.iter().map(|&is_number| if is_number { 'S' } else { 'l' }).collect();
    let body: String = rows.iter().map(|row| line(row, false)).collect();
    format!(
        "{NEEDS}\\begin{{tabular}}{{{columns}}}\n  \\toprule\n{}  \\midrule\n{body}  \\bottomrule\n\\end{{tabular}}\n",
        line(head, true)
    )
}

/// A number in siunitx's form: `3.87 \pm 0.56 e7` for `3.87e7 ± 0.56e7`.
fn number(cell: &str) -> String {
    let Some((mean, half)) = cell.split_once(" ± ") else { return cell.into() };
    match (mean.split_once('e'), half.split_once('e')) {
        (Some((mean, power)), Some((half, other))) if power == other => {
            format!("{mean} \\pm {half} e{power}")
        }
        _ => format!("{mean} \\pm {half}"),
    }
}

fn is_number(cell: &str) -> bool {
    cell.split(" ± ").all(|number| number.parse::<f64>().is_ok_and(f64::is_finite))
}

fn escaped(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => format!("\\{c}"),
            '~' => "\\textasciitilde{}".into(),
            '^' => "\\textasciicircum{}".into(),
            '\\' => "\\textbackslash{}".into(),
            c => c.to_string(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_separate_columns_and_text_is_escaped() {
        let row = |cells: [&str; 3]| cells.map(String::from).to_vec();
        let head = row(["discipline", "share of a_b, %", "p95"]);
        let rows = [row(["wf2q+", "0.980 ± 0.020", "1.2e-5"]), row(["50 % ~^\\", "1.250 ± 0.010", ""])];
        let text = table(&head, &rows);
        let expected = [
            "\\begin{tabular}{lSS}",
            "  discipline & {share of a\\_b, \\%} & {p95} \\\\",
            "  wf2q+ & 0.980 \\pm 0.020 & 1.2e-5 \\\\",
            "  50 \\% \\textasciitilde{}\\textasciicircum{}\\textbackslash{} & 1.250 \\pm 0.010 &  \\\\",
        ];
        for line in expected {
            assert!(text.lines().any(|it| it == line), "{line} in {text}");
        }
    }

    #[test]
    fn a_column_with_one_word_is_one_of_text() {
        let text = table(&["a".into()], &[vec!["1.0".into()], vec!["none".into()]]);
        assert!(text.contains("\\begin{tabular}{l}"), "{text}");
        let text = table(&["b".into()], &[vec!["3.87e7 ± 0.56e7".into()]]);
        assert!(text.contains("  3.87 \\pm 0.56 e7 \\\\\n"), "{text}");
    }
}
