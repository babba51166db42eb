//! The formats, each in a file of its own. Which of them an output has, its own file says.

pub(super) mod csv;
pub(super) mod flent;
pub(super) mod ndjson;
pub(super) mod parquet;
pub(super) mod pcapng;
