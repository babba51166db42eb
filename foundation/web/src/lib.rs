//! The pages of fairwire as files in memory, and their server.
//!
//! In the repository, `web/` contains the sources of the pages, and `web/dist` the output of `make
//! web`. A symbolic link adds `web/dist` to this crate's package, so building the product needs no
//! Node. `make web-test` reports if `web/dist` is stale.
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
