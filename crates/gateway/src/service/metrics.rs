//! OpenMetrics for whoever the configuration lets read them.

use super::error::ServiceError;
use crate::config::spec::TelemetrySpec;
use crate::telemetry::{Board, ServeError, listen, serve_metrics};
use fairwire_document::read_text;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The address that metrics are read at, bound, and the token that readers must show.
pub(super) struct Metrics {
    listener: TcpListener,
    token: Option<String>,
}

/// Longer than any token.
const MOST_TOKEN_BYTES: u64 = 4096;

impl Metrics {
    /// Binds the address of the configuration in the file at `path`, if it has one. A `token_file` is looked for beside that file.
    pub fn bind(telemetry: &TelemetrySpec, path: &Path) -> Result<Option<Self>, ServiceError> {
        let Some(address) = &telemetry.metrics else { return Ok(None) };
        let address: SocketAddr = address.parse().expect("the configuration was checked");
        let folder = path.parent().unwrap_or(Path::new(""));
        let token = telemetry.token_file.as_ref().map(|file| token(&folder.join(file))).transpose()?;
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

fn token(file: &Path) -> Result<String, ServiceError> {
    let text = read_text(file, MOST_TOKEN_BYTES, "a file with the token that readers of metrics must show")
        .map_err(|error| ServiceError::Unread { key: "telemetry.token_file", error })?;
    Ok(text.trim().to_owned())
}

impl From<ServeError> for ServiceError {
    fn from(error: ServeError) -> Self {
        match error {
            ServeError::Thread(source) => ServiceError::system("serving metrics", source),
            other => ServiceError::Metrics(other),
        }
    }
}
