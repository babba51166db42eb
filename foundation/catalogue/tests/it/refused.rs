//! Refused parameters of disciplines that contain others.

use super::refusal;

#[test]
fn nonsensical_bands_are_refused() {
    for (typed, message) in [
        ("band = []", "`band` of `prio` is 0 bands; allowed: from 1 to 64 bands"),
        ("default_band = 2", "`default_band` of `prio` is 2; allowed: a whole number from 1 to 1"),
        (
            "by = 'dscp'\nband = [{ of = [64] }]",
            "`band.0.of` of `prio` is codepoint 64; allowed: numbers from 0 to 63",
        ),
        (
            "by = 'color'\nband = [{ of = [3] }]",
            "`band.0.of` of `prio` is colour 3; allowed: numbers from 0 to 2",
        ),
        (
            "band = [{ of = [7] }, { of = [7] }]",
            "`band.1.of` of `prio` is class 7 again; allowed: each class once",
        ),
    ] {
        assert_eq!(refusal("prio", &format!("[prio]\n{typed}")), message);
    }
}

#[test]
fn nonsensical_classes_are_refused() {
    for (typed, message) in [
        ("class = []", "is 0 classes; allowed: from 1 to 65536 classes"),
        ("class = [{ id = 1 }, { id = 1 }]", "is class 1 twice; allowed: each class once"),
        (
            "class = [{ id = 1, rate = '3 Mbit/s', ceiling = '2 Mbit/s' }]",
            "is a ceiling of 2 Mbit/s for class 1; allowed: no less than the rate of the class, 3 Mbit/s",
        ),
        (
            "class = [{ id = 1, rate = '3 Mbit/s' }, { id = 2, parent = 1, rate = '4 Mbit/s' }]",
            "is a rate of 3 Mbit/s for class 1; allowed: no less than the 4 Mbit/s promised to the classes below it",
        ),
        (
            "class = [{ id = 1, ceiling = '3 Mbit/s' }, { id = 2, parent = 1, rate = '4 Mbit/s' }]",
            "is a ceiling of 3 Mbit/s for class 1; allowed: no less than the 4 Mbit/s promised to the classes below it",
        ),
        (
            "class = [{ id = 1, rate = '6 Mbit/s' }, { id = 2, rate = '5 Mbit/s' }]",
            "is 11 Mbit/s promised to the classes under the root; allowed: at most the 10 Mbit/s that these classes share",
        ),
        (
            "rate = '1 Gbit/s'\nclass = [{ id = 1, rate = '6 Mbit/s' }, { id = 2, rate = '5 Mbit/s' }]",
            "is 11 Mbit/s promised to the classes under the root; allowed: at most the 10 Mbit/s that these classes share",
        ),
        (
            "class = [{ id = 1, discipline = 'red' }, { id = 2, parent = 1 }]",
            "is a discipline or a buffer in class 1, which has classes below it; allowed: `discipline` and `buffer` only in classes without classes below them",
        ),
    ] {
        assert_eq!(
            refusal("classful", &format!("[classful]\n{typed}")),
            format!("`class` of `classful` {message}")
        );
    }
    let message =
        refusal("classful", "[classful]\nclass = [{ id = 1 }, { id = 2, parent = 1 }]\ndefault = 1");
    assert_eq!(
        message,
        "`default` of `classful` is 1; allowed: the number of a class that has none below it"
    );
}

#[test]
fn a_peak_needs_a_ceiling_below_it_and_room_above() {
    for (class, allowed) in [
        ("{ id = 1, peak = '2 Mbit/s' }", "a peak with a ceiling"),
        ("{ id = 1, ceiling = '2 Mbit/s', peak = '2 Mbit/s' }", "more than its ceiling"),
        (
            "{ id = 2, ceiling = '3 Mbit/s' }, { id = 1, parent = 2, ceiling = '1 Mbit/s', peak = '4 Mbit/s' }",
            "let pass, 3 Mbit/s",
        ),
    ] {
        let refused = refusal("classful", &format!("[classful]\nclass = [{class}]"));
        assert!(refused.contains(allowed), "{refused}");
    }
}
