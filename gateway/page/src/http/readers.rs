//! Access control for readers: by a token, and by the names of this machine.

use super::connections::Marks;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router};
use fairwire_service::service::log::say;
use fairwire_web::{GATEWAY, Names};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

/// The permitted readers.
#[derive(Clone, Debug, Default)]
pub struct Readers {
    /// The required token.
    pub token: Option<String>,
    /// The permitted names of this machine, besides its addresses and `localhost`. With a token and
    /// an empty list, any name is permitted.
    pub hosts: Vec<String>,
}

impl Readers {
    /// Limits `router` to readers that show the token, if there is one.
    pub fn only<S: Clone + Send + Sync + 'static>(&self, router: Router<S>) -> Router<S> {
        let gate = Gate { token: self.token.clone(), guesses: Mutex::default() };
        router.layer(middleware::from_fn_with_state(Arc::new(gate), admit))
    }

    /// Limits `router` to requests that use a name of this machine, and adds security headers.
    pub fn secured(&self, router: Router) -> Router {
        // With a token any name is safe, since pages of other sites do not know the token.
        let are_open = self.token.is_some() && self.hosts.is_empty();
        fairwire_web::secured(router, &GATEWAY, Names { listed: self.hosts.clone(), are_open })
    }
}

struct Gate {
    token: Option<String>,
    guesses: Mutex<Guesses>,
}

/// The number of wrong tokens, now and at the last log line.
#[derive(Default)]
struct Guesses {
    wrong: u64,
    said: u64,
    said_at: Option<Instant>,
}

/// The delay of the answer to a wrong token. Such answers are sent one at a time, so all readers
/// together get at most five a second. The connection limit bounds the number of waiting answers.
const SLOW: Duration = Duration::from_millis(200);
const SAY_EVERY: Duration = Duration::from_secs(60);

impl Gate {
    async fn note_guess(&self) {
        let mut guesses = self.guesses.lock().await;
        guesses.wrong += 1;
        if guesses.said_at.is_none_or(|at| at.elapsed() >= SAY_EVERY) {
            let count = guesses.wrong - guesses.said;
            say(format_args!(
                "readers of metrics or the page have shown a wrong token: {count} since the last such line"
            ));
            (guesses.said, guesses.said_at) = (guesses.wrong, Some(Instant::now()));
        }
        sleep(SLOW).await;
    }
}

async fn admit(
    State(gate): State<Arc<Gate>>,
    marks: Option<Extension<Arc<Marks>>>,
    request: Request,
    next: Next,
) -> Response {
    if !is_allowed(gate.token.as_deref(), request.headers()) {
        if request.headers().contains_key(AUTHORIZATION) {
            gate.note_guess().await;
        }
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
    // The scheme is case-insensitive (RFC 9110, section 11.1).
    let Some((scheme, shown)) = shown.split_at_checked("Bearer ".len()) else { return false };
    scheme.eq_ignore_ascii_case(b"Bearer ") && is_same(token.as_bytes(), shown)
}

/// Compares `token` with `shown` in a time that depends only on their lengths.
fn is_same(token: &[u8], shown: &[u8]) -> bool {
    let differences = token.iter().zip(shown).fold(0, |sum, (a, b)| sum | (a ^ b));
    std::hint::black_box(differences) == 0 && token.len() == shown.len()
}
