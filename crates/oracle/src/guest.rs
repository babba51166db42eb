//! The guest's side: the first and only process of User Mode Linux. It makes a link with the kernel's discipline, sends the
//! trace into it, and writes down what comes out.

use crate::cases::{self, Case};
use crate::contest;
use crate::frame;
use crate::modules::Modules;
use crate::outcome::{Fate, Outcome};
use crate::program::{Fallible, command};
use crate::trace::Arrival;
use fairwire_linux::af_packet::AfPacket;
use fairwire_linux::clock;
use fairwire_linux::port::Port;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::OwnedFd;
use rustix::system::RebootCommand;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// The variable of the environment that names the job. The kernel's command line puts it there.
pub const JOB_VARIABLE: &str = "FAIRWIRE_ORACLE_JOB";
/// The file beside the job's that tells why the guest gave up.
pub const FAILURE: &str = "failure.txt";
/// The file beside the job's whose creation starts the virtual clock; `examples/virtual_clock.rs` says the same.
const CLOCK_STARTS: &str = "virtual-clock-starts";

/// What the guest has to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// Where results go.
    pub folder: PathBuf,
    /// Where the kernel's modules are.
    pub modules: PathBuf,
    /// The runs, in order.
    pub runs: Vec<Run>,
}

/// One run: a case under a seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The name of the case or the contest.
    pub case: String,
    /// The seed of its traffic.
    pub seed: u64,
}

/// What a run gave.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Result {
    /// What became of each packet.
    pub outcome: Outcome,
    /// What the kernel counted itself (`tc -s -j qdisc`).
    pub counters: serde_json::Value,
}

impl Run {
    /// The name of its result in the job's folder.
    pub fn file(&self) -> String {
        format!("{}-{}.json", self.case, self.seed)
    }
}

const SENDING: &str = "oracle0";
const RECEIVING: &str = "oracle1";
/// Between the set-up and the first packet: disciplines with timers are in their stride by then.
const PAUSE_NS: u64 = 1_000_000_000;
/// After the last packet: what still waits has left long before. The largest buffer is below two seconds.
const DRAIN_NS: u64 = 5_000_000_000;

/// Does the job in the file `job`, and switches the guest off.
pub fn run(job: &Path) {
    if let Err((folder, error)) = try_run(job) {
        let _ = fs::write(folder.join(FAILURE), error.to_string());
    }
    let _ = rustix::system::reboot(RebootCommand::PowerOff);
}

fn try_run(file: &Path) -> std::result::Result<(), (PathBuf, Box<dyn Error>)> {
    let folder = file.parent().unwrap_or(Path::new("/")).to_owned();
    let all = || -> Fallible<()> {
        let job: Job = serde_json::from_slice(&fs::read(file)?)?;
        let modules = set_up(&job, &folder)?;
        for run in &job.runs {
            let result = answer(run, &modules).map_err(|error| format!("{}: {error}", run.case))?;
            fs::write(job.folder.join(run.file()), result)?;
        }
        Ok(())
    };
    all().map_err(|error| (folder, error))
}

/// What `run` gave, as JSON: a [`Result`] of a case, or a [`Tally`](contest::Tally) of a contest.
fn answer(run: &Run, modules: &Modules) -> Fallible<Vec<u8>> {
    if let Some(case) = cases::find(&run.case) {
        return Ok(serde_json::to_vec(&measure(case, run.seed, modules)?)?);
    }
    let contest = contest::find(&run.case).ok_or("there is neither a case nor a contest of that name")?;
    Ok(serde_json::to_vec(&contest::hold(contest, run.seed, modules)?)?)
}

fn set_up(job: &Job, own: &Path) -> Fallible<Modules> {
    command("mount", "-t proc proc /proc")?;
    let modules = Modules::read(&job.modules)?;
    for name in ["veth", "sch_htb", "cls_u32"] {
        modules.load(name)?;
    }
    // All that waits in a discipline is charged to the one socket that sent it.
    fs::write("/proc/sys/net/core/wmem_default", "100000000")?;
    // Pages that all TCPs may hold. By default they go by the guest's memory, which is small.
    fs::write("/proc/sys/net/ipv4/tcp_mem", "100000 100000 100000")?;
    let (sender, receiver) = (address(frame::SENDER), address(frame::RECEIVER));
    command(
        "ip",
        &format!("link add {SENDING} address {sender} type veth peer name {RECEIVING} address {receiver}"),
    )?;
    for name in [SENDING, RECEIVING] {
        command("ip", &format!("link set {name} up"))?;
    }
    fs::write(own.join(CLOCK_STARTS), "")?;
    Ok(modules)
}

fn measure(case: &Case, seed: u64, modules: &Modules) -> Fallible<Result> {
    for name in case.modules {
        modules.load(name)?;
    }
    let _ = command("tc", &format!("qdisc del dev {SENDING} root")); // none at first
    for line in case.commands() {
        command("tc", &line.replace("DEV", SENDING))?;
    }
    let outcome = contest(&case.traffic.arrivals(seed))?;
    let counters = command("tc", &format!("-s -j qdisc show dev {SENDING}"))?;
    Ok(Result { outcome, counters: serde_json::from_str(&counters)? })
}

/// Sends the arrivals at their times and writes down when each comes out at the other end.
///
/// A packet leaves the discipline and comes out at one moment: the guest's clock stands still while anything happens.
fn contest(arrivals: &[Arrival]) -> Fallible<Outcome> {
    let mut sending = AfPacket::open(SENDING)?;
    let mut receiving = AfPacket::open(RECEIVING)?;
    let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
    let start_ns = (clock::now().ns() + PAUSE_NS).next_multiple_of(PAUSE_NS);
    let mut outcome = Outcome { came_ns: Vec::new(), fates: vec![Fate::Dropped; arrivals.len()] };
    for (number, arrival) in arrivals.iter().enumerate() {
        receive_until(start_ns + arrival.at_ns, start_ns, &timer, &mut receiving, arrivals, &mut outcome)?;
        outcome.came_ns.push(clock::now().ns() - start_ns);
        // Refused is not lost for us: the discipline dropped it, and that is what we are here to see.
        let _ = sending.transmit(&frame::frame(number as u32, arrival));
    }
    let end_ns = start_ns + arrivals.last().map_or(0, |last| last.at_ns) + DRAIN_NS;
    receive_until(end_ns, start_ns, &timer, &mut receiving, arrivals, &mut outcome)?;
    if receiving.health().overflows > 0 {
        return Err("the receiving socket overflowed".into());
    }
    Ok(outcome)
}

/// Takes in what comes out until the clock stands at `until_ns`. What leaves at that very moment comes before.
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
                    outcome.fates[number as usize] = Fate::of(arrival.ecn, left, now_ns);
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
