//! The links of a scenario, as ways of a datapath and the wires behind them.

use crate::dumbbell::check_access;
use crate::forwarding::{classifier, pool_size};
use crate::plan::Plan;
use crate::stage::CannotRun;
use fairwire_core::units::Amount;
use fairwire_core::{Duration, Rate, RateLaw, Wire};
use fairwire_datapath::DatapathPlan;
use fairwire_datapath::direction::{DirectionPlan, ShaperPlan};
use fairwire_datapath::not_ip::default_rate;
use fairwire_datapath::pool::PoolSize;
use fairwire_scenario::Scenario;
use fairwire_sim::{Hop, LinkPlan};
use fairwire_testbed::enclosure::MTU;

/// The line that a command is behind. Of each pair the first is of the way towards the command, and
/// the second of the one away from it.
pub struct Line {
    pub(super) plan: DatapathPlan,
    pub(super) rates: [Option<Varying>; 2],
    /// The delay of each wire, and the wire where that has faults.
    pub(super) wires: [(Duration, Option<Wire>); 2],
}

/// A rate at first, and how it changes; none where nothing waits.
pub(super) type Varying = (Rate, RateLaw);

/// Flows that are counted one by one.
const FLOWS: usize = 4096;
/// Of a way where nothing waits, for the parts of all super-packets that arrive at once.
const PASSING: PoolSize = PoolSize { frames: 4096, frame_bytes: MTU };

/// The line of `scenario` under its first discipline: `[link]` leads to the command, and `[return]`
/// away from it.
///
/// # Errors
/// Where there are more links, or the discipline cannot be built.
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
    let bare = || (plan(None, PASSING), None, (delay, None));
    let up = links.next().map_or_else(bare, |(up, buffer)| one_way(up, buffer));
    let (forward, down_rate, to_command) = one_way(down, buffer);
    let (backward, up_rate, away) = up;
    let plan = DatapathPlan { forward, backward };
    Ok(Line { plan, rates: [down_rate, up_rate], wires: [to_command, away] })
}

fn one_way(
    LinkPlan { rate, law, delay, wire, discipline, .. }: LinkPlan,
    buffer: Amount,
) -> (DirectionPlan, Option<Varying>, (Duration, Option<Wire>)) {
    // What is due is done at its own time: nothing has to be made up for.
    let shaper = ShaperPlan { discipline, rate, catch_up: Duration::ZERO, not_ip: default_rate(rate) };
    (plan(Some(shaper), pool_size((buffer, rate), MTU)), Some((rate, law)), (delay, wire))
}

fn plan(shaper: Option<ShaperPlan>, pool: PoolSize) -> DirectionPlan {
    DirectionPlan { shaper, classifier: classifier(), pool, flows: FLOWS, classes: 1 }
}
