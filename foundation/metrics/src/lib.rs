//! Fairness measures, the max-min oracle, histograms, confidence intervals, and the records of
//! runs.
//!
//! All results are in a [`record::Report`].
#![forbid(unsafe_code)]

pub mod agreement;
pub mod class_shares;
pub mod fairness;
pub mod filling;
mod flow_name;
pub mod flow_rates;
pub mod histogram;
pub mod interval;
pub mod jain;
pub mod judge;
mod kind;
pub mod link_meter;
pub mod marks;
pub mod max_min;
pub mod mser;
pub mod presence;
pub mod record;
pub mod row;
pub mod series;
pub mod summary;
mod transfers;

pub use flow_name::FlowName;
pub use flow_rates::FlowRates;
pub use histogram::{Bin, DelayHistogram};
pub use kind::Kind;
pub use link_meter::LinkMeter;
pub use series::TimeWeighted;
pub use transfers::{Completed, Lasted, OfTransfers, Statistic, TransferMeter};
