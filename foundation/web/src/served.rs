//! Pages over HTTP.

use crate::{Names, content};
use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

/// Pages that a server may show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// The playground: a simulation that one changes while it runs.
    Play,
    /// What a gateway does now and did before.
    Gateway,
}

impl Page {
    fn file(self) -> &'static str {
        match self {
            Page::Play => "play.html",
            Page::Gateway => "gateway.html",
        }
    }

    /// Nothing comes from elsewhere, and nothing inside a page is run. The playground compiles the
    /// simulator, which is WebAssembly.
    fn policy(self) -> HeaderValue {
        const GATEWAY: &str = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; \
             frame-ancestors 'none'; img-src 'self' blob: data:";
        const PLAY: &str = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; object-src 'none'; \
             base-uri 'none'; form-action 'none'; frame-ancestors 'none'; img-src 'self' blob: data:";
        HeaderValue::from_static(match self {
            Page::Play => PLAY,
            Page::Gateway => GATEWAY,
        })
    }
}

/// The page at `/`, and its files below `/assets/`.
pub fn routes<S: Clone + Send + Sync + 'static>(page: Page) -> Router<S> {
    Router::new().route("/", get(move || async move { file(page.file()) })).route(
        "/assets/{*path}",
        get(|Path(path): Path<String>| async move { file(&format!("assets/{path}")) }),
    )
}

/// Refuses what is not for this machine, or from a page of another site. Every answer has the
/// page's headers of security.
pub fn secured<S: Clone + Send + Sync + 'static>(router: Router<S>, page: Page, names: Names) -> Router<S> {
    router.layer(middleware::from_fn_with_state((page, names), secure))
}

async fn secure(State((page, names)): State<(Page, Names)>, request: Request, next: Next) -> Response {
    let mut answer = match names.check(request.version(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(why) => (why.status(), format!("{why}\n")).into_response(),
    };
    let headers: &mut HeaderMap = answer.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, page.policy());
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    for (name, value) in [
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
    ] {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache"));
    answer
}

fn file(path: &str) -> Response {
    match content(path) {
        Some(found) => ([(CONTENT_TYPE, found.media_type)], found.bytes).into_response(),
        None => (StatusCode::NOT_FOUND, "there is no such file\n").into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use tower::ServiceExt;

    async fn answer(page: Page, path: &str, host: &str) -> Response {
        let router: Router = secured(routes(page), page, Names::default());
        let request =
            Request::builder().uri(path).header("host", host).body(Body::empty()).expect("a request");
        router.oneshot(request).await.expect("an answer")
    }

    #[tokio::test]
    async fn a_page_and_its_files_are_served_with_headers_of_security() {
        for (page, path) in [(Page::Play, "/"), (Page::Gateway, "/"), (Page::Play, "/assets/kit.js")] {
            let answer = answer(page, path, "127.0.0.1:1").await;
            assert_eq!(answer.status(), StatusCode::OK, "{path}");
            let policy = answer.headers()[CONTENT_SECURITY_POLICY].to_str().expect("text");
            assert!(policy.starts_with("default-src 'self';"), "{policy}");
            assert_eq!(policy.contains("wasm-unsafe-eval"), page == Page::Play);
            assert!(!policy.contains("'unsafe-inline'") && !policy.contains("'unsafe-eval'"), "{policy}");
        }
    }

    #[tokio::test]
    async fn what_is_not_there_or_not_for_us_is_refused() {
        assert_eq!(
            answer(Page::Play, "/assets/../play.html", "localhost").await.status(),
            StatusCode::NOT_FOUND
        );
        assert_eq!(answer(Page::Play, "/gateway.html", "localhost").await.status(), StatusCode::NOT_FOUND);
        let foreign = answer(Page::Play, "/", "evil.example").await;
        assert_eq!(foreign.status(), StatusCode::MISDIRECTED_REQUEST);
        assert!(foreign.headers().contains_key(CONTENT_SECURITY_POLICY));
    }
}
