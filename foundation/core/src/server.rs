//! The server of a link: a discipline in front of a transmitter.
//!
//! The transmitter polls the discipline after each packet, even without backlog. Service is not
//! preemptive.

use crate::capacity::RateLaw;
use crate::discipline::{Backlog, Control, Discipline};
use crate::packet::Packet;
use crate::rate::{Rate, Transmitter};
use crate::signals::Signals;
use crate::time::{Duration, Time};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// A discipline in front of a transmitter.
pub struct Server {
    discipline: Box<dyn Discipline>,
    transmitter: Transmitter,
    next_poll_at: Time,
    is_idle: bool, // the latest poll found no packet; one may be ready at `next_poll_at`
}

/// A packet that has begun to leave. If the transmitter makes up for a late poll, `sent` may be in
/// the past, and the next packet may begin at once. So a caller may hold several services.
#[derive(Debug)]
#[must_use = "the packet is in no queue any more"]
pub struct Service {
    /// The packet.
    pub packet: Packet,
    /// The time at which the packet's last bit has left, and the transmitter polls again.
    pub sent: Time,
}

impl Server {
    /// An idle server.
    pub fn new(discipline: Box<dyn Discipline>, transmitter: Transmitter) -> Self {
        Server { discipline, transmitter, next_poll_at: Time::MAX, is_idle: true }
    }

    /// Offers an arrival at `now`. If the transmitter is free, a packet begins to leave.
    #[must_use = "a packet that begins to leave is in no queue any more: send it at `sent`"]
    #[inline]
    pub fn enqueue(&mut self, packet: Packet, now: Time, signals: &mut dyn Signals) -> Option<Service> {
        self.discipline.enqueue(packet, now, signals);
        if self.is_idle || self.transmitter.is_free(now) { self.poll_at_once(now, signals) } else { None }
    }

    #[inline(never)] // on a busy link most arrivals wait
    fn poll_at_once(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Service> {
        self.poll(now, signals)
    }

    /// Polls for the next packet. Invoked when the transmitter becomes free or a queued packet
    /// becomes ready.
    ///
    /// If the discipline returns no packet at the time that it announced, it is polled again a
    /// nanosecond later. So the link neither stalls nor halts.
    #[must_use = "a packet that begins to leave is in no queue any more: send it at `sent`"]
    #[inline(always)] // a packet returned through memory is written and read once more
    pub fn poll(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Service> {
        self.end_idle_time(now);
        let begins_at = self.transmitter.begins_at(now);
        if begins_at > now {
            self.is_idle = self.discipline.backlog().packets == 0;
            self.next_poll_at = if self.is_idle { Time::MAX } else { begins_at };
            return None;
        }
        let packet = self.discipline.dequeue(now, signals);
        self.is_idle = packet.is_none();
        let Some(packet) = packet else {
            let later = now + Duration::from_ns(1);
            self.next_poll_at = self.discipline.ready_at().map_or(Time::MAX, |ready| ready.max(later));
            return None;
        };
        let sent = self.transmitter.start(packet.len, now);
        self.next_poll_at = sent;
        Some(Service { packet, sent })
    }

    /// Ends the idle time of an idle link when a packet is ready. The time from then until the poll
    /// is lateness, which the transmitter makes up for.
    #[inline(always)]
    fn end_idle_time(&mut self, now: Time) {
        if self.is_idle {
            self.transmitter.idle_until(now.min(self.next_poll_at));
        }
    }

    /// Reserves the link for `bytes` sent outside the discipline at `now`. These bytes delay the
    /// backlog, but not the current packet.
    pub fn charge(&mut self, bytes: u32, now: Time) {
        self.end_idle_time(now);
        let free = self.transmitter.start(bytes, now);
        self.next_poll_at = self.transmitter.begins_at(free);
        self.is_idle = false;
    }

    /// The time of the next due [`poll`](Server::poll); [`Time::MAX`] if none is due before an
    /// arrival.
    pub fn next_poll_at(&self) -> Time {
        self.next_poll_at
    }

    /// Packets waiting, without the one being sent.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        self.discipline.backlog()
    }

    /// The discipline, for inspection.
    pub fn discipline(&self) -> &dyn Discipline {
        &*self.discipline
    }

    /// The discipline, to drain it or to set weights. Enqueue into it directly only between
    /// [`replace`](Server::replace) and the [`poll`](Server::poll) that is then due.
    pub fn discipline_mut(&mut self) -> &mut dyn Discipline {
        &mut *self.discipline
    }

    /// Installs another discipline and transmitter at `now`, and returns the old discipline with
    /// its backlog. The current packet ends as scheduled. Then, or at once if the link is idle, the
    /// new transmitter is free and the server polls.
    pub fn replace(
        &mut self,
        discipline: Box<dyn Discipline>,
        transmitter: Transmitter,
        now: Time,
    ) -> Box<dyn Discipline> {
        let free = self.transmitter.free_at();
        self.transmitter = transmitter;
        self.transmitter.idle_until(free);
        self.poll_again(now);
        core::mem::replace(&mut self.discipline, discipline)
    }

    /// Makes the discipline take over the parameters of `fresh` at `now`, as
    /// [`Discipline::retune`]; returns false if it cannot.
    pub fn retune(&mut self, fresh: &dyn Discipline, now: Time) -> bool {
        let takes = self.discipline.retune(fresh, now);
        if takes {
            self.wait_anew(now);
        }
        takes
    }

    /// Puts `class` below `parent` at `now`, with the class's parameters from `fresh`, as
    /// [`Control::retune_class`]. Returns false if that is impossible.
    pub fn retune_class(
        &mut self,
        class: u32,
        parent: Option<u32>,
        fresh: &mut dyn Discipline,
        now: Time,
    ) -> bool {
        let takes = self.discipline.retune_class(class, parent, fresh, now);
        self.wait_anew(now);
        takes
    }

    /// Updates an idle server's next poll, because its backlog may be ready at another time.
    fn wait_anew(&mut self, now: Time) {
        if self.is_idle {
            let later = now + Duration::from_ns(1);
            self.next_poll_at = self.discipline.ready_at().map_or(Time::MAX, |ready| ready.max(later));
        }
    }

    /// Makes the discipline equal to `fresh` from `now` on. Returns `None` if the discipline can
    /// [take over](Server::retune) the parameters. Otherwise installs `fresh`, offers it the
    /// waiting packets in order of arrival, and returns the empty previous discipline.
    pub fn change(
        &mut self,
        fresh: Box<dyn Discipline>,
        now: Time,
        signals: &mut dyn Signals,
    ) -> Option<Box<dyn Discipline>> {
        if self.retune(&*fresh, now) {
            return None;
        }
        let mut before = core::mem::replace(&mut self.discipline, fresh);
        let mut waiting = Vec::with_capacity(before.backlog().packets as usize);
        before.drain(&mut |packet| waiting.push(packet));
        waiting.sort_by_key(|packet| packet.arrived); // a tree gives back one leaf after the other
        waiting.into_iter().for_each(|packet| self.discipline.enqueue(packet, now, signals));
        self.poll_again(now);
        Some(before)
    }

    /// Sets the rate, as [`Transmitter::set_rate`].
    pub fn set_rate(&mut self, rate: Rate, catch_up: Duration) {
        self.transmitter.set_rate(rate, catch_up);
    }

    /// Makes the rate follow `law`, as [`Transmitter::follow`].
    ///
    /// # Panics
    /// When the steps of `law` are not in order of time.
    pub fn follow(&mut self, law: &RateLaw, start: Time, now: Time) {
        self.transmitter.follow(law, start);
        self.poll_again(now);
    }

    /// Schedules a poll at the end of the current packet. Invoked after a change of discipline or
    /// transmitter.
    fn poll_again(&mut self, now: Time) {
        let free = self.transmitter.free_at().max(now);
        // The time before `free` earns no credit.
        self.transmitter.idle_until(free);
        self.next_poll_at = self.transmitter.begins_at(free);
        self.is_idle = false;
    }

    /// The transmitter's rate.
    pub fn rate(&self) -> Rate {
        self.transmitter.rate()
    }

    /// The bits that the link can send from `from` to `to`.
    pub fn bits(&self, from: Time, to: Time) -> f64 {
        self.transmitter.bits(from, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Limit;
    use crate::capacity::Trace;
    use crate::discipline::Room;
    use crate::dropper::Dropper;
    use crate::probe::Probe;
    use crate::queue::Queue;
    use crate::scheduler::Fcfs;
    use crate::signals::Ignore;

    struct TailDrop;
    impl Dropper for TailDrop {}

    /// Reports the time of the next packet a nanosecond too early, as if the time were rounded
    /// down.
    struct Shaped {
        queue: Queue<Fcfs, TailDrop>,
        gap: Duration,
        next: Time,
    }

    impl Discipline for Shaped {
        fn offer(&mut self, packet: Packet, room: Room, now: Time, signals: &mut dyn Signals) {
            self.queue.offer(packet, room, now, signals);
        }
        fn dequeue(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Packet> {
            if now < self.next {
                return None;
            }
            let packet = self.queue.dequeue(now, signals)?;
            self.next = now + self.gap;
            Some(packet)
        }
        fn ready_at(&self) -> Option<Time> {
            self.queue.ready_at().map(|_| self.next.saturating_sub(Duration::from_ns(1)))
        }
        fn backlog(&self) -> Backlog {
            self.queue.backlog()
        }
        fn inspect(&self, _: &mut dyn Probe) {}
        fn drain(&mut self, take: &mut dyn FnMut(Packet)) {
            self.queue.drain(take);
        }
    }

    impl Control for Shaped {
        fn inside(&mut self, _: Option<u32>, _: &mut dyn FnMut(&mut dyn Discipline)) {}
    }

    fn packet(frame: u32) -> Packet {
        Packet::new(frame, 100, 1.into(), Time::ZERO)
    }

    fn transmitter() -> Transmitter {
        Transmitter::new(Rate::from_bps(8_000_000).expect("not zero")) // 1 byte = 1 us
    }

    fn shaped() -> Shaped {
        Shaped {
            queue: Queue::new(Limit::packets(10), Fcfs, TailDrop),
            gap: Duration::from_ms(1),
            next: Time::ZERO,
        }
    }

    #[test]
    fn the_link_makes_up_for_a_late_poll_of_a_packet_that_was_ready() {
        let rate = Rate::from_bps(8_000_000).expect("not zero"); // 1 byte = 1 us
        let late = Transmitter::with_catch_up(rate, Duration::from_ms(10));
        let mut server = Server::new(Box::new(shaped()), late);
        for frame in 0..3 {
            let _ = server.enqueue(packet(frame), us(0), &mut Ignore);
        }
        assert!(server.poll(us(100), &mut Ignore).is_none(), "the next packet is ready after 1 ms");
        let service = server.poll(us(1500), &mut Ignore).expect("it is ready");
        assert_eq!(service.sent.ns() / 1000, 1099, "it could have begun after 1 ms");
    }

    #[test]
    fn a_discipline_that_reports_ready_too_early_neither_stalls_nor_spins() {
        let mut server = Server::new(Box::new(shaped()), transmitter());
        let mut sent = Vec::new();
        for frame in 0..5 {
            sent.extend(server.enqueue(packet(frame), Time::ZERO, &mut Ignore));
        }
        let mut questions = 0;
        while server.next_poll_at() != Time::MAX {
            sent.extend(server.poll(server.next_poll_at(), &mut Ignore));
            questions += 1;
        }
        let ends: Vec<u64> = sent.iter().map(|service| service.sent.ns() / 1000).collect();
        assert_eq!(ends, [100, 1100, 2100, 3100, 4100]);
        assert!(questions < 20, "{questions}");
    }

    #[test]
    fn a_server_of_opportunities_takes_a_packet_from_its_queue_when_one_comes() {
        let trace = Trace::parse("2\n5\n").expect("a trace");
        let queue = Queue::new(Limit::packets(99), Fcfs, TailDrop);
        let mut server = Server::new(Box::new(queue), transmitter().under(&RateLaw::Trace(trace.into())));
        let ms = |ms| Time::ZERO + Duration::from_ms(ms);
        for frame in 0..20 {
            assert!(server.enqueue(packet(frame), ms(1), &mut Ignore).is_none());
        }
        assert_eq!((server.backlog().packets, server.next_poll_at()), (20, ms(2)));
        let mut sent = Vec::new();
        while server.next_poll_at() != Time::MAX {
            let polled_at = server.next_poll_at();
            sent.extend(server.poll(polled_at, &mut Ignore).map(|service| (polled_at, service.sent)));
        }
        // An opportunity of 1504 bytes sends fifteen packets of 100 bytes, and 4 bytes of another.
        let expected = [vec![(ms(2), ms(2)); 15], vec![(ms(2), ms(5))], vec![(ms(5), ms(5)); 4]].concat();
        assert_eq!(sent, expected);
        assert!(server.enqueue(packet(20), ms(6), &mut Ignore).is_none());
        assert_eq!(server.next_poll_at(), ms(7)); // the rest of the opportunity at 5 ms is lost
    }

    #[test]
    fn a_busy_server_follows_a_new_law_after_the_packet_in_transmission() {
        let mut server = Server::new(fifo(), transmitter());
        for frame in 0..4 {
            let _ = server.enqueue(packet(frame), us(0), &mut Ignore);
        }
        // The steps count from 50 us, so the link is down from 350 us to 700 us.
        let at = |us: u64, bps| crate::capacity::Step { at: self::us(us), rate: Rate::from_bps(bps) };
        server.follow(
            &RateLaw::Steps([at(0, 4_000_000), at(300, 0), at(650, 8_000_000)].into()),
            us(50),
            us(50),
        );
        assert_eq!(sent(&mut server), [(1, us(300)), (2, us(775)), (3, us(875))]);
    }

    #[test]
    fn a_busy_server_serves_back_to_back_and_then_waits_for_an_arrival() {
        let queue = Queue::new(Limit::packets(10), Fcfs, TailDrop);
        let mut server = Server::new(Box::new(queue), transmitter());
        assert_eq!(server.next_poll_at(), Time::MAX);
        let first = server.enqueue(packet(0), Time::from_ns(5_000), &mut Ignore).expect("it was free");
        assert_eq!(first.sent.ns(), 105_000);
        assert!(server.enqueue(packet(1), Time::from_ns(6_000), &mut Ignore).is_none());
        assert_eq!(server.backlog().packets, 1);
        let second = server.poll(server.next_poll_at(), &mut Ignore).expect("one waits");
        assert_eq!(second.sent.ns(), 205_000);
        assert!(server.poll(server.next_poll_at(), &mut Ignore).is_none());
        assert_eq!(server.next_poll_at(), Time::MAX);
    }

    fn fifo() -> Box<dyn Discipline> {
        Box::new(Queue::new(Limit::packets(10), Fcfs, TailDrop))
    }

    fn us(us: u64) -> Time {
        Time::from_ns(us * 1000)
    }

    fn sent(server: &mut Server) -> Vec<(u32, Time)> {
        let mut sent = Vec::new();
        for _ in 0..100 {
            if server.next_poll_at() == Time::MAX {
                return sent;
            }
            let polled_at = server.next_poll_at();
            let service = server.poll(polled_at, &mut Ignore);
            assert!(service.is_some() || server.next_poll_at() > polled_at, "it spins at {polled_at:?}");
            sent.extend(service.map(|service| (service.packet.frame, service.sent)));
        }
        panic!("it polls for ever")
    }

    #[test]
    fn after_a_replacement_the_packet_in_transmission_keeps_its_rate() {
        let mut server = Server::new(fifo(), transmitter());
        let first = server.enqueue(packet(0), us(0), &mut Ignore).expect("it was free");
        assert_eq!(first.sent, us(100));
        for frame in 1..4 {
            assert!(server.enqueue(packet(frame), us(10), &mut Ignore).is_none());
        }
        let twice = Transmitter::new(Rate::from_bps(16_000_000).expect("not zero"));
        let mut old = server.replace(fifo(), twice, us(20));
        assert_eq!((old.backlog().packets, server.backlog().packets), (3, 0));
        old.drain(&mut |packet| server.discipline_mut().enqueue(packet, us(20), &mut Ignore));
        assert!(old.backlog().is_empty());
        assert_eq!(server.next_poll_at(), us(100), "when the packet that is being sent is through");
        assert!(server.enqueue(packet(4), us(30), &mut Ignore).is_none(), "the link is not free yet");
        assert_eq!(sent(&mut server), [(1, us(150)), (2, us(200)), (3, us(250)), (4, us(300))]);
    }

    #[test]
    fn charged_bytes_delay_the_backlog() {
        let mut server = Server::new(fifo(), transmitter());
        server.charge(50, us(1000));
        assert!(server.enqueue(packet(0), us(1010), &mut Ignore).is_none(), "the link is not free");
        assert_eq!(server.next_poll_at(), us(1050));
        assert!(server.poll(us(1050), &mut Ignore).is_some());
        // Packet 0 ends at 1150 us. Charges of 30 and 20 us delay packet 1 until 1200 us.
        assert!(server.enqueue(packet(1), us(1060), &mut Ignore).is_none());
        server.charge(30, us(1070));
        server.charge(20, us(1100));
        assert_eq!(sent(&mut server), [(1, us(1300))]);
        // The idle time until the next charge earns no credit.
        assert_eq!(server.next_poll_at(), Time::MAX);
        server.charge(10, us(5000));
        assert_eq!(sent(&mut server), []);
        assert_eq!(server.enqueue(packet(2), us(5010), &mut Ignore).expect("it is free").sent, us(5110));
    }

    #[test]
    fn charges_never_let_a_link_exceed_its_rate() {
        let mut rng = crate::rng::Seed(7).stream("charges");
        let credit = Duration::from_us(50);
        let mut server = Server::new(
            fifo(),
            Transmitter::with_catch_up(Rate::from_bps(8_000_000).expect("not zero"), credit),
        );
        let (mut now, mut bytes) = (us(0), 0_u64);
        for frame in 0..20_000 {
            now += Duration::from_us(u64::from(rng.below(120)));
            while server.next_poll_at() <= now {
                let at = server.next_poll_at();
                bytes += server.poll(at, &mut Ignore).map_or(0, |service| u64::from(service.packet.len));
            }
            if rng.below(3) == 0 && frame % 7 == 0 {
                server.charge(60, now);
                bytes += 60;
            }
            bytes += server
                .enqueue(packet(frame), now, &mut Ignore)
                .map_or(0, |service| u64::from(service.packet.len));
        }
        // The link sends a byte per us, and the credit is 50 bytes. At the end, a packet of 100
        // bytes and ten charges of 60 bytes may be in transmission.
        let most = now.ns() / 1000 + 50 + 100 + 10 * 60;
        assert!(bytes <= most && bytes * 10 > most * 9, "{bytes} of {most} bytes");
    }

    #[test]
    fn an_idle_server_polls_a_new_discipline_at_once_and_an_empty_one_once() {
        let mut server = Server::new(fifo(), transmitter());
        drop(server.replace(fifo(), transmitter(), us(50)));
        assert_eq!(server.next_poll_at(), us(50));
        assert_eq!(sent(&mut server), []);
        assert_eq!(server.enqueue(packet(0), us(70), &mut Ignore).expect("it is free").sent, us(170));
        sent(&mut server);
        drop(server.replace(fifo(), transmitter(), us(300)));
        server.discipline_mut().enqueue(packet(1), us(300), &mut Ignore);
        assert_eq!(sent(&mut server), [(1, us(400))]);
    }

    #[test]
    fn a_server_of_opportunities_is_replaced_between_two_of_them() {
        let trace = Trace::parse("2\n5\n").expect("a trace");
        let of_trace = || transmitter().under(&RateLaw::Trace(trace.clone().into()));
        let mut server = Server::new(fifo(), of_trace());
        let _ = server.enqueue(packet(0), us(3000), &mut Ignore);
        let mut old = server.replace(fifo(), of_trace(), us(3500));
        old.drain(&mut |packet| server.discipline_mut().enqueue(packet, us(3500), &mut Ignore));
        assert_eq!(sent(&mut server), [(0, us(5000))]);
    }

    struct Tunable(bool);
    impl Dropper for Tunable {
        fn retune(&mut self, fresh: &Self, _: Time) -> bool {
            self.0 == fresh.0
        }
    }

    fn tunable(packets: u32, knows: bool) -> Box<dyn Discipline> {
        Box::new(Queue::new(Limit::packets(packets), Fcfs, Tunable(knows)))
    }

    #[derive(Default)]
    struct Dropped(Vec<u32>);
    impl Signals for Dropped {
        fn dropped(&mut self, packet: Packet, _: crate::signals::Cause) {
            self.0.push(packet.frame);
        }
        fn marked(&mut self, _: &Packet, _: crate::signals::Cause) {}
    }

    #[test]
    fn a_retuned_discipline_keeps_its_backlog_and_a_new_one_is_offered_it() {
        let mut server = Server::new(tunable(9, true), transmitter());
        for frame in 0..8 {
            let _ = server.enqueue(packet(frame), us(0), &mut Ignore);
        }
        let mut dropped = Dropped::default();
        assert!(server.change(tunable(3, true), us(10), &mut dropped).is_none());
        assert_eq!(
            (server.backlog().packets, server.next_poll_at()),
            (7, us(100)),
            "none is lost, none is sooner"
        );
        let _ = server.enqueue(packet(8), us(20), &mut dropped);
        assert_eq!(dropped.0, [8], "the limit is the new one");
        let before = server.change(tunable(5, false), us(30), &mut dropped).expect("another takes its place");
        assert!(before.backlog().is_empty());
        assert_eq!((server.backlog().packets, dropped.0.as_slice()), (5, &[8, 6, 7][..]));
        let frames: Vec<u32> = sent(&mut server).iter().map(|(frame, _)| *frame).collect();
        assert_eq!(frames, [1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_new_rate_holds_from_the_packet_after_the_one_in_transmission() {
        let mut server = Server::new(fifo(), transmitter());
        for frame in 0..3 {
            let _ = server.enqueue(packet(frame), us(0), &mut Ignore);
        }
        server.set_rate(Rate::from_bps(4_000_000).expect("not zero"), Duration::ZERO);
        assert_eq!(sent(&mut server), [(1, us(300)), (2, us(500))]);
    }
}
