//! Forwards packets between the hosts of a contest, in this process, and counts them.

use super::metered::{Metered, SharedMeter};
use super::samples::Samples;
use super::views::Views;
use crate::contest::{
    ContestError, ContestPlan, Coordinator, Counted, Held, Meter, Next, add_losses, add_unseen, handed,
};
use crate::forwarding::{classifier, pool_size};
use crate::view::View;
use crate::watch::Watch;
use fairwire_core::{Discipline, Duration, RateLaw, Time};
use fairwire_datapath::account::FlowCount;
use fairwire_datapath::classify::{Classifier, ETHERNET_HEADER_BYTES};
use fairwire_datapath::direction::{Direction, DirectionPlan, ShaperPlan};
use fairwire_datapath::ledger::{Loss, Totals};
use fairwire_datapath::{Datapath, DatapathPlan, Wire, driver};
use fairwire_datapath::{control, not_ip};
use fairwire_linux::af_packet::AfPacket;
use fairwire_linux::clock;
use fairwire_linux::port::Port;
use fairwire_testbed::message::AtGateway;
use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicBool;

/// Runs the contest. If `stop` becomes true, the contest ends with [`ContestError::Stopped`].
pub(super) fn hold(
    plan: &ContestPlan,
    label: &str,
    discipline: Box<dyn Discipline>,
    watch: &mut dyn Watch,
    stop: &AtomicBool,
) -> Result<Held, ContestError> {
    let mut coordinator = Coordinator::new(plan, AtGateway::Maker, watch, stop)?;
    let mut wire = wire(coordinator.wait_for_wire()?)?;
    coordinator.connect()?;
    let classifier = classifier();
    let meter = SharedMeter::new(clock::now());
    let discipline = Box::new(Metered { discipline, rate: plan.rate, meter: meter.clone() });
    let mut datapath = Datapath::new(gateway(plan, &classifier, discipline));
    let (mut warm, mut views, mut follows) = (None, Views::new(plan, label), false);
    let flows = (0..plan.senders.len()).map(|flow| classifier.flow(&plan.flow_key(flow))).collect();
    let mut samples = Samples::new(plan.every, plan.duration, flows);
    let driven = driver::run(&mut datapath, &mut wire, Duration::ZERO, &mut |now, datapath| {
        let (link, warm, samples, views) = (&mut datapath.forward, &mut warm, &mut samples, &mut views);
        let (classifier, follows) = (&classifier, &mut follows);
        let mut at_link = AtLink { plan, classifier, link, follows, meter: &meter, warm, samples, views };
        match coordinator.follow(now, &mut at_link) {
            Next::At(time) => driver::Next::CallAt(time),
            Next::Over => driver::Next::Stop,
        }
    });
    driven.map_err(|error| coordinator.cause_of(error.into()))?;
    let (mut counted, seen) = coordinator.outcome()?;
    add_unseen(&mut counted.link, wire.left.health());
    Ok(Held { counted, seen, snapshots: samples.taken })
}

/// The longest delay of this process that the link makes up for, so that a busy machine does not
/// reduce the link's rate.
const CATCH_UP: Duration = Duration::from_ms(10);
/// The number of flows reserved for the kernels' traffic that is not part of the contest.
const OTHER_FLOWS: usize = 64;

fn gateway(plan: &ContestPlan, classifier: &Classifier, discipline: Box<dyn Discipline>) -> DatapathPlan {
    // The 4 bytes are a VLAN tag.
    let pool = pool_size(plan.buffer, plan.rate, plan.mtu + ETHERNET_HEADER_BYTES as u32 + 4);
    let flows = plan.senders.len() + OTHER_FLOWS;
    let direction =
        |shaper| DirectionPlan { shaper, classifier: classifier.clone(), pool, flows, classes: 1 };
    let (not_ip, control) = (not_ip::default_rate(plan.rate), control::default_rate(plan.rate));
    let link = ShaperPlan { discipline, rate: plan.rate, catch_up: CATCH_UP, not_ip, control };
    DatapathPlan { forward: direction(Some(link)), backward: direction(None) }
}

struct Warm {
    at: Time,
    totals: Totals,
    flows: Vec<FlowCount>,
}

struct AtLink<'a, 'p> {
    plan: &'a ContestPlan,
    classifier: &'a Classifier,
    link: &'a mut Direction,
    follows: &'a mut bool,
    meter: &'a SharedMeter,
    warm: &'a mut Option<Warm>,
    samples: &'a mut Samples,
    views: &'a mut Views<'p>,
}

impl AtLink<'_, '_> {
    fn flows(&self) -> Vec<FlowCount> {
        let count = |flow| self.link.accounts().of(self.classifier.flow(&self.plan.flow_key(flow)));
        (0..self.plan.senders.len()).map(count).collect()
    }
}

impl Meter for AtLink<'_, '_> {
    fn look(&mut self, start: Time, now: Time) -> Result<(), ContestError> {
        if self.plan.law != RateLaw::Fixed && !std::mem::replace(self.follows, true) {
            self.link.follow(&self.plan.law, start, now);
        }
        self.samples.take(start, now, self.link);
        Ok(())
    }

    fn view(&mut self, start: Time, now: Time) -> Option<View> {
        let flows = self.flows();
        self.views.take(start, now, self.link, flows)
    }

    fn due(&self, start: Time) -> Time {
        self.samples.due(start)
    }

    fn begin(&mut self, now: Time) -> Result<(), ContestError> {
        self.meter.get().restart(now);
        *self.warm = Some(Warm { at: now, totals: *self.link.totals(), flows: self.flows() });
        Ok(())
    }

    fn end(&mut self, now: Time) -> Result<Option<Counted>, ContestError> {
        let Some(warm) = &self.warm else { return Ok(None) };
        let mut link = self.meter.get().record(&self.plan.name, self.plan.mean_rate(), now);
        let lost = self.link.totals().lost.iter().zip(warm.totals.lost).map(|(now, before)| now - before);
        add_losses(&mut link, Loss::ALL.iter().map(|loss| loss.name()).zip(lost));
        let flows = self.flows().iter().zip(&warm.flows).map(|(now, before)| now.since(before)).collect();
        Ok(Some(Counted { window: now.since(warm.at), flows, link }))
    }
}

fn wire(sockets: Vec<OwnedFd>) -> Result<Wire<AfPacket>, ContestError> {
    let [left, right] = handed(sockets)?;
    Ok(Wire { left: AfPacket::from_socket(left, "g0"), right: AfPacket::from_socket(right, "g1") })
}
