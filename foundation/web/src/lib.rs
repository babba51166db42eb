//! The pages of fairwire as files in memory, and their server.
//!
//! `web/` contains their sources, and `web/dist`, which is in the repository, the output of `make
//! web`. A link to `web/dist` adds it to this crate's package, so building the product needs no
//! Node. `make web-test` reports if it is stale.
//!
//! Each page is a separate static. A program contains only the pages that it names; the linker
//! omits the others.
#![forbid(unsafe_code)]

mod host;
mod page;
pub mod report;
mod served;

pub use host::{HostError, Names};
pub use page::{GATEWAY, PLAY, Page};
pub use served::{routes, secured};
