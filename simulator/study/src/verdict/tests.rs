//! Tests of each check on artificial numbers.

use super::*;
use crate::library::Folder;
use crate::record::Depth;
use crate::study::Study;

const SCENARIO: &str = r#"
format = 2
name = "short"
duration = "1 s"
disciplines = [{ red = {}, label = "A" }, { faba = {}, label = "B" }]
[link]
rate = "1 Mbit/s"
delay = "1 ms"
buffer = "10 packets"
[[flow]]
group = "tcp"
source = "bulk"
tcp = { profile = "ns2-2002" }
access = { rate = "1 Mbit/s", delay = "1 ms" }
"#;

fn number(series: &str, x: f64, values: &[f64]) -> Number {
    let values: BTreeMap<u64, f64> = (1..).zip(values.iter().copied()).collect();
    let estimate = estimate(&values.values().copied().collect::<Vec<_>>());
    Number { measure: "m".into(), series: series.into(), x, at: x.to_string(), values, estimate }
}

fn claim(check: &str, numbers: &[Number], is_exact: bool) -> Claim {
    let text = format!(
        r#"
format = 2
paper = "p"
title = ""
source = ""
[[exhibit]]
id = "e"
title = ""
scenario = "base.toml"
vary = {{ values = [1, 2, 3] }}
[[exhibit.measure]]
id = "m"
of = "jain"
[[exhibit.claim]]
id = "c"
says = ""
where = ""
origin = "ours"
because = "a test"
{check}
"#
    );
    let files = [("study.toml", text.as_str()), ("base.toml", SCENARIO)];
    let files = files.map(|(name, text)| (name.to_string(), text.to_string())).into();
    let study = Study::read(&Folder { name: "p".into(), prefix: String::new(), files }).unwrap();
    let plan = Plan::of(&study, 0, Depth::Full).unwrap();
    let printed = Published {
        measure: "m".into(),
        series: "A".into(),
        x: Some(1.0),
        at: "1".into(),
        value: 10.0,
        place: String::new(),
    };
    let table = Table { numbers, published: &[printed], is_exact };
    judge(&plan, &table).remove(0)
}

fn verdict(check: &str, numbers: &[Number]) -> Verdict {
    claim(check, numbers, false).verdict
}

const HOLDS: Verdict = Verdict::Holds;
const NOT: Verdict = Verdict::Fails;
const OPEN: Verdict = Verdict::Unclear;

#[test]
fn an_order_is_judged_by_the_interval_of_paired_differences() {
    let a = number("A", 1.0, &[10.0, 20.0, 30.0]);
    // Without pairing by seed, the comparison would be undecided.
    assert_eq!(
        verdict("order = { more = 'B', than = 'A' }", &[a.clone(), number("B", 1.0, &[11.0, 21.0, 31.0])]),
        HOLDS
    );
    // The differences have a mean of 1 ± 4.97.
    let wild = [a.clone(), number("B", 1.0, &[11.0, 23.0, 29.0])];
    assert_eq!(verdict("order = { more = 'B', than = 'A' }", &wild), OPEN);
    assert_eq!(verdict("order = { more = 'B', than = 'A', tolerance = 5 }", &wild), HOLDS);
    assert_eq!(verdict("order = { more = 'A', than = 'B' }", &wild), NOT);
    let even = [a.clone(), number("B", 1.0, &[10.0, 20.0, 30.0])];
    assert_eq!(verdict("order = { more = 'B', than = 'A' }", &even), HOLDS, "no less is enough");
    assert_eq!(verdict("order = { more = 'B', than = 'A', by = 0.5 }", &even), NOT);
    let double = [a.clone(), number("B", 1.0, &[21.0, 41.0, 61.0])];
    assert_eq!(verdict("order = { more = 'B', than = 'A', times = 2 }", &double), HOLDS);
    assert_eq!(verdict("order = { more = 'B', than = 'A', times = 3 }", &double), NOT);
    assert_eq!(verdict("order = { more = 'B', than = 'A' }", &[a]), NOT, "what was not measured is not more");
}

#[test]
fn every_named_point_must_hold_and_points_can_be_compared() {
    let numbers = [
        number("A", 1.0, &[1.0, 1.0]),
        number("A", 2.0, &[5.0, 5.0]),
        number("B", 1.0, &[2.0, 2.0]),
        number("B", 2.0, &[4.0, 4.0]),
    ];
    assert_eq!(verdict("order = { more = 'B', than = 'A', at = [1] }", &numbers), HOLDS);
    assert_eq!(verdict("order = { more = 'B', than = 'A', at = ['1', 2] }", &numbers), NOT);
    assert_eq!(verdict("order = { more = 'B', at = [2], than_at = 1 }", &numbers), HOLDS);
    let claimed = claim("order = { more = 'B', than = 'A' }", &numbers, false);
    assert_eq!(claimed.detail, "against it: B minus A at 2: -1 ± 0. for it: B minus A at 1: 1 ± 0");
    assert_eq!(claimed.check, "m of B above A");
    let of_itself = claim("order = { more = 'B', at = [2], than_at = 1 }", &numbers, false);
    assert_eq!(of_itself.detail, "B at 2 minus at 1: 2 ± 0");
    let other = claim("order = { more = 'B', than = 'A', at = [2], than_at = 1 }", &numbers, false);
    assert_eq!(other.detail, "B at 2 minus A at 1: 3 ± 0");
    let twice = claim("order = { more = 'B', at = [2], than_at = 1, times = 2 }", &numbers, false);
    assert_eq!(twice.detail, "B at 2 minus 2 times B at 1: 0 ± 0");
}

#[test]
fn the_worst_of_many_comparisons_is_printed_with_units() {
    let at = |x: i32| number("A", f64::from(x), &[f64::from(x), f64::from(x)]);
    let numbers: Vec<Number> = [4, 2, 1, 3, 5].map(at).into();
    let detail = |check: &str| claim(check, &numbers, false).detail;
    assert_eq!(detail("bound = { of = 'A', min = 0 }"), "worst of 5: A at 1: 1 ± 0");
    assert_eq!(
        detail("bound = { of = 'A', min = 4.5 }"),
        "against it: worst of 4: A at 1: 1 ± 0. for it: A at 5: 5 ± 0"
    );
    let (estimate, unit) = (numbers[0].estimate, "Mbit/s".into());
    let finding = Finding { what: "A".into(), estimate, unit, allowed: Allowed::ANYTHING };
    assert_eq!(finding.text(), "A: 4 ± 0 Mbit/s");
}

#[test]
fn two_compared_measures_are_named() {
    let (a, b) = (number("TB", 1.0, &[1.0]), number("TB", 1.0, &[2.0]));
    let (one, other) = (Operand { series: "TB", number: &a }, Operand { series: "TB", number: Some(&b) });
    assert_eq!(difference(one, other, Some(["g1", "g2"]), ""), "g1 of TB minus g2 of TB at 1");
}

#[test]
fn a_claim_stricter_than_the_paper_gives_its_reason() {
    let claim = claim("stricter = 'the paper says nearly'\nbound = { of = 'A', min = 0 }", &[], false);
    assert_eq!(claim.stricter, "the paper says nearly");
}

#[test]
fn bounds_and_printed_values_are_judged_by_the_entire_interval() {
    // 9, 10 and 11 have the mean 10 ± 2.484.
    let numbers = [number("A", 1.0, &[9.0, 10.0, 11.0])];
    assert_eq!(verdict("bound = { of = 'A', min = 7.5, max = 12.5 }", &numbers), HOLDS);
    assert_eq!(verdict("bound = { of = 'A', min = 7.6 }", &numbers), OPEN);
    assert_eq!(verdict("bound = { of = 'A', max = 9.9 }", &numbers), NOT);
    assert_eq!(verdict("value = { tolerance = 2.5 }", &numbers), HOLDS);
    assert_eq!(verdict("value = { tolerance = 0.25, relative = true }", &numbers), HOLDS);
    assert_eq!(verdict("value = { tolerance = 2.4 }", &numbers), OPEN);
    assert_eq!(verdict("value = { tolerance = 2.4, is = 7 }", &numbers), NOT);
    assert_eq!(verdict("value = { of = 'B', tolerance = 9 }", &numbers), NOT, "nothing is printed for B");
}

#[test]
fn only_values_in_the_paper_are_called_printed() {
    let numbers = [number("A", 1.0, &[10.0, 10.0])];
    let detail = |check: &str| claim(check, &numbers, false).detail;
    assert_eq!(detail("value = { tolerance = 1 }"), "A at 1, printed 10: 10 ± 0");
    assert_eq!(detail("value = { tolerance = 1, is = 10.5 }"), "A at 1, required 10.5: 10 ± 0");
}

#[test]
fn one_seed_decides_only_without_randomness() {
    let numbers = [number("A", 1.0, &[10.0])];
    let check = "bound = { of = 'A', min = 7 }";
    assert_eq!(verdict(check, &numbers), OPEN);
    assert_eq!(claim(check, &numbers, true).verdict, Verdict::Holds);
}

#[test]
fn a_trend_holds_for_every_step_and_overall() {
    let at = |values: [f64; 3]| -> Vec<Number> {
        (1..).zip(values).map(|(x, value)| number("A", f64::from(x), &[value, value])).collect()
    };
    let rises = "trend = { of = 'A', direction = 'rises' }";
    assert_eq!(verdict(rises, &at([1.0, 2.0, 3.0])), HOLDS);
    assert_eq!(verdict(rises, &at([1.0, 3.0, 2.9])), NOT);
    assert_eq!(
        verdict("trend = { of = 'A', direction = 'rises', tolerance = 0.2 }", &at([1.0, 3.0, 2.9])),
        HOLDS
    );
    assert_eq!(
        verdict("trend = { of = 'A', direction = 'rises', tolerance = 0.2 }", &at([1.0, 0.9, 0.9])),
        NOT
    );
    assert_eq!(verdict("trend = { of = 'A', direction = 'rises', to = 2 }", &at([1.0, 3.0, 2.9])), HOLDS);
    assert_eq!(verdict("trend = { of = 'A', direction = 'falls' }", &at([3.0, 2.0, 1.0])), HOLDS);
    assert_eq!(
        verdict("trend = { of = 'A', direction = 'flat', tolerance = 1 }", &at([1.0, 2.0, 3.0])),
        HOLDS
    );
    assert_eq!(
        verdict("trend = { of = 'A', direction = 'flat', tolerance = 0.9 }", &at([1.0, 2.0, 3.0])),
        NOT
    );
    assert_eq!(verdict("slope = { of = 'A', min = 0.9, max = 1.1 }", &at([1.0, 2.0, 3.0])), HOLDS);
    assert_eq!(verdict("slope = { of = 'A', min = 1.1 }", &at([1.0, 2.0, 3.0])), NOT);
}

#[test]
fn the_lowest_point_is_lower_than_all_others() {
    let numbers =
        [number("A", 1.0, &[5.0, 6.0]), number("A", 2.0, &[1.0, 2.0]), number("A", 3.0, &[2.0, 3.0])];
    assert_eq!(verdict("lowest = { of = 'A', between = [1.5, 2.5] }", &numbers), HOLDS);
    assert_eq!(verdict("lowest = { of = 'A', between = [0.5, 1.5] }", &numbers), NOT);
    assert_eq!(verdict("lowest = { of = 'A', between = [2.5, 3.5], tolerance = 1 }", &numbers), HOLDS);
    assert_eq!(verdict("highest = { of = 'A', between = [0.5, 1.5] }", &numbers), HOLDS);
    assert_eq!(verdict("lowest = { of = 'A', between = [7, 8] }", &numbers), NOT, "no point is there");
}

#[test]
fn an_untestable_claim_gives_its_reason() {
    let claimed = claim("not_testable = 'no unit'", &[], false);
    assert_eq!((claimed.verdict, claimed.detail.as_str()), (Verdict::NotTestable, "no unit"));
}
