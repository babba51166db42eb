//! Gateways as a service: each opens its ports, forwards on one thread, and answers on another. All
//! of a process give up its rights together, before there are threads.
//!
//! ```text
//!   each gateway:
//!   control thread                          datapath thread
//!   socket, signals, systemd  -- commands -->  driver::run, between two packets
//!   reads and builds          <-- answers --  swaps, weighs, observes, beats
//!                                                  |  heartbeat (a pipe)
//!                                              guard process: bridges when it stops
//! ```

mod bridge;
mod client;
mod clients;
mod control;
mod edges;
mod engine;
mod error;
mod following;
mod guard;
mod guarding;
mod heartbeat;
mod limits;
mod links;
mod log;
mod notify;
mod opening;
mod pace;
mod place;
mod port;
mod ports;
mod reload;
mod rights;
mod sites;
mod together;
mod troubles;

pub use client::{RequestError, send};
pub use error::ServiceError;
pub use guard::{GUARD_COMMAND, guard_main};
pub use place::{files_of, folder, socket_of, socket_path};

use crate::class_book::Way;
use crate::config::backend::BackendKind;
use crate::config::spec::{SafetySpec, Spec};
use crate::config::user::{self, User};
use crate::config::{Config, PlanContext};
use crate::datapath::{Datapath, Wire};
use crate::direction::Direction;
use crate::driver;
use crate::edge::EdgeViews;
use crate::io::senders::{Senders, SharedPort};
use crate::telemetry::{About, ChangeKind, Observer};
use control::{Control, Signals};
use edges::Edges;
use engine::{Command, Engine, Shared};
use fairwire_core::{Duration, Seed, Time};
use fairwire_linux::clock;
use fairwire_linux::port::PortError;
use guarding::{GuardPipes, Guarding};
use heartbeat::Heartbeat;
use links::{LinkView, Links};
use log::say;
use notify::{Notifier, Reporter};
use opening::{OpenInterface, Waiter};
use pace::{interval, longest_stay};
use place::{Listener, NameLock};
use port::{Common, LivePort};
use reload::Present;
use rights::Files;
use sites::Sites;
use std::cell::RefCell;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

/// Options of a run, beside the configuration.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Allow all system calls: for debuggers.
    pub no_seccomp: bool,
    /// Wait for interfaces that are not there yet, for as long as `safety.patience` says.
    pub wait: bool,
    /// Gives free memory back to the system, if the program's allocator can. Called after a reload,
    /// when there were two configurations.
    pub give_memory_back: Option<fn()>,
}

/// Turns huge pages off, for a program whose allocator requests them. To be called first, before
/// there is much memory.
///
/// A gateway's pools are large and mostly never touched: in small pages they cost nothing until
/// they are.
pub fn use_small_pages() {
    // A kernel without this option gives memory by its own rules.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}

/// A gateway to be run: its configuration, and the file from which it was read and is read again.
#[derive(Debug)]
pub struct Configured {
    /// The configuration.
    pub config: Config,
    /// The file.
    pub path: PathBuf,
}

/// Runs these gateways until SIGTERM, SIGINT, or `stop`. One whose interface is gone for longer
/// than its patience ends alone.
///
/// They give up rights of the whole process, so there must be no other threads, and the program
/// must hand its `gateway-guard` command over to [`guard_main`]. What cannot work is refused before
/// anything is changed, and then none of them starts; after any end the machine is as before.
///
/// # Errors
/// Why they did not start, or the first failure of one that had started.
pub fn run(gateways: Vec<Configured>, options: &Options, stop: &AtomicBool) -> Result<(), ServiceError> {
    let (configs, paths): (Vec<_>, Vec<_>) =
        gateways.into_iter().map(|Configured { config, path }| (Arc::new(config), path)).unzip();
    together::check(&configs)?;
    let user = user_of(&configs)?;
    let locks: Vec<_> = configs
        .iter()
        .map(|config| NameLock::take(config.spec(), user.as_ref()))
        .collect::<Result<_, _>>()?;
    let fail = |error| ServiceError::system("listening to signals", error);
    // Each gateway has pipes of its own, into which every signal is written.
    let signals: Vec<_> = configs.iter().map(|_| Signals::catch().map_err(fail)).collect::<Result<_, _>>()?;
    let notifier = Arc::new(Notifier::from_environment(configs.iter().map(name_of).collect()));
    let Some(first) = signals.first() else { return Ok(()) };
    let waiter = Waiter { signals: first, notifier: &notifier, stop };
    let waiter = Some(&waiter).filter(|_| options.wait);
    for config in &configs {
        if !opening::look(config, waiter)? {
            return Ok(()); // ended while it waited
        }
    }
    let mut ready = Vec::with_capacity(configs.len());
    for ((config, path), (lock, signals)) in configs.iter().zip(paths).zip(locks.into_iter().zip(&signals)) {
        log::set_gateway(Some(name_of(config)).filter(|_| configs.len() > 1));
        let base = Base { config: config.clone(), path, lock, signals };
        let Some(gateway) = ReadyGateway::open(base, waiter, user.as_ref(), options)? else {
            return Ok(());
        };
        ready.push(gateway);
    }
    log::set_gateway(None);
    for gateway in &mut ready {
        gateway.guard = Guarding::start(&gateway.config, options, user.as_ref())?;
    }
    give_up_rights(&configs, user.as_ref(), options)?;
    let reporters = notifier.reporters();
    forward_all(ready.into_iter().zip(reporters).collect(), stop)
}

fn name_of(config: &Arc<Config>) -> String {
    config.name().to_owned()
}

/// Gives up all rights that none of the gateways needs once they forward.
fn give_up_rights(
    configs: &[Arc<Config>],
    user: Option<&User>,
    options: &Options,
) -> Result<(), ServiceError> {
    rights::keep_only(rights::GATEWAY, user)?;
    let mut all = Files::default();
    for config in configs {
        let Files { read, write, devices } = files(config);
        all.read.extend(read);
        all.write.extend(write);
        all.devices.extend(devices);
    }
    if !rights::confine(&all)? {
        say(format_args!(
            "this kernel has no Landlock: which files the process may reach is up to its user alone"
        ));
    }
    if options.no_seccomp { Ok(()) } else { rights::filter_system_calls() }
}

/// Forwards by each of the gateways, on threads of its own, until all have ended.
fn forward_all(gateways: Vec<(ReadyGateway<'_>, Reporter)>, stop: &AtomicBool) -> Result<(), ServiceError> {
    let is_alone = gateways.len() == 1;
    let forward = |(gateway, reporter): (ReadyGateway<'_>, Reporter)| {
        let name = name_of(&gateway.config);
        log::set_gateway(Some(name.clone()).filter(|_| !is_alone));
        let outcome = forward(gateway, reporter, stop);
        if let Err(error) = outcome.as_ref()
            && !is_alone
        {
            say(format_args!("this gateway has ended: {error}; the others of this process go on"));
        }
        log::set_gateway(None);
        outcome
    };
    thread::scope(|scope| {
        let mut gateways = gateways.into_iter();
        let first = gateways.next();
        let forward = &forward;
        let start = |gateway| {
            let builder = thread::Builder::new().name("control".into());
            let started = builder.spawn_scoped(scope, move || forward(gateway));
            started.map_err(|error| ServiceError::system("starting a thread", error))
        };
        let others: Vec<_> = gateways.map(start).collect();
        let outcome = first.map_or(Ok(()), forward);
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        // All are waited for, whatever became of one.
        let others: Vec<_> = others.into_iter().map(|started| started.and_then(join)).collect();
        std::iter::once(outcome).chain(others).collect()
    })
}

/// The user that the gateways become. If none was configured and this process may not become
/// another user, as root in many containers, it stays what it is, and says so.
fn user_of(configs: &[Arc<Config>]) -> Result<Option<User>, ServiceError> {
    let Some(user) = together::user(configs)? else { return Ok(None) };
    let is_configured = configs.iter().any(|config| config.spec().safety.user.is_some());
    match (rights::may_become_user()?, is_configured) {
        (true, _) => Ok(Some(user)),
        (false, true) => Err(ServiceError::NoRights {
            operation: format!("becoming the user `{}` (CAP_SETUID, CAP_SETGID)", user.name),
            source: std::io::ErrorKind::PermissionDenied.into(),
        }),
        (false, false) => {
            say(format_args!("the rights CAP_SETUID and CAP_SETGID are missing: the process stays root's"));
            Ok(None)
        }
    }
}

/// The files that the process needs once it forwards: those that a reload reads, its socket and
/// lock to remove, and the folders where captures may be written.
fn files(config: &Config) -> Files {
    let socket = socket_of_gateway(config);
    let folder_of =
        |path: &Path| path.parent().filter(|folder| !folder.as_os_str().is_empty()).map(Path::to_owned);
    let sources: Vec<_> = config.files().iter().filter_map(|file| std::path::absolute(file).ok()).collect();
    // A file that is a link is read where it leads to.
    let sources = sources.iter().cloned().chain(sources.iter().filter_map(|file| file.canonicalize().ok()));
    let mut read: Vec<_> = sources.filter_map(|file| folder_of(&file)).collect();
    read.push("/proc".into());
    let state = std::env::var_os("STATE_DIRECTORY").map(std::path::PathBuf::from);
    let history = sites::history_of(config).and_then(|history| folder_of(&history));
    let write = [Some(folder()), folder_of(&socket), state, history].into_iter().flatten().collect();
    let makes_devices = config.spec().wire.backend.kind() != BackendKind::AfPacket;
    let devices = makes_devices.then(|| "/dev/net/tun".into()).into_iter().collect();
    Files { read, write, devices }
}

/// The control socket of the gateway of `config`.
fn socket_of_gateway(config: &Config) -> PathBuf {
    place::socket_path(config.name(), config.spec().telemetry.socket.as_deref())
}

/// A gateway of which nothing is open yet.
struct Base<'a> {
    config: Arc<Config>,
    path: PathBuf,
    lock: NameLock,
    signals: &'a Signals,
}

/// A gateway that is about to forward: everything that needs rights is open.
struct ReadyGateway<'a> {
    config: Arc<Config>,
    path: PathBuf,
    /// Its name is its own until it has ended.
    lock: NameLock,
    context: PlanContext,
    datapath: Datapath,
    wire: Wire<OpenInterface>,
    links: Links,
    listener: Listener,
    signals: &'a Signals,
    sites: Sites,
    edges: Edges,
    guard: Option<Guarding>,
    give_memory_back: Option<fn()>,
}

impl<'a> ReadyGateway<'a> {
    /// Opens all that the gateway needs but its guard. `None` if it was ended while it waited.
    fn open(
        base: Base<'a>,
        waiter: Option<&Waiter<'_>>,
        user: Option<&User>,
        options: &Options,
    ) -> Result<Option<Self>, ServiceError> {
        let Base { config, path, lock, signals } = base;
        let spec = config.spec();
        let Some(wire) = opening::open(&config, waiter)? else { return Ok(None) };
        let links = Links::open([&spec.wire.inside, &spec.wire.outside])?;
        let context = PlanContext {
            secret: secret(),
            seed: Seed(RandomState::new().hash_one(2_u8)),
            frame_bytes: ports::frame_bytes(spec)?,
            link: spec.wire.backend.link_kind(),
        };
        let mut datapath = Datapath::new(config.plan(&context)?);
        let [download, upload] = config.edges();
        datapath.forward.set_edge(download);
        datapath.backward.set_edge(upload);
        let listener = Listener::bind(&socket_of_gateway(&config), user::readers(&config)?)?;
        let sites = Sites::bind(&config, user)?;
        let edges = Edges::bind(&config)?;
        let (guard, give_memory_back) = (None, options.give_memory_back);
        Ok(Some(ReadyGateway {
            config,
            path,
            lock,
            context,
            datapath,
            wire,
            links,
            listener,
            signals,
            sites,
            edges,
            guard,
            give_memory_back,
        }))
    }
}

fn forward(ready: ReadyGateway<'_>, reporter: Reporter, stop: &AtomicBool) -> Result<(), ServiceError> {
    let ReadyGateway { config, path, lock: _lock, context, mut datapath, wire, links, .. } = ready;
    let ReadyGateway { listener, signals, sites, edges, mut guard, give_memory_back, .. } = ready;
    let (commands, received) = channel();
    let shared = Arc::new(Shared::default());
    let sizes = [datapath.forward.sizes(), datapath.backward.sizes()];
    let observer = Observer::of(About::of(&config), clock::now());
    observer.record(&mut datapath);
    let board = observer.board();
    let is_over = Arc::new(AtomicBool::new(false));
    board.note(ChangeKind::Start, beginning(&config));
    let views = EdgeViews::of([&datapath.forward, &datapath.backward].map(Direction::edge));
    let recorder = sites.serve(&board, &context, &is_over)?;
    let beats = guard.as_mut().and_then(Guarding::take_pipes);
    let frame_bytes = context.frame_bytes;
    let inner = Inner { config: config.clone(), wire, links: links.views(), datapath, observer, frame_bytes };
    links.watch(is_over.clone(), board.clone())?;
    let forwarding = {
        let shared = shared.clone();
        log::start("datapath", move || inner.forward(received, shared, beats))
            .map_err(|error| ServiceError::system("starting a thread", error))?
    };
    let changed_weights = Default::default();
    let mut present = Present {
        config: config.clone(),
        path,
        context,
        sizes,
        commands,
        board: board.clone(),
        changed_weights,
        changed_rates: [None, None],
        edges: views,
        following: None,
    };
    present.follow();
    say(format_args!(
        "the gateway `{}` forwards between {} and {}",
        config.name(),
        config.spec().wire.inside,
        config.spec().wire.outside
    ));
    reporter.ready("forwarding");
    let mut control = Control {
        listener,
        signals,
        reporter,
        present,
        board,
        shared: shared.clone(),
        edges,
        stop,
        give_memory_back,
    };
    let clients = control.run(&|| forwarding.is_finished());
    control.reporter.stopping();
    is_over.store(true, Ordering::Relaxed);
    shared.stop.store(true, Ordering::Relaxed);
    control.see_out(clients, &|| forwarding.is_finished());
    let outcome = forwarding.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    // A panic of that thread was printed when it happened, and is no failure of forwarding.
    if let Some(recorder) = recorder {
        let _ = recorder.join();
    }
    if let Some(guard) = guard.filter(|_| outcome.is_ok()) {
        // It was informed of an end on purpose. After any other end it stays.
        guard.see_out();
    }
    Ok(outcome?)
}

/// That the gateway of `config` began.
fn beginning(config: &Config) -> String {
    // The first class is unclaimed traffic.
    match config.book().len() - 1 {
        0 => "the gateway began, without classes".to_owned(),
        1 => "the gateway began, with 1 class or subscriber".to_owned(),
        count => format!("the gateway began, with {count} classes and subscribers"),
    }
}

/// The parameters of the thread that forwards.
struct Inner {
    config: Arc<Config>,
    wire: Wire<OpenInterface>,
    /// Inside first.
    links: [Arc<LinkView>; 2],
    datapath: Datapath,
    observer: Observer,
    /// Bytes of the longest frame.
    frame_bytes: u32,
}

/// The threads that send beside the one that decides, where the configuration has some.
fn senders_of(spec: &Spec, frame_bytes: u32) -> std::io::Result<Option<Rc<RefCell<Senders>>>> {
    let count = spec.wire.backend.threads() as usize - 1;
    let start = || Senders::start(count, frame_bytes as usize).map(|senders| Rc::new(RefCell::new(senders)));
    (count > 0).then(start).transpose()
}

impl Inner {
    fn forward(
        self,
        commands: Receiver<Command>,
        shared: Arc<Shared>,
        guard: Option<GuardPipes>,
    ) -> Result<(), PortError> {
        let Inner { config, wire, links: [inside, outside], mut datapath, observer, frame_bytes } = self;
        let safety = &config.spec().safety;
        let heartbeat = guard.map(|GuardPipes { to_guard, from_guard, since }| {
            Heartbeat::new(to_guard, from_guard, watchdog(safety), since)
        });
        let common = Rc::new(RefCell::new(Common { heartbeat, is_ending: false }));
        let patience = safety.patience.map(|patience| patience.0);
        let spec = config.spec();
        let senders = senders_of(spec, frame_bytes).map_err(|source| PortError::System {
            operation: "starting threads to send",
            name: spec.wire.outside.clone(),
            source,
        })?;
        let live = |opened: OpenInterface, link, name: &str| {
            let OpenInterface { port, lock } = opened;
            LivePort::new(name, port, opening::again(spec, lock), patience, (link, common.clone()))
                .map_err(|source| PortError::System { operation: "preparing", name: name.to_owned(), source })
        };
        let (left, right) =
            (live(wire.left, outside, &spec.wire.outside)?, live(wire.right, inside, &spec.wire.inside)?);
        let ports = [right.state(), left.state()];
        let mut wire = Wire {
            left: SharedPort::new(left, 0, senders.clone()),
            right: SharedPort::new(right, 1, senders.clone()),
        };
        let mut engine = Engine {
            commands,
            observer,
            shared,
            common: common.clone(),
            ports,
            senders,
            interval: interval(&config),
            patience: longest_stay(&config),
            observe_at: Time::ZERO,
            end_at: None,
        };
        let outcome = driver::run(&mut datapath, &mut wire, &mut |now, datapath| engine.watch(now, datapath));
        if outcome.is_ok()
            && let Some(heartbeat) = &mut common.borrow_mut().heartbeat
        {
            heartbeat.announce_end();
        }
        log_totals(&datapath);
        outcome
    }
}

/// Logs where every packet went.
fn log_totals(datapath: &Datapath) {
    for (way, direction) in [(Way::Download, &datapath.forward), (Way::Upload, &datapath.backward)] {
        let totals = direction.totals();
        let lost: u64 = totals.lost.iter().sum();
        say(format_args!(
            "{}: {} packets in, {} out, {} dropped, {lost} lost, {} left inside{}",
            way.name(),
            totals.packets_in,
            totals.packets_out,
            totals.packets_gone() - lost,
            direction.packets_inside(),
            if direction.is_balanced() { "" } else { ": PACKETS ARE MISSING" }
        ));
    }
}

fn watchdog(safety: &SafetySpec) -> Duration {
    safety.watchdog.map_or(Duration::from_secs(1), |watchdog| watchdog.0)
}

/// A key of the flow hash that no sender can know.
fn secret() -> [u8; 16] {
    // Each `RandomState` has keys of its own, from the system's randomness.
    let words = [0_u64, 1].map(|word| RandomState::new().hash_one(word));
    let mut secret = [0; 16];
    secret[..8].copy_from_slice(&words[0].to_ne_bytes());
    secret[8..].copy_from_slice(&words[1].to_ne_bytes());
    secret
}
