//! `fairwire play`: the playground, served to a browser on this machine.
//!
//! The page runs its player in WebAssembly. Browsers without WebAssembly send the player's messages
//! to this server.

mod kernel;

use crate::args::PlayArgs;
use crate::report;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path as Named, State};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use fairwire_play::{PlayError, Player, Players, Wanted, answer};
use fairwire_scenario::{Overrides, load};
use fairwire_terminal::failure::{Ending, Failure};
use fairwire_terminal::notice::notice;
use fairwire_web::{Names, PLAY, routes, secured};
use serde_json::json;
use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

/// The maximum number of pages with a player on this server; a further page replaces the oldest.
const MAX_PLAYERS: usize = 8;
const MAX_WORKERS: usize = 4;

pub(crate) fn play(args: &PlayArgs) -> Result<Ending, Failure> {
    let scenario = args.scenario.as_deref().map(read).transpose()?;
    let listener = bind(args.port)?;
    let address = listener.local_addr().map_err(broken)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(MAX_WORKERS)
        .enable_all()
        .build()
        .map_err(broken)?;
    let url = format!("http://{address}/");
    report::print(format!("the playground is at {url} (Ctrl-C ends it)\n").as_bytes())?;
    if !args.no_open {
        open(&url);
    }
    let shared = Arc::new(Shared { scenario, ..Shared::default() });
    runtime
        .block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            axum::serve(listener, router(shared)).await
        })
        .map_err(broken)?;
    Ok(Ending::Done)
}

fn broken(error: io::Error) -> Failure {
    Failure::Ours(format!("the page cannot be served: {error}"))
}

fn read(path: &Path) -> Result<String, Failure> {
    let scenario = load(path, &Overrides::default())?;
    let text = scenario.toml().to_owned();
    let Err(PlayError(why)) = Player::new(&Wanted::of(&text)) else { return Ok(text) };
    Err(Failure::user(
        format!("{} cannot be played: {why}", path.display()),
        "allowed: a scenario that names no other files",
    ))
}

fn bind(port: u16) -> Result<std::net::TcpListener, Failure> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let listener = std::net::TcpListener::bind(address).map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => Failure::user(
            format!("`--port`: {port} is given, but another program listens there"),
            "allowed: a port that is free; 0 takes any",
        ),
        io::ErrorKind::PermissionDenied => Failure::user(
            format!("`--port`: {port} is given, but ports below 1024 are for root"),
            "allowed: a port from 1024; 0 takes any that is free",
        ),
        _ => broken(error),
    })?;
    listener.set_nonblocking(true).map_err(broken)?;
    Ok(listener)
}

fn open(url: &str) {
    let has_desktop = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    let opened = has_desktop
        && Command::new("xdg-open").arg(url).stdout(Stdio::null()).stderr(Stdio::null()).spawn().is_ok();
    if !opened {
        notice(format_args!("note: no browser could be opened here; open the address in one"));
    }
}

#[derive(Default)]
struct Shared {
    scenario: Option<String>,
    players: Mutex<Seats>,
    /// Held while a contest runs on the kernel, because two contests would share the machine's
    /// processors.
    kernel: tokio::sync::Mutex<()>,
}

/// The players of each page, by a name that the page chose.
#[derive(Default)]
struct Seats {
    players: BTreeMap<String, Arc<Mutex<Players>>>,
    order: Vec<String>,
}

impl Seats {
    fn of(&mut self, name: &str) -> Arc<Mutex<Players>> {
        if let Some(known) = self.players.get(name) {
            return known.clone();
        }
        if self.order.len() >= MAX_PLAYERS {
            self.players.remove(&self.order.remove(0));
        }
        self.order.push(name.to_owned());
        self.players.entry(name.to_owned()).or_default().clone()
    }
}

fn router(shared: Arc<Shared>) -> Router {
    let router = routes(&PLAY)
        .route("/server.json", get(about))
        .route("/player/{name}/{call}", post(player))
        .route("/kernel", post(kernel))
        .with_state(shared);
    secured(router, &PLAY, Names::default())
}

async fn about(State(shared): State<Arc<Shared>>) -> Response {
    let about = json!({
        "hasPlayer": true,
        "hasKernel": cfg!(target_os = "linux"),
        "scenario": shared.scenario,
    });
    typed("application/json", about.to_string().into())
}

async fn player(
    State(shared): State<Arc<Shared>>,
    Named((name, call)): Named<(String, String)>,
    input: Bytes,
) -> Response {
    let seat = shared.players.lock().unwrap_or_else(PoisonError::into_inner).of(&name);
    let work = move || answer(&mut seat.lock().unwrap_or_else(PoisonError::into_inner), &call, &input);
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(bytes)) => typed("application/octet-stream", bytes),
        Ok(Err(PlayError(why))) => (StatusCode::UNPROCESSABLE_ENTITY, why).into_response(),
        Err(error) => {
            (StatusCode::INTERNAL_SERVER_ERROR, format!("the simulator stopped: {error}")).into_response()
        }
    }
}

async fn kernel(State(shared): State<Arc<Shared>>, scenario: String) -> Response {
    let Ok(_alone) = shared.kernel.try_lock() else {
        return (StatusCode::CONFLICT, "a contest runs on the kernel already: wait for its end")
            .into_response();
    };
    match tokio::task::spawn_blocking(move || kernel::contest(&scenario)).await {
        Ok(Ok(series)) => typed("text/csv; charset=utf-8", series),
        Ok(Err(why)) => (StatusCode::UNPROCESSABLE_ENTITY, why).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

fn typed(media_type: &'static str, bytes: Vec<u8>) -> Response {
    ([(CONTENT_TYPE, media_type), (CACHE_CONTROL, "no-store")], bytes).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_beyond_the_limit_replaces_the_first_one() {
        let mut seats = Seats::default();
        let first = seats.of("0");
        (0..MAX_PLAYERS).for_each(|name| drop(seats.of(&name.to_string())));
        assert!(Arc::ptr_eq(&first, &seats.of("0")), "there was room for all");
        seats.of("another");
        assert_eq!(seats.players.len(), MAX_PLAYERS);
        assert!(!Arc::ptr_eq(&first, &seats.of("0")), "the first was forgotten");
    }

    #[test]
    fn a_used_port_is_refused_with_the_allowed_ports() {
        let taken = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let port = taken.local_addr().expect("it is bound").port();
        let Err(Failure::User { message, help }) = bind(port) else { panic!("it is taken") };
        assert!(message.contains(&port.to_string()) && help.contains("0 takes any"), "{message}: {help}");
    }
}
