//! The code that tests of several crates share; for development only.
//!
//! `unsafe` is confined to [`allocator`], because an allocator needs it.

pub mod allocator;
pub mod driver;
pub mod messages;
pub mod operation;
pub mod program;
pub mod skip;
pub mod trace;
pub mod wrapper;

pub use allocator::CountingAllocator;
pub use driver::{Driver, Outcome};
pub use operation::{Operation, Shape, contest, operations};
pub use skip::{skipped, skipped_for_want_of_a_peer};
pub use trace::TraceHash;
pub use wrapper::lost_inside;
