//! The paths of a gateway's files.

use super::error::ServiceError;
use crate::config;
use crate::config::spec::Spec;
use crate::config::user::User;
use fairwire_document::{DocumentError, read_document};
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use rustix::fs::{FlockOperation, Mode, flock};
use rustix::process::{getuid, umask};
use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// The folder of sockets and locks: `RUNTIME_DIRECTORY` if systemd has set it. Otherwise it is
/// `XDG_RUNTIME_DIR`, or `/run/fairwire` if that variable is not set or the process is root.
pub fn folder() -> PathBuf {
    if let Some(made) = std::env::var("RUNTIME_DIRECTORY").ok().filter(|made| !made.is_empty()) {
        return made.split(':').next().unwrap_or_default().into(); // it may be a list
    }
    let own = std::env::var_os("XDG_RUNTIME_DIR").filter(|_| !getuid().is_root());
    own.map_or_else(|| PathBuf::from("/run/fairwire"), PathBuf::from)
}

pub(crate) fn socket_path(name: &str, given: Option<&Path>) -> PathBuf {
    given.map_or_else(|| folder().join(format!("{name}.sock")), Path::to_owned)
}

/// The control socket of the gateway that the configuration at `path` describes. Only the keys that
/// determine the socket are checked, since the file may be in the middle of a change.
pub fn socket_of(path: &Path) -> Result<PathBuf, DocumentError> {
    let named = GatewayPaths::read(path)?;
    Ok(socket_path(&named.name, named.telemetry.socket.as_deref()))
}

/// The files that a reload reads: the configuration at `path`, and the subscriber file, if one is
/// named.
pub fn files_of(path: &Path) -> Vec<PathBuf> {
    let subscribers = GatewayPaths::read(path).ok().and_then(|named| named.subscribers);
    let sheet = subscribers.and_then(|subscribers| subscribers.file);
    std::iter::once(path.to_owned()).chain(sheet.map(|file| config::beside(path, &file))).collect()
}

/// The configuration keys from which other programs find a gateway's files and socket.
#[derive(serde::Deserialize)]
struct GatewayPaths {
    name: String,
    #[serde(default)]
    telemetry: Telemetry,
    subscribers: Option<Subscribers>,
}

#[derive(Default, serde::Deserialize)]
struct Telemetry {
    socket: Option<PathBuf>,
}

#[derive(serde::Deserialize)]
struct Subscribers {
    file: Option<PathBuf>,
}

impl GatewayPaths {
    fn read(path: &Path) -> Result<GatewayPaths, DocumentError> {
        Ok(read_document::<GatewayPaths>(&path.display().to_string(), &config::text_at(path)?)?.0)
    }
}

/// A locked file that reserves a name for one gateway. Dropping the lock removes the file.
#[derive(Debug)]
pub(super) struct NameLock {
    pub file: File,
    path: PathBuf,
    /// True if another process has the lock. The file then stays.
    is_others: Cell<bool>,
}

/// The number of times that locking is retried. A guard may notice a process's death tens of
/// milliseconds before the process's locks are released.
const ATTEMPTS: u32 = 50;
const BETWEEN: std::time::Duration = std::time::Duration::from_millis(10);

impl NameLock {
    /// Locks the gateway's name. The folder of locks is given to `user`, which the process becomes.
    pub(super) fn take(spec: &Spec, user: Option<&User>) -> Result<Self, ServiceError> {
        let folder = folder();
        make_folder(&folder)?;
        user.map_or(Ok(()), |user| give_folder(&folder, user))?;
        let holder = holder_of(spec);
        Self::lock(folder.join(format!("{}.lock", spec.name)), &format!("the name `{}`", spec.name), &holder)
    }

    fn lock(path: PathBuf, what: &str, holder: &str) -> Result<Self, ServiceError> {
        let fail = |error: io::Error| ServiceError::system(format!("locking {}", path.display()), error);
        // Between our open and our lock, the previous holder may remove the file. Our lock would
        // then guard nothing, so we try again.
        for attempt in 0..=ATTEMPTS {
            let mut options = OpenOptions::new();
            // The folder may belong to another user, whose symbolic links root must not follow.
            options.custom_flags(libc::O_NOFOLLOW).mode(0o600);
            options.read(true).write(true).create(true).truncate(false);
            let mut file = options.open(&path).map_err(fail)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Err(rustix::io::Errno::WOULDBLOCK) if attempt == ATTEMPTS => return Err(taken(file, what)),
                Err(rustix::io::Errno::WOULDBLOCK) => {
                    std::thread::sleep(BETWEEN);
                    continue;
                }
                outcome => outcome.map_err(|error| fail(error.into()))?,
            }
            let named = std::fs::symlink_metadata(&path);
            let own = file.metadata().map_err(fail)?;
            if named.is_ok_and(|named| own.is_file() && own.nlink() == 1 && own.ino() == named.ino()) {
                file.set_len(0).and_then(|()| file.write_all(holder.as_bytes())).map_err(fail)?;
                return Ok(NameLock { file, path, is_others: Cell::new(false) });
            }
        }
        Err(fail(io::ErrorKind::ResourceBusy.into()))
    }
}

impl NameLock {
    pub(super) fn handed_over(file: File, spec: &Spec) -> Self {
        let path = folder().join(format!("{}.lock", spec.name));
        NameLock { file, path, is_others: Cell::new(true) }
    }

    pub(super) fn own(&self, spec: &Spec) {
        self.is_others.set(false);
        let holder = holder_of(spec);
        // A process that cannot get the lock reads the holder's name.
        let _ = self.file.set_len(0).and_then(|()| self.file.write_all_at(holder.as_bytes(), 0));
    }

    pub(super) fn leave(&self) {
        self.is_others.set(true);
    }
}

fn holder_of(spec: &Spec) -> String {
    format!("the gateway `{}` (process {})", spec.name, std::process::id())
}

fn taken(file: File, what: &str) -> ServiceError {
    let mut holder = String::new();
    // The holder may not have written its name yet, or may have written something else.
    let _ = file.take(200).read_to_string(&mut holder);
    let holder = if holder.trim().is_empty() { "another gateway".into() } else { holder.trim().to_owned() };
    ServiceError::Taken { what: what.to_owned(), holder }
}

impl Drop for NameLock {
    fn drop(&mut self) {
        if self.is_others.get() {
            return;
        }
        // The file is removed while we hold the lock, so it cannot belong to another process.
        let _ = std::fs::remove_file(&self.path);
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

/// Creates `folder` if it is missing, but not the folders above.
pub fn make_folder(folder: &Path) -> Result<(), ServiceError> {
    match std::fs::create_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        outcome => {
            outcome.map_err(|error| ServiceError::system(format!("making {}", folder.display()), error))
        }
    }
}

/// Gives `folder` to `user`, who has to remove its files later.
pub fn give_folder(folder: &Path, user: &User) -> Result<(), ServiceError> {
    let fail = |error: io::Error| {
        ServiceError::system(format!("giving {} to `{}`", folder.display(), user.name), error)
    };
    std::os::unix::fs::lchown(folder, Some(user.uid), Some(user.gid)).map_err(fail)
}

/// A listening socket that its owner and optionally a group may use. Dropping the listener removes
/// the socket.
#[derive(Debug)]
pub(super) struct Listener {
    pub socket: UnixListener,
    /// The user that bound the socket, before the process became another user.
    owner: u32,
    path: PathBuf,
    /// True if another process has the socket. The socket then stays.
    is_others: Cell<bool>,
}

impl Listener {
    /// Listens at `path`. A socket there is replaced only if no process answers at it.
    pub(super) fn bind(path: &Path, group: Option<u32>) -> Result<Self, ServiceError> {
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
        // The mask applies to the entire process, so there must be no threads yet.
        let before = umask(Mode::XUSR | Mode::RWXG | Mode::RWXO);
        let bound = UnixListener::bind(path);
        umask(before);
        let socket = bound.map_err(fail)?;
        socket.set_nonblocking(true).map_err(fail)?;
        let is_others = Cell::new(false);
        let listener = Listener { socket, owner: getuid().as_raw(), path: path.to_owned(), is_others };
        if let Some(group) = group {
            listener.open_to(group)?;
        }
        Ok(listener)
    }

    pub(super) fn handed_over(socket: UnixListener, path: &Path) -> Self {
        let is_others = Cell::new(true);
        Listener { socket, owner: getuid().as_raw(), path: path.to_owned(), is_others }
    }

    pub(super) fn own(&self) {
        self.is_others.set(false);
    }

    pub(super) fn leave(&self) {
        self.is_others.set(true);
    }

    fn open_to(&self, group: u32) -> Result<(), ServiceError> {
        let path = &self.path;
        let open = || {
            std::os::unix::fs::lchown(path, None, Some(group))?;
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o660))
        };
        open().map_err(|error| {
            let what = format!("giving {} to the group {group} of `telemetry.readers`", path.display());
            ServiceError::system(what, error)
        })
    }

    /// Accepts a client. The flag is true for root and the owner, who may change what the gateway
    /// does.
    pub(super) fn accept(&self) -> io::Result<(UnixStream, bool)> {
        let (stream, _) = self.socket.accept()?;
        stream.set_nonblocking(true)?;
        let user = getsockopt(&stream, PeerCredentials)?.uid();
        Ok((stream, user == 0 || user == self.owner))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if self.is_others.get() {
            return;
        }
        let _ = std::fs::remove_file(&self.path);
    }
}
