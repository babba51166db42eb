//! Metrics over HTTP, on a thread of its own.
//!
//! A connection carries one request, whose head and answer have a short time. The number of
//! connections is bounded. One beyond it takes the place of one that has not shown yet that it may
//! read: the oldest of the address that has most of them. So a client that keeps connections open
//! takes room from itself and keeps no other waiting. The datapath shares nothing with this thread
//! but the board, for which it never waits.

use super::board::Board;
use super::exposition::{self, Format};
use fairwire_core::{Duration as Span, Time};
use fairwire_linux::clock;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, ALLOW, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue, VARY, WWW_AUTHENTICATE};
use hyper::http::uri::Authority;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Version};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::task::AbortHandle;
use tokio::time::timeout;

/// Connections at once.
const MAX_CONNECTIONS: usize = 64;
/// Bytes of a request's head; hyper takes no less.
const MAX_HEAD_BYTES: usize = 8 << 10;
/// The most time that the head of a request may take.
const HEAD: Duration = Duration::from_secs(2);
/// The most time that a connection may last: a slow reader makes room for others.
const WHOLE: Duration = Duration::from_secs(10);
/// The age up to which a page is served again: it is made at most ten times a second.
const FRESH: Span = Span::from_ms(100);
/// The interval at which the thread checks whether to stop.
const PATIENCE: Duration = Duration::from_millis(100);

/// The readers that may read metrics.
#[derive(Clone, Debug, Default)]
pub struct Readers {
    /// The token that they must show.
    pub token: Option<String>,
    /// The names of this machine that they may use, beside its addresses and `localhost`. Where
    /// there is a token and no name is listed, any will do.
    pub hosts: Vec<String>,
}

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

/// Answers `GET /metrics` on `listener` from a thread of its own, until `stop`, to the allowed
/// `readers`.
///
/// Call it before rights are dropped: it starts a thread, and opens a descriptor to wait on.
pub fn serve_metrics(
    listener: TcpListener,
    readers: Readers,
    board: Arc<Board>,
    stop: Arc<AtomicBool>,
) -> Result<JoinHandle<()>, ServeError> {
    check(listener.local_addr()?, readers.token.as_deref())?;
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    let listener = {
        let _inside = runtime.enter();
        tokio::net::TcpListener::from_std(listener)?
    };
    let answers = Arc::new(Answers { readers, board, pages: Mutex::default() });
    let run = move || runtime.block_on(accept(listener, answers, &stop));
    Ok(std::thread::Builder::new().name("metrics".into()).spawn(run)?)
}

async fn accept(listener: tokio::net::TcpListener, answers: Arc<Answers>, stop: &AtomicBool) {
    let mut connections = Connections::default();
    while !stop.load(Ordering::Relaxed) {
        let (stream, peer) = match timeout(PATIENCE, listener.accept()).await {
            Ok(Ok(accepted)) => accepted,
            // Out of descriptors, or the client is gone already: others may do better a little
            // later.
            Ok(Err(_)) => {
                tokio::time::sleep(PATIENCE).await;
                continue;
            }
            Err(_) => continue,
        };
        connections.make_room();
        let may_read = Arc::new(AtomicBool::new(false));
        let task = tokio::spawn(converse(stream, answers.clone(), may_read.clone()));
        connections.0.push(Connection { network: network(peer.ip()), may_read, task: task.abort_handle() });
    }
}

/// One request and its answer.
async fn converse(stream: tokio::net::TcpStream, answers: Arc<Answers>, may_read: Arc<AtomicBool>) {
    let service = service_fn(move |request| {
        let answer = answers.answer(&request, &may_read);
        async move { Ok::<_, Infallible>(answer) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(MAX_HEAD_BYTES)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service);
    // What goes wrong with one client is that client's business.
    let _ = timeout(WHOLE, connection).await;
}

/// The connections there are, the oldest first.
#[derive(Default)]
struct Connections(Vec<Connection>);

struct Connection {
    network: IpAddr,
    /// Has it shown that it may read?
    may_read: Arc<AtomicBool>,
    task: AbortHandle,
}

impl Connections {
    /// Ends a connection, where there are as many as there may be.
    fn make_room(&mut self) {
        self.0.retain(|connection| !connection.task.is_finished());
        if self.0.len() < MAX_CONNECTIONS {
            return;
        }
        let may_read = |connection: &Connection| connection.may_read.load(Ordering::Relaxed);
        let victim = self
            .oldest_of_most(&|connection| !may_read(connection))
            .or_else(|| self.oldest_of_most(&may_read));
        if let Some(victim) = victim {
            self.0.remove(victim).task.abort();
        }
    }

    /// Among those `wanted`, the oldest of the network that has most.
    fn oldest_of_most(&self, wanted: &dyn Fn(&Connection) -> bool) -> Option<usize> {
        let of = |network: IpAddr| {
            self.0.iter().filter(|connection| wanted(connection) && connection.network == network).count()
        };
        let connections = self.0.iter().enumerate().filter(|(_, connection)| wanted(connection));
        // Of several with as many `min_by_key` takes the first: the oldest.
        connections.min_by_key(|(_, connection)| usize::MAX - of(connection.network)).map(|(at, _)| at)
    }
}

/// The network of an address: a host with one IPv6 address has the 2^64 beside it.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & u128::MAX << 64).into(),
        ipv4 => ipv4,
    }
}

struct Answers {
    readers: Readers,
    board: Arc<Board>,
    /// The last page of each format, and when it was made.
    pages: Mutex<[Option<(Time, Bytes)>; 2]>,
}

type Answer = Response<Full<Bytes>>;

impl Answers {
    fn answer(&self, request: &Request<Incoming>, may_read: &AtomicBool) -> Answer {
        if let Err((status, why)) = self.readers.check_host(request) {
            return plain(status, why);
        }
        if !self.readers.is_allowed(request.headers().get(AUTHORIZATION)) {
            let mut answer = plain(StatusCode::UNAUTHORIZED, "the token is missing or wrong\n");
            answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return answer;
        }
        may_read.store(true, Ordering::Relaxed);
        if request.uri().path() != "/metrics" {
            return plain(StatusCode::NOT_FOUND, "not found: there is only /metrics\n");
        }
        if request.method() != Method::GET && request.method() != Method::HEAD {
            let mut answer = plain(StatusCode::METHOD_NOT_ALLOWED, "GET it\n");
            answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return answer;
        }
        let accepted = request.headers().get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let format = Format::accepted(accepted);
        let mut answer = typed(StatusCode::OK, format.content_type(), self.page(format, clock::now()));
        answer.headers_mut().insert(VARY, HeaderValue::from_static("Accept"));
        answer
    }

    /// The page at `now`, or of a moment ago.
    fn page(&self, format: Format, now: Time) -> Bytes {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let page = &mut pages[format as usize];
        match page {
            Some((made, text)) if now.since(*made) < FRESH => text.clone(),
            _ => {
                let text = exposition::text(&self.board.latest_with_classes(), &self.board.about(), format);
                page.insert((now, text.into())).1.clone()
            }
        }
    }
}

impl Readers {
    /// Does the request name this machine? A browser may show a page of another site whose name was
    /// made to point here (DNS rebinding). It then sends that site's name. An address cannot be the
    /// name of another site.
    fn check_host(&self, request: &Request<Incoming>) -> Result<(), (StatusCode, &'static str)> {
        let bad = (StatusCode::BAD_REQUEST, "one Host header, with a name or an address, is needed\n");
        let mut given = request.headers().get_all(HOST).iter();
        let header = match (given.next(), given.next()) {
            (Some(host), None) => Some(host.to_str().ok().and_then(|host| host.parse().ok()).ok_or(bad)?),
            // No browser is that old.
            (None, _) if request.version() < Version::HTTP_11 => None,
            _ => return Err(bad),
        };
        let named: Option<&Authority> = request.uri().authority();
        if header.iter().chain(named).all(|host| self.is_ours(host.host())) {
            return Ok(());
        }
        Err((
            StatusCode::MISDIRECTED_REQUEST,
            "this is no name of the gateway's machine: use its address, localhost, or a name listed in telemetry.hosts\n",
        ))
    }

    fn is_ours(&self, host: &str) -> bool {
        if self.token.is_some() && self.hosts.is_empty() {
            return true; // no page of another site knows the token
        }
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let name = host.strip_suffix('.').unwrap_or(host);
        let is_listed = self.hosts.iter().any(|listed| listed.eq_ignore_ascii_case(name));
        bare.parse::<IpAddr>().is_ok() || name.eq_ignore_ascii_case("localhost") || is_listed
    }

    fn is_allowed(&self, shown: Option<&HeaderValue>) -> bool {
        let Some(token) = &self.token else { return true };
        let shown = shown.map(HeaderValue::as_bytes).unwrap_or_default();
        // The scheme's name is of any case (RFC 9110, section 11.1).
        let Some((scheme, shown)) = shown.split_at_checked("Bearer ".len()) else { return false };
        scheme.eq_ignore_ascii_case(b"Bearer ") && is_same(token.as_bytes(), shown)
    }
}

/// Are they the same? The time that it takes depends on their lengths alone.
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
