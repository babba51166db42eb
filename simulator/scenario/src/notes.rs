//! Notes on a scenario: easily overlooked settings on which results depend, and likely mistakes.

use crate::compared::Compared;
use crate::reach;
use crate::source::Sends;
use crate::spec::{FlowSpec, Spec};
use crate::tcp::TcpSpec;
use crate::topology::{QueuePlan, Route, Topology};
use fairwire_catalogue as catalogue;
use fairwire_core::{Duration, Rate, RateLaw};
use fairwire_laws::role;
use fairwire_sim::Source;
use fairwire_tcp::Processing;

const MAX_NAMED: usize = 6;

pub(crate) fn of(spec: &Spec, topology: &Topology) -> Vec<String> {
    let notes = profiles(spec).into_iter().chain(phase(spec, topology)).chain(traces(spec, topology));
    notes
        .chain(idle_links(spec, topology))
        .chain(far(spec, topology))
        .chain(late(spec))
        .chain(early(spec))
        .chain(unmarked(spec))
        .collect()
}

fn far(spec: &Spec, topology: &Topology) -> Option<String> {
    let is_far = |(flow, routes): &(&FlowSpec, &Vec<Route>)| {
        let Some(route) = routes.first() else { return false };
        let [own, way] = reach::mean_trip(flow, route, &topology.queues);
        let longer = |time: Duration, queue: usize| time + topology.queues[queue].longer_by();
        route.queues().chain(route.queues_back()).fold(own + way, longer) > spec.duration.0
    };
    let groups = spec.flow.iter().zip(&topology.routes).filter(is_far);
    let far: Vec<&str> = groups.map(|(flow, _)| &*flow.group).collect();
    let note = || {
        let run = spec.duration;
        format!(
            "{}: a round trip takes longer than the run of {run}, so little or nothing is measured",
            named(&far)
        )
    };
    (!far.is_empty()).then(note)
}

fn early(spec: &Spec) -> Option<String> {
    let is_early = |flow: &&FlowSpec| flow.on_times().last().is_some_and(|on| on.until <= spec.warm_up.0);
    let early: Vec<&str> = spec.flow.iter().filter(is_early).map(|flow| &*flow.group).collect();
    let until = spec.warm_up;
    let note = || {
        format!(
            "{}: is on in the warm-up alone, until {until} at the latest, and has no share",
            named(&early)
        )
    };
    (!early.is_empty()).then(note)
}

/// Notes on flows that begin late in the measured time, and on stops after the end of the run.
fn late(spec: &Spec) -> impl Iterator<Item = String> + '_ {
    let is_late = |flow: &&FlowSpec| flow.on_times().is_empty() && !spec.on_times(flow).is_empty();
    let late: Vec<&str> = spec.flow.iter().filter(is_late).map(|flow| &*flow.group).collect();
    let note = format!(
        "{}: begins long after the warm-up; shares and Jain's index cover only the time in which flows are on",
        named(&late)
    );
    let beyond = spec.flow.iter().filter_map(|flow| {
        let stop = flow.on_times().last()?.until;
        (stop > spec.duration.0)
            .then(|| format!("`{}` stops at {stop}, after the end: it is on until the run ends", flow.group))
    });
    (!late.is_empty()).then_some(note).into_iter().chain(beyond)
}

/// A note if shares may depend on round trips modulo a packet's transmission time on the link.
fn phase(spec: &Spec, topology: &Topology) -> Option<String> {
    let takes_no_time =
        |source: &Source| matches!(source, Source::Bulk { tcp } if tcp.processing == Processing::None);
    let flows = spec.flow.iter().zip(&topology.sends);
    let groups: Vec<&FlowSpec> =
        flows.filter(|(_, sends)| takes_no_time(&sends.source)).map(|(flow, _)| flow).collect();
    let by_place = |compared: &Compared| {
        let name = catalogue::find(compared.name()).ok()?.name;
        let parameters = compared.parameters(&spec.discipline);
        let is_one = catalogue::with_part(name, &parameters, |part| part.drops_by_place());
        is_one.is_ok_and(|is_one| is_one).then_some(name)
    };
    let mut disciplines: Vec<&str> = spec.disciplines.iter().filter_map(by_place).collect();
    disciplines.dedup();
    let flows: u64 = groups.iter().map(|flow| u64::from(flow.count())).sum();
    (flows > 1 && !disciplines.is_empty()).then(|| {
        let groups: Vec<&str> = groups.iter().map(|flow| flow.group.as_str()).collect();
        format!(
            "{}: hosts take no time, so under {} the losers may follow from round trips modulo a packet's \
             transmission time; tcp = {{ processing = \"packet\" }} gives hosts time",
            named(&groups),
            named(&disciplines)
        )
    })
}

/// Notes on links with a varying rate, except the shared link.
fn traces<'a>(spec: &Spec, topology: &'a Topology) -> impl Iterator<Item = String> + 'a {
    topology.queues.iter().skip(usize::from(spec.shared_link().is_some())).filter_map(|queue| {
        let (mean, rate) = (queue.law.repeating_mean()?.rounded(), queue.rate.rounded());
        let what = if matches!(queue.law, RateLaw::Trace(_)) { "trace" } else { "pattern of rates" };
        Some(format!("`{}` follows a {what}, mean {mean}; disciplines there go by {rate}", queue.name))
    })
}

/// A note on ECN-capable senders at disciplines that can mark, but drop by default.
fn unmarked(spec: &Spec) -> Option<String> {
    let is_capable = |flow: &&FlowSpec| {
        flow.source.about().is_tcp && flow.tcp.as_ref().is_some_and(|tcp| tcp.effective_ecn() != "off")
    };
    let capable: Vec<&str> = spec.flow.iter().filter(is_capable).map(|flow| &*flow.group).collect();
    let dropping = |compared: &Compared| {
        let entry = catalogue::find(compared.name()).ok().filter(|entry| entry.about.marks)?;
        let ecn = entry.fields().iter().find(|field| field.name == "ecn")?;
        let parameters = compared.parameters(&spec.discipline);
        let is_typed = parameters.find(entry.key).is_some_and(|part| role::ECN.given(part).is_some());
        (!is_typed && ecn.default.contains("drop")).then_some((entry.name, entry.key))
    };
    let mut dropping: Vec<(&str, &str)> = spec.disciplines.iter().filter_map(dropping).collect();
    dropping.dedup();
    (!capable.is_empty() && !dropping.is_empty()).then(|| {
        let names: Vec<&str> = dropping.iter().map(|(name, _)| *name).collect();
        let mut keys: Vec<String> =
            dropping.iter().map(|(_, key)| format!("discipline.{key}.ecn = \"mark\"")).collect();
        keys.dedup();
        format!(
            "{}: ECN-capable, but dropped by {}; {} marks it",
            named(&capable),
            named(&names),
            keys.join(", ")
        )
    })
}

/// A note on groups with different TCP profiles.
fn profiles(spec: &Spec) -> Option<String> {
    let mut all: Vec<(&'static str, Vec<&str>)> = Vec::new();
    for flow in spec.flow.iter().filter(|flow| flow.source.about().is_tcp) {
        let profile = flow.tcp.as_ref().map(TcpSpec::effective_profile).unwrap_or_default().family();
        match all.iter_mut().find(|(other, _)| *other == profile) {
            Some((_, groups)) => groups.push(&flow.group),
            None => all.push((profile, vec![&flow.group])),
        }
    }
    let each = |(profile, groups): &(&str, Vec<&str>)| format!("{} \"{profile}\"", named(groups));
    (all.len() > 1).then(|| {
        let all: Vec<String> = all.iter().map(each).collect();
        format!("TCP profiles differ, and so do more constants than the controller: {}", all.join("; "))
    })
}

/// Notes on links that all senders together cannot fill, although the compared disciplines work
/// there. A generated network has none, because most of its links are not meant to be filled.
fn idle_links(spec: &Spec, topology: &Topology) -> Vec<String> {
    if spec.network.is_some() {
        return Vec::new();
    }
    let most = most_sent(spec, topology);
    let idle_link = |(at, queue): (usize, &QueuePlan)| {
        let link = queue.mean_bps(spec.warm_up.0, spec.duration.0);
        let most = &most[at];
        // `most.by` is empty if no data passes the queue.
        (!most.by.is_empty() && most.bps < link).then(|| idle(queue, most, link))
    };
    topology.compared().filter_map(idle_link).collect()
}

#[derive(Clone, Default)]
struct Most {
    /// The maximum rate of all flows together, bit/s.
    bps: f64,
    /// The limits, each with the groups that it limits.
    by: Vec<(String, Vec<String>)>,
}

impl Most {
    fn add(&mut self, flows: u32, bps: f64, limit: &str, group: &str) {
        self.bps += f64::from(flows) * bps;
        let at = self.by.iter().position(|(other, _)| other == limit).unwrap_or(self.by.len());
        if at == self.by.len() {
            self.by.push((limit.into(), Vec::new()));
        }
        let groups = &mut self.by[at].1;
        if groups.last().is_none_or(|last| last != group) {
            groups.push(group.into());
        }
    }
}

fn most_sent(spec: &Spec, topology: &Topology) -> Vec<Most> {
    let mut most = vec![Most::default(); topology.queues.len()];
    for ((flow, routes), sends) in spec.flow.iter().zip(&topology.routes).zip(&topology.sends) {
        let access = flow.access.rate.0;
        let own = match &sends.source {
            Source::Cbr { rate, .. } if *rate <= access => {
                (rate.bps() as f64, format!("their own rate of {rate}"))
            }
            Source::Bulk { tcp } | Source::Tcp { tcp, .. } => {
                let waits = match tcp.host_queue {
                    Some(most) => format!("at which {most} of it wait at most"),
                    None => "at which the rest waits".into(),
                };
                (access.bps() as f64, format!("the access link of {access}, {waits}"))
            }
            _ => (access.bps() as f64, format!("the access link of {access}")),
        };
        for route in routes {
            let mut slowest = own.clone();
            let mut narrow = |bps: f64, limit: &dyn Fn() -> String| {
                if bps < slowest.0 {
                    slowest = (bps, limit());
                }
            };
            if let Some(wire) = route.slowest_wire() {
                narrow(wire.bps() as f64, &|| format!("a wire of {wire}"));
            }
            if let Some((bps, segments)) = by_window(flow, route, topology, sends) {
                narrow(bps, &|| format!("the receiver's window of {segments} segments"));
            }
            for at in route.queues() {
                most[at].add(route.flows, slowest.0, &slowest.1, &flow.group);
                let rate = topology.queues[at].rate;
                if (rate.bps() as f64) < slowest.0 {
                    slowest = (rate.bps() as f64, format!("`{}` before it", topology.queues[at].name));
                }
            }
        }
    }
    most
}

/// The maximum rate of a flow, bit/s: the receiver's window per round trip without queueing. Also
/// returns the window in segments.
fn by_window(flow: &FlowSpec, route: &Route, topology: &Topology, sends: &Sends) -> Option<(f64, u32)> {
    let (Source::Bulk { tcp } | Source::Tcp { tcp, .. }) = &sends.source else { return None };
    let window = tcp.window?;
    let bytes = f64::from(tcp.segment_bytes + tcp.header_bytes);
    let queues = || route.queues().chain(route.queues_back()).map(|at| &topology.queues[at]);
    let rtt = reach::shortest_trip(flow, route, &topology.queues);
    let is_fixed = |queue: &QueuePlan| matches!(queue.law, RateLaw::Fixed) && queue.wire.is_plain();
    queues().all(is_fixed).then(|| (8.0 * bytes * f64::from(window) / rtt.secs(), window))
}

fn idle(queue: &QueuePlan, most: &Most, link: f64) -> String {
    let printed =
        |bps: f64| Rate::from_bps(bps as u64).map_or("nothing".into(), |rate| rate.rounded().to_string());
    let limit = |(limit, groups): &(String, Vec<String>)| {
        let groups: Vec<&str> = groups.iter().map(String::as_str).collect();
        format!("{}: limited by {limit}", named(&groups))
    };
    let by: Vec<String> = most.by.iter().take(MAX_NAMED).map(limit).collect();
    format!(
        "no flow can fill `{}`: all together send at most {} over its {} ({:.0} %), so little waits there and disciplines \
         hardly differ; {}",
        queue.name,
        printed(most.bps),
        printed(link),
        100.0 * most.bps / link,
        by.join("; ")
    )
}

fn named(groups: &[&str]) -> String {
    let (some, more) = groups.split_at(groups.len().min(MAX_NAMED));
    let some: Vec<String> = some.iter().map(|group| format!("`{group}`")).collect();
    if more.is_empty() { some.join(", ") } else { format!("{} and {} more", some.join(", "), more.len()) }
}
