//! How a running gateway is asked and told things.

pub mod handed;
pub mod protocol;
