//! The pages of fairwire as files in memory, and their server.
//!
//! `web/` has the sources of the pages, and `web/dist` the output of `make web`. A symbolic link
//! adds `web/dist` to this crate's package, so building the product needs no Node.
//!
//! Each page is a separate static, so the linker omits the pages that a program does not name.
#![forbid(unsafe_code)]

mod host;
mod page;
pub mod report;
mod served;

pub use host::{HostError, Names};
pub use page::{GATEWAY, PLAY, Page};
pub use served::{routes, secured};
