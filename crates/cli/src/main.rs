//! The `fairwire` command.
fn main() {}
