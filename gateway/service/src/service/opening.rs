//! Locks, checks and opens the two interfaces. On request, first waits for them.

use super::control::Signals;
use super::error::ServiceError;
use super::log::say;
use super::notify::Notifier;
use super::{guard, ports};
use crate::config::spec::Spec;
use crate::config::{Config, environment};
use crate::device::{DeviceLock, holder};
use fairwire_core::{Duration, Time};
use fairwire_datapath::Wire;
use fairwire_linux::clock;
use fairwire_linux::{link, port::PortError};
use ports::AnyPort;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

/// An open interface. An existing device is locked; a device that the gateway created needs no
/// lock.
pub(super) struct OpenInterface {
    pub port: AnyPort,
    pub lock: Option<DeviceLock>,
}

pub(super) struct Waiter<'a> {
    pub signals: &'a Signals,
    pub notifier: &'a Notifier,
    pub stop: &'a AtomicBool,
}

const RETRY: Duration = Duration::from_ms(100);
/// The interval at which the service manager learns that this process is alive.
const ALIVE: Duration = Duration::from_ms(500);

/// Checks that both interfaces exist. With a `waiter`, waits for them, and returns false if the
/// gateway was ended meanwhile. Nothing is changed: a guard's bridge stays until all gateways of
/// the process can start.
pub(super) fn look(config: &Config, waiter: Option<&Waiter<'_>>) -> Result<bool, ServiceError> {
    if !config.spec().wire.backend.attaches() {
        return Ok(true);
    }
    match waiter {
        Some(waiter) => waiter.wait(config),
        None => match missing(config.spec())? {
            Some((key, _)) => Err(environment::gone(config, key).into()),
            None => Ok(true),
        },
    }
}

/// Opens both interfaces, the outside on the left. With a `waiter`, waits for missing interfaces
/// for at most `safety.patience`. Returns `None` if the gateway was ended meanwhile.
pub(super) fn open(
    config: &Config,
    waiter: Option<&Waiter<'_>>,
) -> Result<Option<Wire<OpenInterface>>, ServiceError> {
    let Some(waiter) = waiter.filter(|_| config.spec().wire.backend.attaches()) else {
        return open_now(config).map(Some);
    };
    loop {
        if !waiter.wait(config)? {
            return Ok(None);
        }
        match open_now(config) {
            // The interface disappeared after the check.
            Err(_) if missing(config.spec())?.is_some() => {}
            outcome => return outcome.map(Some),
        }
    }
}

fn open_now(config: &Config) -> Result<Wire<OpenInterface>, ServiceError> {
    let spec = config.spec();
    let mut locks = [None, None];
    if spec.wire.backend.attaches() {
        for (lock, name) in locks.iter_mut().zip([&ports::an_inside(&spec.wire), &spec.wire.outside]) {
            *lock = take(name)?;
        }
    }
    guard::request_leave(&guard::socket_of(&spec.name))?;
    ports::remove_left(spec)?;
    for note in environment::check(config)? {
        say(format_args!("note: {}", note.0));
    }
    let open = |key, name| ports::open(spec, name).map_err(|error| ports::refused(config, key, error));
    let [inside, outside] = locks;
    Ok(Wire {
        left: OpenInterface { port: open("outside", &spec.wire.outside)?, lock: outside },
        right: OpenInterface { port: open("inside", spec.wire.inside.first())?, lock: inside },
    })
}

/// The longest wait for a lock. A killed process releases its locks late, some tens of milliseconds
/// after its guard has noticed.
const LETTING_GO: Duration = Duration::from_ms(500);

/// Locks the interface `name`. Returns `None` if the interface is missing: opening the interface
/// then reports the error.
fn take(name: &str) -> Result<Option<DeviceLock>, ServiceError> {
    let fail = |error| ServiceError::system(format!("locking the interface `{name}`"), error);
    let until = clock::now() + LETTING_GO;
    loop {
        let Some(index) = link::index_of(name).map_err(fail)? else { return Ok(None) };
        if let Some(lock) = DeviceLock::take(index).map_err(fail)? {
            return Ok(Some(lock));
        }
        if clock::now() >= until {
            let holder = holder(index).map_or("another gateway".into(), |holder| holder.to_string());
            return Err(ServiceError::Taken { what: format!("the interface `{name}`"), holder });
        }
        clock::sleep_until(clock::now() + Duration::from_ms(10));
    }
}

fn missing(spec: &Spec) -> Result<Option<(&'static str, String)>, ServiceError> {
    for (key, name) in [("inside", ports::an_inside(&spec.wire)), ("outside", spec.wire.outside.clone())] {
        let found = link::index_of(&name);
        let is_missing =
            found.map_err(|error| ServiceError::system(format!("looking for `{name}`"), error))?.is_none();
        if is_missing && !(key == "inside" && spec.wire.inside.has_pattern()) {
            return Ok(Some((key, name)));
        }
    }
    Ok(None)
}

impl Waiter<'_> {
    /// Waits until both interfaces exist. Returns false if the gateway was ended meanwhile.
    fn wait(&self, config: &Config) -> Result<bool, ServiceError> {
        let patience = config.spec().safety.patience.map(|patience| patience.0);
        let (began, mut alive_at, mut waits_for) = (clock::now(), Time::ZERO, String::new());
        while let Some((key, name)) = missing(config.spec())? {
            let now = clock::now();
            if self.stop.load(Ordering::Relaxed) || self.signals.has_ended() {
                return Ok(false);
            }
            if patience.is_some_and(|patience| now.since(began) >= patience) {
                return Err(PortError::Gone { name }.into());
            }
            if waits_for != name {
                say(format_args!(
                    "waiting for `{name}`, until then nothing passes: {}",
                    environment::gone(config, key)
                ));
                // The process reports ready, since other services must not wait for a cable that
                // may never be plugged in.
                self.notifier.waiting(&format!("waiting for the interface {name}"));
                waits_for = name;
            }
            if now >= alive_at {
                alive_at = now + ALIVE;
                self.notifier.alive();
            }
            clock::sleep_until(now + RETRY);
        }
        if !waits_for.is_empty() {
            say(format_args!("`{waits_for}` is there, after {:.1} s", clock::now().since(began).secs()));
        }
        Ok(true)
    }
}

/// The lock of a port's interface. [`again`] replaces the lock.
pub(super) type Held = Rc<RefCell<Option<DeviceLock>>>;

pub(super) fn again(spec: &Spec, held: Held) -> super::port::Open<AnyPort> {
    let spec = spec.clone();
    Box::new(move |name| {
        drop(held.take()); // before the next one is taken
        if spec.wire.backend.attaches() {
            let fail = |source| PortError::System { operation: "locking", name: name.to_owned(), source };
            // A router's inside port has the name of the first inside interface. If this interface
            // is missing, another inside interface is locked.
            let is_outside = name == spec.wire.outside;
            let name = if is_outside { name.to_owned() } else { ports::an_inside(&spec.wire) };
            match link::index_of(&name).map_err(fail)? {
                Some(index) => {
                    let lock = DeviceLock::take(index).map_err(fail)?;
                    held.replace(Some(lock.ok_or_else(|| fail(std::io::ErrorKind::ResourceBusy.into()))?));
                }
                None if !is_outside && spec.wire.inside.has_pattern() => {}
                None => return Err(PortError::Gone { name }),
            }
        }
        ports::open(&spec, name)
    })
}
