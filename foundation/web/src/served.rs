//! Serves pages over HTTP.

use crate::page::File;
use crate::{Names, Page};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

/// Serves the page at `/`, and the page's other files at their paths.
pub fn routes<S: Clone + Send + Sync + 'static>(page: &'static Page) -> Router<S> {
    let add = |router: Router<S>, file: &'static File| {
        router.route(file.path, get(([(CONTENT_TYPE, file.media_type)], file.bytes)))
    };
    page.files.iter().fold(Router::new(), add)
}

/// Refuses requests that are for another machine, or from another site's page. Every answer has the
/// page's security headers.
pub fn secured<S: Clone + Send + Sync + 'static>(
    router: Router<S>,
    page: &'static Page,
    names: Names,
) -> Router<S> {
    router.layer(middleware::from_fn_with_state((page.policy, names), secure))
}

async fn secure(
    State((policy, names)): State<(&'static str, Names)>,
    request: Request,
    next: Next,
) -> Response {
    let mut answer = match names.check(request.version(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(why) => (why.status(), format!("{why}\n")).into_response(),
    };
    let headers: &mut HeaderMap = answer.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GATEWAY, PLAY};
    use axum::body::{Body, to_bytes};
    use axum::http::StatusCode;
    use tower::ServiceExt;

    async fn answer(page: &'static Page, path: &str, host: &str) -> Response {
        let router: Router = secured(routes(page), page, Names::default());
        let request =
            Request::builder().uri(path).header("host", host).body(Body::empty()).expect("a request");
        router.oneshot(request).await.expect("an answer")
    }

    #[tokio::test]
    async fn a_page_and_its_files_are_served_with_security_headers() {
        for (page, compiles) in [(&PLAY, true), (&GATEWAY, false)] {
            for file in page.files {
                let answer = answer(page, file.path, "127.0.0.1:1").await;
                assert_eq!(answer.status(), StatusCode::OK, "{}", file.path);
                assert_eq!(answer.headers()[CONTENT_TYPE], file.media_type, "{}", file.path);
                let policy = answer.headers()[CONTENT_SECURITY_POLICY].to_str().expect("text").to_owned();
                assert!(policy.starts_with("default-src 'self';"), "{policy}");
                assert_eq!(policy.contains("wasm-unsafe-eval"), compiles);
                assert!(!policy.contains("'unsafe-inline'") && !policy.contains("'unsafe-eval'"), "{policy}");
                let body = to_bytes(answer.into_body(), usize::MAX).await.expect("a body");
                assert!(body == file.bytes, "{}", file.path);
            }
        }
    }

    #[tokio::test]
    async fn missing_files_and_foreign_requests_are_refused() {
        for path in ["/index.html", "/gateway.js", "/../play.js", "/dist/play/play.js"] {
            assert_eq!(answer(&PLAY, path, "localhost").await.status(), StatusCode::NOT_FOUND, "{path}");
        }
        assert_eq!(answer(&GATEWAY, "/player.wasm.gz", "localhost").await.status(), StatusCode::NOT_FOUND);
        let foreign = answer(&PLAY, "/", "evil.example").await;
        assert_eq!(foreign.status(), StatusCode::MISDIRECTED_REQUEST);
        assert!(foreign.headers().contains_key(CONTENT_SECURITY_POLICY));
    }
}
