//! Exhibits that no scenario can express: a function computes the numbers for a seed.

mod afd_sets;
mod afd_trace;
mod afd_windows;
mod made;
mod rqm_fluid;

pub use made::{Made, MadeCurve, MadeNumber};

/// A computed exhibit.
#[derive(Debug)]
pub struct Entry {
    /// The exhibit's name in the key `compute` of a study.
    pub name: &'static str,
    /// Computes the results for one seed.
    pub make: fn(seed: u64) -> Made,
}

/// All computed exhibits, by name.
pub fn all() -> &'static [Entry] {
    &[
        Entry { name: "afd-fig1", make: afd_trace::make },
        Entry { name: "afd-table1", make: afd_sets::make },
        Entry { name: "afd-table2", make: afd_windows::make },
        Entry { name: "rqm-fluid", make: rqm_fluid::make },
    ]
}

/// The computed exhibit called `name`.
pub fn find(name: &str) -> Option<&'static Entry> {
    all().iter().find(|entry| entry.name == name)
}
