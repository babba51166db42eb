//! Metrics and pages over HTTP, which a program passes in: the service itself knows no HTTP.

use crate::config::user::User;
use crate::config::{Config, PlanContext};
use crate::service::error::ServiceError;
use crate::telemetry::Board;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;

/// Binds the addresses of a configuration, while the process still has its rights. Folders are made
/// for the user that the process becomes. A listener of `handed` that is bound to such an address is
/// used, and taken out.
pub type BindSites =
    fn(&Config, Option<&User>, &mut Vec<TcpListener>) -> Result<Box<dyn BoundSites>, ServiceError>;

/// Bound addresses, at which nothing is answered yet.
pub trait BoundSites: Send {
    /// Copies of the listeners, to be handed over to another process.
    fn copies(&self) -> Vec<TcpListener>;

    /// Answers from threads of its own, with the rights that this thread has now, until `stop`. The
    /// thread that is returned closes a file when it ends; the service waits for it.
    ///
    /// # Errors
    /// A thread cannot be started.
    fn serve(
        self: Box<Self>,
        board: &Arc<Board>,
        context: &PlanContext,
        stop: &Arc<AtomicBool>,
    ) -> Result<Option<JoinHandle<()>>, ServiceError>;
}

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// An address beyond loopback, without a token.
    #[error(
        "what is on {address} could be read by others than this machine: give `telemetry.token_file`, or an address of loopback such as 127.0.0.1:{port}",
        port = address.port()
    )]
    Open {
        /// The address.
        address: SocketAddr,
    },
    /// The address cannot be bound.
    #[error("listening on {address}: {source}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The token has nothing in it.
    #[error(
        "the token of `telemetry.token_file` is empty: write one into the file, such as 32 random letters"
    )]
    EmptyToken,
    /// The thread cannot be started.
    #[error("serving over HTTP: {0}")]
    Thread(#[from] io::Error),
}

/// The file of a gateway's history: the one of its configuration, or one in systemd's folder of state.
/// `None` without a page, or without a file.
pub fn history_of(config: &Config) -> Option<PathBuf> {
    let page = config.spec().telemetry.page.as_ref()?;
    let state = || {
        let state = std::env::var("STATE_DIRECTORY").ok().filter(|state| !state.is_empty())?;
        let first = state.split(':').next().unwrap_or_default();
        Some(Path::new(first).join(format!("{}.sqlite", config.name())))
    };
    page.history.as_ref().map(|path| config.beside(path)).or_else(state)
}

impl From<ServeError> for ServiceError {
    fn from(error: ServeError) -> Self {
        match error {
            ServeError::Thread(source) => ServiceError::system("serving over HTTP", source),
            other => ServiceError::Serve(other),
        }
    }
}
