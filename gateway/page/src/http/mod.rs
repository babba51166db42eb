//! Metrics and the page over HTTP, on a separate thread.
//!
//! A connection carries one request. The datapath shares only the board with this thread, and never
//! waits for the thread.

mod connections;
mod latest;
mod metrics;
mod readers;

pub use connections::Marks;
pub use latest::Latest;
pub use readers::Readers;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use connections::Connections;
use fairwire_linux::clock;
use fairwire_service::sites::ServeError;
use fairwire_service::telemetry::Board;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::future::poll_fn;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::time::{sleep, timeout};
use tower::ServiceExt;

/// The maximum length of a request's head, in bytes: the smallest limit that hyper accepts.
const MAX_HEAD_BYTES: usize = 8 << 10;
const HEAD: Duration = Duration::from_secs(2);
/// The time limit of a connection. A stream may last longer, but ends if its client takes no data
/// for this time.
const WHOLE: Duration = Duration::from_secs(10);
/// Connections that may wait for acceptance, as far as `net.core.somaxconn` allows.
const MAX_WAITING: i32 = 4096;
/// The interval at which the thread checks whether to stop.
const PATIENCE: Duration = Duration::from_millis(100);

/// Binds `address`, which must be a loopback address unless there is a `token`.
pub fn listen(address: SocketAddr, token: Option<&str>) -> Result<TcpListener, ServeError> {
    check(address, token)?;
    let bound = || {
        let listener = TcpListener::bind(address)?;
        // The standard library sets a queue of 128 connections. If the queue is full, a client
        // repeats its SYN only after a second.
        rustix::net::listen(&listener, MAX_WAITING)?;
        Ok(listener)
    };
    bound().map_err(|source| ServeError::Bind { address, source })
}

fn check(address: SocketAddr, token: Option<&str>) -> Result<(), ServeError> {
    match token {
        Some("") => Err(ServeError::EmptyToken),
        None if !address.ip().is_loopback() => Err(ServeError::Open { address }),
        _ => Ok(()),
    }
}

/// A listener, and the routes that it serves.
#[derive(Debug)]
pub struct Site {
    listener: TcpListener,
    routes: Router,
}

impl Site {
    /// Only metrics.
    pub fn metrics(listener: TcpListener, readers: &Readers, latest: Arc<Latest>) -> Self {
        let missing = || async { (StatusCode::NOT_FOUND, "not found: there is only /metrics\n") };
        let routes = readers.only(metrics::routes(latest).fallback(missing));
        Site { listener, routes: readers.secured(routes) }
    }

    /// A site with the page's files, measurements at `routes`, and metrics. The files need no
    /// token, since they are the same on all gateways.
    pub fn page(listener: TcpListener, readers: &Readers, latest: Arc<Latest>, routes: Router) -> Self {
        let missing = || async { (StatusCode::NOT_FOUND, "there is nothing of that name\n") };
        let measured = readers.only(routes.merge(metrics::routes(latest)).fallback(missing));
        let all = fairwire_web::routes(&fairwire_web::GATEWAY).merge(measured);
        Site { listener, routes: readers.secured(all) }
    }
}

/// Serves `GET /metrics` on `listener` from a separate thread, until `stop`.
pub fn serve_metrics(
    listener: TcpListener,
    readers: &Readers,
    board: Arc<Board>,
    stop: Arc<AtomicBool>,
) -> Result<JoinHandle<()>, ServeError> {
    check(listener.local_addr()?, readers.token.as_deref())?;
    serve(vec![Site::metrics(listener, readers, Latest::of(board))], stop)
}

/// Serves all `sites` from a separate thread, until `stop`.
pub fn serve(sites: Vec<Site>, stop: Arc<AtomicBool>) -> Result<JoinHandle<()>, ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    let inside = runtime.enter();
    let opened = sites.into_iter().map(|Site { listener, routes }| {
        listener.set_nonblocking(true)?;
        Ok((tokio::net::TcpListener::from_std(listener)?, routes))
    });
    let opened: Vec<_> = opened.collect::<io::Result<_>>()?;
    drop(inside);
    let run = move || {
        let accepting = opened.into_iter().map(|(listener, routes)| accept(listener, routes, stop.clone()));
        runtime.block_on(async {
            let tasks: Vec<_> = accepting.map(tokio::spawn).collect();
            for task in tasks {
                // A panic in one site's task does not end the others.
                let _ = task.await;
            }
        });
    };
    Ok(std::thread::Builder::new().name("http".into()).spawn(run)?)
}

async fn accept(listener: tokio::net::TcpListener, routes: Router, stop: Arc<AtomicBool>) {
    let mut connections = Connections::default();
    while !stop.load(Ordering::Relaxed) {
        match timeout(PATIENCE, listener.accept()).await {
            Ok(Ok((stream, peer))) => connections.add(peer.ip(), stream),
            // The process has no descriptor left, or the client has closed the connection. Later
            // connections may succeed.
            Ok(Err(_)) => {
                sleep(PATIENCE).await;
                continue;
            }
            Err(_) => continue,
        }
        // All waiting connections are accepted before any is served. If very many wait, newer ones
        // replace most of them, which are then never served and cost no work.
        for _ in 1..MAX_WAITING {
            match poll_fn(|context| Poll::Ready(listener.poll_accept(context))).await {
                Poll::Ready(Ok((stream, peer))) => connections.add(peer.ip(), stream),
                _ => break,
            }
        }
        connections
            .serve(&mut |stream, marks| tokio::spawn(converse(stream, routes.clone(), marks)).abort_handle());
    }
}

async fn converse(stream: tokio::net::TcpStream, routes: Router, marks: Arc<Marks>) {
    let of_connection = marks.clone();
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(of_connection.clone());
        routes.clone().oneshot(request.map(Body::new))
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(MAX_HEAD_BYTES)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    // `is_err` means a time-out. Errors of the connection are ignored.
    while timeout(WHOLE, &mut connection).await.is_err() {
        let taken_at_ms = marks.taken_at_ms.load(Ordering::Relaxed);
        if now_ms().saturating_sub(taken_at_ms) > WHOLE.as_millis() as u64 {
            return;
        }
    }
}

/// The monotonic clock, in milliseconds.
pub fn now_ms() -> u64 {
    clock::now().ns() / 1_000_000
}
