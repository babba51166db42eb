//! Builds the two directions of a datapath, and the wires behind them, from a scenario's links.

use crate::dumbbell::check_access;
use crate::forwarding::{classifier, pool_size};
use crate::plan::Plan;
use crate::stage::CannotRun;
use fairwire_core::units::Amount;
use fairwire_core::{Duration, Rate, RateLaw, Wire};
use fairwire_datapath::direction::{DirectionPlan, ShaperPlan};
use fairwire_datapath::pool::PoolSize;
use fairwire_datapath::{control, not_ip};
use fairwire_scenario::Scenario;
use fairwire_sim::{Hop, LinkPlan};
use fairwire_testbed::enclosure::MTU;

/// The line between a command and the outside.
pub struct Line {
    pub(super) to_command: OneWay,
    pub(super) away: OneWay,
}

pub(super) struct OneWay {
    pub(super) plan: DirectionPlan,
    /// The rate and its changes; `None` without a queue.
    pub(super) rate: Option<Varying>,
    pub(super) delay: Duration,
    pub(super) wire: Option<Wire>,
}

/// A changing rate.
pub(super) struct Varying {
    pub(super) at_first: Rate,
    pub(super) law: RateLaw,
}

/// The maximum number of flows that are counted separately.
const FLOWS: usize = 4096;
/// The pool of a direction without a queue. It holds the segments of all super-packets that arrive
/// at once.
const PASSING: PoolSize = PoolSize { frames: 4096, frame_bytes: MTU };

/// The line of `scenario` under its first discipline: `[link]` leads to the command, and `[return]`
/// away from it.
///
/// # Errors
/// If the scenario has other links or access links with faults, or the discipline cannot be built.
pub fn line(scenario: &Scenario, seed: u64) -> Result<Line, CannotRun> {
    let needed = "one `[link]`, and perhaps a `[return]`";
    if scenario.spec().shared_link().is_none() {
        return Err(CannotRun::new("a network of links", needed));
    }
    let scene = Plan { scenario, discipline: 0 };
    check_access(&scene)?;
    let network = scene
        .network(seed)
        .map_err(|error| CannotRun::new(error.to_string(), "`fairwire list disciplines`"))?;
    let way_back = network.groups.iter().flat_map(|group| &group.back).find_map(|hop| match hop {
        Hop::Wire { delay, .. } => Some(*delay),
        Hop::Link(_) => None,
    });
    let buffers = scenario.queues().map(|queue| queue.buffer);
    let mut links = network.links.into_iter().zip(buffers);
    let Some((down, buffer)) = links.next() else { return Err(CannotRun::new("no link", needed)) };
    let delay = way_back.unwrap_or(down.delay);
    let bare = || OneWay { plan: plan(None, PASSING), rate: None, delay, wire: None };
    let away = links.next().map_or_else(bare, |(up, buffer)| one_way(up, buffer));
    Ok(Line { to_command: one_way(down, buffer), away })
}

fn one_way(LinkPlan { rate, law, delay, wire, discipline, .. }: LinkPlan, buffer: Amount) -> OneWay {
    // Events are handled with their exact due times, so the shaper never has to catch up.
    let (not_ip, control) = (not_ip::default_rate(rate), control::default_rate(rate));
    let shaper = ShaperPlan { discipline, rate, catch_up: Duration::ZERO, not_ip, control };
    let plan = plan(Some(shaper), pool_size(buffer, rate, MTU));
    OneWay { plan, rate: Some(Varying { at_first: rate, law }), delay, wire }
}

fn plan(shaper: Option<ShaperPlan>, pool: PoolSize) -> DirectionPlan {
    DirectionPlan { shaper, classifier: classifier(), pool, flows: FLOWS, classes: 1 }
}
