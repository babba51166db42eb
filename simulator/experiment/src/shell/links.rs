//! The links of a scenario, as links that carry packets.

use super::{Frame, Links};
use crate::dumbbell::check_access;
use crate::plan::Plan;
use crate::stage::CannotRun;
use fairwire_core::{Duration, Rate, Time};
use fairwire_link::{Link, LinkBuilder};
use fairwire_scenario::Scenario;
use fairwire_sim::{Hop, LinkPlan};
use fairwire_testbed::enclosure::MTU;

/// Of a way back without a queue: more than a device carries.
const UNBOUNDED: Rate = Rate::from_bps(1_000_000_000_000).expect("not zero");
/// What may wait on such a way: a device has fewer.
const UNBOUNDED_BUFFER: &str = "1000000 packets";

/// The line that a command is behind.
pub struct Line {
    /// Both ways.
    pub links: Links,
    /// The rate of each, bit/s; of a trace its mean, and zero where there is no bound.
    pub rates_bps: [f64; 2],
    /// The delay of each wire.
    pub delays: [Duration; 2],
}

/// The line of `scenario` under its first discipline: `[link]` leads to the command, and `[return]`
/// away from it. Time begins at `start`.
///
/// # Errors
/// Where there are more links, or the discipline cannot be built.
pub fn line(scenario: &Scenario, seed: u64, start: Time) -> Result<Line, CannotRun> {
    if scenario.spec().shared_link().is_none() {
        return Err(CannotRun::new("a network of links", "one `[link]`, and perhaps a `[return]`"));
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
    let mut links = network.links.into_iter();
    let Some(down) = links.next() else {
        return Err(CannotRun::new("no link", "one `[link]`, and perhaps a `[return]`"));
    };
    let delay = way_back.unwrap_or(down.delay);
    let up = links.next();
    let delays = [down.delay, up.as_ref().map_or(delay, |up| up.delay)];
    let up = up.map_or_else(|| Link::new(UNBOUNDED, delay).buffer(UNBOUNDED_BUFFER), of_plan);
    let both = [of_plan(down), up].map(|link| link.mtu(MTU).seed(seed).starts_at(start));
    let [down, up] = both;
    let links =
        Links::new(down, up).map_err(|error| CannotRun::new(error.to_string(), "`docs/scenario.md`"))?;
    let mut rates = scenario.queues().map(|queue| queue.trace_mean.unwrap_or(queue.rate).bps() as f64);
    let rates_bps = [(); 2].map(|()| rates.next().unwrap_or(0.0));
    Ok(Line { links, rates_bps, delays })
}

fn of_plan(plan: LinkPlan) -> LinkBuilder<Frame, Time> {
    let LinkPlan { rate, law, delay, wire, discipline, .. } = plan;
    let link = Link::new(rate, delay).discipline(discipline).law(law);
    wire.into_iter().fold(link, LinkBuilder::wire)
}
