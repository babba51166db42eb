//! The guest's network for a contest: one host of senders per class, a router, and the receivers.
//!
//! ```text
//! senders of class 0 -- router == bottleneck == receivers
//! senders of class 1 --/
//! ```
//!
//! From the router to the senders of a class, netem delays acknowledgements by the class's
//! round-trip time. If the link's wire has faults, netem applies them in a bridge before the
//! receivers.

use super::contest::Contest;
use super::program::{Fallible, command};
use fairwire_core::Duration;
use fairwire_linux::netlink::{Address, End, Route};
use fairwire_linux::traffic_control::Impairment;
use fairwire_testbed::error::Trouble;
use fairwire_testbed::host::{Host, Wire};
use fairwire_testbed::path::Faults;
use fairwire_testbed::shaping::Shaping;
use std::net::Ipv4Addr;

/// The hosts of a contest, which end with this value.
#[derive(Debug)]
pub(super) struct Hosts {
    /// The senders, one host per class.
    pub senders: Vec<Host>,
    /// The host between the senders and the receivers.
    pub router: Host,
    /// The wire behind the bottleneck, if it has faults.
    pub wire: Option<Host>,
    /// The receivers.
    pub receiver: Host,
}

pub(super) const RECEIVER: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);
/// The receivers' interface.
pub(super) const ARRIVALS: End<'static> = End { name: "arrivals", index: 100 };
/// The interface whose discipline is under test.
const BOTTLENECK: End<'static> = End { name: "bottleneck", index: 100 };
/// The interface at which the wire with faults receives the packets that left the bottleneck.
pub(super) const LEFT: End<'static> = End { name: "left", index: 100 };
const FAULTY: End<'static> = End { name: "faulty", index: 101 };
const RECEIVERS_ETHERNET: [u8; 6] = [2, 0, 0, 0, 0, 9];
const SENDERS: End<'static> = End { name: "senders", index: 100 };
/// The index of the router's interface to the senders of class 0. The other classes have the next
/// indices.
const FIRST_FROM_SENDERS: u32 = 101;
/// The maximum number of packets in netem. It is never reached.
const MAX_ON_THE_WAY: u32 = 100_000;
/// The minimum, default and maximum of TCP's buffers, in bytes. The maximum is eight times the
/// largest number of bytes in flight.
const WINDOW: &str = "4096 4000000 8000000";

pub(super) fn from_senders(class: usize) -> String {
    format!("from{class}")
}

pub(super) fn sender(class: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, class as u8 + 1, 1)
}

/// Builds the network. Leaves this thread in the router's namespace.
pub(super) fn build(contest: &Contest) -> Fallible<Hosts> {
    let (router, receiver) = (Host::new()?, Host::new()?);
    let senders = (0..contest.classes.len()).map(|_| Host::new()).collect::<Result<Vec<_>, _>>()?;
    router.set_variable("net/ipv4/ip_forward", "1")?;
    let near = Ipv4Addr::new(10, 9, 0, 2);
    let wire = match &contest.faults {
        None => {
            router.join(&receiver, Wire { here: BOTTLENECK, there: ARRIVALS, mtu: contest.mtu })?;
            None
        }
        Some(faults) => Some(faulty(faults, &router, &receiver, contest.mtu)?),
    };
    set_up(&router, BOTTLENECK, near)?;
    set_up(&receiver, ARRIVALS, RECEIVER)?;
    receiver.add_route(ANYWHERE, Route::Via(near.into()))?;
    for (class, (group, own)) in contest.classes.iter().zip(&senders).enumerate() {
        let (name, near) = (from_senders(class), Ipv4Addr::new(10, 0, class as u8 + 1, 2));
        let back = End { name: &name, index: FIRST_FROM_SENDERS + class as u32 };
        join((&router, back, near), (own, SENDERS, sender(class)), contest.mtu)?;
        own.add_route(ANYWHERE, Route::Via(near.into()))?;
        // Segments leave one by one, as in the simulator.
        own.set_segments(SENDERS.index, 1)?;
        let delay = Duration::from_ns(group.rtt_ns);
        let most_packets = MAX_ON_THE_WAY;
        router.impair(back.index, &Impairment { delay, most_packets, ..Impairment::default() })?;
    }
    for (class, own) in contest.classes.iter().zip(&senders) {
        own.set_variable("net/ipv4/tcp_ecn", if class.ecn { "1" } else { "0" })?;
    }
    // Each sender decides on ECN. The receiver accepts ECN if any class uses it.
    let is_capable = contest.classes.iter().any(|class| class.ecn);
    receiver.set_variable("net/ipv4/tcp_ecn", if is_capable { "1" } else { "0" })?;
    for end in senders.iter().chain([&receiver]) {
        end.set_variable("net/ipv4/tcp_rmem", WINDOW)?;
        end.set_variable("net/ipv4/tcp_wmem", WINDOW)?;
        end.set_variable("net/ipv4/tcp_no_metrics_save", "1")?; // runs must not learn from earlier ones
    }
    shape(contest, &router)?;
    Ok(Hosts { senders, router, wire, receiver })
}

const ANYWHERE: Address = Address { ip: std::net::IpAddr::V4(Ipv4Addr::UNSPECIFIED), prefix_bits: 0 };

/// Adds HTB with the smallest burst that `tc` accepts, since HTB is never late under the virtual
/// clock.
fn shape(contest: &Contest, router: &Host) -> Fallible<()> {
    router.enter()?;
    shaping(contest).lines(BOTTLENECK.name).iter().try_for_each(|line| command("tc", line).map(drop))
}

/// Changes the bottleneck's rate. Leaves this thread in the router's namespace.
pub(super) fn change_rate(contest: &Contest, router: &Host, rate_bps: u64) -> Fallible<()> {
    router.enter()?;
    command("tc", &shaping(contest).change(BOTTLENECK.name, rate_bps)).map(drop)
}

fn shaping(contest: &Contest) -> Shaping {
    let Contest { rate_bps, overhead, .. } = *contest;
    let discipline = contest.discipline.clone();
    Shaping { rate_bps, changes: Vec::new(), overhead, burst_bytes: 1, discipline }
}

fn join(a: (&Host, End<'_>, Ipv4Addr), b: (&Host, End<'_>, Ipv4Addr), mtu: u32) -> Result<(), Trouble> {
    a.0.join(b.0, Wire { here: a.1, there: b.1, mtu })?;
    [a, b].into_iter().try_for_each(|(host, end, ip)| set_up(host, end, ip))
}

fn set_up(host: &Host, end: End<'_>, ip: Ipv4Addr) -> Result<(), Trouble> {
    host.add_address(end.index, Address { ip: ip.into(), prefix_bits: 24 })?;
    host.bring_up(end.index)
}

fn faulty(faults: &Faults, router: &Host, receiver: &Host, mtu: u32) -> Result<Host, Trouble> {
    let wire = Host::new()?;
    router.join(&wire, Wire { here: BOTTLENECK, there: LEFT, mtu })?;
    wire.join(receiver, Wire { here: FAULTY, there: ARRIVALS, mtu })?;
    // The wire must not lose ARP packets. So the router gets the receiver's Ethernet address in
    // advance.
    receiver.set_ethernet_address(ARRIVALS.index, RECEIVERS_ETHERNET)?;
    router.add_neighbour(BOTTLENECK.index, RECEIVER.into(), RECEIVERS_ETHERNET)?;
    [LEFT, FAULTY].into_iter().try_for_each(|end| wire.bring_up(end.index))?;
    wire.bridge("bridge", &[LEFT.index, FAULTY.index])?;
    wire.impair(FAULTY.index, &impairment(faults))?;
    Ok(wire)
}

/// Converts `faults`. In netem, reordering is a delay that some packets skip.
pub(super) fn impairment(faults: &Faults) -> Impairment {
    Impairment {
        delay: faults.reorder.map_or(Duration::ZERO, |(_, by)| Duration::from_ns(by)),
        jitter: faults.jitter_ns.iter().map(|ns| Duration::from_ns(*ns)).collect(),
        loss: faults.losses.law(),
        delayed: faults.reorder.map(|(part, _)| part),
        duplicate: faults.duplicate,
        most_packets: MAX_ON_THE_WAY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::contest::Class;
    use fairwire_linux::clock;
    use fairwire_testbed::traffic::Sends;
    use std::net::UdpSocket;
    use std::thread;

    fn contest() -> Contest {
        let class = |rtt_ns| Class { sends: Sends::Tcp("reno".into()), flows: 1, rtt_ns, ecn: false };
        Contest {
            rate_bps: 10_000_000,
            changes: Vec::new(),
            overhead: 0,
            mtu: 1500,
            discipline: "pfifo limit 66".into(),
            modules: Vec::new(),
            classes: vec![class(20_000_000), class(80_000_000)],
            starts: vec![0, 0],
            warm_up_ns: 0,
            duration_ns: 1_000_000_000,
            faults: None,
        }
    }

    #[test]
    fn each_class_reaches_the_receivers_through_its_delay() {
        // The test changes the network namespace of its thread.
        let done = thread::spawn(|| {
            let contest = contest();
            match build(&contest) {
                Ok(hosts) => contest.classes.iter().zip(&hosts.senders).enumerate().for_each(
                    |(class, (group, host))| await_ping(&hosts, host, class, Duration::from_ns(group.rtt_ns)),
                ),
                // Kernels without netem are common, but User Mode Linux has it.
                Err(why) => fairwire_testing::skipped_for_want_of_a_peer(format_args!(
                    "the network of a contest: {why}"
                )),
            }
        });
        done.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    }

    /// Waits for a round trip from `host`. A kernel may need up to a second to notice the carrier.
    fn await_ping(hosts: &Hosts, host: &Host, class: usize, delay: Duration) {
        hosts.receiver.enter().unwrap();
        let receiver = UdpSocket::bind((RECEIVER, 7)).unwrap();
        host.enter().unwrap();
        let sender = UdpSocket::bind((sender(class), 7)).unwrap();
        for socket in [&receiver, &sender] {
            socket.set_read_timeout(Some(std::time::Duration::from_secs(1))).unwrap();
        }
        let until = clock::now() + Duration::from_secs(20);
        let trip = || {
            let sent = clock::now();
            sender.send_to(&[7], (RECEIVER, 7)).ok()?;
            let (_, from) = receiver.recv_from(&mut [0; 9]).ok()?;
            receiver.send_to(&[7], from).ok()?;
            sender.recv_from(&mut [0; 9]).ok()?;
            Some(clock::now().since(sent))
        };
        while clock::now() < until {
            match trip() {
                Some(took) => return assert!(took >= delay, "{took} back and forth, of {delay}"),
                None => continue,
            }
        }
        panic!("class {class} does not reach the receivers in 20 s");
    }
}
