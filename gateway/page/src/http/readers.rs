//! Who may read: by a token, and under which names of this machine.

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
        let gate = Gate { token: self.token.clone(), guesses: Mutex::default() };
        router.layer(middleware::from_fn_with_state(Arc::new(gate), admit))
    }

    /// `router` under the names of this machine alone, with the headers of security that pages
    /// have.
    pub fn secured(&self, router: Router) -> Router {
        // No page of another site knows the token.
        let are_open = self.token.is_some() && self.hosts.is_empty();
        fairwire_web::secured(router, &GATEWAY, Names { listed: self.hosts.clone(), are_open })
    }
}

/// What a reader has to pass.
struct Gate {
    token: Option<String>,
    guesses: Mutex<Guesses>,
}

/// The wrong tokens that were shown, and how many there were when the log had them.
#[derive(Default)]
struct Guesses {
    wrong: u64,
    said: u64,
    said_at: Option<Instant>,
}

/// A wrong token is answered after this, and one after the other: five in a second, of all readers.
/// Those who wait are bounded by their connections.
const SLOW: Duration = Duration::from_millis(200);
/// How often the log has them.
const SAY_EVERY: Duration = Duration::from_secs(60);

impl Gate {
    /// A token was shown that is wrong.
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
    // The scheme's name is of any case (RFC 9110, section 11.1).
    let Some((scheme, shown)) = shown.split_at_checked("Bearer ".len()) else { return false };
    scheme.eq_ignore_ascii_case(b"Bearer ") && is_same(token.as_bytes(), shown)
}

/// Are they the same? The time that it takes depends on their lengths alone.
fn is_same(token: &[u8], shown: &[u8]) -> bool {
    let differences = token.iter().zip(shown).fold(0, |sum, (a, b)| sum | (a ^ b));
    std::hint::black_box(differences) == 0 && token.len() == shown.len()
}
