//! The kernel's state of a TCP connection: `TCP_INFO` (tcp(7)).
#![allow(
    unsafe_code,
    reason = "the kernel's structures are read and written; each block says why it is sound"
)]

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// The state of a TCP sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Congestion window, segments.
    pub cwnd: u32,
    /// The slow-start threshold, in segments; `None` before the first loss.
    pub ssthresh: Option<u32>,
    /// The smoothed round-trip time, in microseconds; `None` before the first sample.
    pub srtt_us: Option<u32>,
    /// The segments retransmitted since the connection began.
    pub retransmissions: u32,
    /// The latest estimate of the delivery rate, in bit/s of payload; `None` if there is none.
    pub delivery_rate_bps: Option<u64>,
}

/// The bytes of `struct tcp_info` up to the end of `tcpi_delivery_rate`, in Linux since 4.9.
const BYTES: usize = 168;
/// `TCP_INFINITE_SSTHRESH` (include/net/tcp.h).
const INFINITE: u32 = 0x7fff_ffff;

/// Reads the state of the TCP connection `socket`.
///
/// # Errors
/// If `socket` is not a TCP socket, or the kernel is older than 4.9.
pub fn tcp_info(socket: impl AsFd) -> io::Result<TcpInfo> {
    let mut bytes = [0u8; BYTES];
    let mut length = BYTES as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes into `bytes`, which has this size, and
    // updates `length`. Both outlive the call.
    let outcome = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            bytes.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if outcome < 0 {
        return Err(io::Error::last_os_error());
    }
    if (length as usize) < BYTES {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "TCP_INFO of a kernel before 4.9"));
    }
    Ok(TcpInfo::from_bytes(&bytes))
}

impl TcpInfo {
    /// Reads `struct tcp_info` (include/uapi/linux/tcp.h), which only grows at its end.
    fn from_bytes(bytes: &[u8; BYTES]) -> Self {
        let word = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let long = |at: usize| {
            let mut octets = [0; 8];
            octets.copy_from_slice(&bytes[at..at + 8]);
            u64::from_ne_bytes(octets)
        };
        let (srtt_us, ssthresh, rate) = (word(68), word(76), long(160));
        TcpInfo {
            cwnd: word(80),
            ssthresh: (ssthresh < INFINITE).then_some(ssthresh),
            srtt_us: (srtt_us > 0).then_some(srtt_us),
            retransmissions: word(100),
            delivery_rate_bps: (rate > 0).then(|| rate.saturating_mul(8)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};

    #[test]
    fn a_connection_that_sent_has_a_window_a_round_trip_time_and_a_rate() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut receiver, _) = listener.accept().unwrap();
        let fresh = tcp_info(&sender).unwrap();
        assert_eq!((fresh.ssthresh, fresh.retransmissions), (None, 0));
        assert!(fresh.cwnd > 0, "{fresh:?}");
        sender.write_all(&[0; 100_000]).unwrap();
        receiver.read_exact(&mut [0; 100_000]).unwrap();
        let info = tcp_info(&sender).unwrap();
        assert!(info.cwnd >= fresh.cwnd, "{info:?}");
        assert!(info.srtt_us.is_some_and(|us| us > 0 && us < 1_000_000), "{info:?}");
        assert!(info.delivery_rate_bps.is_some_and(|bps| bps > 1_000_000), "{info:?}");
    }

    #[test]
    fn a_socket_that_is_not_tcp_is_refused() {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        assert!(tcp_info(&socket).is_err());
    }
}
