//! Fairness measures, the max-min oracle, histograms, confidence intervals, and the records that every run leaves.
#![forbid(unsafe_code)]

pub mod record;
