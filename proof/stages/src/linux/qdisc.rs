//! The Linux name and parameters of a discipline, in the form of `tc qdisc`.

use crate::same::{first_come, packets, row};
use fairwire_core::Duration;
use fairwire_experiment::{CannotRun, Plan};
use fairwire_laws::Site;
use fairwire_laws::compose::fq_codel;
use fairwire_laws::dropper::pie::Estimate;
use fairwire_laws::dropper::{codel, pie, tail_drop};
use fairwire_laws::spec::{EcnChoice, Measure};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Qdisc {
    /// The discipline's name and parameters, except `timer`.
    parameters: String,
    /// The name and value of a parameter that the kernel counts in timer ticks.
    timer: Option<(&'static str, Duration)>,
    /// The kernel module of the discipline; `None` if it is always built in.
    pub module: Option<&'static str>,
}

impl Qdisc {
    /// The Linux discipline that equals the discipline of `plan`.
    ///
    /// # Errors
    /// If Linux lacks the discipline, or does not support these parameters.
    pub(crate) fn of(plan: &Plan<'_>) -> Result<Qdisc, CannotRun> {
        let same = plan.of_part(|part, site| {
            row(part, site, fifo)
                .or_else(|| row(part, site, codel))
                .or_else(|| row(part, site, pie))
                .or_else(|| row(part, site, fq_codel))
        });
        same.ok_or_else(|| {
            let given = format!("`{}`, with its parameters", plan.label());
            CannotRun::new(given, "a discipline that Linux has, with parameters that Linux has too")
        })
    }

    /// The discipline in the form of `tc`. Timers expire one tick late, so `timer` is set one tick
    /// shorter.
    pub(crate) fn line(&self, tick: Duration) -> String {
        let Qdisc { parameters, timer, .. } = self;
        timer.map_or_else(
            || parameters.clone(),
            |(name, takes)| {
                let us = takes.ns().saturating_sub(tick.ns()).div_ceil(1000).max(1);
                format!("{parameters} {name} {us}us")
            },
        )
    }
}

fn us(time: Duration) -> u64 {
    time.ns() / 1000
}

fn fifo(spec: &tail_drop::Spec, site: &Site<'_>) -> Option<Qdisc> {
    let limit = first_come(spec.queue.buffer, &spec.queue.scheduler, site)?;
    let parameters = match packets(limit) {
        Some(packets) => format!("pfifo limit {packets}"),
        None => format!("bfifo limit {}", limit.max_bytes()),
    };
    Some(Qdisc { parameters, timer: None, module: None })
}

fn codel(spec: &codel::Spec, site: &Site<'_>) -> Option<Qdisc> {
    let packets = packets(first_come(spec.queue.buffer, &spec.queue.scheduler, site)?)?;
    let parameters = format!("codel limit {packets} {}", control(&spec.control, spec.queue.ecn)?);
    Some(Qdisc { parameters, timer: None, module: Some("sch_codel") })
}

/// CoDel's parameters for `tc`. `None` if `control` is invalid. Also `None` if `control` sets an
/// `mtu`, since the kernel uses the interface's MTU.
fn control(control: &codel::Control, ecn: Option<EcnChoice>) -> Option<String> {
    let codel::CheckedControl { target, interval, .. } = control.checked().ok()?;
    let threshold =
        control.ce_threshold.map_or(String::new(), |time| format!(" ce_threshold {}us", us(time.0)));
    let ecn = if ecn == Some(EcnChoice::Drop) { "noecn" } else { "ecn" };
    (control.mtu.is_none())
        .then(|| format!("target {}us interval {}us {ecn}{threshold}", us(target), us(interval)))
}

/// PIE's parameters for `tc`. `None` unless the gains are the defaults, since `tc` has other units
/// for gains.
fn pie(spec: &pie::Spec, site: &Site<'_>) -> Option<Qdisc> {
    let packets = packets(first_come(spec.queue.buffer, &spec.queue.scheduler, site)?)?;
    let own = &spec.control;
    let has_its_gains = own.alpha.is_none() && own.beta.is_none() && own.max_burst.is_none();
    let pie::Terms { control, given, .. } = spec.check(site).ok()?.1;
    let pie::CheckedControl { target, update, measure, .. } = control;
    let pie::Checked { delay, derandomize, cap, boost } = given;
    let bytes = if measure == Measure::Bytes { " bytemode" } else { "" };
    let ecn = if spec.queue.ecn == Some(EcnChoice::Drop) { "" } else { " ecn" };
    let estimate = if delay == Estimate::Rate { " dq_rate_estimator" } else { "" };
    (has_its_gains && derandomize && cap && boost).then(|| Qdisc {
        parameters: format!("pie limit {packets} target {}us{bytes}{ecn}{estimate}", us(target)),
        timer: Some(("tupdate", update)),
        module: Some("sch_pie"),
    })
}

fn fq_codel(spec: &fq_codel::Spec, site: &Site<'_>) -> Option<Qdisc> {
    let packets = packets(spec.check(site).ok()?.limit)?;
    let is_plain = spec.hosts != Some(true) && spec.round.is_none();
    let (queues, quantum) = (spec.queues.unwrap_or(1024), spec.quantum.map_or(1514, |quantum| quantum.0.0));
    let batch = spec.batch.map_or(String::new(), |batch| format!(" drop_batch {batch}"));
    let codel = control(&spec.codel, spec.ecn).filter(|_| is_plain)?;
    let parameters = format!("fq_codel limit {packets} flows {queues} quantum {quantum} {codel}{batch}");
    Some(Qdisc { parameters, timer: None, module: Some("sch_fq_codel") })
}
