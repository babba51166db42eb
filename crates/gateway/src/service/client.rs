//! The other end of the control socket: what `status`, `reload`, `weigh` and `capture` do.

use crate::control::protocol::{Answer, Request};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// Nobody listens there.
    #[error("no gateway answers at {}: {source}", path.display())]
    Silent {
        /// The socket.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It answered with something else.
    #[error("what answers at {} is no gateway of this version: {message}", path.display())]
    Strange {
        /// The socket.
        path: PathBuf,
        /// What is wrong with the answer.
        message: String,
    },
}

/// A reload of 20 000 subscribers takes a good part of a second; a gateway that hangs must not hang whoever asks.
const PATIENCE: Duration = Duration::from_secs(30);

/// Asks the gateway at the socket `path`, and gives its answer.
pub fn ask(path: &Path, request: &Request) -> Result<Answer, AskError> {
    let silent = |source| AskError::Silent { path: path.to_owned(), source };
    let strange = |message| AskError::Strange { path: path.to_owned(), message };
    let mut stream = UnixStream::connect(path).map_err(silent)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(silent)?;
    let mut line = serde_json::to_string(request).map_err(|error| strange(error.to_string()))?;
    line.push('\n');
    let sent = request.handed().send(&stream, line.as_bytes()).map_err(silent)?;
    stream.write_all(&line.as_bytes()[sent..]).map_err(silent)?;
    let mut answer = String::new();
    let count = BufReader::new(stream).read_line(&mut answer).map_err(silent)?;
    if count == 0 {
        return Err(silent(io::ErrorKind::UnexpectedEof.into()));
    }
    serde_json::from_str(&answer).map_err(|error| strange(error.to_string()))
}
