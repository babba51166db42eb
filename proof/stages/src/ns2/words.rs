//! Turns a plan into arguments of `dumbbell.tcl`.

use super::queue::Queue;
use fairwire_core::{Duration, Loss, WireLaw};
use fairwire_experiment::dumbbell::{Shared, check_device, check_stops, rates};
use fairwire_experiment::{CannotRun, Plan};
use fairwire_sim::{GroupPlan, Source};
use fairwire_tcp::congestion::{
    BicParameters, BinomialParameters, ControlConfig, VegasParameters, WestwoodParameters,
};
use fairwire_tcp::{Config, Profile, Quirks, Recovery};

/// The maximum number of flows; a command line's length is limited.
const MAX_FLOWS: usize = 4000;

const SENDERS: &str = "`bulk` and `cbr`";
const TCP: &str = "`profile = \"ns2-2002\"` or \"ns2-2006\" with its `segment`, `recovery`, `window`, `min_rto` and a `control` of `reno` \
                   or `binomial`; or a `control` of `vegas`, `bic` or `westwood` without parameters, with `recovery = \"sack\"` and \
                   `quirks = { sack_counts_acks = false }`";

pub(super) struct Dumbbell {
    /// The link's name in results.
    pub link: String,
    /// The link's mean rate while it is measured, bit/s.
    pub rate_bps: u64,
    /// Does the link's wire lose packets?
    pub is_lossy: bool,
    /// The senders.
    pub groups: Vec<GroupPlan>,
    /// The arguments of the script.
    pub words: Vec<String>,
}

impl Dumbbell {
    /// Converts `plan` under `seed`.
    ///
    /// # Errors
    /// The feature that ns-2 does not support.
    pub(super) fn of(plan: &Plan<'_>, seed: u64) -> Result<Self, CannotRun> {
        let Shared { link, groups } = Shared::of(plan, seed)?;
        check_device(plan, "ns2")?;
        check_stops(groups.iter().find(|group| !group.on.is_empty()).map(|group| &*group.name), "ns2")?;
        let rates: Vec<String> = rates(&link.law, plan.duration())?
            .into_iter()
            .map(|(at, rate)| format!("{} {}", seconds(at), rate.bps()))
            .collect();
        let flows = groups.iter().map(|group| group.members.len()).sum();
        let queue = queue(plan, flows)?;
        let loss = link.wire.as_ref().map_or(Ok(0.0), |wire| loss(wire.law()))?;
        let mut words: Vec<String> = [
            ("-rate", link.rate.bps().to_string()),
            ("-rates", rates.join(" ")),
            ("-delay", seconds(link.delay)),
            ("-loss", loss.to_string()),
            ("-queue", queue.class.into()),
            ("-set", queue.variables),
            ("-duration", seconds(plan.duration())),
            ("-warm-up", seconds(plan.warm_up())),
            // For seed 0, ns-2 would use the time of day. It accepts no seed above this range.
            ("-seed", (1 + seed % 0x7fff_fffe).to_string()),
        ]
        .into_iter()
        .flat_map(|(option, value)| [option.to_owned(), value])
        .collect();
        for (place, group) in groups.iter().enumerate() {
            if Shared::back_delay(group)? != link.delay {
                let given = format!("a way back of `{}` with a delay of its own", group.name);
                return Err(CannotRun::new(given, format!("the delay of the link, {}", link.delay)));
            }
            let is_out = is_out(plan, place)?;
            words.extend(["-group".to_owned(), group_words(group, is_out)?]);
        }
        Ok(Dumbbell {
            link: link.name,
            rate_bps: link.law.mean(link.rate, plan.warm_up(), plan.duration()).bps(),
            is_lossy: link.wire.is_some(),
            groups,
            words,
        })
    }
}

fn loss(law: &WireLaw) -> Result<f64, CannotRun> {
    match law.loss {
        Some(Loss::Bernoulli(part)) if (WireLaw { loss: None, ..law.clone() }).is_plain() => Ok(part),
        _ => {
            let given = "losses in bursts, outages, jitter, reordering, duplicates or a delay that changes";
            Err(CannotRun::new(given, "`impair = { loss = ... }`: of the wire's faults only single losses"))
        }
    }
}

fn queue(plan: &Plan<'_>, flows: usize) -> Result<Queue, CannotRun> {
    let Some(queue) = Queue::of(plan) else {
        let given = format!("`{}`, with its parameters", plan.label());
        return Err(CannotRun::new(given, "a discipline that ns-2 has, with parameters that ns-2 has too"));
    };
    let most = queue.most_flows.map_or(MAX_FLOWS, |most| most as usize);
    if flows > most {
        return Err(CannotRun::new(
            format!("{flows} flows through its {}", queue.class),
            format!("at most {most}"),
        ));
    }
    Ok(queue)
}

/// Are all packets of group `place` out of profile? A group with both colours is an error, since
/// ns-2 has no markers here.
fn is_out(plan: &Plan<'_>, place: usize) -> Result<bool, CannotRun> {
    let spec = plan.scenario.spec();
    let Some(name) = &spec.flow[place].aggregate else { return Ok(false) };
    let is_all_out = spec.aggregate.iter().any(|one| one.name == *name && one.is_all_out(spec));
    if is_all_out {
        return Ok(true);
    }
    Err(CannotRun::new(
        format!("the marker of `{name}`"),
        "`marker = { token-bucket = { burst = \"0 B\" } }`, which puts everything out of profile",
    ))
}

/// The script's arguments for a group. The flow identifier is 0 if the group's packets are out of
/// profile, and otherwise 1.
fn group_words(group: &GroupPlan, is_out: bool) -> Result<String, CannotRun> {
    let (kind, variables) = sender(group)?;
    let members: Vec<String> = group
        .members
        .iter()
        .map(|member| format!("{{{} {}}}", seconds(member.start), seconds(member.access_delay)))
        .collect();
    Ok(format!(
        "{} {kind} {} {} {{{variables}}} {{{}}}",
        group.name,
        u8::from(!is_out),
        group.access_rate.bps(),
        members.join(" ")
    ))
}

fn sender(group: &GroupPlan) -> Result<(&'static str, String), CannotRun> {
    let of = |what: &str| format!("{what} of `{}`", group.name);
    match &group.source {
        Source::Bulk { tcp } => {
            tcp_agent(tcp).ok_or_else(|| CannotRun::new(of("the constants of the TCP"), TCP))
        }
        Source::Cbr { rate, packet_bytes, dither, .. } => {
            // ns-2's `random_ 1` equals a dither of 0.5.
            if *dither != 0.0 && *dither != 0.5 {
                return Err(CannotRun::new(of(&format!("a dither of {dither}")), "0 or 0.5"));
            }
            let random = u8::from(*dither != 0.0);
            Ok(("cbr", format!("rate_ {} packetSize_ {packet_bytes} random_ {random}", rate.bps())))
        }
        Source::Tcp { .. } | Source::Datagrams { .. } | Source::Endpoints { .. } => {
            Err(CannotRun::new(of("the source"), SENDERS))
        }
    }
}

fn tcp_agent(tcp: &Config) -> Option<(&'static str, String)> {
    if let Some(agent) = linux_agent(tcp) {
        return Some(agent);
    }
    let (recovery, control, window, min_rto) = (tcp.recovery, tcp.control.clone(), tcp.window, tcp.min_rto);
    let known =
        Config { recovery, control, window, min_rto, ..Config::new(Profile::Ns2In2002, tcp.segment_bytes) };
    if known != *tcp {
        return None;
    }
    let kind = match recovery {
        Recovery::Tahoe => "tahoe",
        Recovery::Reno => "reno",
        Recovery::NewReno => "newreno",
        Recovery::Sack => "sack",
        Recovery::Rack => return None,
    };
    let mut variables = format!("packetSize_ {} minrto_ {}", tcp.segment_bytes, seconds(min_rto));
    if let Some(window) = window {
        variables += &format!(" window_ {window}");
    }
    match &tcp.control {
        ControlConfig::Reno => {}
        // ns-2's `k_parameter_` is per round trip, so it is our `k` minus 1. Its `decrease_num_` is
        // the fraction that remains after a decrease.
        ControlConfig::Binomial(BinomialParameters { c1, c2, k, l }) => {
            variables += &format!(
                " windowOption_ 6 increase_num_ {c1} decrease_num_ {} k_parameter_ {} l_parameter_ {l}",
                1.0 - c2,
                k - 1.0
            );
        }
        _ => return None,
    }
    Some((kind, variables))
}

/// ns-2's agent with Linux's algorithms; `None` if the agent does not match `tcp`. The agent uses
/// timestamps and a separate scoreboard for recovery.
fn linux_agent(tcp: &Config) -> Option<(&'static str, String)> {
    let (control, window, min_rto) = (tcp.control.clone(), tcp.window, tcp.min_rto);
    let ns2 = Config::new(Profile::Ns2In2002, tcp.segment_bytes);
    let quirks = Quirks { sack_counts_acks: false, ..ns2.quirks };
    let known = Config { recovery: Recovery::Sack, control, window, min_rto, quirks, ..ns2 };
    if known != *tcp {
        return None;
    }
    // Without these variables, the agent's Vegas would have the paper's values.
    let (kind, own) = match &tcp.control {
        ControlConfig::Vegas(vegas) if *vegas == VegasParameters::default() => {
            ("linux-vegas", " ca_alpha 2 ca_beta 4 ca_gamma 1")
        }
        ControlConfig::Bic(bic) if *bic == BicParameters::default() => ("linux-bic", ""),
        ControlConfig::Westwood(westwood) if *westwood == WestwoodParameters::default() => {
            ("linux-westwood", "")
        }
        _ => return None,
    };
    let mut variables = format!("packetSize_ {} minrto_ {}{own}", tcp.segment_bytes, seconds(min_rto));
    if let Some(window) = window {
        variables += &format!(" window_ {window}");
    }
    Some((kind, variables))
}

fn seconds(duration: Duration) -> String {
    format!("{}.{:09}", duration.ns() / 1_000_000_000, duration.ns() % 1_000_000_000)
}
