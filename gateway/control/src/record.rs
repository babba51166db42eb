//! The record that the gateway ends before it makes a change: a file whose last line lacks its end.
//!
//! The client writes that line, and hands the file over. A reader leaves a line without an end out, so
//! the change is recorded once the gateway ends the line.

use crate::handed::Handed;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// A file with an unfinished last line. Beside it comes a locked file, so that its lock outlives a client
/// that is killed meanwhile.
#[derive(Debug)]
pub struct Record {
    file: File,
    /// The length in bytes without the end of the line.
    length: u64,
}

impl Record {
    /// The record in `place` of the files that came with a request, if any did.
    ///
    /// # Errors
    /// If its length is not known.
    pub fn of(handed: &Handed, place: usize) -> io::Result<Option<Record>> {
        let Some(file) = handed.file(place)? else { return Ok(None) };
        let length = file.metadata()?.len();
        Ok(Some(Record { file, length }))
    }

    /// Ends the line, and puts it on the disk.
    ///
    /// # Errors
    /// If it cannot be written. Then the line has no end.
    pub fn end(&self) -> io::Result<()> {
        let written = self.file.write_all_at(b"\n", self.length).and_then(|()| self.file.sync_data());
        written.inspect_err(|_| self.take_back())
    }

    /// Takes the end of the line back, where the change could not be made.
    pub fn take_back(&self) {
        // What remains on an error is a change that was found valid, which the next reload makes.
        let _ = self.file.set_len(self.length);
    }
}
