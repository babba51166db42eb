//! Schedulers as disciplines: each with the dropper that makes room when the buffer is full.

pub mod drr;
pub mod entry;
pub mod fbfq;
pub mod scfq;
pub mod sfq;
pub mod wf2q_plus;
