//! The record of a change: a line without a line end. A client appends the line to a file, and
//! hands the file over with a request.
//!
//! Readers ignore such a line. The gateway adds the line end before it applies the change.

use crate::handed::Handed;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// A file whose last line is incomplete. The request also hands over a locked file, so the lock
/// remains if the client is killed.
#[derive(Debug)]
pub struct Record {
    file: File,
    /// The length of the file without the line's end, in bytes.
    length: u64,
}

impl Record {
    /// Returns file number `place` of the request as a record, if present.
    ///
    /// # Errors
    /// If the file's length cannot be read.
    pub fn of(handed: &Handed, place: usize) -> io::Result<Option<Record>> {
        let Some(file) = handed.file(place)? else { return Ok(None) };
        let length = file.metadata()?.len();
        Ok(Some(Record { file, length }))
    }

    /// Writes the line's end, and syncs it to the disk.
    ///
    /// # Errors
    /// If the end cannot be written. The line then remains incomplete.
    pub fn end(&self) -> io::Result<()> {
        let written = self.file.write_all_at(b"\n", self.length).and_then(|()| self.file.sync_data());
        written.inspect_err(|_| self.take_back())
    }

    /// Removes the line's end again. Call this if the change failed.
    pub fn take_back(&self) {
        // On an error the line stays complete. Its change is valid, and the next reload applies it.
        let _ = self.file.set_len(self.length);
    }
}
