//! Parameters in a text are read alike with and without serde.

use super::bounds::bounds;
use fairwire_catalogue::{self as catalogue, Parameters};
use fairwire_laws::named;

const VALUES: &[&str] = &[
    "true",
    "7",
    "-3",
    "0x1f",
    "0.25",
    "1e9",
    "nan",
    "4294967296",
    "'10 ms'",
    "'3 packets'",
    "'0.5 packets'",
    "'300 B'",
    "'5 Mbit/s'",
    "'10 apples'",
    "'wf2q-plus'",
    "'sfq-start'",
    "[]",
    "{}",
    "{ 1 = 2.0, 3 = 1 }",
    "{ x = 1 }",
    "{ drr = { quantum = '300 B', per = 'class', weights = { 2 = 3 } } }",
    "{ drr = { quantum = 300 } }",
    "{ drr = {}, sfq = {} }",
    "[{ id = 1 }, { id = 2, parent = 1, weight = 2 }]",
    "[{ weight = 1.0 }]",
    "{ min_threshold = '5 packets', max_threshold = '15 packets' }",
];

#[test]
fn every_parameter_is_read_alike_with_and_without_serde() {
    let (mut taken, mut refused) = (0, 0);
    for law in named::ALL {
        let entry = catalogue::find(law.name).unwrap();
        let page = entry.page().unwrap();
        for (field, parameter) in entry.fields().iter().zip(&page.parameters) {
            let words = parameter.choices.iter().map(|(word, _)| format!("{word:?}"));
            let (within, beyond) = if field.range.is_empty() { Default::default() } else { bounds(field) };
            for value in
                VALUES.iter().map(|value| String::from(*value)).chain(words).chain(within).chain(beyond)
            {
                let text = format!("{} = {value}", field.name);
                let by_serde = toml::from_str::<Parameters>(&format!("[{:?}]\n{text}", law.name));
                let by_serde = by_serde.map(|all| format!("{:?}", all.find(law.name).unwrap()));
                let without = named::read(law.name, &text).map(|law| format!("{law:?}"));
                match (by_serde, without) {
                    (Ok(by_serde), Ok(without)) => assert_eq!(without, by_serde, "{}: {text}", law.name),
                    (Err(_), Err(_)) => refused += 1,
                    (by_serde, without) => panic!("{}: {text}: {by_serde:?}, {without:?}", law.name),
                }
                taken += 1;
            }
        }
    }
    assert!(taken - refused > 500 && refused > 5000, "{taken} values, of which {refused} are refused");
}

#[test]
fn every_name_except_compositions_is_known_without_serde() {
    let names = catalogue::all().iter().chain(catalogue::combined());
    let mut missing: Vec<&str> = Vec::new();
    for entry in names {
        for name in entry.aliases.iter().chain([&entry.name]) {
            let law = named::read(name, "");
            if law.is_err() {
                missing.push(name);
            }
        }
    }
    assert_eq!(missing, ["queue", "conditioner", "shaper", "prio", "classful"]);
    let message = |name, text| named::read(name, text).unwrap_err().to_string();
    assert!(message("fabba", "").contains("did you mean `faba`? allowed: `tail-drop`"));
    assert!(message("drr+red", "scheduler = 'scfq'").contains("allowed: `drr`, or none"));
    assert_eq!(message("red", "\n\ngentle = 1"), "line 3: `gentle`: 1 is given; allowed: true or false");
    assert!(message("hfaba", "class = [{}]").contains("`id` is missing"));
    for (name, own) in [("drr+fq-codel", "`drr+fq-codel`"), ("+red", "`+red`"), ("", "``")] {
        assert!(message(name, "").starts_with(&format!("there is no law {own}; ")), "{name}");
    }
}
