//! The datapath thread's work besides forwarding: commands, observations, the check whether the
//! guard is gone, and shutdown.

use super::mailbox;
use super::pace::{interval, longest_stay};
use super::port::Common;
use crate::config::Config;
use crate::telemetry::{Observer, PortState, Samplers};
use fairwire_core::{Discipline, Duration, RateLaw, RateRequest, SetWeightError, Time, Weight};
use fairwire_datapath::Datapath;
use fairwire_datapath::classify::Members;
use fairwire_datapath::direction::{HandedOver, Replacement, Retired, Sizes};
use fairwire_datapath::driver::Next;
use fairwire_datapath::io::senders::Senders;
use fairwire_datapath::trips::{ClassTrips, Listener};
use fairwire_wire::Way;
use std::cell::{Cell, RefCell};
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;

pub(crate) enum Command {
    /// Replace both directions.
    Replace(Box<Replace>),
    /// Apply these changes. The answer returns unused memory, or an error. On an error, only terms
    /// may have changed.
    Edit(Edit, SyncSender<Result<Edit, SetWeightError>>),
    /// Make a direction's rate follow this schedule from this time on.
    SetRate(Way, RateLaw, Time),
    /// Apply the far edge's requests, by class number, until this time.
    Report(Vec<(u32, RateRequest)>, Time),
    /// From now on, send each round trip over the outside to this receiver.
    Listen(Option<Listener>),
    /// Answer whether every packet is accounted for in both directions.
    Balance(SyncSender<bool>),
    HandOver(UnixStream),
}

/// Changes that keep the numbers of the remaining classes.
#[derive(Default)]
pub(crate) struct Edit {
    /// Class numbers that become vacant.
    pub gone: Vec<u32>,
    /// Vacant numbers for new classes. The edit fails if an earlier packet with such a number is
    /// still in the gateway.
    pub new: Vec<u32>,
    /// New terms, which are applied before the weights.
    pub terms: Vec<NewTerms>,
    /// New weights, by class number.
    pub weights: Vec<(u32, Weight)>,
    /// The subscribers' claims on packets and their suspensions, for each direction.
    pub members: Option<[Members; 2]>,
}

pub(crate) struct NewTerms {
    pub class: u32,
    pub parent: Option<u32>,
    /// A discipline with the new terms, for each direction in which they change.
    pub fresh: [Option<Box<dyn Discipline>>; 2],
}

pub(crate) struct Replace {
    /// Download, upload.
    pub ways: [Replacement; 2],
    pub class_map: Box<[u32]>,
    /// Download, upload.
    pub trips: [ClassTrips; 2],
    /// Memory for this configuration's telemetry.
    pub samplers: Samplers,
    pub config: Arc<Config>,
    /// Weights that requests have set, by class number.
    pub weights: Vec<(u32, Weight)>,
    /// Rates that requests have set, and their start times: download, upload.
    pub rates: [Option<(RateLaw, Time)>; 2],
    pub done: SyncSender<Replaced>,
}

/// The result of a replacement, with the replaced memory. The receiver frees this memory when time
/// does not matter.
pub(crate) struct Replaced {
    pub ways: [HandedOver; 2],
    pub at: Time,
    /// The time for which nothing was forwarded.
    pub paused: Duration,
    pub are_weights_set: bool,
    /// Processor time of the thread within `paused`.
    pub worked: Duration,
    pub sizes: [Sizes; 2],
    pub retired: ReplacedParts,
}

pub(crate) struct ReplacedParts {
    _ways: [Retired; 2],
    _trips: [ClassTrips; 2],
    _samplers: Samplers,
    _class_map: Box<[u32]>,
    _config: Arc<Config>,
}

/// State shared by the control and datapath threads.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub stop: AtomicBool,
    /// Counts up as long as packets can be forwarded.
    pub beats: AtomicU64,
    pub is_guard_gone: AtomicBool,
    /// The number of times that the guard bridged the link.
    pub openings: AtomicU64,
    /// The number of times that a sender thread stalled.
    pub stalls: AtomicU64,
    /// Total bytes received from the outside line and sent to it, as counted on the link.
    pub carried: [AtomicU64; 2],
    pub is_handed_over: AtomicBool,
}

/// Everything besides forwarding.
pub(super) struct Engine {
    pub commands: mailbox::Receiver<Command>,
    pub observer: Observer,
    pub shared: Arc<Shared>,
    pub common: Rc<RefCell<Common>>,
    /// Inside first.
    pub ports: [Rc<Cell<PortState>>; 2],
    /// The threads that send packets in addition to this thread.
    pub senders: Option<Rc<RefCell<Senders>>>,
    pub interval: Duration,
    /// The maximum time that queued packets get to leave at shutdown.
    pub patience: Duration,
    pub at: Moments,
    /// The stream to the process that takes over.
    pub heir: Option<UnixStream>,
}

#[derive(Default)]
pub(super) struct Moments {
    /// The time of the next observation of the datapath.
    observed: Time,
    /// The time of the last change of classes.
    edited: Time,
    /// The time at which forwarding ends, even if packets still wait; `None` until shutdown begins.
    ended: Option<Time>,
}

/// The interval between polls for commands.
const LOOK: Duration = Duration::from_ms(10);
/// The interval between polls for commands during [`MOMENT`] after a change of classes. Further
/// changes may follow then.
const LOOK_AGAIN: Duration = Duration::from_ms(1);
const MOMENT: Duration = Duration::from_secs(1);

impl Engine {
    /// Does the due work between two packets. Returns the time of the driver's next call.
    pub(super) fn watch(&mut self, now: Time, datapath: &mut Datapath) -> Next {
        self.shared.beats.fetch_add(1, Ordering::Relaxed);
        let [download, upload] = &self.shared.carried;
        download.store(datapath.forward.totals().bytes_in, Ordering::Relaxed);
        upload.store(datapath.backward.totals().bytes_out, Ordering::Relaxed);
        if let Some(heartbeat) = &self.common.borrow().heartbeat {
            self.shared.is_guard_gone.store(heartbeat.is_alone(), Ordering::Relaxed);
            self.shared.openings.store(heartbeat.openings(), Ordering::Relaxed);
        }
        let mut processor = fairwire_linux::clock::thread().since(Time::ZERO);
        if let Some(senders) = &self.senders {
            let mut senders = senders.borrow_mut();
            senders.watch(now);
            self.shared.stalls.store(senders.stalls(), Ordering::Relaxed);
            processor = processor + senders.processor();
        }
        while let Some(command) = self.commands.take() {
            self.handle(command, now, datapath);
        }
        if self.heir.is_some() {
            return Next::Stop;
        }
        if now >= self.at.observed {
            self.at.observed = now + self.interval;
            datapath.backward.show_targets(now);
            self.observer.took(processor);
            self.observer.observe(now, datapath, [self.ports[0].get(), self.ports[1].get()]);
        }
        if self.shared.stop.load(Ordering::Relaxed) {
            return self.end(now, datapath);
        }
        let look = if now.since(self.at.edited) < MOMENT { LOOK_AGAIN } else { LOOK };
        Next::CallAt(self.at.observed.min(now + look))
    }

    /// Takes in no further packet, while the waiting packets leave at the link's rate. Returns
    /// [`Next::Stop`] once they have left, or after `patience`.
    fn end(&mut self, now: Time, datapath: &Datapath) -> Next {
        self.common.borrow_mut().is_ending = true;
        let end_at = *self.at.ended.get_or_insert(now + self.patience);
        let inside = datapath.forward.packets_inside() + datapath.backward.packets_inside();
        if inside == 0 || now >= end_at {
            return Next::Stop;
        }
        Next::CallAt(now + Duration::from_ms(1))
    }

    fn handle(&mut self, command: Command, now: Time, datapath: &mut Datapath) {
        match command {
            Command::Replace(replace) => self.replace(*replace, now, datapath),
            Command::Edit(edit, done) => {
                self.at.edited = now;
                // The caller may have stopped waiting; the change is kept.
                let _ = done.try_send(edited(edit, now, datapath));
            }
            Command::SetRate(way, law, start) => {
                let direction = match way {
                    Way::Download => &mut datapath.forward,
                    Way::Upload => &mut datapath.backward,
                };
                direction.follow(&law, start, now);
            }
            Command::Report(requests, until) => {
                for (class, request) in requests {
                    datapath.backward.on_report(class, request, until, now);
                }
            }
            Command::Listen(listener) => datapath.trips.listen(listener),
            Command::HandOver(stream) => self.heir = Some(stream),
            Command::Balance(answer) => {
                let _ = answer.try_send(datapath.forward.is_balanced() && datapath.backward.is_balanced());
            }
        }
    }

    fn replace(&mut self, replace: Replace, now: Time, datapath: &mut Datapath) {
        let begun = fairwire_linux::clock::thread();
        let Replace { ways: [download, upload], class_map, trips, samplers, config, weights, rates, done } =
            replace;
        let (forward, old_forward) = datapath.forward.replace(download, &class_map, now);
        let (backward, old_backward) = datapath.backward.replace(upload, &class_map, now);
        let are_weights_set = weights.is_empty() || set_weights(&weights, datapath).is_ok();
        for (direction, rate) in [&mut datapath.forward, &mut datapath.backward].into_iter().zip(rates) {
            if let Some((law, since)) = rate {
                direction.follow(&law, since, now);
            }
        }
        let trips = datapath.trips.replace_classes(trips, &class_map);
        let samplers = self.observer.replaced_by(samplers);
        (self.interval, self.patience) = (interval(&config), longest_stay(&config));
        let replaced = Replaced {
            ways: [forward, backward],
            at: now,
            are_weights_set,
            paused: fairwire_linux::clock::now().since(now),
            worked: fairwire_linux::clock::thread().since(begun),
            sizes: [datapath.forward.sizes(), datapath.backward.sizes()],
            retired: ReplacedParts {
                _ways: [old_forward, old_backward],
                _trips: trips,
                _samplers: samplers,
                _class_map: class_map,
                _config: config,
            },
        };
        let _ = done.try_send(replaced);
    }
}

/// Applies `edit`, and returns it with the previous members. After an error, only terms may have
/// changed; the reload that follows applies the same terms.
fn edited(mut edit: Edit, now: Time, datapath: &mut Datapath) -> Result<Edit, SetWeightError> {
    let is_idle = |class: &u32| datapath.forward.is_idle(*class) && datapath.backward.is_idle(*class);
    if !edit.new.iter().all(is_idle) {
        return Err(SetWeightError::NoWeights);
    }
    for NewTerms { class, parent, fresh } in &mut edit.terms {
        let ways = [&mut datapath.forward, &mut datapath.backward];
        for (direction, fresh) in ways.into_iter().zip(fresh) {
            let Some(fresh) = fresh else { continue };
            if !direction.retune_class(*class, *parent, &mut **fresh, now) {
                return Err(SetWeightError::NoWeights);
            }
        }
    }
    if !edit.weights.is_empty() {
        set_weights(&edit.weights, datapath)?;
    }
    if let Some([download, upload]) = &mut edit.members {
        datapath.forward.swap_members(download);
        datapath.backward.swap_members(upload);
    }
    for class in edit.gone.iter().chain(&edit.new) {
        datapath.forward.vacate(*class);
        datapath.backward.vacate(*class);
        datapath.trips.vacate(*class);
    }
    Ok(edit)
}

/// Sets all `weights` in both directions. On an error, no weight changes.
fn set_weights(weights: &[(u32, Weight)], datapath: &mut Datapath) -> Result<(), SetWeightError> {
    let mut done: Vec<(bool, u32, Weight)> = Vec::with_capacity(2 * weights.len());
    let mut has_shaper = false;
    for (class, weight) in weights {
        for is_forward in [true, false] {
            let direction = if is_forward { &mut datapath.forward } else { &mut datapath.backward };
            let Some(outcome) = direction.set_weight(*class, *weight) else { continue };
            has_shaper = true;
            match outcome {
                Ok(before) => done.push((is_forward, *class, before)),
                Err(error) => {
                    for (is_forward, class, before) in done.into_iter().rev() {
                        let direction =
                            if is_forward { &mut datapath.forward } else { &mut datapath.backward };
                        // The class had this weight before, so this cannot fail.
                        let _ = direction.set_weight(class, before);
                    }
                    return Err(error);
                }
            }
        }
    }
    if has_shaper { Ok(()) } else { Err(SetWeightError::NoWeights) }
}
