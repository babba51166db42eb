//! What the page of a report has inside. It is one file, so both become a part of it.

/// The style.
pub const STYLE: &str = include_str!("../dist/report/report.css");

/// The script: search, choices and order.
pub const SCRIPT: &str = include_str!("../dist/report/report.js");
