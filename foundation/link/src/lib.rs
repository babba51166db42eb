#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod builder;
mod duplex;
mod error;
mod link;
mod message;
mod moment;
mod packet;
mod quantity;
mod queue;
mod report;
#[cfg(feature = "text")]
mod text;
#[cfg(feature = "tokio")]
pub mod tokio;

pub use builder::{DEFAULT_BUFFER_PACKETS, DEFAULT_MTU, LinkBuilder, MAX_MTU};
pub use duplex::Duplex;
pub use error::{BadLink, Mistake, NotSent};
pub use fairwire_core::{Backlog, Cause, Discipline, Ecn, GilbertElliott, Loss, Rate};
pub use link::{Arrival, Link};
pub use message::{Joiner, Piece, Pieces, cut};
pub use moment::Moment;
pub use packet::{LostPacket, PacketInfo};
pub use quantity::Quantity;
pub use report::{Delays, FlowReport, LinkReport};
