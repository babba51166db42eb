//! The datapath thread. It starts with an open wire or takes one over, and runs until the gateway
//! ends or another process takes over.

use super::engine::{Command, Engine, Moments, Shared};
use super::guarding::GuardPipes;
use super::heartbeat::Heartbeat;
use super::links::LinkView;
use super::log::{self, say};
use super::mailbox;
use super::opening::{self, Held, OpenInterface};
use super::pace::{coalesce, interval, longest_stay, watchdog};
use super::port::{Common, LivePort};
use super::ports::AnyPort;
use super::take_over::{self, Takeover};
use crate::config::Config;
use crate::config::spec::Spec;
use crate::telemetry::Observer;
use fairwire_core::Time;
use fairwire_datapath::io::senders::{Senders, SharedPort};
use fairwire_datapath::{Datapath, Wire, driver};
use fairwire_linux::af_packet::AfPacket;
use fairwire_linux::clock;
use fairwire_linux::port::{LinkKind, PortError};
use fairwire_wire::Way;
use rustix::fd::AsFd;
use std::cell::RefCell;
use std::io;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

pub(super) enum Source {
    /// They are open.
    Open(Box<Wire<OpenInterface>>),
    /// The process at the other end of this stream holds the ports.
    Process(UnixStream),
}

pub(super) struct Forwarding {
    pub config: Arc<Config>,
    pub source: Source,
    /// Inside first.
    pub links: [Arc<LinkView>; 2],
    pub datapath: Datapath,
    pub observer: Observer,
    /// Bytes of the longest frame.
    pub frame_bytes: u32,
}

/// The stream to the process that has taken over, if any.
type Outcome = Result<Option<UnixStream>, PortError>;
pub(super) type Thread = JoinHandle<Outcome>;
type Job = Box<dyn FnOnce() -> Outcome + Send>;

/// A datapath thread that does not forward yet. Its priority is that of the thread that started it.
pub(super) struct Waiting {
    job: SyncSender<Job>,
    thread: Thread,
}

impl Waiting {
    pub(super) fn start() -> io::Result<Self> {
        let (job, next) = sync_channel::<Job>(1);
        let thread = log::start("datapath", move || next.recv().map_or(Ok(None), |job| job()))?;
        Ok(Waiting { job, thread })
    }

    pub(super) fn begin(self, job: impl FnOnce() -> Outcome + Send + 'static) -> Thread {
        // The thread waits for one job, so the channel has room.
        let _ = self.job.send(Box::new(job));
        self.thread
    }
}

fn senders_of(spec: &Spec, frame_bytes: u32) -> io::Result<Option<Rc<RefCell<Senders>>>> {
    let count = spec.wire.backend.threads() as usize - 1;
    let start = || Senders::start(count, frame_bytes as usize).map(|senders| Rc::new(RefCell::new(senders)));
    (count > 0).then(start).transpose()
}

impl Forwarding {
    /// Forwards until the gateway ends or another process takes over. Returns the stream to that
    /// process, if any. `begun` receives the stream to the process that handed over the link, if
    /// any.
    pub(super) fn run(
        self,
        commands: mailbox::Receiver<Command>,
        shared: &Arc<Shared>,
        guard: Option<GuardPipes>,
        begun: &SyncSender<Option<UnixStream>>,
    ) -> Outcome {
        let Forwarding { config, source, links: [inside, outside], mut datapath, observer, frame_bytes } =
            self;
        let (spec, safety) = (config.spec(), &config.spec().safety);
        let fail = |operation| {
            move |source| PortError::System { operation, name: spec.wire.outside.clone(), source }
        };
        let (wire, takeover) = match source {
            Source::Open(wire) => (*wire, None),
            Source::Process(stream) => {
                let (wire, takeover) = take_over(stream, spec, &mut datapath).map_err(fail("taking over"))?;
                (wire, Some(takeover))
            }
        };
        let heartbeat = guard.map(|GuardPipes { to_guard, from_guard, since }| {
            let since = takeover.as_ref().map_or(since, Takeover::beat);
            Heartbeat::new(to_guard, from_guard, watchdog(safety), since)
        });
        let common = Rc::new(RefCell::new(Common { heartbeat, is_ending: false }));
        let patience = safety.patience.map(|patience| patience.0);
        let senders = senders_of(spec, frame_bytes).map_err(fail("starting threads to send"))?;
        let live = |opened: OpenInterface, link, name: &str| {
            let OpenInterface { port, lock } = opened;
            let held: Held = Rc::new(RefCell::new(lock));
            LivePort::new(name, port, opening::again(spec, held.clone()), patience, link, common.clone())
                .map_err(|source| PortError::System { operation: "preparing", name: name.to_owned(), source })
                .map(|port| (port, held))
        };
        let (left, left_lock) = live(wire.left, outside, &spec.wire.outside)?;
        let (right, right_lock) = live(wire.right, inside, spec.wire.inside.first())?;
        let ports = [right.state(), left.state()];
        let mut wire = Wire {
            left: SharedPort::new(left, 0, senders.clone()),
            right: SharedPort::new(right, 1, senders.clone()),
        };
        let mut engine = Engine {
            commands,
            observer,
            shared: shared.clone(),
            common: common.clone(),
            ports,
            senders,
            interval: interval(&config),
            patience: longest_stay(&config),
            at: Moments::default(),
            heir: None,
        };
        // From here on the link belongs to this process.
        let former = takeover.map(Takeover::commit).transpose().map_err(fail("taking over"))?;
        let _ = begun.try_send(former);
        let outcome = loop {
            let outcome = driver::run(&mut datapath, &mut wire, coalesce(spec), &mut |now, datapath| {
                engine.watch(now, datapath)
            });
            let Some(heir) = engine.heir.take().filter(|_| outcome.is_ok()) else {
                break outcome.map(|()| None);
            };
            let locks = [&left_lock, &right_lock];
            if hand_over(&heir, &mut datapath, &mut wire, locks, &common) {
                shared.is_handed_over.store(true, Ordering::Release);
                break Ok(Some(heir));
            }
        };
        if matches!(outcome, Ok(None))
            && let Some(heartbeat) = &mut common.borrow_mut().heartbeat
        {
            heartbeat.announce_end();
        }
        log_totals(&datapath);
        outcome
    }
}

fn take_over(
    stream: UnixStream,
    spec: &Spec,
    datapath: &mut Datapath,
) -> io::Result<(Wire<OpenInterface>, Takeover)> {
    let (mut takeover, ports) = Takeover::begin(stream)?;
    let open = |port: take_over::HandedPort, name: &str| {
        let opened = AfPacket::taken_over(port.socket, port.place, name).map_err(io::Error::other)?;
        Ok::<_, io::Error>(OpenInterface { port: AnyPort::AfPacket(Box::new(opened)), lock: port.lock })
    };
    let wire = Wire {
        left: open(ports.left, &spec.wire.outside)?,
        right: open(ports.right, spec.wire.inside.first())?,
    };
    let packets = takeover.take_in(datapath, LinkKind::Ethernet)?;
    say(format_args!("{packets} packets were handed over by the process before this one"));
    Ok((wire, takeover))
}

/// Hands the link over to the process at `heir`. Returns false if this process continues.
fn hand_over(
    heir: &UnixStream,
    datapath: &mut Datapath,
    wire: &mut Wire<SharedPort<LivePort<AnyPort>>>,
    locks: [&Held; 2],
    common: &Rc<RefCell<Common>>,
) -> bool {
    let began = clock::now();
    let beat = common.borrow().heartbeat.as_ref().map_or(Time::ZERO, Heartbeat::beat);
    let locks = locks.map(|held| held.borrow());
    let locks = [&locks[0], &locks[1]].map(|lock| lock.as_ref().map(AsFd::as_fd));
    let outcome = take_over::hand_over(heir, datapath, wire, locks, beat);
    let ms = clock::now().since(began).secs() * 1e3;
    match &outcome {
        Ok(packets) => {
            say(format_args!("handed over to another process, with {packets} packets, in {ms:.3} ms"));
        }
        Err(error) => say(format_args!(
            "not handed over: {error}; for {ms:.3} ms nothing was forwarded, and this process goes on"
        )),
    }
    outcome.is_ok()
}

fn log_totals(datapath: &Datapath) {
    for (way, direction) in [(Way::Download, &datapath.forward), (Way::Upload, &datapath.backward)] {
        let totals = direction.totals();
        let lost: u64 = totals.lost.iter().sum();
        let handed = match totals.handed_over {
            0 => String::new(),
            count => format!(", {count} handed over"),
        };
        say(format_args!(
            "{}: {} packets in, {} out, {} dropped, {lost} lost{handed}, {} left inside{}",
            way.name(),
            totals.packets_in,
            totals.packets_out,
            totals.packets_gone() - lost,
            direction.packets_inside(),
            if direction.is_balanced() { "" } else { ": PACKETS ARE MISSING" }
        ));
    }
}
