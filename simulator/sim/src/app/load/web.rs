//! A web client: pages of objects over parallel connections, and reading time.

use super::step::{Cause, Demand, Segments, Step};
use crate::app::law::{Law, Moments, Sampler};
use fairwire_core::{Rng, Time};

/// A web client, as in the traffic mixes of RFC 7928: pages of objects over parallel connections.
///
/// The first object of a page comes over one connection. After its arrival and parsing, the
/// embedded objects are fetched in order over all connections, one at a time on each. When all have
/// arrived, the user reads; then the next page comes over new connections.
///
/// The defaults are from the web browsing model of 3GPP2 C.R1002 and of the NGMN Alliance ("Radio
/// access performance evaluation methodology", 2008). Browsers open six connections to a server.
///
/// Requests take neither time nor bytes, and all objects come from one server.
#[derive(Clone, Debug, PartialEq)]
pub struct Web {
    /// Bytes of a page's first object. Default: a lognormal law of mean 10 710 and deviation 25 032
    /// bytes, redrawn outside 100 bytes to 2 MB.
    pub first_bytes: Law,
    /// Seconds from the first object's arrival to the requests for its embedded objects. Default:
    /// exponential, mean 0.13 s.
    pub parsing: Law,
    /// Number of objects embedded in the first object. Default: min(X, 55) - 2, where X is Pareto
    /// of shape 1.1 and minimum 2. The mean is 5.64, the maximum 53.
    pub objects: Law,
    /// Bytes of each embedded object. Default: a lognormal law of mean 7758 and deviation 126 168
    /// bytes, redrawn outside 50 bytes to 2 MB.
    pub object_bytes: Law,
    /// Seconds from a page's end to the next page. Default: exponential, mean 30 s.
    pub reading: Law,
    /// Parallel connections; 1 or more.
    pub connections: u16,
    /// True if a connection carries several objects in succession (HTTP/1.1); false if only one
    /// (HTTP/1.0).
    pub is_persistent: bool,
}

impl Default for Web {
    fn default() -> Self {
        let size = |mean, deviation, min| {
            let law = Box::new(Law::log_normal(Moments { mean, deviation }));
            Law::Between { law, min, max: 2e6 }
        };
        let pareto = Law::Pareto { mean: 22.0, shape: 1.1 }; // from 2 on: 2 * 1.1 / 0.1
        let cut = Law::AtMost { law: Box::new(pareto), max: 55.0 };
        Web {
            first_bytes: size(10_710.0, 25_032.0, 100.0),
            parsing: Law::Exponential { mean: 0.13 },
            objects: Law::Less { law: Box::new(cut), by: 2.0 },
            object_bytes: size(7_758.0, 126_168.0, 50.0),
            reading: Law::Exponential { mean: 30.0 },
            connections: 6,
            is_persistent: true,
        }
    }
}

impl Web {
    pub(super) fn connections(&self) -> u16 {
        self.connections
    }

    pub(super) fn demand(&self) -> Demand {
        Demand::Requested
    }

    pub(super) fn problem(&self) -> Option<String> {
        let Web { first_bytes, parsing, objects, object_bytes, reading, connections, .. } = self;
        if *connections == 0 {
            return Some("a web client needs a connection at least".to_owned());
        }
        let laws = [first_bytes, parsing, objects, object_bytes, reading];
        laws.into_iter().find_map(Law::problem).map(str::to_owned)
    }
}

#[derive(Debug)]
pub(crate) struct Machine {
    first_bytes: Sampler,
    parsing: Sampler,
    objects: Sampler,
    object_bytes: Sampler,
    reading: Sampler,
    segments: Segments,
    is_persistent: bool,
    /// By connection: true if this page has already used it.
    used: Box<[bool]>,
    began: Time,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Reading; the next wake begins the next page.
    Reading,
    First,
    /// Parsing the first object; the next wake requests the embedded objects.
    Parsing,
    Objects {
        to_request: u64,
        to_come: u64,
    },
}

impl Machine {
    pub(crate) fn waiting(&self) -> u64 {
        0
    }

    pub(crate) fn new(plan: &Web, segments: Segments) -> Self {
        Machine {
            first_bytes: plan.first_bytes.sampler(),
            parsing: plan.parsing.sampler(),
            objects: plan.objects.sampler(),
            object_bytes: plan.object_bytes.sampler(),
            reading: plan.reading.sampler(),
            segments,
            is_persistent: plan.is_persistent,
            used: vec![false; plan.connections.into()].into(),
            began: Time::ZERO,
            state: State::Reading,
        }
    }

    pub(crate) fn react(&mut self, cause: Cause, now: Time, rng: &mut Rng, steps: &mut Vec<Step>) {
        match (self.state, cause) {
            (State::Reading, Cause::Due) => {
                self.began = now;
                self.used.fill(false);
                self.state = State::First;
                let segments = self.segments.of(self.first_bytes.draw(rng));
                self.fetch(0, segments, now, steps);
            }
            (State::First, Cause::Finished(_)) => {
                self.state = State::Parsing;
                steps.push(Step::WakeAt(now + self.parsing.duration(rng)));
            }
            (State::Parsing, Cause::Due) => {
                let objects = self.objects.count(rng);
                self.state = State::Objects { to_request: objects, to_come: objects };
                for place in 0..self.used.len() as u16 {
                    self.request(place, now, rng, steps);
                }
                self.end_page(now, rng, steps);
            }
            (State::Objects { to_request, to_come }, Cause::Finished(place)) => {
                self.state = State::Objects { to_request, to_come: to_come - 1 };
                self.request(place, now, rng, steps);
                self.end_page(now, rng, steps);
            }
            (State::Reading | State::Parsing, Cause::Finished(_)) | (_, Cause::Due) => {
                unreachable!("{cause:?} in {:?}", self.state)
            }
        }
    }

    fn request(&mut self, place: u16, now: Time, rng: &mut Rng, steps: &mut Vec<Step>) {
        if let State::Objects { to_request, .. } = &mut self.state
            && *to_request > 0
        {
            *to_request -= 1;
            let segments = self.segments.of(self.object_bytes.draw(rng));
            self.fetch(place, segments, now, steps);
        }
    }

    fn fetch(&mut self, place: u16, segments: u64, now: Time, steps: &mut Vec<Step>) {
        let timed_from = Some(now);
        let was_used = std::mem::replace(&mut self.used[usize::from(place)], true);
        steps.push(if was_used && self.is_persistent {
            Step::Write { place, segments, timed_from }
        } else {
            Step::Open { place, segments, timed_from }
        });
    }

    fn end_page(&mut self, now: Time, rng: &mut Rng, steps: &mut Vec<Step>) {
        if matches!(self.state, State::Objects { to_come: 0, .. }) {
            self.state = State::Reading;
            steps.push(Step::PageSince(self.began));
            steps.push(Step::WakeAt(now + self.reading.duration(rng)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Load;
    use super::super::tests::Ideal;
    use super::*;
    use fairwire_core::Duration;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    fn small(is_persistent: bool) -> Load {
        Load::Web(Box::new(Web {
            first_bytes: Law::Fixed(3000.0),
            parsing: Law::Fixed(0.002),
            objects: Law::Fixed(3.0),
            object_bytes: Law::Fixed(4000.0),
            reading: Law::Fixed(0.1),
            connections: 2,
            is_persistent,
        }))
    }

    #[test]
    fn a_page_is_its_first_object_and_then_the_others_in_parallel() {
        let ns = |ms, ns| at(ms) + Duration::from_ns(ns);
        let open = |now, place, segments| (now, Step::Open { place, segments, timed_from: Some(now) });
        let write = |now, place, segments| (now, Step::Write { place, segments, timed_from: Some(now) });
        let steps = Ideal::run(&small(true), at(113));
        let expected = [
            open(at(0), 0, 3),
            (at(3), Step::WakeAt(at(5))),
            write(at(5), 0, 4),
            open(at(5), 1, 4),
            write(at(9), 0, 4), // place 1 finishes a nanosecond later, so the test has no ties
            (at(13), Step::PageSince(at(0))),
            (at(13), Step::WakeAt(at(113))),
            open(at(113), 0, 3),
        ];
        assert_eq!(steps, expected);
        let steps = Ideal::run(&small(false), ns(12, 0));
        assert_eq!(steps[2], open(at(5), 0, 4));
        assert_eq!(steps[4], open(at(9), 0, 4));
    }

    #[test]
    fn a_page_without_objects_ends_when_it_is_parsed() {
        let Load::Web(mut web) = small(true) else { unreachable!("it is a web client") };
        web.objects = Law::Fixed(0.0);
        let steps = Ideal::run(&Load::Web(web), at(6));
        assert_eq!(steps[2..], [(at(5), Step::PageSince(at(0))), (at(5), Step::WakeAt(at(105)))]);
    }

    fn mean_between(moments: Moments, min: f64, max: f64) -> f64 {
        let Law::LogNormal { mu, sigma } = Law::log_normal(moments) else { unreachable!("it is lognormal") };
        let below = |z: f64| 0.5 * libm::erfc(-z / std::f64::consts::SQRT_2);
        let (a, b) = ((libm::log(min) - mu) / sigma, (libm::log(max) - mu) / sigma);
        moments.mean * (below(b - sigma) - below(a - sigma)) / (below(b) - below(a))
    }

    #[test]
    fn the_default_pages_have_the_published_moments() {
        let (web, mut rng) = (Web::default(), fairwire_core::Seed(1).stream("web"));
        const DRAWS: usize = 200_000;
        let mut moments = |law: &Law| {
            let sampler = law.sampler();
            let draws: Vec<f64> = (0..DRAWS).map(|_| sampler.draw(&mut rng)).collect();
            let mean = draws.iter().sum::<f64>() / DRAWS as f64;
            let variance = draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / DRAWS as f64;
            (mean, 3.3 * (variance / DRAWS as f64).sqrt())
        };
        let first = mean_between(Moments { mean: 10_710.0, deviation: 25_032.0 }, 100.0, 2e6);
        let object = mean_between(Moments { mean: 7_758.0, deviation: 126_168.0 }, 50.0, 2e6);
        // X is Pareto with shape 1.1, from 2 on. The mean of min(X, 55) - 2 is the integral of the
        // tail (2/x)^1.1 from 2 to 55: the published 5.64.
        let objects = 2.0_f64.powf(1.1) * (2.0_f64.powf(-0.1) - 55.0_f64.powf(-0.1)) / 0.1;
        assert!((objects - 5.64).abs() < 0.005, "{objects}");
        for (law, expected) in
            [(&web.first_bytes, first), (&web.object_bytes, object), (&web.objects, objects)]
        {
            let (mean, error) = moments(law);
            assert!((mean - expected).abs() < error, "{mean} +- {error}, not {expected}");
        }
    }
}
