//! The conditions under which an exhibit's numbers were measured.

use fairwire_study::record::{Depth, Exhibit};

pub(super) fn conditions(exhibit: &Exhibit) -> String {
    let numbers = numbers_came(exhibit);
    match exhibit.panels.iter().find_map(|panel| panel.seed) {
        Some(seed) if exhibit.numbers.is_empty() => {
            let others = exhibit.seeds.len() > 1;
            format!("curves of seed {seed}{}; {}", if others { " alone" } else { "" }, depth(exhibit))
        }
        Some(seed) if exhibit.seeds.len() > 1 => format!("{numbers}; curves of seed {seed} alone"),
        _ => numbers,
    }
}

fn depth(exhibit: &Exhibit) -> &'static str {
    match exhibit.depth {
        Depth::Quick => "a quick first look",
        Depth::Full => "in full",
    }
}

fn numbers_came(exhibit: &Exhibit) -> String {
    let depth = depth(exhibit);
    match exhibit.seeds.as_slice() {
        [] => format!("computed without seeds; {depth}"),
        [seed] => format!("seed {seed}; {depth}"),
        seeds => format!("means of {} seeds ({}) with 95 % intervals; {depth}", seeds.len(), listed(seeds)),
    }
}

fn listed(seeds: &[u64]) -> String {
    let runs = seeds.chunk_by(|first, second| first.checked_add(1) == Some(*second));
    let text: Vec<String> = runs
        .flat_map(|run| match run {
            [first, .., last] if run.len() > 2 => vec![format!("{first}..={last}")],
            _ => run.iter().map(u64::to_string).collect(),
        })
        .collect();
    text.join(",")
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    #[test]
    fn seeds_are_printed_as_they_are_typed() {
        assert_eq!(listed(&[1, 2, 3, 4]), "1..=4");
        assert_eq!(listed(&[1, 2]), "1,2");
        assert_eq!(listed(&[7, 1, 2, 3, 9, u64::MAX]), format!("7,1..=3,9,{}", u64::MAX));
        assert_eq!(listed(&[]), "");
    }

    #[test]
    fn an_exhibit_with_only_curves_has_no_means() {
        let mut exhibit = samples::all_kinds().exhibits.into_iter().find(|e| e.seeds.len() > 1).unwrap();
        exhibit.panels[0].seed = Some(7);
        assert!(conditions(&exhibit).starts_with("means of "), "{}", conditions(&exhibit));
        exhibit.numbers.clear();
        assert_eq!(conditions(&exhibit), "curves of seed 7 alone; a quick first look");
    }
}
