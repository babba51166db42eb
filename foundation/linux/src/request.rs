//! Netlink messages.

use std::io;
use std::net::IpAddr;

/// Bytes of struct nlmsghdr.
pub(crate) const HEADER_BYTES: usize = 16;
/// Flags that create an object. If the object exists, the kernel refuses with `EEXIST`.
pub(crate) const CREATE: i32 = libc::NLM_F_CREATE | libc::NLM_F_EXCL;
pub(crate) const IS_UP: u32 = libc::IFF_UP as u32;

/// The fields of struct ifinfomsg.
pub(crate) struct Link {
    pub index: u32,
    pub flags: u32,
    /// The flags to change.
    pub changed: u32,
}

impl Link {
    pub(crate) fn untouched(index: u32) -> Self {
        Link { index, flags: 0, changed: 0 }
    }
}

/// A netlink request under construction: a header, a fixed part, and nested attributes, all aligned
/// to four bytes.
pub(crate) struct Request(Vec<u8>);

impl Request {
    pub(crate) fn new(kind: u16, flags: i32) -> Self {
        let flags = (libc::NLM_F_REQUEST | libc::NLM_F_ACK | flags) as u16;
        let mut bytes = vec![0; HEADER_BYTES];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        Request(bytes)
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Appends struct ifinfomsg: family and type (any), index, flags, and a mask of changed flags.
    pub(crate) fn link(&mut self, link: Link) {
        self.raw(&[0; 4]);
        self.raw(&link.index.to_ne_bytes());
        self.raw(&link.flags.to_ne_bytes());
        self.raw(&link.changed.to_ne_bytes());
    }

    pub(crate) fn number(&mut self, kind: u16, value: u32) {
        self.attribute(kind, &value.to_ne_bytes());
    }

    /// Appends a number in netfilter's byte order, big-endian.
    pub(crate) fn number_be(&mut self, kind: u16, value: u32) {
        self.attribute(kind, &value.to_be_bytes());
    }

    /// Appends a text with the terminating zero that the kernel requires.
    pub(crate) fn text(&mut self, kind: u16, text: &str) {
        self.nested(kind, |request| {
            request.raw(text.as_bytes());
            request.raw(&[0]);
        });
    }

    pub(crate) fn address(&mut self, kind: u16, ip: IpAddr) {
        match ip {
            IpAddr::V4(ip) => self.attribute(kind, &ip.octets()),
            IpAddr::V6(ip) => self.attribute(kind, &ip.octets()),
        }
    }

    pub(crate) fn attribute(&mut self, kind: u16, value: &[u8]) {
        self.nested(kind, |request| request.raw(value));
    }

    pub(crate) fn nested(&mut self, kind: u16, inside: impl FnOnce(&mut Self)) {
        let start = self.0.len();
        self.raw(&[0; 2]);
        self.raw(&kind.to_ne_bytes());
        inside(self);
        let len = (self.0.len() - start) as u16;
        self.0[start..start + 2].copy_from_slice(&len.to_ne_bytes());
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
        let len = self.0.len() as u32;
        self.0[..4].copy_from_slice(&len.to_ne_bytes());
        self.0
    }
}

pub(crate) fn first_message(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let len = u32::from_ne_bytes(*bytes.first_chunk()?) as usize;
    let message = bytes.get(..len).filter(|_| len >= HEADER_BYTES)?;
    Some((message, bytes.get(len.next_multiple_of(4)..).unwrap_or_default()))
}

pub(crate) fn type_of(message: &[u8]) -> u16 {
    message.get(4..6).map_or(0, |kind| u16::from_ne_bytes([kind[0], kind[1]]))
}

pub(crate) fn attribute(mut attributes: &[u8], kind: u16) -> Option<&[u8]> {
    loop {
        let [low, high, rest @ ..] = attributes.first_chunk::<4>()?;
        let len = usize::from(u16::from_ne_bytes([*low, *high]));
        if u16::from_ne_bytes(*rest) == kind {
            return attributes.get(4..len);
        }
        attributes = attributes.get(len.max(4).next_multiple_of(4)..)?;
    }
}

/// Reads an acknowledgement: an error message with error number 0. struct nlmsgerr starts with the
/// negated error number.
pub(crate) fn acknowledgement(answer: &[u8]) -> io::Result<()> {
    let kind = answer.get(4..6).map(|b| u16::from_ne_bytes([b[0], b[1]]));
    let error =
        answer.get(HEADER_BYTES..).and_then(|rest| rest.first_chunk()).map(|b| i32::from_ne_bytes(*b));
    match (kind.map(i32::from), error) {
        (Some(libc::NLMSG_ERROR), Some(0)) => Ok(()),
        (Some(libc::NLMSG_ERROR), Some(error)) => Err(io::Error::from_raw_os_error(-error)),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "the kernel's answer is no acknowledgement")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_aligned_and_count_their_own_length() {
        let mut request = Request::new(16, 0);
        request.nested(18, |request| request.text(1, "veth"));
        let bytes = request.finish();
        assert_eq!(bytes.len(), 16 + 4 + 12);
        let u16_at = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        assert_eq!((u16_at(0), u16_at(4)), (32, 16)); // whole message, and its kind
        assert_eq!((u16_at(16), u16_at(18)), (16, 18)); // outer attribute, padding of the inner one included
        assert_eq!((u16_at(20), u16_at(22)), (9, 1)); // inner attribute, padding not included
        assert_eq!(&bytes[24..], b"veth\0\0\0\0");
    }

    #[test]
    fn an_answer_is_read_as_done_as_an_error_or_as_nonsense() {
        let answer = |kind: i32, error: i32| {
            let mut bytes = vec![0; HEADER_BYTES];
            bytes[4..6].copy_from_slice(&(kind as u16).to_ne_bytes());
            bytes.extend(error.to_ne_bytes());
            acknowledgement(&bytes)
        };
        assert!(answer(libc::NLMSG_ERROR, 0).is_ok());
        assert_eq!(answer(libc::NLMSG_ERROR, -libc::EPERM).unwrap_err().raw_os_error(), Some(libc::EPERM));
        assert!(answer(libc::NLMSG_DONE, 0).is_err());
        assert!(acknowledgement(&[]).is_err());
    }
}
