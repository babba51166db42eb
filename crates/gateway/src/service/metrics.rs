//! OpenMetrics for whoever the configuration lets read them.

use super::error::ServiceError;
use crate::config::Config;
use crate::telemetry::{Board, ServeError, listen, serve_metrics};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The address that metrics are read at, bound, and the token that readers must show.
pub(super) struct Metrics {
    listener: TcpListener,
    token: Option<String>,
}

impl Metrics {
    /// Binds the address of `config`, if it has one.
    pub fn bind(config: &Config) -> Result<Option<Self>, ServiceError> {
        let Some(address) = &config.spec().telemetry.metrics else { return Ok(None) };
        let address: SocketAddr = address.parse().expect("the configuration was checked");
        let token = config.token()?;
        let listener = listen(address, token.as_deref())?;
        Ok(Some(Metrics { listener, token }))
    }

    /// Answers from a thread of its own, with the rights that this thread has now, until `stop`.
    pub fn serve(self, board: Arc<Board>, stop: Arc<AtomicBool>) -> Result<(), ServiceError> {
        // It ends with the process, or a moment after `stop`: nobody waits for it.
        serve_metrics(self.listener, self.token, board, stop)?;
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
