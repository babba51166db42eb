//! The sending host: TCP flows with endless data, and one UDP flow of constant rate.

use super::agent::{orders, report};
use super::message::{Order, Report};
use super::plan::{SINK, Traffic, source_of};
use fairwire_core::{Duration, Time};
use fairwire_linux::clock;
use fairwire_testbed::error::{During, Trouble};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, socket_with, sockopt};
use std::io::{ErrorKind, Write};
use std::net::{TcpStream, UdpSocket};
use std::num::NonZeroU64;
use std::thread;

/// Connects all flows, then sends from the start ordered until the end of the contest, then waits for the lab to end.
pub(super) fn run(traffic: &Traffic) -> Result<(), Trouble> {
    let orders = orders();
    let streams = connect_all(traffic)?;
    let udp = UdpSocket::bind(source_of(traffic.tcp_flows)).during("binding the UDP sender")?;
    udp.connect(SINK).during("connecting the UDP sender")?;
    report(&Report::Connected, &[])?;
    let Ok(Order::Start { at_ns }) = orders.recv() else { return Ok(()) };
    let start = Time::from_ns(at_ns);
    let end = start + Duration::from_ns(traffic.duration_ns);
    let begin = |flow: u32| start + Duration::from_ns(traffic.starts_ns[flow as usize]);
    thread::scope(|scope| {
        let mut flows: Vec<_> = (0..)
            .zip(streams)
            .map(|(flow, stream)| {
                let begin = begin(flow);
                scope.spawn(move || send_endlessly(stream, begin, end))
            })
            .collect();
        let begin = begin(traffic.tcp_flows);
        flows.push(scope.spawn(move || send_constantly(&udp, traffic, begin, end)));
        flows.into_iter().try_for_each(|flow| flow.join().expect("a sender does not panic"))
    })?;
    // Over: the process ends when the orders do.
    while orders.recv().is_ok() {}
    Ok(())
}

/// All at once, so that many flows do not wait for each other's round trips.
fn connect_all(traffic: &Traffic) -> Result<Vec<TcpStream>, Trouble> {
    thread::scope(|scope| {
        let flow = |flow| scope.spawn(move || connect_flow(flow, &traffic.congestion_control));
        let flows: Vec<_> = (0..traffic.tcp_flows).map(flow).collect();
        flows.into_iter().map(|flow| flow.join().expect("connecting does not panic")).collect()
    })
}

/// How long the sink may take to listen.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_ms(10);

fn connect_flow(flow: u32, congestion_control: &str) -> Result<TcpStream, Trouble> {
    let until = clock::now() + PATIENCE;
    loop {
        match try_to_connect(flow, congestion_control) {
            Err(error) if error.kind() == ErrorKind::ConnectionRefused && clock::now() < until => {
                clock::sleep_until(clock::now() + PAUSE);
            }
            outcome => return outcome.during("connecting to the sink"),
        }
    }
}

/// The congestion control is chosen before the connection stands: BBR, a common default, would leave its pacing behind.
fn try_to_connect(flow: u32, congestion_control: &str) -> std::io::Result<TcpStream> {
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    sockopt::set_tcp_congestion(&socket, congestion_control)?;
    bind(&socket, &source_of(flow))?;
    connect(&socket, &SINK)?;
    Ok(socket.into())
}

/// A write returns at least this often, so that the end is noticed.
const WRITE_TIMEOUT: std::time::Duration = std::time::Duration::from_millis(100);

fn send_endlessly(mut stream: TcpStream, begin: Time, end: Time) -> Result<(), Trouble> {
    stream.set_write_timeout(Some(WRITE_TIMEOUT)).during("setting up a TCP sender")?;
    let data = vec![0; 64 * 1024];
    clock::sleep_until(begin);
    while clock::now() < end {
        match stream.write(&data) {
            Ok(_) => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => return Err(Trouble::new("sending TCP", &error)),
        }
    }
    Ok(())
}

/// Packet `k` leaves at `begin` plus `k` packets' time at the rate. The schedule is absolute: a packet that is late is sent at
/// once, and the rate offered holds.
fn send_constantly(socket: &UdpSocket, traffic: &Traffic, begin: Time, end: Time) -> Result<(), Trouble> {
    // Without it packets are up to 50 us late, and the schedule holds all the same.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    let payload = vec![0; traffic.udp_payload_bytes as usize];
    for packet in 0.. {
        let due = begin + traffic.udp_offset(packet);
        if due >= end {
            break;
        }
        clock::sleep_until(due);
        socket.send(&payload).during("sending UDP")?;
    }
    Ok(())
}
