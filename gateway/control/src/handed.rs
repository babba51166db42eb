//! Files that a client opened and sends with its request, because the gateway's process may not be
//! permitted to open them.

use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// The maximum number of files per request; more are closed unread.
pub(crate) const MAX_HANDED: usize = 4;

/// Open files, in the order in which the request names them.
#[derive(Clone, Debug, Default)]
pub struct Handed(Vec<Arc<OwnedFd>>);

impl PartialEq for Handed {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(|(a, b)| Arc::ptr_eq(a, b))
    }
}

impl Handed {
    /// The file with index `place`, with its opener's access rights.
    pub fn file(&self, place: usize) -> io::Result<Option<std::fs::File>> {
        self.0.get(place).map(|file| file.try_clone().map(std::fs::File::from)).transpose()
    }

    /// Is it empty?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn add(&mut self, file: OwnedFd) {
        if self.0.len() < MAX_HANDED {
            self.0.push(Arc::new(file));
        }
    }

    /// Sends the start of `bytes` with these files attached. Returns the number of bytes sent.
    pub fn send(&self, socket: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
        let files: Vec<BorrowedFd<'_>> = self.0.iter().map(|file| file.as_fd()).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_HANDED))];
        let mut beside = SendAncillaryBuffer::new(&mut space);
        if !files.is_empty() && !beside.push(SendAncillaryMessage::ScmRights(&files)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let parts = [IoSlice::new(bytes)];
        Ok(retry_on_intr(|| sendmsg(&socket, &parts, &mut beside, SendFlags::NOSIGNAL))?)
    }

    /// Receives bytes and attached files, like `read` on a non-blocking stream.
    pub fn receive(&mut self, socket: impl AsFd, bytes: &mut [u8]) -> io::Result<usize> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_HANDED))];
        let mut beside = RecvAncillaryBuffer::new(&mut space);
        let mut parts = [IoSliceMut::new(bytes)];
        let message = retry_on_intr(|| recvmsg(&socket, &mut parts, &mut beside, RecvFlags::CMSG_CLOEXEC))?;
        for part in beside.drain() {
            if let RecvAncillaryMessage::ScmRights(files) = part {
                files.for_each(|file| self.add(file));
            }
        }
        match message.flags.contains(ReturnFlags::CTRUNC) {
            true => Err(Errno::MSGSIZE.into()),
            false => Ok(message.bytes),
        }
    }
}

impl FromIterator<OwnedFd> for Handed {
    fn from_iter<I: IntoIterator<Item = OwnedFd>>(files: I) -> Self {
        let mut handed = Handed::default();
        files.into_iter().for_each(|file| handed.add(file));
        handed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_bounded_number_of_files_arrive_with_their_bytes() {
        let (here, there) = UnixStream::pair().expect("a pair");
        let (reader, writer) = io::pipe().expect("a pipe");
        let sent: Handed = [writer.into()].into_iter().collect();
        assert_eq!(sent.send(&there, b"text").expect("it takes them"), 4);
        drop(sent);
        let (mut handed, mut bytes) = (Handed::default(), [0; 16]);
        assert_eq!(handed.receive(&here, &mut bytes).expect("they came"), 4);
        let mut file = handed.file(0).expect("a descriptor").expect("it came along");
        file.write_all(b"through").expect("the pipe is open");
        drop((file, handed));
        assert_eq!(io::read_to_string(reader).expect("the pipe ends"), "through");

        let many: Handed = (0..5).map(|_| io::pipe().expect("a pipe").0.into()).collect();
        assert_eq!(many.0.len(), MAX_HANDED);
    }
}
