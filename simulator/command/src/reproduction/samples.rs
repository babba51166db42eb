//! Results for the tests of this folder.

use fairwire_figures::samples as drawn;
use fairwire_metrics::record::Estimate;
use fairwire_study::record::{
    Claim, Depth, Exhibit, FORMAT, Kind, Measured, Number, Origin, Panel, Published, Results, Verdict,
};

pub(crate) fn claim(id: &str, verdict: Verdict) -> Claim {
    Claim {
        id: id.into(),
        says: format!("{id}: FABA gives TCP more than FRED at every size"),
        place: "section 5.2, Table 1".into(),
        origin: Origin::Printed,
        check: "tcp of FABA minus FRED at least 0 at P/10, P/5".into(),
        because: "the table prints three digits".into(),
        verdict,
        detail: "at P/10: 0.014 \u{b1} 0.002".into(),
        stricter: String::new(),
        calibrated: None,
    }
}

pub(crate) fn exhibit(paper: &str, id: &str, kind: Kind) -> Exhibit {
    let points: Vec<(f64, f64)> = (0..50).map(|at| (f64::from(at), 1.0 + f64::from(at % 7))).collect();
    let panels = match kind {
        Kind::Time | Kind::Steps | Kind::Scatter => {
            vec![drawn::panel(kind, vec![drawn::line("FABA", 0, &points)])]
        }
        kind => vec![drawn::table1(kind)],
    };
    Exhibit {
        paper: paper.into(),
        study: format!("{paper}, a study"),
        source: "A. Author et al., a paper, 2003".into(),
        id: id.into(),
        title: "Share of the TCP flows over the buffer's size".into(),
        notes: vec!["The caption says 10 Mbit/s; the text needs 5.".into()],
        depth: Depth::Quick,
        seeds: vec![1, 2, 3],
        command: format!("fairwire reproduce {paper}.{id} --quick"),
        measures: vec![Measured { id: "tcp".into(), label: "share".into(), unit: String::new() }],
        numbers: Vec::new(),
        published: Vec::new(),
        panels,
        claims: Vec::new(),
    }
}

pub(crate) fn table1() -> Exhibit {
    let table = exhibit("faba", "table1", Kind::Table);
    let panel: Panel = drawn::table1(Kind::Table);
    let at = |x: f64| panel.categories[x as usize].clone();
    let size = |x: f64| [78.0, 156.0, 390.0, 780.0, 1560.0][x as usize];
    let numbers = panel.lines.iter().flat_map(|line| {
        line.marks.iter().map(|mark| Number {
            measure: "tcp".into(),
            series: line.label.clone(),
            x: size(mark.x),
            at: at(mark.x),
            values: [1, 2, 3].map(|seed| (seed, mark.y + (seed as f64 - 2.0) / 300.0)).into(),
            estimate: Some(Estimate { mean: mark.y, half_width_95: Some(0.008), min: mark.y, max: mark.y }),
        })
    });
    let published = panel.lines.iter().flat_map(|line| {
        line.published.iter().map(|mark| Published {
            measure: "tcp".into(),
            series: line.label.clone(),
            x: Some(size(mark.x)),
            at: at(mark.x),
            value: mark.y,
            place: "Table 1".into(),
        })
    });
    Exhibit {
        numbers: numbers.collect(),
        published: published.collect(),
        claims: vec![
            claim("above-fred", Verdict::Holds),
            claim("above-all", Verdict::Fails),
            claim("close", Verdict::Unclear),
            Claim { origin: Origin::Grid, ..claim("between", Verdict::Holds) },
            Claim { check: String::new(), because: String::new(), ..claim("vague", Verdict::NotTestable) },
        ],
        ..table
    }
}

fn results(exhibits: Vec<Exhibit>) -> Results {
    Results {
        format: FORMAT,
        title: String::new(),
        fairwire_version: "0.1.0".into(),
        depth: Depth::Quick,
        interrupted: false,
        calibrated: std::collections::BTreeMap::new(),
        exhibits,
    }
}

pub(crate) fn all_kinds() -> Results {
    let with = |exhibit: Exhibit, verdict| Exhibit { claims: vec![claim("shape", verdict)], ..exhibit };
    results(vec![
        table1(),
        with(exhibit("faba", "fig4", Kind::Lines), Verdict::Holds),
        with(exhibit("faba", "fig7", Kind::Time), Verdict::NotTestable),
        exhibit("sut", "fig2", Kind::Bars),
        with(exhibit("afd", "fig1", Kind::Steps), Verdict::Fails),
        with(exhibit("afd", "fig6", Kind::Scatter), Verdict::Holds),
    ])
}

pub(crate) fn many() -> Results {
    let all = all_kinds().exhibits;
    let copies = (0..57).map(|at| Exhibit { id: format!("fig{at}"), ..all[at % all.len()].clone() });
    results(copies.collect())
}

pub(crate) fn hostile() -> Results {
    const TEXT: &str = "</svg><script>alert(\"1\")</script> & \u{1b}[31m\n]]> | ` \u{ffff}";
    let mut bad = table1();
    for text in
        [&mut bad.title, &mut bad.study, &mut bad.source, &mut bad.command, &mut bad.id, &mut bad.paper]
    {
        *text = TEXT.into();
    }
    bad.notes = vec![TEXT.into()];
    for panel in &mut bad.panels {
        for text in [&mut panel.title, &mut panel.x.label, &mut panel.y.label] {
            *text = TEXT.into();
        }
        panel.categories.iter_mut().for_each(|name| *name = TEXT.into());
        panel.lines.iter_mut().for_each(|line| line.label = TEXT.into());
    }
    for claim in &mut bad.claims {
        for text in
            [&mut claim.says, &mut claim.place, &mut claim.check, &mut claim.because, &mut claim.detail]
        {
            *text = TEXT.into();
        }
    }
    for number in &mut bad.numbers {
        for text in [&mut number.measure, &mut number.series, &mut number.at] {
            *text = TEXT.into();
        }
    }
    let kinds = [Kind::Lines, Kind::Bars, Kind::Time, Kind::Steps, Kind::Scatter];
    let more = kinds.map(|kind| {
        let mut more = bad.clone();
        more.panels.iter_mut().for_each(|panel| panel.kind = kind);
        more
    });
    Results { title: TEXT.into(), ..results([bad].into_iter().chain(more).collect()) }
}
