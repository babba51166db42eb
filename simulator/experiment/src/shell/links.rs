//! The links of a scenario, as ways of a datapath and the wires behind them.

use crate::dumbbell::check_access;
use crate::forwarding::{classifier, pool_size, way};
use crate::plan::Plan;
use crate::stage::CannotRun;
use fairwire_core::units::Amount;
use fairwire_core::{Duration, Rate, RateLaw, Wire};
use fairwire_datapath::direction::{DirectionPlan, ShaperPlan};
use fairwire_datapath::not_ip::default_rate;
use fairwire_scenario::Scenario;
use fairwire_sim::{Hop, LinkPlan};
use fairwire_testbed::enclosure::MTU;

/// The line that a command is behind: the ways towards it, and away from it.
pub struct Line(pub(super) [OneWay; 2]);

/// A way of the line.
pub(super) struct OneWay {
    pub plan: DirectionPlan,
    /// Its rate at first, and how that changes; none where nothing waits.
    pub rate: Option<(Rate, RateLaw)>,
    /// The delay of its wire, and the wire where that has faults.
    pub wire: (Duration, Option<Wire>),
}

/// Flows that are counted one by one.
const FLOWS: usize = 10_000;
/// Of a way where nothing waits: the frames of one batch, and more.
const PASSING: Amount = Amount::Packets(0);

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
    let plan = Plan { scenario, discipline: 0 };
    check_access(&plan)?;
    let network = plan
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
    let up = links.next().map_or_else(|| bare(delay), |(up, buffer)| one_way(up, buffer));
    Ok(Line([one_way(down, buffer), up]))
}

fn one_way(LinkPlan { rate, law, delay, wire, discipline, .. }: LinkPlan, buffer: Amount) -> OneWay {
    // What is due is done at its own time: nothing has to be made up for.
    let shaper = ShaperPlan { discipline, rate, catch_up: Duration::ZERO, not_ip: default_rate(rate) };
    let plan = way(Some(shaper), &classifier(), pool_size((buffer, rate), MTU), FLOWS);
    OneWay { plan, rate: Some((rate, law)), wire: (delay, wire) }
}

/// A way that takes its delay, and no more.
fn bare(delay: Duration) -> OneWay {
    let pool = pool_size((PASSING, Rate::from_bps(1).expect("not zero")), MTU);
    OneWay { plan: way(None, &classifier(), pool, FLOWS), rate: None, wire: (delay, None) }
}
