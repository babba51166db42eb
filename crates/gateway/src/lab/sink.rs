//! The receiving host: takes what comes and counts it, per flow.

use super::agent::{orders, report};
use super::message::{Arrived, Order, Report};
use super::plan::{SINK, Traffic, flow_of};
use fairwire_core::{Duration, Time};
use fairwire_linux::clock;
use fairwire_testbed::error::{During, Trouble};
use std::io::Read;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// Receives until the lab ends, and reports what arrived by the end of the contest.
pub(super) fn run(traffic: &Traffic) -> Result<(), Trouble> {
    let orders = orders();
    let counts: Counts = (0..=traffic.tcp_flows).map(|_| AtomicU64::new(0)).collect();
    let listener = TcpListener::bind(SINK).during("listening for TCP")?;
    let socket = UdpSocket::bind(SINK).during("listening for UDP")?;
    let (tcp, udp) = (Arc::clone(&counts), Arc::clone(&counts));
    thread::spawn(move || accept(&listener, &tcp));
    thread::spawn(move || receive_datagrams(&socket, &udp));
    let Ok(Order::Start { at_ns }) = orders.recv() else { return Ok(()) };
    let at = |offset_ns| Time::from_ns(at_ns) + Duration::from_ns(offset_ns);
    clock::sleep_until(at(traffic.warm_up_ns));
    let warm_up = snapshot(&counts);
    clock::sleep_until(at(traffic.duration_ns));
    report(&Report::Arrived(arrived(&warm_up, &snapshot(&counts))), &[])?;
    while orders.recv().is_ok() {}
    Ok(())
}

/// Payload bytes so far, per flow; the UDP flow is last.
type Counts = Arc<[AtomicU64]>;

/// The counts at one instant.
struct Snapshot {
    at: Time,
    bytes: Vec<u64>,
}

fn snapshot(counts: &Counts) -> Snapshot {
    Snapshot { at: clock::now(), bytes: counts.iter().map(|count| count.load(Ordering::Relaxed)).collect() }
}

fn arrived(warm_up: &Snapshot, end: &Snapshot) -> Arrived {
    Arrived {
        window_ns: end.at.since(warm_up.at).ns(),
        payload_bytes: warm_up.bytes.iter().zip(&end.bytes).map(|(before, after)| after - before).collect(),
    }
}

/// A connection that fails shows as a flow of which nothing more arrives; its sender tells why.
fn accept(listener: &TcpListener, counts: &Counts) {
    for stream in listener.incoming().flatten() {
        let flow = stream.peer_addr().ok().and_then(|peer| flow_of(peer.port()));
        let counts = Arc::clone(counts);
        thread::spawn(move || {
            if let Some(count) = flow.and_then(|flow| counts.get(flow as usize)) {
                receive_stream(stream, count);
            }
        });
    }
}

fn receive_stream(mut stream: TcpStream, count: &AtomicU64) {
    let mut data = vec![0; 64 * 1024];
    while let Ok(bytes) = stream.read(&mut data) {
        if bytes == 0 {
            return;
        }
        count.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

fn receive_datagrams(socket: &UdpSocket, counts: &Counts) {
    let mut data = vec![0; 64 * 1024];
    while let (Ok((bytes, peer)), Some(udp)) = (socket.recv_from(&mut data), counts.len().checked_sub(1)) {
        if flow_of(peer.port()) == Some(udp as u32) {
            counts[udp].fetch_add(bytes as u64, Ordering::Relaxed);
        }
    }
}
