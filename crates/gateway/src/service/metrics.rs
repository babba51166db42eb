//! The HTTP server of metrics, for the readers that the configuration allows.

use super::error::ServiceError;
use crate::config::Config;
use crate::telemetry::{Board, Readers, ServeError, listen, process, serve_metrics};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The bound address of metrics, and the allowed readers.
pub(super) struct Metrics {
    listener: TcpListener,
    readers: Readers,
}

impl Metrics {
    /// Opens what telemetry reads of this process, and binds the address of `config`, if it has
    /// one.
    pub(super) fn bind(config: &Config) -> Result<Option<Self>, ServiceError> {
        process::open();
        let telemetry = &config.spec().telemetry;
        let Some(address) = &telemetry.metrics else { return Ok(None) };
        let address: SocketAddr = address.parse().expect("the configuration was checked");
        let token = config.token()?;
        let listener = listen(address, token.as_deref())?;
        let readers = Readers { token, hosts: telemetry.hosts.clone() };
        Ok(Some(Metrics { listener, readers }))
    }

    /// Serves on a thread of its own, with the rights that this thread has now, until `stop`.
    pub(super) fn serve(self, board: Arc<Board>, stop: Arc<AtomicBool>) -> Result<(), ServiceError> {
        // It ends with the process, or a moment after `stop`, and is not joined.
        serve_metrics(self.listener, self.readers, board, stop)?;
        Ok(())
    }
}

impl From<ServeError> for ServiceError {
    fn from(error: ServeError) -> Self {
        match error {
            ServeError::Thread(source) => ServiceError::system("serving metrics", source),
            other => ServiceError::Metrics(other),
        }
    }
}
