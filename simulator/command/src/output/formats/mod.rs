//! The formats, one file each; the outputs list the formats that they support.

pub(super) mod csv;
pub(super) mod flent;
pub(super) mod ndjson;
pub(super) mod parquet;
pub(super) mod pcapng;
