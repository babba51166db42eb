//! The user that the gateway's process becomes once everything that needs root is open.

use super::Config;
use fairwire_document::{DocumentError, Problem};
use nix::unistd::{Group, User as Entry};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A user of this machine.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct User {
    /// Its name.
    pub name: String,
    /// Its number.
    pub uid: u32,
    /// The number of the user's group.
    pub gid: u32,
}

/// The user that the package creates for gateways.
const DEFAULT: &str = "fairwire";
/// The ID of the user without rights, used if there is no [`DEFAULT`]: the default value of Linux's
/// `/proc/sys/kernel/overflowuid`.
const OVERFLOW: u32 = 65534;

/// The user that the gateway of `config` becomes. `None` if the process is not root, or must stay
/// root.
pub fn of(config: &Config) -> Result<Option<User>, DocumentError> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    const KEY: &str = "safety.user";
    let refused = |given: &str, why: String| {
        let allowed = "a user of this machine (`getent passwd`), or `root` to stay root".to_owned();
        config.refuse(KEY, Problem::Refused { key: KEY.into(), given: format!("`{given}`"), why, allowed })
    };
    match config.spec().safety.user.as_deref() {
        Some(name) => match named(name) {
            Ok(Some(user)) => Ok(Some(user).filter(|user| user.uid != 0)),
            Ok(None) => Err(refused(name, "there is no such user here".into())),
            Err(error) => Err(refused(name, format!("users cannot be looked up: {error}"))),
        },
        None => {
            let numbered = || Entry::from_uid(OVERFLOW.into()).ok().flatten().map(User::of);
            let found = named(DEFAULT).ok().flatten().or_else(numbered);
            Ok(Some(found.unwrap_or(User { name: OVERFLOW.to_string(), uid: OVERFLOW, gid: OVERFLOW })))
        }
    }
}

/// The number of the group whose members may read over the socket; `None` if there is none.
pub fn readers(config: &Config) -> Result<Option<u32>, DocumentError> {
    const KEY: &str = "telemetry.readers";
    let Some(name) = &config.spec().telemetry.readers else { return Ok(None) };
    let refused = |why: String| {
        let allowed = "a group of this machine (`getent group`)".to_owned();
        config.refuse(KEY, Problem::Refused { key: KEY.into(), given: format!("`{name}`"), why, allowed })
    };
    match Group::from_name(name) {
        Ok(Some(group)) => Ok(Some(group.gid.as_raw())),
        Ok(None) => Err(refused("there is no such group here".into())),
        Err(error) => Err(refused(format!("groups cannot be looked up: {error}"))),
    }
}

fn named(name: &str) -> Result<Option<User>, nix::Error> {
    Ok(Entry::from_name(name)?.map(User::of))
}

impl User {
    fn of(entry: Entry) -> Self {
        User { name: entry.name, uid: entry.uid.as_raw(), gid: entry.gid.as_raw() }
    }

    /// True if the user may read the file at `path`, by the modes of the file and of the folders
    /// above it. False if the modes cannot be read.
    pub fn may_read(&self, path: &Path) -> bool {
        self.may(path, 4)
    }

    /// True if the user may create TUN and TAP devices, provided that the process has
    /// CAP_NET_ADMIN.
    pub fn may_open_tun(&self) -> bool {
        self.may(Path::new("/dev/net/tun"), 4 | 2)
    }

    fn may(&self, path: &Path, rights: u32) -> bool {
        let Ok(path) = std::path::absolute(path) else { return false };
        // For a symbolic link, the modes of its target count.
        let Ok(path) = path.canonicalize() else { return false };
        let mut folders = path.ancestors().skip(1);
        let has = |path: &Path, rights| std::fs::metadata(path).is_ok_and(|about| self.has(&about, rights));
        folders.all(|folder| has(folder, 1)) && has(&path, rights)
    }

    /// Does the user have all `rights` (4 to read, 2 to write, 1 to search) to the file described by
    /// `about`?
    fn has(&self, about: &Metadata, rights: u32) -> bool {
        let shift = match () {
            () if about.uid() == self.uid => 6,
            () if about.gid() == self.gid => 3,
            () => 0,
        };
        about.mode() >> shift & rights == rights
    }
}

#[cfg(test)]
mod tests {
    use super::readers as readers_of;
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn readers_are_an_existing_group() {
        let with = |readers: &str| {
            let text = format!(
                "format = 2\nname = \"t\"\n[wire]\ninside = \"a\"\noutside = \"b\"\n[telemetry]\n{readers}\n"
            );
            readers_of(&Config::parse("t.toml", &text, None).expect("a configuration"))
        };
        assert_eq!(with("").expect("none"), None);
        assert_eq!(with("readers = \"root\"").expect("it is there"), Some(0));
        let message = with("readers = \"no-such-group\"").expect_err("it is not there").to_string();
        assert!(message.starts_with("t.toml:7:11: `telemetry.readers` is `no-such-group`"), "{message}");
    }

    #[test]
    fn a_reader_is_allowed_by_the_modes_of_the_file_and_of_every_folder_above_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let (inner, file) = (folder.path().join("inner"), folder.path().join("inner/file"));
        std::fs::create_dir(&inner).expect("it is ours");
        std::fs::write(&file, "text").expect("it is ours");
        let set = |path: &Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("it is ours");
        };
        let about = std::fs::metadata(&file).expect("it is there");
        let owner = User { name: "owner".into(), uid: about.uid(), gid: about.gid() };
        let other = User { name: "other".into(), uid: about.uid() + 1, gid: about.gid() + 1 };
        let with = |outer, inside, own| {
            set(folder.path(), outer);
            set(&inner, inside);
            set(&file, own);
            (owner.may_read(&file), other.may_read(&file))
        };
        assert_eq!(with(0o755, 0o711, 0o644), (true, true));
        assert_eq!(with(0o700, 0o755, 0o644), (true, false), "a folder above is closed");
        assert_eq!(with(0o755, 0o755, 0o640), (true, false));
        assert_eq!(with(0o755, 0o755, 0o044), (false, true), "the owner is judged as the owner");
        assert!(!other.may_read(Path::new("/no/such/file")));
        let of_mode = |mode| {
            set(&file, mode);
            other.may(&file, 4 | 2)
        };
        assert_eq!([0o666, 0o664, 0o660].map(of_mode), [true, false, false]);
    }
}
