//! Enlarges a socket's receive buffer in the kernel, and counts the packets that found no room in
//! it.
#![allow(unsafe_code, reason = "the kernel writes a structure; the block says why it is sound")]

use rustix::net::sockopt;
use std::os::fd::{AsFd, AsRawFd};

/// Enlarges the receive buffer up to `net.core.rmem_max`, or beyond with `CAP_NET_ADMIN`. Ignores
/// errors: a smaller buffer also works, and its overflows are counted.
pub fn enlarge_buffer(socket: impl AsFd, bytes: usize) {
    if sockopt::set_socket_recv_buffer_size_force(&socket, bytes).is_err() {
        let _ = sockopt::set_socket_recv_buffer_size(&socket, bytes);
    }
}

/// `SO_MEMINFO` (include/uapi/asm-generic/socket.h), in Linux since 4.12. Its ninth word is
/// `SK_MEMINFO_DROPS` (include/uapi/linux/sock_diag.h).
const SO_MEMINFO: libc::c_int = 55;
const WORDS: usize = 9;

/// Datagrams that found no room in the buffer of `socket` since its creation, modulo 2³²; 0 if the
/// kernel does not report it.
pub fn dropped(socket: impl AsFd) -> u32 {
    let mut words = [0_u32; WORDS];
    let mut length = size_of_val(&words) as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes into `words`, which has this size, and
    // updates `length`. Both outlive the call.
    let outcome = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            SO_MEMINFO,
            words.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if outcome == 0 && length as usize == size_of_val(&words) { words[WORDS - 1] } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    #[test]
    fn packets_without_room_are_counted() {
        let [receiver, sender] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").expect("a port is free"));
        let to = receiver.local_addr().expect("it is bound");
        sockopt::set_socket_recv_buffer_size(&receiver, 4096).expect("a small one is allowed");
        assert_eq!(dropped(&receiver), 0);
        let send = || (0..100).for_each(|_| drop(sender.send_to(&[0; 100], to)));
        send();
        let lost = dropped(&receiver);
        assert!((1..100).contains(&lost), "{lost}");
        enlarge_buffer(&receiver, 128 << 10);
        send();
        assert_eq!(dropped(&receiver), lost, "the larger one has room");
    }
}
