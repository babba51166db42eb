//! Development only: what the tests of several crates share.
//!
//! - [`Operation`]: what can be done to a discipline, random sequences of it, and one fixed
//!   [`contest`];
//! - [`Driver`]: does it to any discipline, and checks conservation after each operation;
//! - [`TraceHash`]: one number for all decisions that a discipline took;
//! - [`CountingAllocator`]: counts allocations, to show that there are none;
//! - [`program`] and [`messages`]: a program under test, and all messages that users can cause;
//! - [`lost_inside`]: the capabilities that a discipline loses inside another;
//! - [`skipped`]: says what this machine could not test.
//!
//! `unsafe` is confined to one file, [`allocator`], because an allocator cannot be written without.

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
