//! Metrics and pages over HTTP. The service has no HTTP code, so a program passes the server in.

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

/// Binds a configuration's addresses while the process still has its rights, and creates folders
/// for the user that the process becomes. Listeners in the given list that are already bound to
/// these addresses are used, and removed from the list.
pub type BindSites =
    fn(&Config, Option<&User>, &mut Vec<TcpListener>) -> Result<Box<dyn BoundSites>, ServiceError>;

/// Bound addresses that are not served yet.
pub trait BoundSites: Send {
    /// Copies of the listeners, to be handed over to another process.
    fn copies(&self) -> Vec<TcpListener>;

    /// Serves from new threads, with the current rights of this thread, until `stop`. The service
    /// waits for the returned thread, which closes the history.
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
    /// An address beyond loopback has no token.
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
    /// The token is empty.
    #[error(
        "the token of `telemetry.token_file` is empty: write one into the file, such as 32 random letters"
    )]
    EmptyToken,
    /// The thread cannot be started.
    #[error("serving over HTTP: {0}")]
    Thread(#[from] io::Error),
}

/// The file of a gateway's history: the configured file, or else a file in systemd's state folder.
/// `None` without a page, or if neither is given.
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
