use super::*;
use crate::layout::Place;
use crate::samples::{line, panel, table1};

const KINDS: [Kind; 7] =
    [Kind::Lines, Kind::Bars, Kind::Time, Kind::Table, Kind::Scatter, Kind::Steps, Kind::Grid];

const PAPERS: [Paper; 2] =
    [Paper { width: Width::OneColumn, is_bare: true }, Paper { width: Width::TwoColumns, is_bare: false }];

fn figure(panels: &[Panel]) -> Figure<'_> {
    Figure { title: "a title", detail: vec!["a condition".into()], panels, ..Figure::default() }
}

#[test]
fn every_kind_of_plot_draws_any_numbers_on_paper() {
    let many: Vec<(f64, f64)> = (0..5000).map(|at| (f64::from(at), f64::from(at % 100))).collect();
    let sets: [&[(f64, f64)]; 6] = [
        &[],
        &[(1.0, 0.5)],
        &[(f64::NAN, f64::NAN)],
        &[(1.0, f64::NAN), (2.0, 1.0), (f64::INFINITY, 3.0)],
        &[(-5.0, -7.0), (5.0, 1e9)],
        &many,
    ];
    for (kind, points) in KINDS.iter().flat_map(|kind| sets.map(|points| (*kind, points))) {
        if points.len() > 10 && matches!(kind, Kind::Bars | Kind::Table | Kind::Grid) {
            continue;
        }
        let one = panel(kind, vec![line("a", 0, points), line("b", 1, points)]);
        for paper in PAPERS {
            let sheet = figure(&[one.clone(), one.clone()]).sheet(paper);
            for item in &sheet.items {
                let places: Vec<Place> = match item {
                    sheet::Item::Text(text) => vec![text.at],
                    sheet::Item::Path { within: Some(_), .. } => Vec::new(),
                    sheet::Item::Path { path, .. } => path.iter().filter_map(place).collect(),
                };
                for Place { x, y } in places {
                    let is_inside = (0.0..=sheet.width).contains(&x) && (0.0..=sheet.height).contains(&y);
                    assert!(is_inside, "{kind:?}: {x} {y} of {} {}: {item:?}", sheet.width, sheet.height);
                }
            }
            let svg = sheet.svg();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{kind:?}");
        }
    }
}

fn place(step: &sheet::Step) -> Option<Place> {
    match *step {
        sheet::Step::To(at) | sheet::Step::Line(at) => Some(at),
        sheet::Step::Curve([.., x, y]) => Some(Place { x, y }),
        sheet::Step::Close => None,
    }
}

#[test]
fn a_figure_has_the_width_of_its_paper_and_a_bare_one_has_no_title() {
    let panels = [table1(Kind::Lines)];
    let [bare, whole] = PAPERS.map(|paper| figure(&panels).paper_svg(paper));
    assert!(bare.contains("width=\"88.90mm\"") && whole.contains("width=\"181.90mm\""));
    assert!(!bare.contains(">a title</text>") && !bare.contains(">a condition</text>"));
    assert!(whole.contains(">a title</text>") && whole.contains(">a condition</text>"));
}

#[test]
fn a_pdf_has_one_page_of_that_size_and_its_font_in_it() {
    let file = figure(&[table1(Kind::Lines)]).paper_pdf(PAPERS[0]);
    let text = String::from_utf8_lossy(&file);
    assert!(text.starts_with("%PDF-1.") && text.trim_end().ends_with("%%EOF"), "{text}");
    assert!(text.contains("/MediaBox [0 0 252"), "88.9 mm are 3.5 inches");
    assert!(text.contains("/FontFile2") && text.contains("+DejaVuSansCondensed"));
    // The file embeds only a subset of the font. The entire font has 680 kB.
    assert!(file.len() < 60_000, "{}", file.len());
}

#[test]
fn lines_of_any_two_colours_differ_in_grey_by_dash_or_marker() {
    let lines: Vec<_> = (0..9).map(|colour| line("", colour, &[])).collect();
    for (at, one) in lines.iter().enumerate() {
        for other in &lines[at + 1..] {
            assert_ne!(shapes::stroke(one).dash, shapes::stroke(other).dash);
        }
    }
}

#[test]
fn tex_has_a_plot_for_each_line_and_its_braces_close() {
    for kind in KINDS {
        let text = figure(&[table1(kind)]).tex(PAPERS[0]);
        let plots = if matches!(kind, Kind::Table | Kind::Grid) { 1 } else { 5 };
        assert_eq!(text.matches("\\addplot").count(), plots, "{kind:?}");
        assert_eq!(text.matches('{').count(), text.matches('}').count(), "{kind:?}");
        assert!(text.contains("\\nextgroupplot") && text.ends_with("\\end{tikzpicture}\n"));
    }
}
