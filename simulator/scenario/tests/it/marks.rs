//! ECN-capable senders are marked by default under the disciplines that mark in Linux.

use fairwire_scenario::{Overrides, Scenario, parse, run_all};
use std::sync::atomic::AtomicBool;

const TEXT: &str = "format = 2\nname = \"marks\"\nduration = \"4 s\"\nseeds = 1\ndisciplines = [\"drr\"]\n\
    link = { rate = \"50 Mbit/s\", delay = \"5 ms\", buffer = \"200 ms\" }\n\
    [[flow]]\ngroup = \"prague\"\nsource = \"bulk\"\nrtt = \"20 ms\"\naccess = { rate = \"1 Gbit/s\" }\n\
    tcp = { control = \"prague\" }\n\
    [[flow]]\ngroup = \"cubic\"\nsource = \"bulk\"\nrtt = \"20 ms\"\naccess = { rate = \"1 Gbit/s\" }\n";

fn scenario(disciplines: &str) -> Scenario {
    let overrides = Overrides { disciplines: vec![disciplines.into()], ..Overrides::default() };
    parse("marks.toml", TEXT, &overrides).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn disciplines_that_mark_in_linux_mark_by_default_and_those_of_papers_drop() {
    let linux = ["codel", "cobalt", "pie", "fq-codel", "fq-pie", "cake-like", "dualpi2", "drr+codel"];
    let papers = ["red", "faba", "sfed", "rem"];
    let scenario = scenario(&[linux.as_slice(), &papers].concat().join(","));
    let outcome = run_all(&scenario, 2, &|_| {}, &AtomicBool::new(false)).unwrap();
    for run in &outcome.runs {
        let marks: u64 = run.flows.iter().map(|flow| flow.packets_marked).sum();
        assert_eq!(marks > 0, linux.contains(&&*run.discipline), "{}: {marks} marks", run.discipline);
    }
}

#[test]
fn ecn_capable_senders_under_a_dropping_discipline_are_noted_with_the_key() {
    let notes = |disciplines: &str| scenario(disciplines).notes().to_vec();
    let noted = notes("fq-codel,drr+red,red,faba");
    assert_eq!(noted.len(), 1, "{noted:?}");
    let keys = "`prague`: ECN-capable, but dropped by `drr+red`, `red`, `faba`; \
                discipline.red.ecn = \"mark\", discipline.faba.ecn = \"mark\" marks it";
    assert_eq!(noted[0], keys);
    for silent in ["fq-codel", "{ red = { ecn = \"drop\" } }", "{ red = { ecn = \"mark\" } }", "drr", "lqd"] {
        assert_eq!(notes(silent), [""; 0], "{silent}");
    }
}
