//! The promises of `fairwire lab shell` about its link: its rate within 1 %, and its delay within
//! 0.2 ms in each direction.

use crate::fallible::Fallible;
use crate::fault::Happened;
use crate::gateway::simulator;
use fairwire_core::Duration;
use fairwire_linux::clock;
use fairwire_metrics::judge::Allowed;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, ipproto, recv, sendto, socket};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// The argument that starts this program as a command behind a link.
pub const PROBE_COMMAND: &str = "shell-probe";
/// The address of the machine behind the relay.
const OUTSIDE: Ipv4Addr = Ipv4Addr::new(100, 64, 0, 1);

/// The two cases: a round trip, and the data that arrives per second.
pub fn all() -> Vec<Happened> {
    vec![
        Happened::tried(false, &mut || {
            Happened::of("shell-delay", "a packet takes the link's delay, and 0.2 ms more at most", delay)
        }),
        Happened::tried(false, &mut || {
            Happened::of("shell-rate", "what arrives is the link's rate within 1 %", rate)
        }),
    ]
}

/// An echo request, as in `ping`: IPv4 and ICMP headers, and 56 bytes of data.
const ECHO_BYTES: u32 = 20 + 8 + 56;
const ECHOES: usize = 200;
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);

fn delay(happened: &mut Happened) -> Fallible<()> {
    for (rate_mbit, delay_ms) in [(10.0, 20.0), (1000.0, 1.0)] {
        let printed = behind(rate_mbit, delay_ms, &["echo"])?;
        let mut ms: Vec<f64> = printed.lines().filter_map(|line| line.parse().ok()).collect();
        ms.sort_by(f64::total_cmp);
        let sending_ms = f64::from(ECHO_BYTES * 8) / (rate_mbit * 1e3);
        let more = |part: f64| {
            let at = (part * ms.len() as f64) as usize;
            ms.get(at).map_or(f64::NAN, |round_trip| round_trip / 2.0 - delay_ms - sending_ms)
        };
        let of = format!("of {delay_ms} ms at {rate_mbit} Mbit/s");
        happened.count(&format!("echoes {of}"), ms.len() as f64);
        happened.count(&format!("the most of 95 % beyond a delay {of}, ms"), more(0.95));
        let allowed = Allowed { min: 0.0, max: 0.2 };
        happened.expect_in_time(&format!("the median beyond a delay {of}, ms"), more(0.5), allowed);
    }
    Ok(())
}

/// The bytes of a full TCP segment with timestamps: its payload, and its IP packet.
const SEGMENT: (f64, f64) = (1448.0, 1500.0);
/// The number of measured seconds. Senders leave the link partly idle while they recover from
/// losses, so each second is counted separately.
const COUNTED: usize = 9;

fn rate(happened: &mut Happened) -> Fallible<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            thread::spawn(move || send_on(&connection));
        }
    });
    for rate_mbit in [2.0, 20.0, 200.0] {
        let printed = behind(rate_mbit, 5.0, &["receive", &port.to_string()])?;
        let part = |bytes_per_s: f64| bytes_per_s * 8.0 * (SEGMENT.1 / SEGMENT.0) / (rate_mbit * 1e6);
        let parts = printed.lines().filter_map(|line| line.parse().ok()).map(part);
        let mut parts: Vec<f64> = parts.collect();
        parts.sort_by(f64::total_cmp);
        let of = format!("the part of {rate_mbit} Mbit/s that arrives in a second");
        happened.count(&format!("{of}, least"), parts.first().copied().unwrap_or(f64::NAN));
        let median = parts.get(COUNTED / 2).copied().unwrap_or(f64::NAN);
        happened.expect_in_time(&format!("{of}, median"), median, Allowed { min: 0.99, max: 1.01 });
    }
    Ok(())
}

fn send_on(mut connection: &TcpStream) {
    let some = [0; 65536];
    while connection.write_all(&some).is_ok() {}
}

fn behind(rate_mbit: f64, delay_ms: f64, words: &[&str]) -> Fallible<String> {
    let output = Command::new(simulator()?)
        .args(["--quiet", "lab", "shell", "--outside", "relay"])
        .args(["--rate", &format!("{rate_mbit} Mbit/s"), "--delay", &format!("{delay_ms} ms")])
        // This buffer lets senders keep the link busy.
        .args(["--buffer", "500 packets", "--"])
        .arg(std::env::current_exe()?)
        .arg(PROBE_COMMAND)
        .args(words)
        .output()?;
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout)?),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
    }
}

/// Runs the command behind the link, which prints its measurements.
///
/// # Errors
/// A kernel error, or invalid words.
pub fn probe(words: &[String]) -> Fallible<()> {
    match words {
        [word] if word == "echo" => echo(),
        [word, port] if word == "receive" => receive(port.parse()?),
        _ => Err(format!("{PROBE_COMMAND} {}; allowed: echo, or receive PORT", words.join(" ")).into()),
    }
}

fn echo() -> Fallible<()> {
    let socket = socket(AddressFamily::INET, SocketType::RAW, Some(ipproto::ICMP))?;
    set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE))?; // a lost answer ends the wait
    let to = SocketAddrV4::new(OUTSIDE, 0);
    for number in 0..ECHOES as u16 {
        let request = request(number);
        let began = clock::now();
        sendto(&socket, &request, SendFlags::empty(), &to)?;
        let mut answer = [0; 1500];
        loop {
            let (length, _) = recv(&socket, &mut answer[..], RecvFlags::empty())?;
            // The answer is an IPv4 header without options, then the ICMP type, code, checksum,
            // identifier and number.
            if length >= 28 && answer[20] == 0 && answer[26..28] == number.to_be_bytes() {
                break;
            }
        }
        println!("{:.4}", clock::now().since(began).secs() * 1e3);
        clock::sleep_until(clock::now() + Duration::from_ms(2));
    }
    Ok(())
}

/// An ICMP echo request (RFC 792).
fn request(number: u16) -> [u8; 64] {
    let mut bytes = [0; 64];
    bytes[0] = 8;
    bytes[6..8].copy_from_slice(&number.to_be_bytes());
    // All other 16-bit words are zero, and `number` is small, so the sum has no carry.
    let checksum = !(0x0800 + number);
    bytes[2..4].copy_from_slice(&checksum.to_be_bytes());
    bytes
}

/// The number of connections. Several keep the link busy while one of them recovers from a loss.
const CONNECTIONS: usize = 4;
/// The time after which slow start and its overshoot are over.
const SETTLING: Duration = Duration::from_secs(3);

fn receive(port: u16) -> Fallible<()> {
    let bytes = Arc::new(AtomicU64::new(0));
    for _ in 0..CONNECTIONS {
        let mut connection = TcpStream::connect((OUTSIDE, port))?;
        let count = Arc::clone(&bytes);
        thread::spawn(move || {
            let mut some = vec![0; 1 << 16];
            while let Ok(length @ 1..) = connection.read(&mut some) {
                count.fetch_add(length as u64, Ordering::Relaxed);
            }
        });
    }
    clock::sleep_until(clock::now() + SETTLING);
    let look = || (clock::now(), bytes.load(Ordering::Relaxed));
    let mut before = look();
    for _ in 0..COUNTED {
        clock::sleep_until(before.0 + Duration::from_secs(1));
        let now = look();
        println!("{}", (now.1 - before.1) as f64 / now.0.since(before.0).secs());
        before = now;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_of_a_request_makes_its_words_sum_to_ones() {
        for number in [0, 1, 199] {
            let words =
                request(number).chunks(2).map(|two| u32::from(two[0]) << 8 | u32::from(two[1])).sum::<u32>();
            assert_eq!(words, 0xffff, "{number}");
        }
    }
}
