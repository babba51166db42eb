//! The list of stages.

use crate::lab::Lab;
use crate::sim::Sim;
use crate::stage::{CannotRun, Stage};
use fairwire_core::spelling;
use std::sync::OnceLock;

/// The stages that only the program `fairwire-proof` has. Every program accepts a scenario that
/// names these stages.
pub const ELSEWHERE: &[&str] = &["gateway", "linux", "kernel", "ns2"];

static OFFERED: OnceLock<&'static [&'static dyn Stage]> = OnceLock::new();

/// Adds `stages` to the list. Must be called once, when a program starts; a second call has no
/// effect.
pub fn offer(stages: &'static [&'static dyn Stage]) {
    let _ = OFFERED.set(stages);
}

/// Every stage, in display order.
pub fn all() -> impl Iterator<Item = &'static dyn Stage> {
    const LAB: &Lab = &Lab { congestion_control: None };
    const OWN: [&dyn Stage; 2] = [&Sim, LAB];
    OWN.into_iter().chain(OFFERED.get().into_iter().flat_map(|offered| offered.iter().copied()))
}

/// The stage called `name`.
///
/// # Errors
/// If there is no such stage. The error has the allowed names and the nearest spelling.
pub fn find(name: &str) -> Result<&'static dyn Stage, CannotRun> {
    all().find(|stage| stage.name() == name).ok_or_else(|| {
        let names: Vec<&str> = all().map(|stage| stage.name()).collect();
        let listed = names.join("`, `");
        if ELSEWHERE.contains(&name) {
            let how = "the program `fairwire-proof` has the others: cargo build --release -p fairwire-proof";
            return CannotRun::new(
                format!("`{name}` is no stage of this program"),
                format!("`{listed}`; {how}"),
            );
        }
        let hint = spelling::hint(name, names.iter().copied());
        CannotRun::new(format!("unknown stage `{name}`"), format!("`{listed}`{hint}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_stage_is_refused_with_the_nearest_name() {
        let error = find("labb").map(Stage::name).unwrap_err().to_string();
        assert_eq!(error, "unknown stage `labb`; allowed: `sim`, `lab`; did you mean `lab`?");
        let error = find("ns2").map(Stage::name).unwrap_err().to_string();
        assert!(error.contains("no stage of this program") && error.contains("fairwire-proof"), "{error}");
        assert_eq!(find("sim").map(Stage::name), Ok("sim"));
    }
}
