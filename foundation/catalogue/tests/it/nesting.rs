//! Disciplines inside disciplines.

use super::{discipline, refusal, site};
use fairwire_catalogue::compose::shaper;
use fairwire_catalogue::{self as catalogue, BuildError, Choice, Parameters};
use fairwire_core::{Probe, Unit};
use fairwire_testing::{Driver, contest};

fn shapers(levels: usize) -> String {
    match levels {
        0 => String::new(),
        1 => "shaper = { rate = '9 Mbit/s' }".into(),
        _ => format!("shaper = {{ discipline = {{ {} }} }}", shapers(levels - 1)),
    }
}

#[test]
fn disciplines_nest_at_most_eight_deep() {
    // Seven shapers, and the tail-drop inside the last, are eight levels.
    discipline("shaper", &shapers(7));
    let message = refusal("shaper", &shapers(8));
    assert!(
        message.starts_with(
            "`discipline` of `shaper` is `shaper`, which makes more than 8 disciplines inside each other;"
        ),
        "{message}"
    );
    assert!(message.ends_with("allowed: at most 8 disciplines inside each other"), "{message}");
    // Recursion to this depth would overflow the stack.
    let mut deep: Parameters = toml::from_str(&shapers(1)).expect("well-formed");
    for _ in 0..2000 {
        let mut outer = Parameters::default();
        let shaper = outer.spec_mut::<shaper::Spec>();
        shaper.discipline = Some(Choice::new("shaper", deep));
        deep = outer;
    }
    assert!(catalogue::check("shaper", &deep, &site()).is_err());
}

#[test]
fn an_error_names_the_parameter_of_the_discipline_inside() {
    for (name, typed, message) in [
        (
            "shaper",
            "discipline = 'rde'",
            "`discipline` of `shaper` is `rde`, an unknown discipline; allowed: the name of a discipline; did you mean `red`?",
        ),
        (
            "conditioner",
            "discipline = { red = { weight = 2 } }",
            "`weight` of `red` in `conditioner.discipline` is 2; allowed: a number above 0, at most 1",
        ),
        (
            "prio",
            "band = [{ of = [1] }, { discipline = 'rde' }]",
            "`band.1.discipline` of `prio` is `rde`, an unknown discipline; allowed:",
        ),
        (
            "prio",
            "band = [{}, { discipline = { shaper = { discipline = 'rde' } } }]",
            "`discipline` of `shaper` in `prio.band.1.discipline` is `rde`, an unknown discipline; allowed: ",
        ),
        (
            "shaper",
            "discipline = { prio = { band = [{}, {}, { discipline = 'rde' }] } }",
            "`band.2.discipline` of `prio` in `shaper.discipline` is `rde`, an unknown discipline; allowed: ",
        ),
        (
            "classful",
            "class = [{ id = 7 }, { id = 9, discipline = 'rde' }]",
            "`class.1.discipline` of `classful` is `rde`, an unknown discipline; allowed: ",
        ),
        (
            "classful",
            "class = [{ id = 1, discipline = { faba = { alpha = -1 } } }]",
            "`alpha` of `faba` in `classful.class.0.discipline` is -1;",
        ),
        (
            "conditioner",
            "class = [{ id = 3, marker = { token-bucket = { burst = '2048 GiB' } } }]",
            "`burst` of `token-bucket` in `conditioner.class.0.marker` is 2048 GiB;",
        ),
        (
            "conditioner",
            "class = [{ id = 3 }, { id = 3 }]",
            "`class.1.id` of `conditioner` is class 3 again;",
        ),
        (
            "conditioner",
            "class = [{ id = 1048576 }]",
            "`class.0.id` of `conditioner` is 1048576; allowed: a whole number of at most 1048575",
        ),
    ] {
        let refused = refusal(name, &format!("[{name}]\n{typed}"));
        assert!(refused.starts_with(message), "{refused}");
    }
    let inner = "[shaper]\ndiscipline = { red = { gentel = true } }";
    let error = toml::from_str::<Parameters>(inner).unwrap_err();
    assert!(error.message().contains("unknown field `gentel`"), "{error}");
}

#[test]
fn nested_parameters_are_written_back_as_typed() {
    let typed = "[classful]
class = [{ id = 1, discipline = { conditioner = { marker = 'tsw2cm', class = [{ id = 2 }] } } }]
[prio]
by = 'color'
band = [{ of = [0], buffer = '3 packets' }, { discipline = { red = { gentle = true } } }]";
    let parameters: Parameters = toml::from_str(typed).expect("well-formed");
    let written = toml::to_string(&parameters).expect("plain data");
    assert_eq!(toml::from_str::<Parameters>(&written).expect("what we write"), parameters);
}

#[test]
fn nested_buffers_above_the_maximum_in_total_are_refused() {
    let bands = |packets: u32| {
        let band = format!(
            "{{ discipline = {{ shaper = {{ discipline = {{ red = {{ buffer = '{packets} packets' }} }} }} }} }}"
        );
        let classes = format!(
            "[{{ id = 1, discipline = {{ prio = {{ band = [{band}, {band}] }} }} }}, \
             {{ id = 2, buffer = '{packets} packets' }}]"
        );
        toml::from_str::<Parameters>(&format!("[classful]\nclass = {classes}")).expect("well-formed")
    };
    // 2^24 in all.
    assert!(catalogue::check("classful", &bands(5_592_405), &site()).is_ok());
    let message = catalogue::check("classful", &bands(5_592_406), &site()).unwrap_err().to_string();
    assert_eq!(
        message,
        "`buffer` of `classful` is room for 16777218 packets in all disciplines inside; \
         allowed: room for 16777216 packets, where 150 B of tables count as one"
    );
}

#[test]
fn nested_tables_count_as_packets_of_the_same_memory() {
    let leaves = |count: u32, leaf: &str| {
        let classes: String = (0..count).map(|id| format!("{{ id = {id}, {leaf} }},")).collect();
        let parameters = toml::from_str(&format!("[classful]\nclass = [{classes}]")).expect("well-formed");
        catalogue::check("classful", &parameters, &site())
    };
    for leaf in [
        "discipline = { fq-codel = { queues = 65536 } }",
        "discipline = { cake-like = { queues = 65536 } }",
        "discipline = { faba = { max_flows = 200000 } }",
        "discipline = { red = { scheduler = 'wf2q+' } }, buffer = '100000 packets'",
        "discipline = 'dualpi2', buffer = '20000 packets'",
    ] {
        assert!(leaves(8, leaf).is_ok(), "{leaf}: {:?}", leaves(8, leaf));
        let error = leaves(800, leaf).expect_err(leaf).to_string();
        assert!(error.starts_with("`buffer` of `classful` is room for "), "{error}");
    }
    assert!(leaves(800, "discipline = 'dualpi2', buffer = '10000 packets'").is_ok(), "16 million slots");
}

#[test]
fn wrong_nesting_is_refused() {
    assert_eq!(
        refusal(
            "conditioner",
            "[conditioner]\nmarker = { tr-tcm = { rate = '5 Mbit/s', peak_rate = '4 Mbit/s' } }"
        ),
        "`peak_rate` of `tr-tcm` in `conditioner.marker` is 4 Mbit/s; allowed: no less than the committed `rate`, which is 5 Mbit/s",
    );
    discipline("prio", "[prio]\nband = [{ discipline = { fifo = {} } }]");
    for (typed, message) in [
        ("{ red = {}, codel = {} }", "are two disciplines"),
        ("{}", "no discipline is named; allowed: `{ name = { parameters } }` or \"name\""),
        ("{ rde = {} }", "unknown field `rde`"),
        ("3", "expected the name of a discipline in quotes, or a table"),
    ] {
        let error = toml::from_str::<Parameters>(&format!("[shaper]\ndiscipline = {typed}")).unwrap_err();
        assert!(error.message().contains(message), "{error}");
    }
}

#[test]
fn an_error_leads_to_its_location() {
    let typed = "[prio]
band = [{}, { discipline = { shaper = { discipline = { red = { weight = 2 } } } } }]";
    let parameters: Parameters = toml::from_str(typed).expect("well-formed");
    let Err(BuildError::Parameter(bad)) = catalogue::check("prio", &parameters, &site()) else {
        panic!("a weight of 2 was allowed")
    };
    assert_eq!(bad.path(), "prio.band.1.discipline.shaper.discipline.red.weight");
    assert!(
        bad.to_string().starts_with("`weight` of `red` in `prio.band.1.discipline.shaper.discipline` is 2;")
    );
}

#[test]
fn an_inner_discipline_inherits_the_ecn_policy_unless_it_sets_one() {
    for (outer, inner, marks) in [
        ("", "", false),
        ("ecn = 'mark'", "", true),
        ("ecn = 'mark'", "ecn = 'drop'", false),
        ("", "ecn = 'mark'", true),
    ] {
        let red = format!("discipline = {{ red = {{ {inner} }} }}");
        let typed = format!(
            "[classful]\n{outer}\nclass = [{{ id = 1, discipline = {{ prio = {{ band = [{{ {red} }}] }} }} }}]"
        );
        let mut driver = Driver::new(discipline("classful", &typed));
        contest(20, 3_000).into_iter().for_each(|operation| driver.apply(operation));
        let (marked, dropped) = (driver.outcome().marked, driver.early_drops_of_capable());
        assert_eq!((marked > 10, dropped > 10), (marks, !marks), "{outer} {inner}: {marked} {dropped}");
    }
}

#[derive(Default)]
struct Outline {
    text: String,
    depth: usize,
}

impl Probe for Outline {
    fn gauge(&mut self, name: &'static str, _: Unit, _: f64) {
        if name.contains("rate") || name == "average" {
            self.text += &format!("{:1$}{name}\n", "", self.depth);
        }
    }
    fn enter(&mut self, part: &str) {
        self.text += &format!("{:1$}{part}:\n", "", self.depth);
        self.depth += 1;
    }
    fn leave(&mut self) {
        self.depth = self.depth.checked_sub(1).expect("entered before");
    }
}

#[test]
fn gauges_are_listed_under_their_part() {
    let typed = "[classful]
class = [
  { id = 7, rate = '2 Mbit/s', discipline = { conditioner = { class = [{ id = 7 }], discipline = 'red' } } },
  { id = 8, discipline = { prio = { band = [{}, { discipline = 'shaper' }] } } },
]";
    let mut outline = Outline::default();
    discipline("classful", typed).inspect(&mut outline);
    let expected = "\
class 7:
 guaranteed_rate
 marker of the other classes:
  contract_rate
 marker of class 7:
  contract_rate
 average
class 8:
 band 1:
 band 2:
  shaped_rate
";
    assert_eq!((outline.text.as_str(), outline.depth), (expected, 0));
}
