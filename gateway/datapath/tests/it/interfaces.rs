//! The datapath between real interfaces of network namespaces. These tests need root: a process
//! with several threads cannot create a user namespace.

use fairwire_core::Duration;
use fairwire_datapath::classify::Classifier;
use fairwire_datapath::direction::DirectionPlan;
use fairwire_datapath::driver::Next;
use fairwire_datapath::ledger::Totals;
use fairwire_datapath::pool::PoolSize;
use fairwire_datapath::{Datapath, DatapathPlan, Wire, driver};
use fairwire_linux::af_packet::AfPacket;
use fairwire_linux::clock;
use fairwire_linux::port::{Port, PortError, PortHealth};
use fairwire_testbed::bed::{Bed, SINK_ADDRESS, SOURCE_ADDRESS, Side};
use fairwire_testbed::error::{Trouble, TroubleKind};
use fairwire_testbed::host::Host;
use fairwire_wire::flow_key::FlowHasher;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct Seen {
    outcome: Result<(), PortError>,
    forward: Totals,
    left: PortHealth,
}

/// Runs `traffic` through a gateway, on a separate thread, because the bed and `traffic` change the
/// network namespace of their thread. Returns `None` if the test must be skipped.
fn with_gateway<T: Send + 'static>(traffic: fn(&Bed) -> T) -> Option<(T, Seen)> {
    let lab = thread::spawn(move || -> Result<_, Trouble> {
        let hosts = Bed::new(1500)?;
        let [left, right] = Side::BOTH.map(|side| AfPacket::open(side.name()).expect("a packet socket"));
        let is_over = AtomicBool::new(false);
        Ok(thread::scope(|scope| {
            let gateway = scope.spawn(|| forward(Wire { left, right }, &is_over));
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| traffic(&hosts)));
            is_over.store(true, Ordering::Relaxed);
            let seen = gateway.join().expect("the gateway does not panic");
            (done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)), seen)
        }))
    });
    match lab.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)) {
        Ok(seen) => Some(seen),
        Err(trouble) if trouble.kind == TroubleKind::Other => panic!("{trouble:?}"),
        Err(trouble) => {
            fairwire_testing::skipped(format_args!("a test on real interfaces: {trouble:?}"));
            None
        }
    }
}

fn forward(mut wire: Wire<AfPacket>, is_over: &AtomicBool) -> Seen {
    let plan = || DirectionPlan {
        shaper: None,
        classifier: Classifier::new(FlowHasher::new([1; 16]), 0),
        pool: PoolSize { frames: 4096, frame_bytes: 1518 },
        flows: 16,
        classes: 1,
    };
    let plan = DatapathPlan { forward: plan(), backward: plan() };
    let mut datapath = Datapath::new(plan);
    let outcome = driver::run(&mut datapath, &mut wire, Duration::ZERO, &mut |now, _| {
        let is_over = is_over.load(Ordering::Relaxed);
        if is_over { Next::Stop } else { Next::CallAt(now + Duration::from_ms(5)) }
    });
    assert!(datapath.forward.is_balanced() && datapath.backward.is_balanced());
    Seen { outcome, forward: *datapath.forward.totals(), left: wire.left.health() }
}

fn socket_at(host: &Host, ip: Ipv4Addr) -> UdpSocket {
    host.enter().expect("a host of ours");
    let socket = UdpSocket::bind((ip, 7)).expect("a free port");
    socket.set_read_timeout(Some(std::time::Duration::from_secs(1))).expect("a timeout above zero");
    socket
}

fn ping(source: &UdpSocket, sink: &UdpSocket) -> Option<Duration> {
    let mut data = [0; 64];
    let sent = clock::now();
    source.send_to(&data, (SINK_ADDRESS, 7)).ok()?;
    let (_, peer): (_, SocketAddr) = sink.recv_from(&mut data).ok()?;
    sink.send_to(&data, peer).ok()?;
    source.recv_from(&mut data).ok()?;
    Some(clock::now().since(sent))
}

/// Waits until a datagram gets through. An interface may start to send only a second after the
/// kernel has noticed its carrier. The kernel tries to resolve an address once a second.
fn await_ping(source: &UdpSocket, sink: &UdpSocket) {
    let until = clock::now() + Duration::from_secs(10);
    while ping(source, sink).is_none() {
        assert!(clock::now() < until, "nothing came through for 10 s");
    }
}

#[test]
fn an_idle_gateway_delays_a_frame_by_less_than_100_us() {
    let Some((mut times, _)) = with_gateway(|hosts| {
        let (source, sink) = (socket_at(&hosts.source, SOURCE_ADDRESS), socket_at(&hosts.sink, SINK_ADDRESS));
        await_ping(&source, &sink);
        (0..300)
            .filter_map(|_| {
                thread::sleep(std::time::Duration::from_millis(1));
                ping(&source, &sink)
            })
            .collect::<Vec<_>>()
    }) else {
        return;
    };
    times.sort_unstable();
    assert!(times.len() >= 290, "datagrams are lost: only {} of 300 came back", times.len());
    let one_way_us = |part: usize| times[times.len() * part / 10].ns() as f64 / 2e3;
    println!("one way through the gateway: {} us (p10), {} us (p50)", one_way_us(1), one_way_us(5));
    // Other tests may use the processors, so the fastest tenth of the datagrams counts.
    assert!(one_way_us(1) < 100.0, "{} us", one_way_us(1));
}

const BULK_BYTES: usize = 20_000_000;

#[test]
fn super_packets_arrive_complete_and_leave_as_packets_that_tcp_accepts() {
    let Some((received, seen)) = with_gateway(|hosts| {
        hosts.sink.enter().expect("a host of ours");
        let listener = TcpListener::bind((SINK_ADDRESS, 7)).expect("a free port");
        hosts.source.enter().expect("a host of ours");
        let mut stream = TcpStream::connect((SINK_ADDRESS, 7)).expect("the gateway forwards");
        thread::scope(|scope| {
            scope.spawn(move || stream.write_all(&pattern()).expect("the sink listens"));
            let mut received = Vec::new();
            let (mut stream, _) = listener.accept().expect("the source connects");
            stream.read_to_end(&mut received).expect("the source ends");
            received
        })
    }) else {
        return;
    };
    assert!(received == pattern(), "{} bytes arrived, not as they were sent", received.len());
    let Totals { frames_received, packets_in, .. } = seen.forward;
    println!("{frames_received} frames, {packets_in} packets, {:?}", seen.left);
    assert!(packets_in > 2 * frames_received, "no super-packets came: {packets_in} of {frames_received}");
    assert_eq!(seen.left.truncated, 0);
}

fn pattern() -> Vec<u8> {
    (0..BULK_BYTES as u32 / 4).flat_map(u32::to_be_bytes).collect()
}

#[test]
fn an_interface_may_go_down_and_return_but_its_removal_ends_the_gateway() {
    let Some((_, seen)) = with_gateway(|hosts| {
        let (source, sink) = (socket_at(&hosts.source, SOURCE_ADDRESS), socket_at(&hosts.sink, SINK_ADDRESS));
        await_ping(&source, &sink);
        let (gateway, left) = (&hosts.gateway, Side::Left.end().index);
        gateway.take_down(left).expect("root may");
        assert_eq!(ping(&source, &sink), None, "it is down");
        gateway.bring_up(left).expect("root may");
        await_ping(&source, &sink);
        gateway.remove(left).expect("root may");
        // The gateway needs time to notice the removal.
        clock::sleep_until(clock::now() + Duration::from_ms(100));
    }) else {
        return;
    };
    assert!(matches!(seen.outcome, Err(PortError::Gone { ref name }) if name == "g0"), "{:?}", seen.outcome);
    assert!(seen.left.outages >= 2, "{:?}", seen.left);
}
