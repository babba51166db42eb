//! The style and script of a report's page, which is a single file.

/// The style.
pub const STYLE: &str = include_str!("../dist/report/report.css");

/// The script: search, filters and sorting.
pub const SCRIPT: &str = include_str!("../dist/report/report.js");
