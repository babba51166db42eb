//! The pages of fairwire, as files in memory, and how they are served.
//!
//! `web/` holds what they are written in, and `web/dist` what `make web` builds of it. That folder
//! is in the repository, and a link to it here makes it part of this crate's package too, so building
//! the product needs no Node.
//! `make web-test` says when it is stale.
//!
//! Each page is a static of its own. A program carries the pages that it names, and no other: the
//! linker leaves them out.
#![forbid(unsafe_code)]

mod host;
mod page;
pub mod report;
mod served;

pub use host::{HostError, Names};
pub use page::{GATEWAY, PLAY, Page};
pub use served::{routes, secured};
