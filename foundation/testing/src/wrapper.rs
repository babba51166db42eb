//! Compares a discipline's capabilities alone and inside another discipline.

use fairwire_core::{
    Cause, Discipline, Duration, Packet, Probe, RateRequest, Room, RoundTrip, Signals, Time, Unit, Weight,
};

type Boxed = Box<dyn Discipline>;
type Holds<'a> = &'a dyn Fn(Boxed, Boxed) -> bool;

const CLASS: u32 = 1;

/// The capabilities that a discipline loses inside another discipline. The list is empty if the
/// outer discipline passes on all calls.
///
/// `alone` always builds the same inner discipline. `wrap` puts it into an outer discipline, which
/// must give the inner discipline all packets of class 1.
pub fn lost_inside(alone: &dyn Fn() -> Boxed, wrap: &dyn Fn(Boxed) -> Boxed) -> Vec<&'static str> {
    let checks: [(&str, Holds<'_>); 7] = [
        ("reports", &|alone, inside| reports(alone) == reports(inside)),
        ("round trips", &|mut alone, mut inside| {
            alone.hears_round_trips() <= inside.hears_round_trips()
                && has_all(&after_round_trips(alone), &after_round_trips(inside))
        }),
        ("weights", &|mut alone, mut inside| set_weights(&mut alone) == set_weights(&mut inside)),
        ("push-out", &|alone, inside| pushed_out(alone) == pushed_out(inside)),
        ("drain", &|alone, inside| drained(alone) == drained(inside)),
        ("gauges", &|alone, inside| has_all(&gauges(alone), &gauges(inside))),
        ("retune", &|mut alone_, mut inside| {
            alone_.retune(&*alone(), Time::ZERO) <= inside.retune(&*wrap(alone()), Time::ZERO)
        }),
    ];
    checks.iter().filter(|(_, holds)| !holds(alone(), wrap(alone()))).map(|(name, _)| *name).collect()
}

fn reports(mut discipline: Boxed) -> Vec<Option<f64>> {
    let until = Time::from_ns(2_000_000_000);
    (0..10u64)
        .map(|i| {
            let now = Time::from_ns(i * 100_000_000);
            let target = discipline.target_bps(CLASS, now);
            discipline.on_report(CLASS, RateRequest::Increase, until, now);
            target
        })
        .collect()
}

fn after_round_trips(mut discipline: Boxed) -> Vec<(&'static str, f64)> {
    for i in 0..1000 {
        let now = Time::from_ns(i * 10_000_000);
        discipline.on_round_trip(RoundTrip::exact(1, Duration::from_ms(5 + i), 1500), now);
        discipline.enqueue(Packet { arrived: now, ..packet(0) }, now, &mut Gone::default());
        discipline.dequeue(now, &mut Gone::default());
    }
    gauges_of(&*discipline)
}

fn set_weights(discipline: &mut Boxed) -> impl PartialEq + use<> {
    let weight = Weight::new(2.0).expect("allowed");
    [CLASS, CLASS, 77].map(|class| discipline.set_weight(class, weight).map_err(|error| error.to_string()))
}

fn pushed_out(mut discipline: Boxed) -> Vec<(u32, Cause)> {
    let mut gone = Gone::default();
    fill(&mut discipline, &mut gone);
    for frame in 100..110 {
        discipline.offer(packet(frame), Room::Full, Time::ZERO, &mut gone);
    }
    gone.0
}

fn drained(mut discipline: Boxed) -> Vec<u32> {
    fill(&mut discipline, &mut Gone::default());
    let mut frames = Vec::new();
    discipline.drain(&mut |packet| frames.push(packet.frame));
    frames
}

fn gauges(mut discipline: Boxed) -> Vec<(&'static str, f64)> {
    fill(&mut discipline, &mut Gone::default());
    gauges_of(&*discipline)
}

fn has_all(some: &[(&'static str, f64)], all: &[(&'static str, f64)]) -> bool {
    some.iter().all(|gauge| all.contains(gauge))
}

fn gauges_of(discipline: &dyn Discipline) -> Vec<(&'static str, f64)> {
    let mut gauges = Gauges::default();
    discipline.inspect(&mut gauges);
    gauges.0
}

fn fill(discipline: &mut Boxed, gone: &mut Gone) {
    (0..10).for_each(|frame| discipline.enqueue(packet(frame), Time::ZERO, gone));
}

fn packet(frame: u32) -> Packet {
    let flow = u64::from(frame % 10 == 9);
    Packet { class: CLASS, ..Packet::new(frame, 500, flow.into(), Time::ZERO) }
}

#[derive(Default)]
struct Gone(Vec<(u32, Cause)>);

impl Signals for Gone {
    fn dropped(&mut self, packet: Packet, cause: Cause) {
        self.0.push((packet.frame, cause));
    }
    fn marked(&mut self, _: &Packet, _: Cause) {}
}

#[derive(Default)]
struct Gauges(Vec<(&'static str, f64)>);

impl Probe for Gauges {
    fn gauge(&mut self, name: &'static str, _: Unit, value: f64) {
        self.0.push((name, value));
    }
}
