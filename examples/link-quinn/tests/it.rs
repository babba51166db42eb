//! If CUBIC and BBR share a link, CUBIC gets about half under FABA, not under tail-drop.

use std::process::Command;

fn run() -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_link-quinn")).output().expect("it was built");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn report<'a>(text: &'a str, contest: &str) -> &'a str {
    let (_, rest) = text.split_once(contest).expect("each contest has a report");
    rest.split("\n\n").next().expect("a part")
}

fn ratio(report: &str) -> f64 {
    let rows = report.lines().skip(2).take(2);
    let rates = rows.map(|row| row.split_whitespace().nth(1).expect("a rate").parse().expect("a number"));
    let rates: Vec<f64> = rates.collect();
    rates[1] / rates[0]
}

#[test]
fn faba_shares_between_cubic_and_bbr_where_tail_drop_does_not() {
    let texts = [run(), run()];
    // quinn's BBR takes a random phase of its cycle from the system, so no two runs are equal.
    for text in &texts {
        assert!(ratio(report(text, "tail-drop, CUBIC and BBR")) > 2.0, "{text}");
        assert!((0.7..1.4).contains(&ratio(report(text, "faba, CUBIC and BBR"))), "{text}");
    }
    let [first, second] = texts.each_ref().map(|text| report(text, "faba, CUBIC and CUBIC"));
    assert_eq!(first, second);
}
