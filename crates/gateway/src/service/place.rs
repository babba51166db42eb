//! Where a gateway is found and what it holds: its socket, and locks on its name and its interfaces.

use super::error::ServiceError;
use crate::config::{self, spec::Spec};
use fairwire_document::{DocumentError, read_document};
use rustix::fs::{FlockOperation, Mode, flock};
use rustix::process::{getuid, umask};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// The folder of sockets and locks: `/run/fairwire`, or for others than root that of `XDG_RUNTIME_DIR` where there is one.
pub fn folder() -> PathBuf {
    let own = std::env::var_os("XDG_RUNTIME_DIR").filter(|_| !getuid().is_root());
    own.map_or_else(|| PathBuf::from("/run/fairwire"), PathBuf::from)
}

/// The control socket of the gateway `name`.
pub fn socket_path(name: &str, given: Option<&Path>) -> PathBuf {
    given.map_or_else(|| folder().join(format!("{name}.sock")), Path::to_owned)
}

/// The control socket of the gateway of the configuration at `path`. Nothing else of it is read, and nothing is checked: a gateway can be
/// asked while its file is being changed.
pub fn socket_of(path: &Path) -> Result<PathBuf, DocumentError> {
    /// What a configuration says of its socket.
    #[derive(serde::Deserialize)]
    struct Named {
        name: String,
        #[serde(default)]
        telemetry: Telemetry,
    }
    #[derive(Default, serde::Deserialize)]
    struct Telemetry {
        socket: Option<PathBuf>,
    }
    let (named, _) = read_document::<Named>(&path.display().to_string(), &config::text(path)?)?;
    Ok(socket_path(&named.name, named.telemetry.socket.as_deref()))
}

/// A file that one process at most has locked, which goes when this does.
#[derive(Debug)]
struct Lock {
    file: File,
    path: PathBuf,
}

/// A process that was killed lets go of its locks last, some tens of milliseconds after its guard has noticed.
const ATTEMPTS: u32 = 50;
const BETWEEN: std::time::Duration = std::time::Duration::from_millis(10);

impl Lock {
    /// Locks `path`, or tells who holds `what`. `holder` is written there, for whoever is refused.
    fn take(path: PathBuf, what: &str, holder: &str) -> Result<Self, ServiceError> {
        let fail = |error: io::Error| ServiceError::system(format!("locking {}", path.display()), error);
        // Who held it before may remove the name between our opening and our locking it: then the lock guards nothing.
        for attempt in 0..=ATTEMPTS {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false).mode(0o644);
            let mut file = options.open(&path).map_err(fail)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Err(rustix::io::Errno::WOULDBLOCK) if attempt == ATTEMPTS => return Err(taken(file, what)),
                Err(rustix::io::Errno::WOULDBLOCK) => {
                    std::thread::sleep(BETWEEN);
                    continue;
                }
                outcome => outcome.map_err(|error| fail(error.into()))?,
            }
            let named = std::fs::metadata(&path);
            if named.is_ok_and(|named| file.metadata().is_ok_and(|own| own.ino() == named.ino())) {
                file.set_len(0).and_then(|()| file.write_all(holder.as_bytes())).map_err(fail)?;
                return Ok(Lock { file, path });
            }
        }
        Err(fail(io::ErrorKind::ResourceBusy.into()))
    }
}

fn taken(file: File, what: &str) -> ServiceError {
    let mut holder = String::new();
    // Whoever holds it may not have written yet, or something else.
    let _ = file.take(200).read_to_string(&mut holder);
    let holder = if holder.trim().is_empty() { "another gateway".into() } else { holder.trim().to_owned() };
    ServiceError::Taken { what: what.to_owned(), holder }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // While it is held, so that nobody else's is removed.
        let _ = std::fs::remove_file(&self.path);
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

/// All that a gateway holds while it runs. It goes when this does.
#[derive(Debug)]
pub(super) struct Holdings {
    _locks: Vec<Lock>,
}

impl Holdings {
    /// Takes the name and both interfaces, or tells who has them. Nothing else is changed.
    pub fn take(spec: &Spec) -> Result<Self, ServiceError> {
        let folder = folder();
        make_folder(&folder)?;
        let holder = format!("the gateway `{}` (process {})", spec.name, std::process::id());
        // An interface is known by its name in its network namespace.
        let namespace = std::fs::metadata("/proc/self/ns/net").map_or(0, |about| about.ino());
        let lock = |file: String, what: String| Lock::take(folder.join(file), &what, &holder);
        let mut locks = vec![lock(format!("{}.lock", spec.name), format!("the name `{}`", spec.name))?];
        for interface in [&spec.wire.inside, &spec.wire.outside] {
            let file = format!("interface-{namespace}-{interface}.lock");
            locks.push(lock(file, format!("the interface `{interface}`"))?);
        }
        Ok(Holdings { _locks: locks })
    }
}

/// Makes the last part of `folder`, where it is not there yet.
pub(super) fn make_folder(folder: &Path) -> Result<(), ServiceError> {
    match std::fs::create_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        outcome => {
            outcome.map_err(|error| ServiceError::system(format!("making {}", folder.display()), error))
        }
    }
}

/// A listening socket that only its owner may use, and whose name goes when this does.
#[derive(Debug)]
pub(super) struct Listener {
    pub socket: UnixListener,
    path: PathBuf,
}

impl Listener {
    /// Listens at `path`. A socket at which nobody answers is replaced, and nothing else.
    pub fn bind(path: &Path) -> Result<Self, ServiceError> {
        let fail = |error: io::Error| ServiceError::system(format!("listening at {}", path.display()), error);
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            make_folder(folder)?;
        }
        if std::fs::symlink_metadata(path).is_ok_and(|about| about.file_type().is_socket()) {
            if UnixStream::connect(path).is_ok() {
                let what = format!("the socket {}", path.display());
                return Err(ServiceError::Taken { what, holder: "a process that answers there".into() });
            }
            std::fs::remove_file(path).map_err(fail)?;
        }
        // Before there are threads: the mask is the process's.
        let before = umask(Mode::XUSR | Mode::RWXG | Mode::RWXO);
        let bound = UnixListener::bind(path);
        umask(before);
        let socket = bound.map_err(fail)?;
        socket.set_nonblocking(true).map_err(fail)?;
        Ok(Listener { socket, path: path.to_owned() })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
