//! A contest: a discipline under a load, and its promises.

use super::group::{Group, Source, UNCLAIMED};
use super::judge::{Judged, WayJudged, judge};
use crate::config::Document;
use crate::fallible::Fallible;
use crate::finding::{Finding, Subject, balances};
use crate::run::{Middle, Run};
use crate::world::Wiring;
use fairwire_core::Duration;
use fairwire_laws::spec::Quantity;
use fairwire_metrics::judge::Allowed;
use fairwire_service::config::spec::{ClassSpec, DirectionSpec};
use fairwire_testbed::traffic::Traffic;
use fairwire_wire::Way;
use serde::Deserialize;

/// A discipline under a load.
#[derive(Clone, Debug)]
pub struct Case {
    /// `discipline/load`.
    pub name: String,
    /// The shaping of downloads, if any.
    pub download: Option<DirectionSpec>,
    /// The shaping of uploads, if any.
    pub upload: Option<DirectionSpec>,
    /// The class tree.
    pub classes: Vec<ClassSpec>,
    /// The one-way delay of each shaped direction, between the gateway and the inside.
    pub delay: Duration,
    /// The traffic.
    pub groups: Vec<Group>,
    /// True if each inside host has a share, instead of each connection.
    pub is_by_host: bool,
    /// The unmeasured start of the run, seconds.
    pub warm_up: u64,
    /// The length of the run, including the warm-up, seconds.
    pub seconds: u64,
    /// Do this crate's tests also run the case?
    pub is_quick: bool,
    /// True if the discipline uses no random numbers. Only the machine can then cause a miss.
    pub is_exact: bool,
    /// The promises.
    pub(crate) promises: Vec<Promise>,
    /// The reason why chance may excuse a miss, if each full packet's class is random.
    pub(crate) draws_classes: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Promise {
    pub measure: Measure,
    pub promised: Allowed,
    /// The known miss, and its reason.
    pub known: Option<(Allowed, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Measure {
    Utilization,
    /// The largest deviation of a flow from its fair share, relative to the share.
    WorstFlow,
    /// The largest deviation of a group from its fair share, relative to the share.
    WorstGroup,
    /// The largest deviation of a class from its fair share, in percentage points of the traffic.
    /// Without classes, groups are compared instead.
    ShareErrorPoints,
    PingP95Ms,
}

impl Measure {
    const fn name(self) -> &'static str {
        match self {
            Measure::Utilization => "utilization",
            Measure::WorstFlow => "worst_flow",
            Measure::WorstGroup => "worst_group",
            Measure::ShareErrorPoints => "share_error_points",
            Measure::PingP95Ms => "ping_p95_ms",
        }
    }

    fn of(self, way: &WayJudged) -> Option<f64> {
        match self {
            Measure::Utilization => Some(way.utilization),
            Measure::WorstFlow => Some(way.worst_flow),
            Measure::WorstGroup => Some(way.worst_group),
            Measure::ShareErrorPoints => Some(way.share_error_points),
            Measure::PingP95Ms => way.ping.map(|ping| ping.p95_ms),
        }
    }

    /// The part of this measure that chance alone may explain, if classes are random.
    fn chance(self, way: &WayJudged) -> Option<f64> {
        match self {
            Measure::WorstGroup => Some(way.chance_of_group),
            Measure::ShareErrorPoints => Some(way.chance_points),
            _ => None,
        }
    }

    fn subject(self) -> Subject {
        match self {
            Measure::Utilization | Measure::PingP95Ms => Subject::Time,
            _ => Subject::Shares,
        }
    }
}

/// The bytes of a full packet on the link: 1500 of IP, and 38 of Ethernet with preamble and gap.
pub(super) const FULL_BYTES: u32 = 1538;
pub(super) const USUAL_SECONDS: u64 = 20;
const PING: Duration = Duration::from_ms(10);

impl Case {
    /// The same case with another duration.
    #[must_use]
    pub fn lasting(self, warm_up: u64, seconds: u64) -> Case {
        Case { warm_up, seconds, ..self }
    }

    /// The same case, with its length multiplied by `seconds` / `USUAL_SECONDS`. The warm-up takes
    /// a quarter of `seconds`.
    #[must_use]
    pub fn beside(self, seconds: u64) -> Case {
        let scaled = (seconds * self.seconds).div_ceil(USUAL_SECONDS);
        self.lasting(seconds / 4, scaled)
    }

    /// The gateway's configuration.
    pub fn document(&self) -> Document {
        let mut document = Document::new(self.download.clone(), self.upload.clone());
        document.spec.class.clone_from(&self.classes);
        document
    }

    /// Its network.
    pub fn wiring(&self) -> Wiring {
        let delay = |way| if self.direction(way).is_some() { self.delay } else { Duration::ZERO };
        Wiring { delays: Way::ALL.map(delay), ..Wiring::default() }
    }

    /// The shaping of one direction, if any.
    pub fn direction(&self, way: Way) -> Option<&DirectionSpec> {
        match way {
            Way::Download => self.download.as_ref(),
            Way::Upload => self.upload.as_ref(),
        }
    }

    /// The rate of a direction, bit/s; 0 if it is not shaped.
    pub fn bps(&self, way: Way) -> u64 {
        self.direction(way).map_or(0, |direction| direction.rate.0.bps())
    }

    /// The traffic of the case, with pings in the loaded directions.
    pub fn traffic(&self) -> Traffic {
        let duration_ns = self.seconds * 1_000_000_000;
        let ping = |direction| Group {
            group: "ping".into(),
            count: 1,
            source: Source::Ping { every: Quantity(PING) },
            direction,
            ipv6: false,
            network: UNCLAIMED,
            hosts: 1,
        };
        let pings = Way::ALL.into_iter().filter(|way| self.direction(*way).is_some()).map(ping);
        let groups: Vec<Group> = self.groups.iter().cloned().chain(pings).collect();
        let flows =
            groups.iter().flat_map(|group| (0..group.count).map(|number| group.flow(number, duration_ns)));
        Traffic::new(flows.collect(), duration_ns)
    }

    /// Runs the case, and judges the result.
    pub fn hold(&self) -> Fallible<Judged> {
        let document = self.document();
        let mut run = Run::begin(self.wiring(), Middle::Gateway(&document), self.traffic())?;
        let before = run.gateway().processor_s();
        let seen = run.finish()?;
        let took = run.gateway().processor_s() - before;
        if let Some(status) = run.gateway().end() {
            return Err(format!("the gateway ended ({status}): {}", run.gateway().last_words()).into());
        }
        let mut judged = judge(self, &run.traffic, &seen, took);
        judged.findings.extend(balances(run.gateway())?);
        judged.starved = run.starved(&seen)?;
        Ok(judged)
    }

    pub(super) fn findings<'a>(&'a self, way: &'a WayJudged) -> impl Iterator<Item = Finding> + 'a {
        self.promises.iter().filter_map(|Promise { measure, promised, known }| {
            let drawn = self.draws_classes.as_deref().zip(measure.chance(way));
            let chance = drawn.filter(|(_, chance)| !promised.contains(*chance));
            let chance = chance.map(|(because, chance)| (Allowed::at_most(chance), because));
            let known = known.as_ref().map(|(allowed, because)| (*allowed, because.as_str())).or(chance);
            let what = format!("{} {}", way.way.name(), measure.name());
            let finding = Finding::judged(what, measure.of(way)?, *promised, known);
            Some(finding.about(measure.subject()))
        })
    }
}
