//! OpenMetrics over HTTP, on a thread of its own.
//!
//! Whoever asks can only slow this thread down: so many connections at once, so many bytes of headers, and so much time. The datapath
//! shares nothing with it but the board, for which it never waits.

use super::board::Board;
use super::openmetrics;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, AUTHORIZATION, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Connections at once; the next ones wait in the kernel.
const MOST_CONNECTIONS: usize = 16;
/// Bytes of a request's head; hyper takes no less.
const MOST_BYTES: usize = 8 << 10;
/// How long the head of a request may take.
const HEAD: Duration = Duration::from_secs(2);
/// How long a connection may last, however many requests it carries: who reads slowly makes room for others.
const WHOLE: Duration = Duration::from_secs(20);
/// How often the thread looks whether to stop.
const PATIENCE: Duration = Duration::from_millis(100);

/// Why metrics are not served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// An address beyond loopback, without a token.
    #[error(
        "metrics on {address} could be read by others than this machine: give `telemetry.token_file`, or an address of loopback such as 127.0.0.1:{port}",
        port = address.port()
    )]
    Open {
        /// The address.
        address: SocketAddr,
    },
    /// The address cannot be bound.
    #[error("metrics on {address}: {source}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The token has nothing in it.
    #[error("the token for metrics is empty: write one into the file, such as 32 random letters")]
    EmptyToken,
    /// The thread cannot be started.
    #[error("serving metrics: {0}")]
    Thread(#[from] io::Error),
}

/// Binds `address`, which must be of loopback unless there is a `token`.
pub fn listen(address: SocketAddr, token: Option<&str>) -> Result<TcpListener, ServeError> {
    check(address, token)?;
    TcpListener::bind(address).map_err(|source| ServeError::Bind { address, source })
}

fn check(address: SocketAddr, token: Option<&str>) -> Result<(), ServeError> {
    match token {
        Some("") => Err(ServeError::EmptyToken),
        None if !address.ip().is_loopback() => Err(ServeError::Open { address }),
        _ => Ok(()),
    }
}

/// Answers `GET /metrics` on `listener` from a thread of its own, until `stop`. With a token, only who shows it gets an answer.
///
/// Call it before rights are dropped: it starts a thread, and opens a descriptor to wait on.
pub fn serve_metrics(
    listener: TcpListener,
    token: Option<String>,
    board: Arc<Board>,
    stop: Arc<AtomicBool>,
) -> Result<JoinHandle<()>, ServeError> {
    check(listener.local_addr()?, token.as_deref())?;
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    let listener = {
        let _inside = runtime.enter();
        tokio::net::TcpListener::from_std(listener)?
    };
    let answers = Arc::new(Answers { token, board });
    let run = move || runtime.block_on(accept(listener, answers, &stop));
    Ok(std::thread::Builder::new().name("metrics".into()).spawn(run)?)
}

async fn accept(listener: tokio::net::TcpListener, answers: Arc<Answers>, stop: &AtomicBool) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    while !stop.load(Ordering::Relaxed) {
        let Ok(Ok(place)) = timeout(PATIENCE, places.clone().acquire_owned()).await else { continue };
        let stream = match timeout(PATIENCE, listener.accept()).await {
            Ok(Ok((stream, _))) => stream,
            // Out of descriptors, or the client is gone already: others may do better a little later.
            Ok(Err(_)) => {
                tokio::time::sleep(PATIENCE).await;
                continue;
            }
            Err(_) => continue,
        };
        let answers = answers.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let answer = answers.answer(&request);
                async move { Ok::<_, Infallible>(answer) }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD)
                .max_buf_size(MOST_BYTES)
                .serve_connection(TokioIo::new(stream), service);
            // What goes wrong with one client is that client's business.
            let _ = timeout(WHOLE, connection).await;
            drop(place);
        });
    }
}

struct Answers {
    token: Option<String>,
    board: Arc<Board>,
}

type Answer = Response<Full<Bytes>>;

impl Answers {
    fn answer(&self, request: &Request<Incoming>) -> Answer {
        if !self.is_allowed(request.headers().get(AUTHORIZATION)) {
            let mut answer = plain(StatusCode::UNAUTHORIZED, "the token is missing or wrong\n");
            answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return answer;
        }
        if request.uri().path() != "/metrics" {
            return plain(StatusCode::NOT_FOUND, "there is /metrics\n");
        }
        if request.method() != Method::GET && request.method() != Method::HEAD {
            let mut answer = plain(StatusCode::METHOD_NOT_ALLOWED, "GET it\n");
            answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return answer;
        }
        let text = openmetrics::text(&self.board.latest_with_classes(), &self.board.about());
        typed(StatusCode::OK, openmetrics::CONTENT_TYPE, text.into())
    }

    fn is_allowed(&self, shown: Option<&HeaderValue>) -> bool {
        let Some(token) = &self.token else { return true };
        let shown = shown.map(HeaderValue::as_bytes).unwrap_or_default();
        // The scheme's name is of any case (RFC 9110, section 11.1).
        let Some((scheme, shown)) = shown.split_at_checked("Bearer ".len()) else { return false };
        scheme.eq_ignore_ascii_case(b"Bearer ") && is_same(token.as_bytes(), shown)
    }
}

/// Are they the same? Takes a time that tells nothing but their lengths.
fn is_same(token: &[u8], shown: &[u8]) -> bool {
    let differences = token.iter().zip(shown).fold(0, |sum, (a, b)| sum | (a ^ b));
    std::hint::black_box(differences) == 0 && token.len() == shown.len()
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    typed(status, "text/plain; charset=utf-8", text.into())
}

fn typed(status: StatusCode, kind: &'static str, body: Bytes) -> Answer {
    let mut answer = Response::new(Full::new(body));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}
