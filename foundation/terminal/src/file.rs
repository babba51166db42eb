//! Files that are complete or absent.
//!
//! Each file is written under a hidden name next to its final path, and renamed when complete. An
//! incomplete file is removed when dropped, or when Ctrl-C ends the process.

use crate::failure::Failure;
use crate::interrupt;
use std::collections::BTreeSet;
use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::{NamedTempFile, TempPath};

static HIDDEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn all_hidden() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    HIDDEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all hidden files before the process ends. The list stays locked, so that no thread
/// creates another file.
pub(crate) fn remove_hidden() {
    let all = all_hidden();
    all.iter().for_each(|path| drop(fs::remove_file(path)));
    std::mem::forget(all);
}

#[derive(Debug)]
struct Noted(PathBuf);

impl Drop for Noted {
    fn drop(&mut self) {
        all_hidden().remove(&self.0);
    }
}

/// A file under a hidden name. If dropped unfinished, it is removed.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    file: BufWriter<NamedTempFile>,
    noted: Noted, // dropped after the file
}

impl Scratch {
    /// Begins the file at `path`.
    pub fn begin(path: &Path) -> io::Result<Self> {
        interrupt::flag(); // from here on, Ctrl-C lets us clean up
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut all = all_hidden();
        let hidden = tempfile::Builder::new()
            .prefix(&format!(".{name}."))
            .permissions(Permissions::from_mode(0o666)) // minus the user's umask
            .tempfile_in(folder)
            .map_err(without_path)?;
        let noted = Noted(hidden.path().into());
        all.insert(noted.0.clone());
        Ok(Scratch { path: path.into(), file: BufWriter::new(hidden), noted })
    }

    /// Completes the file at its final path, and returns this path.
    pub fn finish(self) -> io::Result<PathBuf> {
        self.whole()?.place()
    }

    /// Finishes writing: stores the data on disk, and closes the file.
    pub fn whole(self) -> io::Result<Whole> {
        let file = self.file.into_inner()?;
        file.as_file().sync_all()?;
        Ok(Whole { path: self.path, file: file.into_temp_path(), _noted: self.noted })
    }

    /// Finishes one piece of a file. Closes the piece, because a file may have thousands of pieces.
    pub fn close(self) -> io::Result<Part> {
        Ok(Part(self.file.into_inner()?.into_temp_path(), self.noted))
    }
}

/// A complete file that is not at its final path yet. If dropped, it is removed.
#[derive(Debug)]
pub struct Whole {
    path: PathBuf,
    file: TempPath,
    _noted: Noted,
}

impl Whole {
    /// Moves the file to its final path, and returns this path.
    pub fn place(self) -> io::Result<PathBuf> {
        self.file.persist(&self.path)?;
        Ok(self.path)
    }
}

/// A written and closed piece of a file. If dropped, it is removed.
#[derive(Debug)]
pub struct Part(TempPath, #[expect(dead_code, reason = "it is dropped")] Noted);

impl Part {
    /// Copies the piece into `out`.
    pub fn pour(self, out: &mut impl Write) -> io::Result<()> {
        io::copy(&mut File::open(&self.0)?, out).map(|_| ())
    }
}

impl Write for Scratch {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn without_path(error: io::Error) -> io::Error {
    let text = error.to_string();
    match text.split_once(" at path ") {
        Some((alone, _)) => io::Error::new(error.kind(), alone),
        None => error,
    }
}

/// Checks that `path` can be written, and returns its extension, which must be in `endings`. Errors
/// name the option `flag`.
pub fn check_writable<'a>(flag: &str, path: &Path, endings: &[&'a str]) -> Result<&'a str, Failure> {
    let shown = path.display();
    let given = path.extension().map(|ending| ending.to_string_lossy().into_owned()).unwrap_or_default();
    let allowed = endings.iter().map(|ending| format!(".{ending}")).collect::<Vec<_>>().join(" or ");
    let Some(ending) = endings.iter().find(|ending| **ending == given) else {
        let why = match given.as_str() {
            "" => "it has no extension to select the format".into(),
            given => format!("no format has the extension `.{given}`"),
        };
        return Err(Failure::user(
            format!("`{flag}` is `{shown}`, but {why}"),
            format!("allowed: a file with the extension {allowed}"),
        ));
    };
    let refuse = |problem: String| {
        Failure::user(
            format!("`{flag}` is `{shown}`, but {problem}"),
            "allowed: a file in a folder that exists and can be written",
        )
    };
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => return Err(refuse("it is a folder".into())),
        // The file would replace a pipe or a device.
        Ok(there) if !there.is_file() => return Err(refuse("it is no regular file".into())),
        Ok(_) | Err(_) => {}
    }
    Scratch::begin(path).map_err(|error| refuse(format!("it cannot be written: {error}")))?;
    Ok(ending)
}

/// `path` with `part` before its extension: `trace.pcapng` becomes `trace.faba.1.pcapng`.
pub fn with_part(path: &Path, part: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}.{part}.{ending}"))
}

/// Writes `content` to `path`, completely or not at all.
pub fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    try_write(path, content).map_err(|error| fault(path, &error))
}

/// Like [`write()`], but returns the I/O error. So the caller need not report a full disk as our
/// fault.
pub fn try_write(path: &Path, content: &[u8]) -> io::Result<()> {
    try_whole(path, content)?.place().map(drop)
}

/// Writes `content`, but does not move it to `path` yet. Several files can thus be placed once all
/// are complete.
pub fn try_whole(path: &Path, content: &[u8]) -> io::Result<Whole> {
    let mut file = Scratch::begin(path)?;
    file.write_all(content)?;
    file.whole()
}

/// The failure to write a file that was writable before the run.
pub fn fault(path: &Path, error: &io::Error) -> Failure {
    let text = error.to_string();
    let alone = text.split_once(" at path ").map_or(text.as_str(), |(alone, _)| alone);
    Failure::Ours(format!("`{}` could not be written: {alone}", path.display()))
}
