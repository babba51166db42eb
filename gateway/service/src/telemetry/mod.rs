//! The telemetry of a running gateway.
//!
//! On the datapath thread, the [`Observer`] copies counters to the [`Board`] at each telemetry
//! interval, and never waits. Readers of the board compute rates, fair shares and names.

pub mod about;
mod board;
mod changes;
mod counts;
mod digest;
mod events;
pub mod exposition;
mod observer;
pub mod process;
mod pulse;
mod sample;
mod tick;
mod verdict;

pub use about::{About, WayAbout};
pub(crate) use board::WayCounted;
pub use board::{AtLimits, Board};
pub use changes::ChangeKind;
pub use events::NamedEvent;
pub use observer::{Observer, PortState, Samplers};
pub use pulse::{Pick, Picked, Pulse, WayPulse};
