//! The oracle within the guest. It sends traces through the kernel's discipline, and records the
//! departures.

use crate::frame;
use crate::outcome::{Outcome, PacketOutcome};
use crate::trace::{Arrival, Traffic};
use fairwire_linux::af_packet::AfPacket;
use fairwire_linux::clock;
use fairwire_linux::port::Port;
use fairwire_stages::linux::contest::Contest;
use fairwire_stages::linux::guest::Run;
use fairwire_stages::linux::{Fallible, Modules, command};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::OwnedFd;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use serde::{Deserialize, Serialize};

/// The result of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Result {
    /// The fate of each packet.
    pub outcome: Outcome,
    /// The kernel's own counters (`tc -s -j qdisc`).
    pub counters: serde_json::Value,
}

const SENDING: &str = "oracle0";
const RECEIVING: &str = "oracle1";
/// The time between the set-up and the first packet, in which disciplines with timers settle.
const PAUSE_NS: u64 = 1_000_000_000;
/// The time after the last packet, for the queue to empty. The largest buffer holds less than two
/// seconds.
const DRAIN_NS: u64 = 5_000_000_000;

/// Runs the work of the oracle in the guest.
#[derive(Debug, Default)]
pub struct Oracle {
    has_link: bool,
}

/// The work of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Work {
    /// A case.
    Trace(Trace),
    /// A contest.
    Contest(Box<Contest>),
}

/// A trace for the kernel's discipline.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Trace {
    /// The `tc` commands, with DEV for the interface.
    pub commands: Vec<String>,
    /// The kernel module of the discipline.
    pub module: String,
    /// The traffic, as written.
    pub traffic: String,
    /// The seed of the traffic.
    pub seed: u64,
}

impl Oracle {
    /// The result of `run` as JSON: a [`Result`] of a case, or a
    /// [`Tally`](fairwire_stages::linux::Tally) of a contest.
    ///
    /// # Errors
    /// If the kernel refuses a request.
    pub fn answer(&mut self, run: &Run, modules: &Modules) -> Fallible<Vec<u8>> {
        match serde_json::from_value(run.work.clone())? {
            Work::Trace(trace) => {
                self.make_link()?;
                Ok(serde_json::to_vec(&measure(&trace, modules)?)?)
            }
            Work::Contest(contest) => Ok(serde_json::to_vec(&contest.hold(modules, &mut |_| {})?)?),
        }
    }

    fn make_link(&mut self) -> Fallible<()> {
        if std::mem::replace(&mut self.has_link, true) {
            return Ok(());
        }
        let (sender, receiver) = (address(frame::SENDER), address(frame::RECEIVER));
        command(
            "ip",
            &format!(
                "link add {SENDING} address {sender} type veth peer name {RECEIVING} address {receiver}"
            ),
        )?;
        for name in [SENDING, RECEIVING] {
            command("ip", &format!("link set {name} up"))?;
        }
        Ok(())
    }
}

fn measure(trace: &Trace, modules: &Modules) -> Fallible<Result> {
    modules.load_if_known(&trace.module)?;
    let _ = command("tc", &format!("qdisc del dev {SENDING} root")); // none at first
    for line in &trace.commands {
        command("tc", &line.replace("DEV", SENDING))?;
    }
    let outcome = contest(&Traffic::read(&trace.traffic)?.arrivals(trace.seed))?;
    let counters = command("tc", &format!("-s -j qdisc show dev {SENDING}"))?;
    Ok(Result { outcome, counters: serde_json::from_str(&counters)? })
}

/// Sends `arrivals` and records departures from the interface. A packet leaves the discipline and
/// the interface at the same instant, since the virtual clock stops during kernel work.
fn contest(arrivals: &[Arrival]) -> Fallible<Outcome> {
    let mut sending = AfPacket::open(SENDING)?;
    let mut receiving = AfPacket::open(RECEIVING)?;
    let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
    let start_ns = (clock::now().ns() + PAUSE_NS).next_multiple_of(PAUSE_NS);
    let mut outcome = Outcome { came_ns: Vec::new(), fates: vec![PacketOutcome::Dropped; arrivals.len()] };
    for (number, arrival) in arrivals.iter().enumerate() {
        receive_until(start_ns + arrival.at_ns, start_ns, &timer, &mut receiving, arrivals, &mut outcome)?;
        outcome.came_ns.push(clock::now().ns() - start_ns);
        // A refused packet is no error: the discipline dropped it.
        let _ = sending.transmit(&frame::frame(number as u32, arrival));
    }
    let end_ns = start_ns + arrivals.last().map_or(0, |last| last.at_ns) + DRAIN_NS;
    receive_until(end_ns, start_ns, &timer, &mut receiving, arrivals, &mut outcome)?;
    if receiving.health().overflows > 0 {
        return Err("the receiving socket overflowed".into());
    }
    Ok(outcome)
}

/// Receives departures until the clock reaches `until_ns`, including departures at that instant.
fn receive_until(
    until_ns: u64,
    start_ns: u64,
    timer: &OwnedFd,
    receiving: &mut AfPacket,
    arrivals: &[Arrival],
    outcome: &mut Outcome,
) -> Fallible<()> {
    let rings = Timespec {
        tv_sec: (until_ns / 1_000_000_000).cast_signed(),
        tv_nsec: (until_ns % 1_000_000_000).try_into()?,
    };
    let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: rings };
    timerfd_settime(timer, TimerfdTimerFlags::ABSTIME, &once)?;
    loop {
        let mut waits = [PollFd::new(timer, PollFlags::IN), PollFd::new(&*receiving, PollFlags::IN)];
        poll(&mut waits, None)?;
        let [is_time, is_there] = waits.map(|wait| wait.revents().contains(PollFlags::IN));
        if is_there {
            let now_ns = clock::now().ns() - start_ns;
            receiving.receive(&mut |bytes, _| {
                if let Some((number, left)) = frame::read(bytes)
                    && let Some(arrival) = arrivals.get(number as usize)
                {
                    outcome.fates[number as usize] = PacketOutcome::of(arrival.ecn, left, now_ns);
                }
            })?;
        } else if is_time {
            return Ok(());
        }
    }
}

fn address(octets: [u8; 6]) -> String {
    octets.map(|octet| format!("{octet:02x}")).join(":")
}
