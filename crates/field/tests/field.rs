//! Real networks.
fn main() {}
