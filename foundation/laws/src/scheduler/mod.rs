//! Schedulers choose the waiting packet that leaves next.

pub mod drr;
pub mod drr_plus_plus;
pub mod fbfq;
mod finished;
mod fluid;
mod heap;
pub mod hosts;
pub mod kind;
pub mod quantum;
pub mod scfq;
pub mod service;
pub mod sfq;
mod standing;
mod tag;
pub mod terms;
#[cfg(feature = "serde")]
mod typed;
pub mod wf2q_plus;

pub(crate) use drr::Drr;
pub use fairwire_core::scheduler::Fcfs;
pub(crate) use fbfq::Fbfq;
pub use hosts::Hosts;
pub use kind::Kind;
pub(crate) use scfq::Scfq;
pub use service::Service;
pub(crate) use sfq::Sfq;
pub use terms::Terms;
pub(crate) use wf2q_plus::Wf2qPlus;
