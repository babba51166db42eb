//! The code that tests of several crates share; for development only.
//!
//! - [`Operation`]: an operation on a discipline, with random sequences and one fixed [`contest`];
//! - [`Driver`]: applies operations to any discipline, and checks conservation after each
//!   operation;
//! - [`TraceHash`]: one number for all decisions of a discipline;
//! - [`CountingAllocator`]: counts allocations, to show that there are none;
//! - [`program`] and [`messages`]: a program under test, and all messages that users can cause;
//! - [`lost_inside`]: the capabilities that a discipline loses inside another;
//! - [`skipped`]: reports a test that this machine could not run.
//!
//! `unsafe` is confined to the file [`allocator`], because an allocator needs it.

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
