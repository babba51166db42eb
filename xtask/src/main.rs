//! Checks of the house rules.
fn main() {}
