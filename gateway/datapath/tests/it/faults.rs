//! The gateway's handling of failures of real interfaces. Without root, these tests print a
//! prominent message and pass.

use fairwire_core::{Duration, Time};
use fairwire_datapath::classify::Classifier;
use fairwire_datapath::direction::DirectionPlan;
use fairwire_datapath::driver::Next;
use fairwire_datapath::ledger::{Loss, Totals};
use fairwire_datapath::pool::PoolSize;
use fairwire_datapath::{Datapath, DatapathPlan, Wire, driver};
use fairwire_linux::af_packet::AfPacket;
use fairwire_linux::clock;
use fairwire_linux::netlink::Address;
use fairwire_linux::port::{Outgoing, Port, PortError, PortHealth};
use fairwire_linux::tun::Tun;
use fairwire_testbed::bed::{Bed, HOST, SINK_ADDRESS, SOURCE_ADDRESS, Side};
use fairwire_testbed::error::TroubleKind;
use fairwire_testbed::host::Host;
use fairwire_wire::flow_key::FlowHasher;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

struct Seen {
    outcome: Result<(), PortError>,
    forward: Totals,
    health: [PortHealth; 2],
}

/// Runs `test` on a separate thread, because `test` changes the network namespace of its thread.
fn on_a_bed(test: impl FnOnce(&Bed) + Send + 'static) {
    let lab = thread::spawn(|| Bed::new(1500).map(|bed| test(&bed)));
    match lab.join().unwrap_or_else(|panic| resume_unwind(panic)) {
        Ok(()) => {}
        Err(trouble) if trouble.kind != TroubleKind::Other => {
            fairwire_testing::skipped(format_args!("a test of faults on real interfaces: {trouble}"));
        }
        Err(trouble) => panic!("{trouble}"),
    }
}

type Open = fn(&str) -> Result<AfPacket, PortError>;

const WAYS: [(&str, Open); 2] = [("ring", AfPacket::open), ("queue", AfPacket::open_without_ring)];

fn wire(open: Open) -> Wire<AfPacket> {
    let [left, right] = Side::BOTH.map(|side| open(side.name()).expect("a packet socket"));
    Wire { left, right }
}

fn beside<T, P: Port + AsFd + Send>(
    wire: Wire<P>,
    frame_bytes: u32,
    traffic: impl FnOnce() -> T,
) -> (T, Seen) {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let gateway = scope.spawn(|| forward(wire, frame_bytes, &is_over));
        let done = catch_unwind(AssertUnwindSafe(traffic));
        is_over.store(true, Ordering::Relaxed);
        let seen = gateway.join().expect("the gateway does not panic");
        (done.unwrap_or_else(|panic| resume_unwind(panic)), seen)
    })
}

fn forward<P: Port + AsFd>(mut wire: Wire<P>, frame_bytes: u32, is_over: &AtomicBool) -> Seen {
    let plan = || DirectionPlan {
        shaper: None,
        classifier: Classifier::new(FlowHasher::new([1; 16]), 0),
        pool: PoolSize { frames: 4096, frame_bytes },
        flows: 16,
        classes: 1,
    };
    let mut datapath = Datapath::new(DatapathPlan { forward: plan(), backward: plan() });
    let outcome = driver::run(&mut datapath, &mut wire, Duration::ZERO, &mut |now, _| {
        let is_over = is_over.load(Ordering::Relaxed);
        if is_over { Next::Stop } else { Next::CallAt(now + Duration::from_ms(5)) }
    });
    assert!(datapath.forward.is_balanced() && datapath.backward.is_balanced());
    let health = [wire.left.health(), wire.right.health()];
    Seen { outcome, forward: *datapath.forward.totals(), health }
}

fn socket_at(host: &Host, ip: Ipv4Addr) -> UdpSocket {
    host.enter().expect("a host of ours");
    let socket = UdpSocket::bind((ip, 7)).expect("a free port");
    socket.set_read_timeout(Some(std::time::Duration::from_millis(300))).expect("a timeout above zero");
    socket
}

fn hosts(bed: &Bed) -> (UdpSocket, UdpSocket) {
    (socket_at(&bed.source, SOURCE_ADDRESS), socket_at(&bed.sink, SINK_ADDRESS))
}

/// Sends a datagram and awaits its answer. Skips datagrams of earlier calls.
fn ping(here: &UdpSocket, there: &UdpSocket, bytes: usize) -> bool {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed).to_ne_bytes();
    let await_number = |socket: &UdpSocket| {
        let mut data = vec![0; 9000];
        loop {
            match socket.recv_from(&mut data) {
                Ok((_, peer)) if data[..4] == number => return Some(peer),
                Ok(_) => {}
                Err(_) => return None, // timed out
            }
        }
    };
    let mut data = vec![0; bytes];
    data[..4].copy_from_slice(&number);
    let is_sent = there.local_addr().and_then(|to| here.send_to(&data, to)).is_ok();
    let is_answered = |peer: SocketAddr| there.send_to(&number, peer).is_ok();
    is_sent && await_number(there).is_some_and(is_answered) && await_number(here).is_some()
}

/// Waits until a datagram gets through. A carrier and address resolution may take up to a second
/// each.
fn await_ping(here: &UdpSocket, there: &UdpSocket) {
    wait_until("something comes through", || ping(here, there, 64));
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = clock::now() + Duration::from_secs(10);
    while !is_so() {
        assert!(clock::now() < until, "waited 10 s in vain until {what}");
        clock::sleep_until(clock::now() + Duration::from_ms(1));
    }
}

#[test]
fn traffic_resumes_after_an_interface_was_down() {
    for (way, open) in WAYS {
        on_a_bed(move |bed| {
            let (source, sink) = hosts(bed);
            bed.gateway.enter().expect("a host of ours");
            let ((), seen) = beside(wire(open), 1518, || {
                await_ping(&source, &sink);
                for side in Side::BOTH {
                    bed.gateway.take_down(side.end().index).expect("root may");
                    assert!(!ping(&source, &sink, 64), "{way}: it is down");
                    bed.gateway.bring_up(side.end().index).expect("root may");
                    await_ping(&source, &sink);
                }
            });
            assert!(seen.outcome.is_ok(), "{way}: {:?}", seen.outcome);
            let outages = seen.health.map(|health| health.outages);
            assert!(outages.iter().all(|outages| (1..=2).contains(outages)), "{way}: {outages:?}");
        });
    }
}

#[test]
fn a_removed_interface_is_named() {
    for (way, open) in WAYS {
        for side in Side::BOTH {
            on_a_bed(move |bed| {
                let (source, sink) = hosts(bed);
                bed.gateway.enter().expect("a host of ours");
                let ((), seen) = beside(wire(open), 1518, || {
                    await_ping(&source, &sink);
                    bed.gateway.remove(side.end().index).expect("root may");
                    // The gateway needs time to notice the removal, since no packet shows it.
                    clock::sleep_until(clock::now() + Duration::from_ms(100));
                });
                let is_named =
                    matches!(seen.outcome, Err(PortError::Gone { ref name }) if name == side.name());
                assert!(is_named, "{way}: {:?}", seen.outcome);
            });
        }
    }
}

#[test]
fn after_an_mtu_increase_larger_frames_are_taken_or_counted() {
    for (way, open) in WAYS {
        for (frame_bytes, is_taken) in [(9018, true), (1518, false)] {
            on_a_bed(move |bed| {
                let (source, sink) = hosts(bed);
                bed.gateway.enter().expect("a host of ours");
                let ((), seen) = beside(wire(open), frame_bytes, || {
                    await_ping(&source, &sink);
                    bed.set_mtu(4000).expect("root may");
                    if is_taken {
                        wait_until("a larger one comes through", || ping(&source, &sink, 3000));
                    } else {
                        assert!(!ping(&source, &sink, 3000), "{way}: there is no room for it");
                    }
                    await_ping(&source, &sink); // smaller ones still pass
                });
                let too_long = seen.forward.lost[Loss::TooLong as usize];
                assert_eq!(too_long, u64::from(!is_taken), "{way}");
            });
        }
    }
}

/// A numbered frame between addresses that no host has.
fn frame(number: u32) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 0x08, 0x00];
    frame.extend([0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0, 10, 9, 0, 1, 10, 9, 0, 2]);
    frame.extend([0, 9, 0, 9, 0, 26, 0, 0]);
    frame.extend(number.to_be_bytes());
    frame.resize(60, 0);
    frame
}

fn port_at(bed: &Bed, host: &Host) -> AfPacket {
    host.enter().expect("a host of ours");
    let port = AfPacket::open(HOST.name).expect("a packet socket");
    bed.gateway.enter().expect("a host of ours");
    port
}

fn numbers(port: &mut AfPacket) -> Vec<u32> {
    let mut numbers = Vec::new();
    loop {
        let count = numbers.len();
        let mut came = 0;
        let take = &mut |bytes: &[u8], _: &_| {
            came += 1;
            if bytes.starts_with(&frame(0)[..14]) {
                numbers.push(u32::from_be_bytes(bytes[42..46].try_into().expect("four")));
            }
        };
        port.receive(take).expect("the port works");
        if came == 0 {
            return numbers;
        }
        assert!(numbers.len() >= count);
    }
}

#[test]
fn frames_not_fetched_in_time_are_counted_and_the_rest_stay_in_order() {
    for (way, open) in WAYS {
        on_a_bed(move |bed| {
            let mut source = port_at(bed, &bed.source);
            let mut left = open(Side::Left.name()).expect("a packet socket");
            await_carrier(&mut source, &mut left);
            let before = left.health().overflows;
            let count = 100_000;
            let refused = (0..count).filter(|number| !source.transmit(&frame(*number))).count();
            let numbers = numbers(&mut left);
            assert!(numbers.is_sorted() && numbers.first() == Some(&0), "{way}");
            let lost = count as usize - refused - numbers.len();
            assert!(lost > 0, "{way}: {} came", numbers.len());
            let overflows = left.health().overflows - before;
            // Packets that the kernel itself sends also overflow, so up to 19 more are allowed.
            assert!((lost as u64..lost as u64 + 20).contains(&overflows), "{way}: {overflows}, not {lost}");
        });
    }
}

fn await_carrier(source: &mut AfPacket, left: &mut AfPacket) {
    wait_until("the pair has a carrier", || {
        source.transmit(&frame(7));
        !numbers(left).is_empty()
    });
}

#[test]
fn refusals_of_a_full_device_queue_are_counted_per_frame() {
    on_a_bed(|bed| {
        let queue = [
            "qdisc",
            "add",
            "dev",
            Side::Right.name(),
            "root",
            "tbf",
            "rate",
            "8kbit",
            "burst",
            "1600",
            "limit",
            "1600",
        ];
        match Command::new("tc").args(queue).output() {
            Ok(output) if output.status.success() => {}
            outcome => {
                return fairwire_testing::skipped(format_args!(
                    "a full device queue: no tbf from tc: {outcome:?}"
                ));
            }
        }
        let (mut source, mut sink) = (port_at(bed, &bed.source), port_at(bed, &bed.sink));
        let ((), seen) = beside(wire(AfPacket::open), 1518, || {
            wait_until("one comes through", || {
                source.transmit(&frame(7));
                !numbers(&mut sink).is_empty()
            });
            let frames: Vec<_> = (0..500).map(frame).collect();
            let batch: Vec<_> = frames.iter().map(|bytes| Outgoing::of(bytes)).collect();
            batch.chunks(50).for_each(|batch| assert_eq!(source.transmit_all(batch).count(), 0));
            clock::sleep_until(clock::now() + Duration::from_ms(50));
        });
        let refused = seen.forward.lost[Loss::Refused as usize];
        assert!((300..).contains(&refused), "{:?}", seen.forward);
        assert_eq!(seen.forward.packets_in, seen.forward.packets_out + refused);
    });
}

#[test]
fn runts_and_nonsense_pass_unchanged() {
    on_a_bed(|bed| {
        let (mut source, mut sink) = (port_at(bed, &bed.source), port_at(bed, &bed.sink));
        let addresses = &frame(0)[..12];
        let nonsense: Vec<Vec<u8>> = [
            &[0x08, 0x00][..],                                    // no bytes after the header
            &[0x08, 0x00, 0x45],                                  // one octet of an IP header
            &[0x08, 0x00, 0xff, 0xff, 0xff],                      // an invalid IP version
            &[0x86, 0xdd, 0x60, 0, 0, 0, 0xff],                   // a truncated IPv6 header
            &[0x81, 0, 0, 1, 0x81, 0, 0, 2, 0x81, 0, 0, 3, 8, 0], // nested tags
            &[0x00, 0x05, 1, 2, 3, 4, 5],                         // a length instead of a type
        ]
        .map(|rest| [addresses, rest].concat())
        .into();
        let (came, seen) = beside(wire(AfPacket::open), 1518, || {
            await_through(&mut source, &mut sink);
            nonsense.iter().for_each(|frame| assert!(source.transmit(frame), "{frame:?}"));
            let mut came = Vec::new();
            wait_until("all have come", || {
                let take = &mut |bytes: &[u8], _: &_| {
                    if nonsense.iter().any(|frame| frame == bytes) {
                        came.push(bytes.to_vec());
                    }
                };
                sink.receive(take).expect("the port works");
                came.len() == nonsense.len()
            });
            came
        });
        assert!(came == nonsense && seen.outcome.is_ok(), "{came:?}");
        assert_eq!(seen.forward.packets_gone(), 0);
    });
}

fn await_through(source: &mut AfPacket, sink: &mut AfPacket) {
    wait_until("something comes through", || {
        source.transmit(&frame(7));
        clock::sleep_until(clock::now() + Duration::from_ms(1));
        !numbers(sink).is_empty()
    });
}

const INSIDE: Ipv4Addr = Ipv4Addr::new(10, 5, 0, 1);
const OUTSIDE: Ipv4Addr = Ipv4Addr::new(10, 5, 0, 2);

fn tuns(bed: &Bed) -> Wire<Tun> {
    let [left, right] =
        [("inside", &bed.source, INSIDE), ("outside", &bed.sink, OUTSIDE)].map(|(name, host, ip)| {
            host.enter().expect("a host of ours");
            let tun = Tun::create(name, 1400).expect("a TUN device");
            let index = host.index_of(name).expect("it was just made");
            host.add_address(index, Address { ip: ip.into(), prefix_bits: 24 }).expect("root may");
            tun
        });
    Wire { left, right }
}

#[test]
fn two_tun_devices_carry_datagrams_and_tcp_super_packets() {
    on_a_bed(|bed| {
        let wire = tuns(bed);
        let (source, sink) = (socket_at(&bed.source, INSIDE), socket_at(&bed.sink, OUTSIDE));
        const BYTES: usize = 20_000_000;
        let pattern: Vec<u8> = (0..BYTES as u32 / 4).flat_map(u32::to_be_bytes).collect();
        let (received, seen) = beside(wire, 1414, || {
            await_ping(&source, &sink);
            bed.sink.enter().expect("a host of ours");
            let listener = TcpListener::bind((OUTSIDE, 7)).expect("a free port");
            bed.source.enter().expect("a host of ours");
            let mut stream = TcpStream::connect((OUTSIDE, 7)).expect("the gateway forwards");
            thread::scope(|scope| {
                let pattern = &pattern;
                scope.spawn(move || stream.write_all(pattern).expect("the sink listens"));
                let mut received = Vec::new();
                let (mut stream, _) = listener.accept().expect("the source connects");
                stream.read_to_end(&mut received).expect("the source ends");
                received
            })
        });
        assert!(received == pattern, "{} bytes arrived, not as they were sent", received.len());
        let Totals { frames_received, packets_in, .. } = seen.forward;
        assert!(packets_in > 2 * frames_received, "no super-packets came: {packets_in} of {frames_received}");
        bed.source.enter().expect("a host of ours");
        let interfaces = || std::fs::read_to_string("/proc/thread-self/net/dev").expect("the kernel's table");
        assert!(interfaces().contains(HOST.name));
        // Another test may start a program, which holds the device's descriptor until its exec.
        wait_until("the device is gone", || !interfaces().contains("inside"));
    });
}

#[test]
fn refusals_of_a_down_tun_device_are_counted() {
    on_a_bed(|bed| {
        let mut wire = tuns(bed);
        let packet = &frame(0)[14..];
        assert!(wire.right.transmit(packet));
        let down = |name: &str| Command::new("ip").args(["link", "set", name, "down"]).output();
        bed.sink.enter().expect("a host of ours");
        match down("outside") {
            Ok(output) if output.status.success() => {}
            outcome => {
                return fairwire_testing::skipped(format_args!("a TUN device down: no ip: {outcome:?}"));
            }
        }
        assert!(!wire.right.transmit(packet) && !wire.right.transmit(packet));
        assert_eq!(wire.right.health().outages, 1, "down once");
        assert!(wire.right.check().is_ok(), "down is not gone");
        assert!(
            Command::new("ip").args(["link", "del", "outside"]).status().is_ok_and(|status| status.success())
        );
        let is_named = |error| matches!(error, PortError::Gone { ref name } if name == "outside");
        assert!(wire.right.check().is_err_and(is_named));
        let mut datapath = Datapath::new(plan());
        assert!(datapath.step(&mut wire, Time::ZERO).is_err_and(is_named));
    });
}

fn plan() -> DatapathPlan {
    let plan = || DirectionPlan {
        shaper: None,
        classifier: Classifier::new(FlowHasher::new([1; 16]), 0),
        pool: PoolSize { frames: 16, frame_bytes: 1518 },
        flows: 16,
        classes: 1,
    };
    DatapathPlan { forward: plan(), backward: plan() }
}
