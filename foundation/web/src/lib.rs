//! The pages of fairwire, as files in memory, and how they are served.
//!
//! `web/` holds what they are written in, and `web/dist` what `make web` builds of it. That folder
//! is in the repository and becomes part of this crate, so building the product needs no Node.
//! `make web-test` says when it is stale.
//!
//! ```
//! let page = fairwire_web::content("play.html").expect("it is there");
//! assert_eq!(page.media_type, "text/html; charset=utf-8");
//! assert!(fairwire_web::content("../Cargo.toml").is_none());
//! ```
#![forbid(unsafe_code)]

mod host;
mod served;

pub use host::{HostError, Names};
pub use served::{Page, routes, secured};

use rust_embed::RustEmbed;
use std::borrow::Cow;

#[derive(RustEmbed)]
#[folder = "../../web/dist"]
struct Files;

/// A file of a page.
#[derive(Clone, Debug)]
pub struct Content {
    /// All of it.
    pub bytes: Cow<'static, [u8]>,
    /// What a browser is to take it for.
    pub media_type: &'static str,
}

/// The file at this path below `web/dist`, such as `play.html` or `assets/kit.js`.
pub fn content(path: &str) -> Option<Content> {
    let file = Files::get(path)?;
    Some(Content { bytes: file.data, media_type: media_type(path) })
}

/// The paths of all files.
pub fn paths() -> impl Iterator<Item = Cow<'static, str>> {
    Files::iter()
}

fn media_type(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("toml" | "txt") => "text/plain; charset=utf-8",
        Some("gz") => "application/gzip", // the page unpacks it: not all servers say what it is packed with
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 22: a page is at most 200 KB gzipped without the WASM.
    #[test]
    fn a_page_is_at_most_200_kb_gzipped() {
        for page in ["play", "gateway"] {
            let html = content(&format!("{page}.html")).expect("the page is there");
            let text = String::from_utf8(html.bytes.to_vec()).expect("text");
            let named = |path: &str| path.ends_with(".html") || text.contains(path) || path.ends_with(".js");
            let files = paths().filter(|path| named(path) && !path.contains(".wasm"));
            let packed = |path: Cow<'static, str>| {
                let bytes = content(&path).expect("listed").bytes;
                miniz_oxide::deflate::compress_to_vec(&bytes, 6).len() + 18 // gzip's head and tail
            };
            let sum: usize = files.map(packed).sum();
            assert!((1_000..=200_000).contains(&sum), "{page}: {sum} B");
        }
    }

    #[test]
    fn no_page_has_script_or_style_inside() {
        for page in ["play.html", "gateway.html"] {
            let text = String::from_utf8(content(page).expect("there").bytes.to_vec()).expect("text");
            for tag in text.split("<script").skip(1) {
                assert!(tag.split('>').next().is_some_and(|inside| inside.contains("src=")), "{page}");
            }
            assert!(!text.contains("<style") && !text.contains(" style=") && !text.contains(" on"), "{page}");
        }
    }

    #[test]
    fn no_file_names_another_host_to_load_from() {
        for path in paths().filter(|path| path.ends_with(".html") || path.ends_with(".css")) {
            let text = String::from_utf8(content(&path).expect("listed").bytes.to_vec()).expect("text");
            assert!(!text.contains("https://") && !text.contains("http://"), "{path}");
        }
    }
}
