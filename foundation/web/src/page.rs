//! The pages and their files.

/// A page for a server.
#[derive(Debug)]
pub struct Page {
    /// Its files.
    pub(crate) files: &'static [File],
    /// The `Content-Security-Policy`: nothing from other sites, and nothing inline.
    pub(crate) policy: &'static str,
}

#[derive(Debug)]
pub(crate) struct File {
    pub(crate) path: &'static str,
    pub(crate) media_type: &'static str,
    /// The content.
    pub(crate) bytes: &'static [u8],
}

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const GZIP: &str = "application/gzip"; // unpacked by the page: not all servers state the encoding

macro_rules! file {
    ($path:literal, $media_type:ident, $file:literal) => {
        File { path: $path, media_type: $media_type, bytes: include_bytes!(concat!("../", $file)) }
    };
}

/// The playground: a simulation that can be changed while it runs.
pub static PLAY: Page = Page {
    files: &[
        file!("/", HTML, "dist/play/index.html"),
        file!("/play.js", SCRIPT, "dist/play/play.js"),
        file!("/play.css", STYLE, "dist/play/play.css"),
        file!("/worker.js", SCRIPT, "dist/play/worker.js"),
        file!("/player.wasm.gz", GZIP, "public/player.wasm.gz"),
    ],
    policy: "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; object-src 'none'; base-uri 'none'; \
             form-action 'none'; frame-ancestors 'none'; img-src 'self' blob: data:",
};

/// The page of a gateway's current and past state.
pub static GATEWAY: Page = Page {
    files: &[
        file!("/", HTML, "dist/gateway/index.html"),
        file!("/gateway.js", SCRIPT, "dist/gateway/gateway.js"),
        file!("/gateway.css", STYLE, "dist/gateway/gateway.css"),
    ],
    policy: "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; \
             frame-ancestors 'none'; img-src 'self' blob: data:",
};

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    fn text(file: &File) -> &str {
        str::from_utf8(file.bytes).expect("text")
    }

    #[test]
    fn a_page_has_every_file_that_was_built_for_it() {
        for (name, page) in [("play", &PLAY), ("gateway", &GATEWAY)] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/dist").join(name);
            let built = folder.read_dir().expect("it is checked in").map(|file| {
                let name = file.expect("a file").file_name().into_string().expect("text");
                format!("/{}", if name == "index.html" { "" } else { &name })
            });
            let served = page.files.iter().map(|file| file.path.to_owned());
            let served = served.filter(|path| path != "/player.wasm.gz");
            assert_eq!(built.collect::<BTreeSet<_>>(), served.collect(), "{name}");
        }
    }

    /// Issue 22: the limit excludes the WASM.
    #[test]
    fn a_page_is_at_most_200_kb_gzipped() {
        for page in [&PLAY, &GATEWAY] {
            let files = page.files.iter().filter(|file| file.media_type != GZIP);
            // Gzip's header and trailer have 18 bytes.
            let packed = |file: &File| miniz_oxide::deflate::compress_to_vec(file.bytes, 6).len() + 18;
            let sum: usize = files.map(packed).sum();
            assert!((1_000..=200_000).contains(&sum), "{}: {sum} B", page.files[1].path);
        }
    }

    #[test]
    fn no_page_has_script_or_style_inside() {
        for page in [&PLAY, &GATEWAY] {
            let text = text(&page.files[0]);
            for tag in text.split("<script").skip(1) {
                assert!(tag.split('>').next().is_some_and(|inside| inside.contains("src=")), "{text}");
            }
            assert!(!text.contains("<style") && !text.contains(" style=") && !text.contains(" on"), "{text}");
        }
    }

    #[test]
    fn no_file_loads_from_another_host() {
        let files = PLAY.files.iter().chain(GATEWAY.files);
        let files = files.filter(|file| [HTML, STYLE].contains(&file.media_type));
        for text in files.map(text).chain([crate::report::STYLE]) {
            assert!(!text.contains("https://") && !text.contains("http://"), "{text}");
        }
    }
}
