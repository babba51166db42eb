//! The pages of fairwire as files in memory, and their server.
//!
//! `make web` builds `web/dist` from the sources in `web/`. A symbolic link adds `web/dist` to this
//! crate's package, so building the product needs no Node.
//!
//! The linker omits pages that a program does not name, because each is a separate static.
#![forbid(unsafe_code)]

mod host;
mod page;
pub mod report;
mod served;

pub use host::{HostError, Names};
pub use page::{GATEWAY, PLAY, Page};
pub use served::{routes, secured};
