//! The contestants: the kernel's methods, and ours.

use super::Failure;
use super::stage::{Core, Way, pin, run};
use fairwire_catalogue::{Parameters, Site, build};
use fairwire_core::units::Amount;
use fairwire_core::{Duration, Rate, Seed};
use fairwire_datapath::classify::{Classifier, ETHERNET_HEADER_BYTES, LinkKind};
use fairwire_datapath::direction::{DirectionPlan, ShaperPlan};
use fairwire_datapath::driver::Next;
use fairwire_datapath::pool::PoolSize;
use fairwire_datapath::{Datapath, DatapathPlan, Wire, driver};
use fairwire_linux::af_packet::AfPacket;
use fairwire_linux::clock;
use fairwire_linux::port::{Port, PortError, PortHealth, Take};
use fairwire_linux::tun::Tun;
use fairwire_service::config::{Config, PlanContext};
use fairwire_testbed::bed::Side;
use fairwire_testbed::error::{During, Trouble};
use fairwire_testbed::namespace::part_sys;
use fairwire_wire::flow_key::FlowHasher;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Contestant {
    pub name: &'static str,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The kernel routes.
    Kernel,
    /// The kernel routes on the gateway's processor instead of the source's (receive packet
    /// steering).
    KernelOnItsOwnCore,
    KernelHtb,
    KernelHtbOnItsOwnCore,
    Ours {
        back_end: BackEnd,
        discipline: Option<&'static str>,
    },
    /// A gateway that limits each direction to [`BOTTLENECK`].
    Bottleneck {
        keys: &'static str,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BackEnd {
    AfPacket,
    AfPacketQueue,
    /// `AfPacket` with one system call per frame, to show what batches save.
    OneByOne,
    Tun,
}

const fn ours(name: &'static str, back_end: BackEnd, discipline: Option<&'static str>) -> Contestant {
    Contestant { name, kind: Kind::Ours { back_end, discipline } }
}

const fn bottleneck(name: &'static str, keys: &'static str) -> Contestant {
    Contestant { name, kind: Kind::Bottleneck { keys } }
}

const BOTTLENECK: &str = "2.5 Gbit/s";

pub(crate) const ALL: &[Contestant] = &[
    Contestant { name: "kernel routing", kind: Kind::Kernel },
    Contestant { name: "kernel routing, own core", kind: Kind::KernelOnItsOwnCore },
    Contestant { name: "kernel routing, htb", kind: Kind::KernelHtb },
    Contestant { name: "kernel, htb, own core", kind: Kind::KernelHtbOnItsOwnCore },
    ours("af-packet, forward only", BackEnd::AfPacket, None),
    ours("af-packet, tail-drop", BackEnd::AfPacket, Some("tail-drop")),
    ours("af-packet, faba", BackEnd::AfPacket, Some("faba")),
    ours("af-packet-queue, faba", BackEnd::AfPacketQueue, Some("faba")),
    ours("one by one, faba", BackEnd::OneByOne, Some("faba")),
    ours("tun, faba", BackEnd::Tun, Some("faba")),
    bottleneck("2.5 Gbit/s, faba", "discipline = \"faba\"\nflows = \"5-tuple\""),
    bottleneck("2.5 Gbit/s, drr", "discipline = \"drr\"\nflows = \"5-tuple\""),
    bottleneck("2.5 Gbit/s, fq-codel", "discipline = \"fq-codel\"\nflows = \"5-tuple\""),
    bottleneck("2.5 Gbit/s, classful", "discipline = \"classful\"\nflows = \"5-tuple\""),
    bottleneck("2.5 Gbit/s, default", ""),
];

/// A rate above any offered load, so nothing is shaped.
const RATE_BPS: u64 = 20_000_000_000;

impl Contestant {
    pub(crate) fn way(&self) -> Way {
        match self.kind {
            Kind::Ours {
                back_end: BackEnd::AfPacket | BackEnd::AfPacketQueue | BackEnd::OneByOne, ..
            }
            | Kind::Bottleneck { .. } => Way::Bridged,
            _ => Way::Routed,
        }
    }

    pub(crate) fn is_ours(&self) -> bool {
        matches!(self.kind, Kind::Ours { .. } | Kind::Bottleneck { .. })
    }

    pub(crate) fn is_bottleneck(&self) -> bool {
        matches!(self.kind, Kind::Bottleneck { .. })
    }

    pub(crate) fn has_own_core(&self) -> bool {
        self.is_ours() || matches!(self.kind, Kind::KernelOnItsOwnCore | Kind::KernelHtbOnItsOwnCore)
    }

    pub(crate) fn is_htb(&self) -> bool {
        matches!(self.kind, Kind::KernelHtb | Kind::KernelHtbOnItsOwnCore)
    }

    /// Prepares the gateway's namespace for this contestant. The calling thread must be in that
    /// network namespace.
    pub(crate) fn prepare(&self) -> Result<(), Failure> {
        let interface = Side::Right.name();
        if !self.is_ours() && self.has_own_core() {
            steer(1 << Core::Gateway.number())?;
        }
        if self.is_htb() {
            run(&format!("tc qdisc add dev {interface} root handle 1: htb default 1"))?;
            run(&format!(
                "tc class add dev {interface} parent 1: classid 1:1 htb rate {RATE_BPS}bit burst 1mb cburst 1mb quantum 60000"
            ))?;
        }
        Ok(())
    }
    pub(crate) fn clean_up(&self) -> Result<(), Failure> {
        if !self.is_ours() && self.has_own_core() {
            steer(0)?;
        }
        if self.is_htb() {
            run(&format!("tc qdisc del dev {} root", Side::Right.name()))?;
        }
        if matches!(self.kind, Kind::Ours { back_end: BackEnd::Tun, .. }) {
            // The routes disappeared with their devices, but the rules remain.
            run(&format!("ip rule del iif {}", Side::Left.name()))?;
            run(&format!("ip rule del iif {}", Side::Right.name()))?;
        }
        Ok(())
    }

    /// Carries frames until `watch.is_over`. Returns at once if the kernel is the contestant. The
    /// calling thread must be in the gateway's network namespace.
    pub(crate) fn run(&self, watch: &Watch) -> Result<(), Failure> {
        if let Kind::Bottleneck { keys } = self.kind {
            pin(Core::Gateway);
            return carry(Side::BOTH.map(|side| AfPacket::open(side.name())), configured(keys)?, watch);
        }
        let Kind::Ours { back_end, discipline } = self.kind else { return Ok(()) };
        pin(Core::Gateway);
        match back_end {
            BackEnd::OneByOne => {
                let open = |side: Side| AfPacket::open_without_ring(side.name()).map(OneByOne);
                carry(Side::BOTH.map(open), datapath(discipline)?, watch)
            }
            BackEnd::Tun => {
                let ports = [INSIDE, OUTSIDE].map(|name| Tun::create(name, 1500));
                route_through()?;
                carry(ports, datapath(discipline)?, watch)
            }
            BackEnd::AfPacketQueue => {
                let open = |side: Side| AfPacket::open_without_ring(side.name());
                carry(Side::BOTH.map(open), datapath(discipline)?, watch)
            }
            BackEnd::AfPacket => {
                carry(Side::BOTH.map(|side| AfPacket::open(side.name())), datapath(discipline)?, watch)
            }
        }
    }
}

const INSIDE: &str = "inside";
const OUTSIDE: &str = "outside";

/// Routes frames from the left interface into the inside TUN device, and frames from the right
/// interface into the outside TUN device.
fn route_through() -> Result<(), Failure> {
    for (side, device, table) in [(Side::Left, INSIDE, 100), (Side::Right, OUTSIDE, 101)] {
        run(&format!("ip route add default dev {device} table {table}"))?;
        run(&format!("ip rule add iif {} lookup {table}", side.name()))?;
        std::fs::write(format!("/proc/sys/net/ipv4/conf/{device}/rp_filter"), "0")?;
    }
    Ok(())
}

/// Lets the processors of `mask` handle the gateway's received frames in the kernel. With 0, the
/// processor on which a frame arrives handles it.
fn steer(mask: u32) -> Result<(), Failure> {
    let write = || -> Result<(), Trouble> {
        // A mount of /sys shows the namespace in which it was mounted, so /sys is mounted again.
        part_sys()?;
        Side::BOTH.into_iter().try_for_each(|side| {
            let queue = format!("/sys/class/net/{}/queues/rx-0/rps_cpus", side.name());
            std::fs::write(queue, format!("{mask:x}")).during("steering received frames")
        })
    };
    // Only the writing thread gets the new mount of /sys.
    let written = std::thread::scope(|scope| scope.spawn(write).join());
    Ok(written.map_err(|_| "the writer to /sys panicked")??)
}

struct OneByOne(AfPacket);

impl Port for OneByOne {
    fn receive(&mut self, take: &mut Take<'_>) -> Result<(), PortError> {
        self.0.receive(take)
    }

    fn transmit(&mut self, frame: &[u8]) -> bool {
        self.0.transmit(frame)
    }

    fn check(&mut self) -> Result<(), PortError> {
        self.0.check()
    }

    fn health(&mut self) -> PortHealth {
        self.0.health()
    }
}

impl AsFd for OneByOne {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Watch {
    pub is_over: AtomicBool,
    pub is_ready: AtomicBool,
    /// CPU time of the gateway's thread, nanoseconds.
    pub cpu_ns: AtomicU64,
    pub packets_out: AtomicU64,
}

fn carry<P: Port + AsFd, E: Into<Failure>>(
    ports: [Result<P, E>; 2],
    mut datapath: Datapath,
    watch: &Watch,
) -> Result<(), Failure> {
    let [left, right] = ports;
    let mut wire = Wire { left: left.map_err(Into::into)?, right: right.map_err(Into::into)? };
    let outcome =
        driver::run(&mut datapath, &mut wire, fairwire_service::config::COALESCE, &mut |now, datapath| {
            watch.cpu_ns.store(clock::thread().ns(), Ordering::Relaxed);
            watch.packets_out.store(datapath.forward.totals().packets_out, Ordering::Relaxed);
            watch.is_ready.store(true, Ordering::Relaxed);
            let is_over = watch.is_over.load(Ordering::Relaxed);
            if is_over { Next::Stop } else { Next::CallAt(now + Duration::from_ms(5)) }
        });
    assert!(datapath.forward.is_balanced() && datapath.backward.is_balanced(), "a packet has no place");
    Ok(outcome?)
}

fn configured(keys: &str) -> Result<Datapath, Failure> {
    let way = format!("rate = \"{BOTTLENECK}\"\n{keys}\n");
    let text = format!(
        "format = 2\nname = \"bench\"\n[wire]\ninside = \"i\"\noutside = \"o\"\n[download]\n{way}[upload]\n{way}"
    );
    let config = Config::parse("bench.toml", &text, None)?;
    let context = PlanContext { secret: [1; 16], seed: Seed(1), frame_bytes: 1518, link: LinkKind::Ethernet };
    Ok(Datapath::new(config.plan(&context)?))
}

fn datapath(discipline: Option<&str>) -> Result<Datapath, Failure> {
    let rate = Rate::from_bps(RATE_BPS).ok_or("the rate is zero")?;
    let site =
        Site { rate, buffer: Amount::Packets(1000), packet_bytes: 1500, seed: Seed(1), stream: "bench" };
    let shaper = |name: &str| -> Result<ShaperPlan, Failure> {
        let discipline = build(name, &Parameters::default(), &site)?;
        let not_ip = fairwire_datapath::not_ip::default_rate(rate);
        Ok(ShaperPlan { discipline, rate, catch_up: Duration::from_ms(10), not_ip, control: not_ip })
    };
    let direction = |shaper| DirectionPlan {
        shaper,
        classifier: Classifier::new(FlowHasher::new([1; 16]), -ETHERNET_HEADER_BYTES),
        pool: PoolSize { frames: 4096, frame_bytes: 1518 },
        flows: 1024,
        classes: 1,
    };
    let plan = DatapathPlan {
        forward: direction(discipline.map(shaper).transpose()?),
        backward: direction(discipline.map(shaper).transpose()?),
    };
    Ok(Datapath::new(plan))
}
