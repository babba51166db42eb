//! The client's end of the control socket.

use crate::protocol::{Answer, PROGRAM, Request};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The reason why a request got no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// No process listens on the socket.
    #[error("no gateway answers at {}: {source}", path.display())]
    Silent {
        /// The socket.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The answer is invalid.
    #[error("the answer at {} is none of a gateway of this version ({PROGRAM}): {message}", path.display())]
    Strange {
        /// The socket.
        path: PathBuf,
        /// The fault of the answer.
        message: String,
    },
}

/// The longest wait for an answer, so that a stuck gateway does not block its client. A reload of
/// 20 000 subscribers takes less than a second.
const PATIENCE: Duration = Duration::from_secs(30);

/// Sends `request` to the gateway at the socket `path`.
pub fn send(path: &Path, request: &Request) -> Result<Answer, RequestError> {
    let silent = |source| RequestError::Silent { path: path.to_owned(), source };
    let strange = |message| RequestError::Strange { path: path.to_owned(), message };
    let mut stream = UnixStream::connect(path).map_err(silent)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(silent)?;
    let mut line = request.to_line().map_err(|error| strange(error.to_string()))?;
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
