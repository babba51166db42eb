//! Schedulers as disciplines, each with a dropper that makes room.

pub mod drr;
pub mod entry;
pub mod fbfq;
pub mod scfq;
pub mod sfq;
pub mod wf2q_plus;
