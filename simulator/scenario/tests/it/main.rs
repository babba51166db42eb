//! Integration tests of scenario files, in one binary to link the libraries once.

mod aggregates;
#[path = "../../../../foundation/catalogue/tests/it/bounds.rs"]
mod bounds;
mod cake_hosts;
mod calls_and_videos;
mod comparisons;
mod estimates;
mod extremes;
mod field_cases;
mod generated;
mod hostile;
mod labels;
mod limits;
mod links;
mod live;
mod marks;
mod measured;
mod on_times;
mod one_queue;
mod parameters;
mod phase;
mod refusals;
mod schema;
mod selfish_flow;
mod sources;
mod tcp;
mod ties;
mod topology;
