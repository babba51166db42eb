//! Where the control socket of a gateway is.

use fairwire_document::{DocumentError, read_document, read_text};
use rustix::process::getuid;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// What a configuration says of its socket.
#[derive(Deserialize)]
struct Named {
    name: String,
    #[serde(default)]
    telemetry: Telemetry,
}

#[derive(Default, Deserialize)]
struct Telemetry {
    socket: Option<PathBuf>,
}

/// The socket of the gateway whose configuration is the file at `path`. Nothing else of the file is checked: a gateway can be looked at while
/// its configuration is being edited.
pub fn socket_of(path: &Path) -> Result<PathBuf, DocumentError> {
    let text = read_text(path, 1 << 20, "a gateway's configuration in TOML, such as docs/gateway/home.toml")?;
    let (named, _) = read_document::<Named>(&path.display().to_string(), &text)?;
    Ok(named.telemetry.socket.unwrap_or_else(|| folder().join(format!("{}.sock", named.name))))
}

/// The folder of sockets: `/run/fairwire`, or for others than root that of `XDG_RUNTIME_DIR` where there is one.
fn folder() -> PathBuf {
    let own = std::env::var_os("XDG_RUNTIME_DIR").filter(|_| !getuid().is_root());
    own.map_or_else(|| PathBuf::from("/run/fairwire"), PathBuf::from)
}
