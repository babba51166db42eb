//! Gateways as a service. Each gateway opens its ports, forwards on one thread and answers requests
//! on another. All gateways of a process give up its rights together, before any thread starts.
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
mod bypass;

mod clients;
mod control;
pub(crate) mod engine;
pub(crate) mod error;
mod following;
mod forwarding;
mod guard;
mod guarding;
mod heartbeat;
mod limits;
mod links;
pub mod log;
mod mailbox;
mod notify;
mod opening;
mod pace;
pub mod place;
mod port;
mod ports;
pub(crate) mod reload;
mod rights;

mod take_over;
mod together;
mod troubles;

pub use error::ServiceError;
pub use guard::guard_main;
pub use place::{files_of, folder, socket_of};

use crate::config::backend::BackendKind;
use crate::config::user::User;
use crate::config::wire::WireSpec;
use crate::config::{Config, PlanContext, user};
use crate::edges::Edges;
use crate::sites::{BindSites, BoundSites, history_of};
use crate::telemetry::{About, ChangeKind, Observer};
use control::{Control, Estate, Signals};
use engine::{Command, Shared};
use fairwire_core::Seed;
use fairwire_datapath::Datapath;
use fairwire_datapath::classify::secret;
use fairwire_datapath::direction::Direction;
use fairwire_datapath::edge::EdgeViews;
use fairwire_linux::{clock, memory, priority};
use forwarding::{Forwarding, Source, Thread, Waiting};
use guarding::{GuardPipes, Guarding};
use links::Links;
use log::say;
use notify::{Notifier, Reporter};
use opening::Waiter;
use place::{Listener, NameLock};
use reload::Present;
use rights::Files;
use std::hash::{BuildHasher, RandomState};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;
use take_over::Papers;

/// Options of a run, in addition to the configuration.
#[derive(Clone, Debug)]
pub struct Options {
    /// Metrics and pages.
    pub sites: BindSites,
    /// Allow all system calls, for debuggers.
    pub no_seccomp: bool,
    /// Forward with an ordinary priority, like other programs.
    pub no_real_time: bool,
    /// Wait up to `safety.patience` for missing interfaces.
    pub wait: bool,
    /// Take over from the running process without a gap; only for one gateway.
    pub take_over: bool,
}

/// A gateway to run: its configuration, and the file that a reload reads.
#[derive(Debug)]
pub struct Configured {
    /// The configuration.
    pub config: Config,
    /// The file.
    pub path: PathBuf,
}

/// Runs these gateways until SIGTERM, SIGINT, or `stop`. If a gateway's interface is gone for
/// longer than the gateway's patience, only that gateway ends.
///
/// The call gives up rights of the entire process, so there must be no other threads. The program
/// must pass its `gateway-guard` command to [`guard_main`]. An impossible configuration is refused
/// before anything is changed. After any end the machine is as before.
///
/// # Errors
/// Why no gateway started, or the first failure of a gateway that had started.
pub fn run(gateways: Vec<Configured>, options: &Options, stop: &AtomicBool) -> Result<(), ServiceError> {
    memory::use_small_pages();
    memory::keep_apart();
    let (configs, paths): (Vec<_>, Vec<_>) =
        gateways.into_iter().map(|Configured { config, path }| (Arc::new(config), path)).unzip();
    together::check(&configs)?;
    let options = &Options { take_over: options.take_over && !starts_instead(&configs), ..options.clone() };
    let user = user_of(&configs)?;
    if !options.wait {
        // This check comes before the socket folder is given to `user`.
        configs.iter().try_for_each(|config| opening::look(config, None).map(|_| ()))?;
    }
    let locks: Vec<_> = match options.take_over {
        true => Vec::new(), // another process has it
        false => configs
            .iter()
            .map(|config| NameLock::take(config.spec(), user.as_ref()))
            .collect::<Result<_, _>>()?,
    };
    let fail = |error| ServiceError::system("listening to signals", error);
    // A signal is written to every registered pipe, so each gateway registers its pipes.
    let signals: Vec<_> = configs.iter().map(|_| Signals::catch().map_err(fail)).collect::<Result<_, _>>()?;
    let notifier = Notifier::from_environment(configs.iter().map(name_of).collect());
    let notifier = Arc::new(if options.take_over { notifier.into_heir() } else { notifier });
    let Some(first) = signals.first() else { return Ok(()) };
    let mut ready = if options.take_over {
        let [(config, path)] = <[_; 1]>::try_from(configs.iter().cloned().zip(paths).collect::<Vec<_>>())
            .map_err(|_| ServiceError::NotHandedOver { message: "`--take-over` is for one link".into() })?;
        vec![ReadyGateway::take_over(config, path, first, user.as_ref(), options.sites)?]
    } else {
        let waiter = Waiter { signals: first, notifier: &notifier, stop };
        let bases = configs.iter().cloned().zip(paths).zip(locks.into_iter().zip(&signals));
        let bases = bases.map(|((config, path), (lock, signals))| Base { config, path, lock, signals });
        let waiter = Some(&waiter).filter(|_| options.wait);
        match open_all(bases.collect(), waiter, user.as_ref(), options.sites)? {
            Some(ready) => ready,
            None => return Ok(()), // ended while it waited
        }
    };
    for gateway in ready.iter_mut().filter(|gateway| gateway.guard.is_none()) {
        gateway.guard = Guarding::start(&gateway.config, !options.no_seccomp, user.as_ref())?;
    }
    // This thread raises its priority before it gives up the right to do so. Forwarding threads
    // inherit the priority.
    let threads = configs.iter().map(|config| config.spec().wire.backend.threads() as usize).sum();
    if !options.no_real_time
        && let Err(error) = priority::raise(threads)
    {
        say(format_args!(
            "busy programs may delay frames, since forwarding has no real-time priority: {error}; its unit can have \
             `LimitRTPRIO=1`, and `--no-real-time` omits the priority"
        ));
    }
    give_up_rights(&configs, user.as_ref(), options)?;
    let reporters = notifier.reporters();
    forward_all(ready.into_iter().zip(reporters).collect(), stop)
}

/// True if there is only one gateway and no process answers at its socket, so there is nothing to
/// take over. A normal start then replaces a guard's bridge or reopens a closed link.
fn starts_instead(configs: &[Arc<Config>]) -> bool {
    let [config] = configs else { return false };
    let socket = socket_of_gateway(config);
    let runs = UnixStream::connect(&socket).is_ok();
    if !runs {
        say(format_args!("no gateway `{}` runs that could be taken over: this one starts", config.name()));
    }
    !runs
}

/// Opens all gateways or none. Returns `None` if the gateways were ended while they waited.
fn open_all<'a>(
    bases: Vec<Base<'a>>,
    waiter: Option<&Waiter<'_>>,
    user: Option<&User>,
    sites: BindSites,
) -> Result<Option<Vec<ReadyGateway<'a>>>, ServiceError> {
    for base in &bases {
        if !opening::look(&base.config, waiter)? {
            return Ok(None);
        }
    }
    let is_alone = bases.len() == 1;
    let mut ready = Vec::with_capacity(bases.len());
    for base in bases {
        log::set_gateway(Some(name_of(&base.config)).filter(|_| !is_alone));
        match ReadyGateway::open(base, waiter, user, sites)? {
            Some(gateway) => ready.push(gateway),
            None => return Ok(None),
        }
    }
    log::set_gateway(None);
    Ok(Some(ready))
}

fn name_of(config: &Arc<Config>) -> String {
    config.name().to_owned()
}

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

fn forward_all(gateways: Vec<(ReadyGateway<'_>, Reporter)>, stop: &AtomicBool) -> Result<(), ServiceError> {
    let is_alone = gateways.len() == 1;
    let forward = |(gateway, reporter): (ReadyGateway<'_>, Reporter)| {
        let name = name_of(&gateway.config);
        log::set_gateway(Some(name.clone()).filter(|_| !is_alone));
        let outcome = forward(gateway, reporter, stop, is_alone);
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
        // All threads are joined, even if one failed.
        let others: Vec<_> = others.into_iter().map(|started| started.and_then(join)).collect();
        std::iter::once(outcome).chain(others).collect()
    })
}

/// The user that the gateways become. If none is configured and this process may not change its
/// user, as in many containers, it keeps its user and logs this.
fn user_of(configs: &[Arc<Config>]) -> Result<Option<User>, ServiceError> {
    let Some(user) = together::user(configs)? else { return Ok(None) };
    let is_configured = configs.iter().any(|config| config.spec().safety.user.is_some());
    let is_mapped = rights::is_mapped(&user);
    match (rights::may_become_user()? && is_mapped, is_configured) {
        (false, _) if !is_mapped && !is_configured => {
            let name = &user.name;
            say(format_args!(
                "there is no user `{name}` in this user namespace: the process stays root's, as with `safety.user = \"root\"`"
            ));
            Ok(None)
        }
        (true, _) => Ok(Some(user)),
        (false, true) => Err(ServiceError::NoRights {
            operation: match is_mapped {
                true => format!("becoming the user `{}` (CAP_SETUID, CAP_SETGID)", user.name),
                false => format!(
                    "becoming the user `{}`, who is none in this user namespace (`safety.user = \"root\"` keeps it root's)",
                    user.name
                ),
            },
            source: std::io::ErrorKind::PermissionDenied.into(),
        }),
        (false, false) => {
            say(format_args!("the rights CAP_SETUID and CAP_SETGID are missing: the process stays root's"));
            Ok(None)
        }
    }
}

/// The files needed while forwarding: those that a reload reads, the socket and lock to remove, and
/// the folders for captures.
fn files(config: &Config) -> Files {
    let socket = socket_of_gateway(config);
    let folder_of =
        |path: &Path| path.parent().filter(|folder| !folder.as_os_str().is_empty()).map(Path::to_owned);
    let sources: Vec<_> = config.files().iter().filter_map(|file| std::path::absolute(file).ok()).collect();
    // The targets of symbolic links are read, too.
    let sources = sources.iter().cloned().chain(sources.iter().filter_map(|file| file.canonicalize().ok()));
    let mut read: Vec<_> = sources.filter_map(|file| folder_of(&file)).collect();
    read.push("/proc".into());
    let state = std::env::var_os("STATE_DIRECTORY").map(std::path::PathBuf::from);
    let history = history_of(config).and_then(|history| folder_of(&history));
    let write = [Some(folder()), folder_of(&socket), state, history].into_iter().flatten().collect();
    let makes_devices = config.spec().wire.backend.kind() != BackendKind::AfPacket;
    let devices = makes_devices.then(|| "/dev/net/tun".into()).into_iter().collect();
    Files { read, write, devices }
}

fn socket_of_gateway(config: &Config) -> PathBuf {
    place::socket_path(config.name(), config.spec().telemetry.socket.as_deref())
}

/// A gateway with nothing open yet.
struct Base<'a> {
    config: Arc<Config>,
    path: PathBuf,
    lock: NameLock,
    signals: &'a Signals,
}

/// A gateway that is about to forward, and has opened everything that needs rights.
struct ReadyGateway<'a> {
    config: Arc<Config>,
    path: PathBuf,
    /// Reserves the gateway's name until the gateway has ended.
    lock: NameLock,
    context: PlanContext,
    datapath: Datapath,
    source: Source,
    links: Links,
    listener: Listener,
    signals: &'a Signals,
    sites: Box<dyn BoundSites>,
    edges: Edges,
    guard: Option<Guarding>,
}

impl<'a> ReadyGateway<'a> {
    /// Opens all that the gateway needs except its guard. Returns `None` if the gateway was ended
    /// while it waited.
    fn open(
        base: Base<'a>,
        waiter: Option<&Waiter<'_>>,
        user: Option<&User>,
        sites: BindSites,
    ) -> Result<Option<Self>, ServiceError> {
        let Base { config, path, lock, signals } = base;
        let Some(wire) = opening::open(&config, waiter)? else { return Ok(None) };
        let links = Links::open(&config.spec().wire)?;
        let (context, datapath) = built(&config)?;
        let listener = Listener::bind(&socket_of_gateway(&config), user::readers(&config)?)?;
        let sites = sites(&config, user, &mut Vec::new())?;
        let edges = Edges::bind(&config, &mut Vec::new())?;
        let (source, guard) = (Source::Open(Box::new(wire)), None);
        Ok(Some(ReadyGateway {
            config,
            path,
            lock,
            context,
            datapath,
            source,
            links,
            listener,
            signals,
            sites,
            edges,
            guard,
        }))
    }

    /// Takes over all that the gateway needs from the running process, which forwards until this
    /// process is ready.
    fn take_over(
        config: Arc<Config>,
        path: PathBuf,
        signals: &'a Signals,
        user: Option<&User>,
        sites: BindSites,
    ) -> Result<Self, ServiceError> {
        opening::look(&config, None)?;
        // Building the datapath is slow, so it comes first.
        let (context, datapath) = built(&config)?;
        let socket = socket_of_gateway(&config);
        let Papers { stream, control, name, guard, mut streams, mut datagrams } =
            take_over::request(&socket, &config)?;
        let links = Links::open(&config.spec().wire)?;
        Ok(ReadyGateway {
            path,
            lock: NameLock::handed_over(name, config.spec()),
            context,
            datapath,
            source: Source::Process(stream),
            links,
            listener: Listener::handed_over(control, &socket),
            signals,
            sites: sites(&config, user, &mut streams)?,
            edges: Edges::bind(&config, &mut datagrams)?,
            guard: guard.map(Guarding::handed_over),
            config,
        })
    }
}

fn built(config: &Config) -> Result<(PlanContext, Datapath), ServiceError> {
    let spec = config.spec();
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
    Ok((context, datapath))
}

fn forward(
    ready: ReadyGateway<'_>,
    reporter: Reporter,
    stop: &AtomicBool,
    is_alone: bool,
) -> Result<(), ServiceError> {
    let thread = Waiting::start().map_err(|error| ServiceError::system("starting a thread", error))?;
    priority::lower();
    let ReadyGateway { config, path, lock, context, mut datapath, source, links, .. } = ready;
    let ReadyGateway { listener, signals, sites, edges, mut guard, .. } = ready;
    let (commands, received) = mailbox::channel();
    let shared = Arc::new(Shared::default());
    let sizes = [datapath.forward.sizes(), datapath.backward.sizes()];
    let observer = Observer::of(About::of(&config), clock::now());
    observer.record(&mut datapath);
    let board = observer.board();
    let is_over = Arc::new(AtomicBool::new(false));
    board.note(ChangeKind::Start, beginning(&config));
    let views = EdgeViews::of([&datapath.forward, &datapath.backward].map(Direction::edge));
    let streams = sites.copies();
    let copies = guard.as_ref().and_then(Guarding::copies);
    let is_heir = matches!(source, Source::Process(_));
    let serve = || sites.serve(&board, &context, &is_over);
    // An heir serves HTTP later, since the previous process uses the history file until its end.
    let (mut recorder, serve) = if is_heir { (None, Some(serve)) } else { (serve()?, None) };
    let beats = guard.as_mut().and_then(Guarding::take_pipes);
    let frame_bytes = context.frame_bytes;
    let forwarding =
        Forwarding { config: config.clone(), source, links: links.views(), datapath, observer, frame_bytes };
    links.watch(is_over.clone(), board.clone())?;
    let started = start(thread, forwarding, received, &shared, beats);
    let (forwarding, former) = started.map_err(|error| {
        is_over.store(true, Ordering::Relaxed);
        error.or_not_handed_over(is_heir)
    })?;
    listener.own();
    lock.own(config.spec());
    let mut present = Present {
        config: config.clone(),
        path,
        context,
        sizes,
        commands,
        board: board.clone(),
        set: Default::default(),
        edges: views,
        following: None,
    };
    present.follow();
    let WireSpec { inside, outside, .. } = &config.spec().wire;
    say(format_args!("the gateway `{}` forwards between {inside} and {outside}", config.name()));
    reporter.ready("forwarding");
    if let (Some(former), Some(serve)) = (former, serve) {
        recorder = serve_after(&former, serve);
    }
    let estate = Estate { name: &lock, guard: copies, streams, is_alone };
    let mut control = Control {
        listener,
        signals,
        reporter,
        present,
        board,
        shared: shared.clone(),
        edges,
        stop,
        estate,
        offer: None,
    };
    let clients = control.run(&|| forwarding.is_finished());
    is_over.store(true, Ordering::Relaxed);
    end(&mut control, clients, forwarding, recorder, guard)
}

/// Starts to forward on `thread`. Also returns the stream to the previous process, if this process
/// takes over.
fn start(
    thread: Waiting,
    forwarding: Forwarding,
    commands: mailbox::Receiver<Command>,
    shared: &Arc<Shared>,
    guard: Option<GuardPipes>,
) -> Result<(Thread, Option<UnixStream>), ServiceError> {
    let (begun, has_begun) = sync_channel(1);
    let shared = shared.clone();
    let thread = thread.begin(move || forwarding.run(commands, &shared, guard, &begun));
    match has_begun.recv() {
        Ok(former) => Ok((thread, former)),
        Err(_) => {
            // The thread ended before it forwarded.
            let outcome = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            Err(outcome.err().map_or_else(
                || ServiceError::system("forwarding", std::io::Error::other("it has ended")),
                ServiceError::from,
            ))
        }
    }
}

/// Serves metrics and the page once the process at `former` has ended, since both processes use the
/// same addresses and history.
fn serve_after(
    former: &UnixStream,
    serve: impl FnOnce() -> Result<Option<thread::JoinHandle<()>>, ServiceError>,
) -> Option<thread::JoinHandle<()>> {
    take_over::let_go(former);
    take_over::wait_for_end(former);
    serve().unwrap_or_else(|error| {
        say(format_args!("metrics and the page are not served: {error}"));
        None
    })
}

/// Ends a gateway that takes no more commands, once its packets have left or another process has
/// them.
fn end(
    control: &mut Control<'_>,
    clients: clients::Clients,
    forwarding: Thread,
    recorder: Option<thread::JoinHandle<()>>,
    guard: Option<Guarding>,
) -> Result<(), ServiceError> {
    let is_handed_over = control.shared.is_handed_over.load(Ordering::Acquire);
    control.shared.stop.store(true, Ordering::Relaxed);
    match is_handed_over {
        true => control.leave(),
        false => {
            control.reporter.stopping();
            control.see_out(clients, &|| forwarding.is_finished());
        }
    }
    let outcome = forwarding.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    // A panic of the recorder is no failure of forwarding.
    if let Some(recorder) = recorder {
        let _ = recorder.join();
    }
    if let Some(guard) = guard.filter(|_| matches!(outcome, Ok(None))) {
        // The gateway has ended on purpose. After any other end, the guard stays.
        guard.see_out();
    }
    if let Some(heir) = outcome? {
        control.leave(); // the other process may have taken over after all
        take_over::wait_for_leave(&heir);
    }
    Ok(())
}

fn beginning(config: &Config) -> String {
    // The first class is unclaimed traffic.
    match config.book().len() - 1 {
        0 => "the gateway began, without classes".to_owned(),
        1 => "the gateway began, with 1 class or subscriber".to_owned(),
        count => format!("the gateway began, with {count} classes and subscribers"),
    }
}
