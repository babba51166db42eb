//! Threads that send frames, in addition to the deciding thread.
//!
//! Most of the work for a frame is the kernel's sending (`benches/senders.rs`). Headers, the
//! discipline and counts stay on the deciding thread, so no rate is divided among threads. The
//! deciding thread hands frames of some flows to [`Senders`] in batches ("parcels"), and sends the
//! others.
//!
//! Flows are hashed into 256 buckets, each assigned to a thread. A bucket changes threads only
//! while none of its frames is in flight, so each flow stays in order. The only exception is a
//! stalled thread: its buckets change at once.

use fairwire_core::{Duration, Time};
use fairwire_linux::clock;
use fairwire_linux::port::{
    Late, LinkKind, MAX_FRAMES_AT_ONCE, Outgoing, Port, PortError, PortHealth, Refused, Take, Transmit,
};
use fairwire_wire::join::TcpOffsets;
use std::cell::RefCell;
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// Threads that send by two ports.
#[derive(Debug)]
pub struct Senders {
    lanes: Vec<Lane>,
    shared: Arc<Shared>,
    stalls: u64,
    watched: Time,
}

/// A port that sends some of its frames by [`Senders`].
#[derive(Debug)]
pub struct SharedPort<P> {
    port: P,
    side: usize,
    senders: Option<Rc<RefCell<Senders>>>,
    /// Do the threads have the port's device? Without it, they get no frames.
    is_handed_out: bool,
    buckets: Box<[Bucket]>,
    balance: Balance,
}

/// The state that decides which buckets change threads, and when.
#[derive(Debug, Default)]
struct Balance {
    frames: usize,
    batches: usize,
    /// The bucket to check first.
    next: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    /// The thread that sends the bucket's flows; `None` for the deciding thread.
    owner: Option<usize>,
    last: Option<Holder>,
    frames: u32,
}

/// The holder of a frame: a thread, and the number of the frame's parcel.
#[derive(Clone, Copy, Debug)]
struct Holder {
    at: usize,
    parcel: u64,
}

#[derive(Debug)]
struct Lane {
    /// The channel; `None` once the thread must end.
    parcels: Option<SyncSender<Parcel>>,
    back: Receiver<Parcel>,
    /// Unused parcels. The parcel returned last is used first, because it is still in the cache.
    spare: Vec<Parcel>,
    open: Option<Parcel>,
    handed: u64,
    frames: u64,
    done: Arc<Done>,
    thread: Option<JoinHandle<()>>,
    stall: Stall,
}

#[derive(Debug, Default)]
struct Stall {
    done: u64,
    since: Time,
    is_stalled: bool,
}

#[derive(Debug, Default)]
struct Done {
    parcels: AtomicU64,
    frames: AtomicU64,
    /// Processor time, in nanoseconds.
    processor: AtomicU64,
}

/// State shared by all threads, by port number.
#[derive(Default)]
struct Shared {
    devices: [Mutex<Option<Arc<dyn Transmit>>>; 2],
    late: [[AtomicU64; 2]; 2],
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("late", &self.late).finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct Parcel {
    side: usize,
    bytes: Vec<u8>,
    /// The end of each frame in `bytes`, and the header offsets of a frame split from a
    /// super-packet.
    frames: Vec<(usize, Option<TcpOffsets>)>,
}

/// The number of parcels per thread. While all are in flight, the thread gets no more frames.
const PARCELS: usize = 256;
/// A thread with more than this number of frames in flight falls behind.
const BEHIND: u64 = 4 * MAX_FRAMES_AT_ONCE as u64;
/// A thread with fewer than this number of frames in flight has room for another bucket.
const ROOM: u64 = MAX_FRAMES_AT_ONCE as u64;
/// With this many frames per batch on average, or more, the deciding thread cannot keep up.
const MANY: usize = 24;
/// With fewer than this number of frames per batch, a thread is not worth waking.
const FEW: usize = 8;
/// The number of frames after which buckets may change threads again.
const BALANCED: usize = 512;
/// No further bucket changes threads once the changed buckets had this many of the last `BALANCED`
/// frames. The last changed bucket may exceed this limit.
const MOVED: u32 = BALANCED as u32 / 8;
/// A thread that finishes no parcel for this time is stalled.
const STALLED: Duration = Duration::from_ms(100);
/// The longest wait for frames in flight at shutdown.
const PATIENCE: Duration = Duration::from_secs(1);
const BUCKETS: usize = 256;

impl Senders {
    /// Starts `count` threads, for frames of about `frame_bytes`.
    pub fn start(count: usize, frame_bytes: usize) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let lanes = (0..count).map(|_| Lane::start(frame_bytes, shared.clone())).collect::<Result<_, _>>()?;
        Ok(Senders { lanes, shared, stalls: 0, watched: Time::ZERO })
    }

    /// Checks at `now` that all threads make progress. Call it many times a second.
    pub fn watch(&mut self, now: Time) {
        // If this thread was paused, the others may have been paused, too. So the time limit for
        // their parcels restarts.
        let was_away = now.since(self.watched) >= STALLED;
        self.watched = now;
        for lane in &mut self.lanes {
            if was_away && !lane.stall.is_stalled {
                lane.stall.since = now;
            }
            self.stalls += u64::from(lane.watch(now));
        }
    }

    /// The number of stalls.
    pub fn stalls(&self) -> u64 {
        self.stalls
    }

    /// Processor time of all threads.
    pub fn processor(&self) -> Duration {
        let ns = self.lanes.iter().map(|lane| lane.done.processor.load(Ordering::Relaxed)).sum();
        Duration::from_ns(ns)
    }

    fn least(&self) -> Option<usize> {
        let lanes = self.lanes.iter().enumerate().filter(|(_, lane)| !lane.stall.is_stalled);
        let (in_flight, at) = lanes.map(|(at, lane)| (lane.in_flight(), at)).min()?;
        (in_flight < ROOM).then_some(at)
    }

    fn holds(&self, Holder { at, parcel }: Holder) -> bool {
        self.is_well(at) && self.lanes[at].done.parcels.load(Ordering::Acquire) < parcel
    }

    fn is_well(&self, at: usize) -> bool {
        !self.lanes[at].stall.is_stalled
    }

    fn set_device(&self, side: usize, device: Arc<dyn Transmit>) {
        *self.shared.devices[side].lock().unwrap_or_else(PoisonError::into_inner) = Some(device);
    }

    fn take_late(&self, side: usize) -> Late {
        let [refused, too_long] = &self.shared.late[side];
        // The count is almost always zero, and a load is cheaper than a swap.
        let take = |count: &AtomicU64| match count.load(Ordering::Relaxed) {
            0 => 0,
            _ => count.swap(0, Ordering::Relaxed),
        };
        Late { refused: take(refused), too_long: take(too_long) }
    }
}

impl Drop for Senders {
    fn drop(&mut self) {
        for lane in &mut self.lanes {
            lane.parcels = None;
        }
        let until = clock::now() + PATIENCE;
        for thread in self.lanes.iter_mut().filter_map(|lane| lane.thread.take()) {
            while !thread.is_finished() && clock::now() < until {
                clock::sleep_until(clock::now() + Duration::from_ms(1));
            }
            // A thread stuck in its device ends with the process.
            if thread.is_finished() {
                let _ = thread.join();
            }
        }
    }
}

impl Lane {
    fn start(frame_bytes: usize, shared: Arc<Shared>) -> std::io::Result<Self> {
        let (parcels, received) = sync_channel(PARCELS);
        let (give_back, back) = sync_channel(PARCELS);
        let done = Arc::new(Done::default());
        let thread = {
            let done = done.clone();
            let work = move || send_parcels(&received, &give_back, &done, &shared);
            thread::Builder::new().name("sender".into()).spawn(work)?
        };
        Ok(Lane {
            parcels: Some(parcels),
            back,
            spare: (0..PARCELS).map(|_| Parcel::new(frame_bytes)).collect(),
            open: None,
            handed: 0,
            frames: 0,
            done,
            thread: Some(thread),
            stall: Stall::default(),
        })
    }

    fn in_flight(&self) -> u64 {
        self.frames - self.done.frames.load(Ordering::Acquire)
    }

    /// Adds `frame` to a parcel and returns the parcel's number; `None` if all parcels are in
    /// flight.
    fn put(&mut self, side: usize, frame: &Outgoing<'_>) -> Option<u64> {
        if self.open.as_ref().is_some_and(|open| open.side != side || open.frames.len() == MAX_FRAMES_AT_ONCE)
        {
            self.hand_over();
        }
        if self.open.is_none() {
            self.spare.extend(self.back.try_iter());
            self.open = self.spare.pop();
        }
        let open = self.open.as_mut()?;
        open.side = side;
        open.bytes.extend_from_slice(frame.bytes);
        open.frames.push((open.bytes.len(), frame.offsets));
        self.frames += 1;
        Some(self.handed + 1)
    }

    fn hand_over(&mut self) {
        if let (Some(open), Some(parcels)) = (self.open.take(), &self.parcels) {
            self.handed += 1;
            // The channel has room for all parcels. A panicked thread takes no parcels, and counts
            // as stalled.
            let _ = parcels.try_send(open);
        }
    }

    fn watch(&mut self, now: Time) -> bool {
        let done = self.done.parcels.load(Ordering::Acquire);
        if done != self.stall.done || self.handed == done {
            self.stall = Stall { done, since: now, is_stalled: false };
        }
        let was_stalled = self.stall.is_stalled;
        self.stall.is_stalled = now.since(self.stall.since) >= STALLED;
        self.stall.is_stalled && !was_stalled
    }
}

impl Parcel {
    fn new(frame_bytes: usize) -> Self {
        let bytes = Vec::with_capacity(MAX_FRAMES_AT_ONCE * frame_bytes);
        Parcel { side: 0, bytes, frames: Vec::with_capacity(MAX_FRAMES_AT_ONCE) }
    }

    fn send(&self, device: &dyn Transmit) -> Refused {
        let mut frames = [Outgoing::default(); MAX_FRAMES_AT_ONCE];
        let mut start = 0;
        for (place, (end, offsets)) in frames.iter_mut().zip(&self.frames) {
            *place = Outgoing { offsets: *offsets, ..Outgoing::of(&self.bytes[start..*end]) };
            start = *end;
        }
        device.transmit_all(&frames[..self.frames.len()])
    }
}

fn send_parcels(parcels: &Receiver<Parcel>, back: &SyncSender<Parcel>, done: &Done, shared: &Shared) {
    while let Ok(mut parcel) = parcels.recv() {
        let device = shared.devices[parcel.side].lock().unwrap_or_else(PoisonError::into_inner).clone();
        let count = parcel.frames.len();
        let refused = device.map_or(Refused::first(count), |device| parcel.send(&*device));
        if refused != Refused::NONE {
            let too_long = (0..count).filter(|place| refused.is_too_long(*place)).count() as u64;
            let [other, long] = &shared.late[parcel.side];
            other.fetch_add(u64::from(refused.count()) - too_long, Ordering::Relaxed);
            long.fetch_add(too_long, Ordering::Relaxed);
        }
        parcel.bytes.clear();
        parcel.frames.clear();
        done.processor.store(clock::thread().ns(), Ordering::Relaxed);
        // With `Release`, a thread that reads the new counts knows that the frames were sent.
        done.frames.fetch_add(count as u64, Ordering::Release);
        done.parcels.fetch_add(1, Ordering::Release);
        let _ = back.try_send(parcel);
    }
}

impl<P: Port> SharedPort<P> {
    /// Wraps `port`, which is number `side` of two ports. If there are `senders`, they send some of
    /// its frames.
    pub fn new(port: P, side: usize, senders: Option<Rc<RefCell<Senders>>>) -> Self {
        let (buckets, balance) = (vec![Bucket::default(); BUCKETS].into(), Balance::default());
        let mut shared = SharedPort { port, side, senders, is_handed_out: false, buckets, balance };
        shared.hand_out_device();
        shared
    }

    fn balance(&mut self) {
        let Some(senders) = &self.senders else { return };
        let senders = senders.borrow();
        let Balance { frames, batches, next } = std::mem::take(&mut self.balance);
        let mean = frames / batches.max(1);
        let least = senders.least();
        let (mut moved, mut at) = (0, next);
        for step in 0..BUCKETS {
            at = (next + step) % BUCKETS;
            let bucket = &mut self.buckets[at];
            let count = std::mem::take(&mut bucket.frames);
            let to = match bucket.owner {
                _ if moved >= MOVED => continue,
                Some(lane) if !senders.is_well(lane) || mean < FEW => None,
                Some(lane) if senders.lanes[lane].in_flight() > BEHIND => least,
                None if mean >= MANY && count > 0 && self.is_handed_out && least.is_some() => least,
                _ => continue,
            };
            bucket.owner = to;
            moved += count;
        }
        self.balance.next = (at + 1) % BUCKETS;
    }

    fn hand_out_device(&mut self) {
        if let Some(senders) = &self.senders
            && let Some(device) = self.port.remote()
        {
            senders.borrow().set_device(self.side, device);
            self.is_handed_out = true;
        }
    }
}

impl<P: Port> Port for SharedPort<P> {
    fn receive(&mut self, take: &mut Take<'_>) -> Result<(), PortError> {
        self.port.receive(take)
    }

    fn transmit(&mut self, frame: &[u8]) -> bool {
        self.transmit_all(&[Outgoing::of(frame)]) == Refused::NONE
    }

    fn transmit_all(&mut self, frames: &[Outgoing<'_>]) -> Refused {
        let SharedPort { port, side, senders, buckets, .. } = self;
        let Some(senders) = senders else { return port.transmit_all(frames) };
        let mut senders = senders.borrow_mut();
        let mut own = [Outgoing::default(); MAX_FRAMES_AT_ONCE];
        let mut places = [0; MAX_FRAMES_AT_ONCE];
        let (mut count, mut refused) = (0, Refused::NONE);
        for (place, frame) in frames.iter().enumerate().take(MAX_FRAMES_AT_ONCE) {
            let bucket = &mut buckets[(frame.flow ^ frame.flow >> 8) as usize % BUCKETS];
            bucket.frames += 1;
            let holder = bucket.last.filter(|last| senders.holds(*last)).map(|last| last.at);
            let owner = bucket.owner.filter(|at| senders.is_well(*at));
            let Some(at) = holder.or(owner) else {
                (own[count], places[count]) = (*frame, place);
                count += 1;
                continue;
            };
            match senders.lanes[at].put(*side, frame) {
                Some(parcel) => bucket.last = Some(Holder { at, parcel }),
                // The frame would overtake earlier frames of its flow.
                None if holder.is_some() => refused.add(place),
                None => {
                    // This thread also sends the bucket's later frames in this batch, because
                    // another thread could send them before this frame.
                    bucket.owner = None;
                    (own[count], places[count]) = (*frame, place);
                    count += 1;
                }
            }
        }
        senders.lanes.iter_mut().for_each(Lane::hand_over);
        if count > 0 {
            let of_own = port.transmit_all(&own[..count]);
            for (at, place) in places[..count].iter().enumerate().filter(|(at, _)| of_own.has(*at)) {
                match of_own.is_too_long(at) {
                    true => refused.add_too_long(*place),
                    false => refused.add(*place),
                }
            }
        }
        drop(senders);
        self.balance.frames += frames.len();
        self.balance.batches += 1;
        if self.balance.frames >= BALANCED {
            self.balance();
        }
        refused
    }

    fn take_late(&mut self) -> Late {
        self.senders.as_ref().map_or_else(Late::default, |senders| senders.borrow().take_late(self.side))
    }

    fn link_kind(&self) -> LinkKind {
        self.port.link_kind()
    }

    fn place(&self) -> Option<u32> {
        self.port.place()
    }

    fn check(&mut self) -> Result<(), PortError> {
        self.hand_out_device();
        self.port.check()
    }

    fn health(&mut self) -> PortHealth {
        self.port.health()
    }
}

impl<P: AsFd> AsFd for SharedPort<P> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.port.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::memory::MemoryPort;
    use std::sync::Condvar;

    #[derive(Default)]
    struct Device {
        sent: Mutex<Vec<Vec<u8>>>,
        is_open: Mutex<bool>,
        opened: Condvar,
        /// Frames of at least this length are too long.
        longest: usize,
    }

    impl Device {
        fn new(is_open: bool) -> Arc<Self> {
            Arc::new(Device { is_open: Mutex::new(is_open), longest: 1000, ..Device::default() })
        }

        fn open(&self) {
            *self.is_open.lock().expect("no panic") = true;
            self.opened.notify_all();
        }

        fn sent(&self) -> Vec<Vec<u8>> {
            self.sent.lock().expect("no panic").clone()
        }
    }

    impl Transmit for Device {
        fn transmit_all(&self, frames: &[Outgoing<'_>]) -> Refused {
            let is_open = self.is_open.lock().expect("no panic");
            drop(self.opened.wait_while(is_open, |is_open| !*is_open).expect("no panic"));
            let mut refused = Refused::NONE;
            for (place, frame) in frames.iter().enumerate() {
                match frame.bytes {
                    [255, ..] => refused.add(place),
                    long if long.len() >= self.longest => refused.add_too_long(place),
                    bytes => self.sent.lock().expect("no panic").push(bytes.to_vec()),
                }
            }
            refused
        }
    }

    struct DevicePort {
        device: Arc<Device>,
        own: u64,
        is_handed_out: bool,
    }

    impl Port for DevicePort {
        fn receive(&mut self, _: &mut Take<'_>) -> Result<(), PortError> {
            Ok(())
        }
        fn transmit(&mut self, frame: &[u8]) -> bool {
            self.transmit_all(&[Outgoing::of(frame)]) == Refused::NONE
        }
        fn transmit_all(&mut self, frames: &[Outgoing<'_>]) -> Refused {
            self.own += frames.len() as u64;
            self.device.transmit_all(frames)
        }
        fn remote(&mut self) -> Option<Arc<dyn Transmit>> {
            (!std::mem::replace(&mut self.is_handed_out, true)).then(|| self.device.clone() as _)
        }
        fn health(&mut self) -> PortHealth {
            PortHealth::default()
        }
    }

    fn port(device: &Arc<Device>, threads: usize) -> (SharedPort<DevicePort>, Rc<RefCell<Senders>>) {
        let senders = Rc::new(RefCell::new(Senders::start(threads, 64).expect("threads")));
        let port = DevicePort { device: device.clone(), own: 0, is_handed_out: false };
        (SharedPort::new(port, 1, Some(senders.clone())), senders)
    }

    fn frame(flow: u8, number: u32) -> Vec<u8> {
        [&[flow][..], &number.to_be_bytes()].concat()
    }

    #[test]
    fn frames_of_a_flow_keep_their_order_with_any_number_of_threads() {
        let device = Device::new(true);
        let (mut port, senders) = port(&device, 3);
        let mut random = fairwire_core::Seed(5).stream("senders");
        let mut numbers = [0_u32; 40];
        for _ in 0..3000 {
            let batch: Vec<(u8, Vec<u8>)> = (0..=random.next_u64() % 64)
                .map(|_| {
                    let flow = (random.next_u64() % 40) as u8;
                    numbers[usize::from(flow)] += 1;
                    (flow, frame(flow, numbers[usize::from(flow)]))
                })
                .collect();
            let frames: Vec<Outgoing<'_>> = batch
                .iter()
                .map(|(flow, bytes)| Outgoing { flow: (*flow).into(), ..Outgoing::of(bytes) })
                .collect();
            assert_eq!(port.transmit_all(&frames), Refused::NONE);
            // Like a link, the test hands over new frames only as fast as earlier frames leave.
            while senders.borrow().lanes.iter().any(|lane| lane.in_flight() > 2 * BEHIND) {
                thread::yield_now();
            }
        }
        let own = port.port.own;
        drop((port, senders)); // waits for frames in flight
        let sent = device.sent();
        let all: u32 = numbers.iter().sum();
        assert_eq!(sent.len() as u32, all);
        assert!(own < u64::from(all) * 3 / 4, "the thread that decides sent {own} of {all}");
        for flow in 0..40 {
            let own: Vec<&Vec<u8>> = sent.iter().filter(|bytes| bytes[0] == flow).collect();
            assert!(own.is_sorted_by(|a, b| a < b), "flow {flow}");
        }
    }

    #[test]
    fn a_later_refusal_of_a_device_is_reported_once() {
        let device = Device::new(true);
        let (mut port, senders) = port(&device, 1);
        let (good, refused, long) = ([1; 60], [255; 60], vec![1; 2000]);
        port.buckets[0].owner = Some(0);
        let frames: Vec<Outgoing<'_>> =
            (0..16).map(|at| Outgoing::of([&good[..], &refused, &long, &good][at % 4])).collect();
        assert_eq!(port.transmit_all(&frames), Refused::NONE);
        let until = clock::now() + Duration::from_secs(10);
        let mut late = Late::default();
        while late.refused + late.too_long < 8 && clock::now() < until {
            let more = port.take_late();
            late = Late { refused: late.refused + more.refused, too_long: late.too_long + more.too_long };
        }
        assert_eq!(late, Late { refused: 4, too_long: 4 });
        assert_eq!((port.take_late(), device.sent().len()), (Late::default(), 8));
        drop(senders);
    }

    #[test]
    fn few_frames_wake_no_thread_and_ports_work_without_threads() {
        let device = Device::new(true);
        let (mut port, senders) = port(&device, 2);
        let bytes = [1; 60];
        let batch = |count: usize| -> Vec<Outgoing<'_>> {
            (0..count as u32).map(|flow| Outgoing { flow, ..Outgoing::of(&bytes) }).collect()
        };
        let owned = |port: &SharedPort<DevicePort>| {
            port.buckets.iter().filter(|bucket| bucket.owner.is_some()).count()
        };
        (0..1000).for_each(|_| _ = port.transmit_all(&batch(FEW - 1)));
        assert_eq!((port.port.own, owned(&port)), (1000 * (FEW as u64 - 1), 0));
        // Checks only the first hand-over: later, threads may fall behind on a busy machine.
        let becomes_owned = (0..100).any(|_| {
            port.transmit_all(&batch(64));
            owned(&port) > 0
        });
        assert!(becomes_owned);
        (0..10_000).for_each(|_| _ = port.transmit_all(&batch(FEW - 1)));
        assert_eq!(port.buckets[..FEW - 1].iter().filter(|bucket| bucket.owner.is_some()).count(), 0);
        drop(senders);
        let mut plain = SharedPort::new(MemoryPort::new(Vec::new()), 0, None);
        assert_eq!(plain.transmit_all(&[Outgoing::of(&bytes); 64]), Refused::NONE);
    }

    #[test]
    fn a_stalled_thread_is_noticed_and_the_link_continues() {
        let (stuck, open) = (Device::new(false), Device::new(true));
        let (mut port, senders) = port(&stuck, 1);
        let frames: Vec<Vec<u8>> = (0..20).map(|number| frame(number as u8, number)).collect();
        let batch: Vec<Outgoing<'_>> =
            frames.iter().map(|bytes| Outgoing { flow: bytes[0].into(), ..Outgoing::of(bytes) }).collect();
        let at = |ms| Time::ZERO + Duration::from_ms(ms);
        port.buckets.iter_mut().for_each(|bucket| bucket.owner = Some(0));
        senders.borrow_mut().watch(at(0));
        assert_eq!(port.transmit_all(&batch), Refused::NONE);
        senders.borrow_mut().watch(at(1));
        senders.borrow_mut().watch(at(90));
        assert_eq!(senders.borrow().stalls(), 0);
        senders.borrow_mut().watch(at(110));
        senders.borrow_mut().watch(at(120));
        assert_eq!(senders.borrow().stalls(), 1, "counted once");
        port.port.device = open.clone();
        assert_eq!(port.transmit_all(&batch), Refused::NONE);
        assert_eq!(open.sent(), frames);
        stuck.open();
        let until = clock::now() + Duration::from_secs(10);
        while stuck.sent().len() < 20 && clock::now() < until {
            thread::yield_now();
        }
        assert_eq!(stuck.sent(), frames);
        senders.borrow_mut().watch(at(200));
        assert_eq!(senders.borrow().least(), Some(0), "it is used again");
    }

    #[test]
    fn a_pause_of_the_entire_process_is_no_stall() {
        let stuck = Device::new(false);
        let (mut port, senders) = port(&stuck, 1);
        let at = |ms| Time::ZERO + Duration::from_ms(ms);
        port.buckets[0].owner = Some(0);
        senders.borrow_mut().watch(at(1000));
        assert_eq!(port.transmit_all(&[Outgoing::of(&[1; 60])]), Refused::NONE);
        senders.borrow_mut().watch(at(1010));
        senders.borrow_mut().watch(at(5000));
        assert_eq!(senders.borrow().stalls(), 0, "nothing ran meanwhile");
        senders.borrow_mut().watch(at(5050));
        senders.borrow_mut().watch(at(5110));
        assert_eq!(senders.borrow().stalls(), 1);
        senders.borrow_mut().watch(at(9000));
        senders.borrow_mut().watch(at(9010));
        assert_eq!(senders.borrow().stalls(), 1, "it is the same stall");
        stuck.open();
    }

    #[test]
    fn a_full_thread_causes_neither_waiting_nor_overtaking() {
        let (stuck, open) = (Device::new(false), Device::new(true));
        let (mut port, senders) = port(&stuck, 1);
        let (first, second) = (frame(1, 0), frame(2, 0));
        let [first, second] =
            [&first, &second].map(|bytes| Outgoing { flow: bytes[0].into(), ..Outgoing::of(bytes) });
        port.buckets[1].owner = Some(0);
        port.buckets[2].owner = Some(0);
        (0..PARCELS).for_each(|_| assert_eq!(port.transmit_all(&[first]), Refused::NONE));
        port.port.device = open.clone();
        // `first` is refused: it would overtake earlier frames of its flow.
        let refused = port.transmit_all(&[first, second, second]);
        assert_eq!((refused.has(0), refused.count()), (true, 1));
        assert_eq!(open.sent(), [second.bytes, second.bytes]);
        assert_eq!((port.buckets[1].owner, port.buckets[2].owner), (Some(0), None));
        stuck.open();
        drop((port, senders)); // waits for frames in flight
        assert_eq!(stuck.sent().len(), PARCELS);
    }

    #[test]
    fn threads_without_a_device_are_given_nothing() {
        let device = Device::new(true);
        let senders = Rc::new(RefCell::new(Senders::start(1, 64).expect("a thread")));
        let port = DevicePort { device: device.clone(), own: 0, is_handed_out: true };
        let mut port = SharedPort::new(port, 0, Some(senders));
        let bytes = [1; 60];
        let batch: Vec<Outgoing<'_>> =
            (0..64).map(|flow| Outgoing { flow, ..Outgoing::of(&bytes) }).collect();
        (0..100).for_each(|_| assert_eq!(port.transmit_all(&batch), Refused::NONE));
        assert_eq!(port.port.own, 6400);
    }
}
