//! Who may read: by a token, and under which names of this machine.

use super::connections::Marks;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router};
use fairwire_web::{GATEWAY, Names};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The readers that may read.
#[derive(Clone, Debug, Default)]
pub struct Readers {
    /// The token that they must show.
    pub token: Option<String>,
    /// The names of this machine that they may use, beside its addresses and `localhost`. Where
    /// there is a token and no name is listed, any will do.
    pub hosts: Vec<String>,
}

impl Readers {
    /// `router` for those alone that show the token, where there is one.
    pub fn only<S: Clone + Send + Sync + 'static>(&self, router: Router<S>) -> Router<S> {
        let token: Option<Arc<str>> = self.token.as_deref().map(Arc::from);
        router.layer(middleware::from_fn_with_state(token, admit))
    }

    /// `router` under the names of this machine alone, with the headers of security that pages
    /// have.
    pub fn secured(&self, router: Router) -> Router {
        // No page of another site knows the token.
        let are_open = self.token.is_some() && self.hosts.is_empty();
        fairwire_web::secured(router, &GATEWAY, Names { listed: self.hosts.clone(), are_open })
    }
}

async fn admit(
    State(token): State<Option<Arc<str>>>,
    marks: Option<Extension<Arc<Marks>>>,
    request: Request,
    next: Next,
) -> Response {
    if !is_allowed(token.as_deref(), request.headers()) {
        let why = "the token is missing or wrong\n";
        let header = (WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        return (StatusCode::UNAUTHORIZED, [header], why).into_response();
    }
    if let Some(Extension(marks)) = marks {
        marks.may_read.store(true, Ordering::Relaxed);
    }
    next.run(request).await
}

fn is_allowed(token: Option<&str>, headers: &HeaderMap) -> bool {
    let Some(token) = token else { return true };
    let shown = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
    // The scheme's name is of any case (RFC 9110, section 11.1).
    let Some((scheme, shown)) = shown.split_at_checked("Bearer ".len()) else { return false };
    scheme.eq_ignore_ascii_case(b"Bearer ") && is_same(token.as_bytes(), shown)
}

/// Are they the same? The time that it takes depends on their lengths alone.
fn is_same(token: &[u8], shown: &[u8]) -> bool {
    let differences = token.iter().zip(shown).fold(0, |sum, (a, b)| sum | (a ^ b));
    std::hint::black_box(differences) == 0 && token.len() == shown.len()
}
