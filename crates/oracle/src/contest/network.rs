//! The guest's network for a contest: a namespace of senders for each class, a router, and the receivers.
//!
//! ```text
//! senders of class 0 -- router == bottleneck == receivers
//! senders of class 1 --/
//! ```
//!
//! Only the link from the router to the receivers is slow. What a class's round trip takes is put on its acknowledgements,
//! between the router and its senders, by netem.

use super::cases::Contest;
use super::setting::RATE;
use crate::program::{Fallible, command};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs;
use std::net::Ipv4Addr;

/// The namespaces of a contest.
#[derive(Debug)]
pub(super) struct Namespaces {
    /// The senders', one for each class.
    pub senders: Vec<Namespace>,
    /// The router's.
    pub router: Namespace,
    /// The receivers'.
    pub receiver: Namespace,
}

/// A network namespace.
#[derive(Debug)]
pub(super) struct Namespace {
    name: String,
    file: OwnedFd,
}

/// The address of the receivers.
pub(super) const RECEIVER: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);
/// The receivers' interface.
pub(super) const ARRIVALS: &str = "arrivals";
/// The router's interface to the receivers, whose discipline is under test.
const BOTTLENECK: &str = "bottleneck";
/// The interface of senders.
const SENDERS: &str = "senders";
/// The largest window: eight times what the longest queue and the longest round trip hold.
const WINDOW: &str = "4096 4000000 8000000";

/// The router's interface to the senders of `class`.
pub(super) fn from_senders(class: usize) -> String {
    format!("from{class}")
}

/// The address of the senders of `class`.
pub(super) fn sender(class: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, class as u8 + 1, 1)
}

impl Namespace {
    fn new(name: &str) -> Fallible<Namespace> {
        command("ip", &format!("netns add {name}"))?;
        let namespace = Namespace::open(name, &format!("/run/netns/{name}"))?;
        namespace.say("link set lo up")?;
        Ok(namespace)
    }

    /// The one in which this thread is.
    pub(super) fn own() -> Fallible<Namespace> {
        Namespace::open("own", "/proc/thread-self/ns/net")
    }

    fn open(name: &str, file: &str) -> Fallible<Namespace> {
        let file = rustix::fs::open(file, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Namespace { name: name.to_owned(), file })
    }

    /// Moves this thread into it. What is opened from here on belongs there.
    pub(super) fn enter(&self) -> Fallible<()> {
        Ok(move_into_link_name_space(self.file.as_fd(), Some(LinkNameSpaceType::Network))?)
    }

    fn say(&self, line: &str) -> Fallible<String> {
        command("ip", &format!("-n {} {line}", self.name))
    }

    fn set(&self, variable: &str, value: &str) -> Fallible<()> {
        self.enter()?;
        fs::write(format!("/proc/sys/net/ipv4/{variable}"), value)
            .map_err(|error| format!("{variable}: {error}").into())
    }
}

/// Builds the network of `contest`.
pub(super) fn build(contest: &Contest) -> Fallible<Namespaces> {
    let router = Namespace::new("router")?;
    let receiver = Namespace::new("receiver")?;
    let senders: Vec<Namespace> = (0..contest.classes.len())
        .map(|class| Namespace::new(&format!("senders{class}")))
        .collect::<Fallible<_>>()?;
    router.set("ip_forward", "1")?;
    join(&router, BOTTLENECK, "10.9.0.2/24", &receiver, ARRIVALS, "10.9.0.1/24")?;
    receiver.say("route add default via 10.9.0.2")?;
    for (class, (group, own)) in contest.classes.iter().zip(&senders).enumerate() {
        let (near, far) = (format!("10.0.{}.2", class + 1), format!("{}/24", sender(class)));
        let back = from_senders(class);
        join(&router, &back, &format!("{near}/24"), own, SENDERS, &far)?;
        own.say(&format!("route add default via {near}"))?;
        // Segments leave one by one, as ours do.
        own.say(&format!("link set {SENDERS} gso_max_segs 1"))?;
        let delay = format!("qdisc add dev {back} root netem limit 100000 delay {}ms", group.rtt_ms);
        command("tc", &format!("-n {} {delay}", router.name))?;
    }
    for end in senders.iter().chain([&receiver]) {
        end.set("tcp_ecn", if contest.ecn { "1" } else { "0" })?;
        end.set("tcp_rmem", WINDOW)?;
        end.set("tcp_wmem", WINDOW)?;
        end.set("tcp_no_metrics_save", "1")?; // what a run has learnt is not for the next
    }
    shape(contest, &router)?;
    Ok(Namespaces { senders, router, receiver })
}

/// The bottleneck: HTB with the least burst that `tc` takes, and the discipline under test in it.
fn shape(contest: &Contest, router: &Namespace) -> Fallible<()> {
    let rate = RATE.bps();
    for line in [
        format!("qdisc add dev {BOTTLENECK} root handle 1: htb default 1"),
        format!(
            "class add dev {BOTTLENECK} parent 1: classid 1:1 htb rate {rate}bit ceil {rate}bit burst 1 cburst 1 quantum 3000"
        ),
        format!("qdisc add dev {BOTTLENECK} parent 1:1 handle 10: {}", contest.kernel),
    ] {
        command("tc", &format!("-n {} {line}", router.name))?;
    }
    Ok(())
}

fn join(
    a: &Namespace,
    a_name: &str,
    a_address: &str,
    b: &Namespace,
    b_name: &str,
    b_address: &str,
) -> Fallible<()> {
    command(
        "ip",
        &format!("link add {a_name} netns {} type veth peer name {b_name} netns {}", a.name, b.name),
    )?;
    for (end, name, address) in [(a, a_name, a_address), (b, b_name, b_address)] {
        end.say(&format!("address add {address} dev {name}"))?;
        end.say(&format!("link set {name} up"))?;
    }
    Ok(())
}

/// Takes the network down.
pub(super) fn remove(network: &Namespaces) -> Fallible<()> {
    for namespace in network.senders.iter().chain([&network.router, &network.receiver]) {
        command("ip", &format!("netns del {}", namespace.name))?;
    }
    Ok(())
}
