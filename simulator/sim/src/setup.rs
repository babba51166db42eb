//! Builds a model from a plan.

use crate::app::load::Machine;
use crate::app::session::Session;
use crate::edge::Edges;
use crate::event::{Event, Events, Lane};
use crate::flow::{Flow, Lanes, Membership};
use crate::group::Group;
use crate::link::Link;
use crate::model::{Model, WATCH_EVERY};
use crate::observe::Tap;
use crate::on_times::OnTimes;
use crate::plan::{GroupPlan, Network, Settings, Source};
use crate::queue::Sides;
use crate::store::Store;
use crate::tuning::Tuning;
use fairwire_core::{Duration, Seed, Time};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::{ControlFlow, Range};

/// A set-up that may be stopped. Code calls [`made`](Self::made) once for each link or flow that it
/// sets up.
pub struct SetUp<'a> {
    watch: &'a mut dyn FnMut(Time) -> ControlFlow<()>,
    made: u32,
}

/// The number of links and flows set up between two calls of the watcher. Setting up one takes some
/// microseconds.
const LOOK_EVERY: u32 = 1 << 10;

impl<'a> SetUp<'a> {
    /// Creates a set-up that regularly calls `watch` with the time zero. `watch` may stop the
    /// set-up.
    pub fn new(watch: &'a mut dyn FnMut(Time) -> ControlFlow<()>) -> Self {
        SetUp { watch, made: 0 }
    }

    /// Counts a link or a flow that was set up; `None` when the watcher stopped the set-up.
    #[inline]
    pub fn made(&mut self) -> Option<()> {
        self.made += 1;
        if self.made < LOOK_EVERY {
            return Some(());
        }
        self.made = 0;
        (self.watch)(Time::ZERO).is_continue().then_some(())
    }
}

/// The remains of a stopped run. Freeing a million flows takes a while, so another thread may do
/// it.
pub struct Rest(#[expect(dead_code, reason = "it is dropped")] Box<dyn Send>);

impl fmt::Debug for Rest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the rest of a run that was stopped")
    }
}

impl<T: Tap> Model<T, Sides> {
    /// Builds the model. If `watch` stops the set-up, returns the components built so far.
    pub(crate) fn new(
        mut plan: Network,
        settings: &Settings,
        tap: T,
        watch: &mut dyn FnMut(Time) -> ControlFlow<()>,
    ) -> Result<Self, Rest> {
        let tuning = Tuning::of(&mut plan, settings, T::IS_ON);
        let store = Store::new(tap, plan.flow_count());
        Model::over(Sides::new(settings, &tuning), store, plan, settings, SetUp::new(watch))
    }

    #[cfg(test)]
    pub(crate) fn tuned(plan: Network, settings: &Settings, tap: T, tuning: &Tuning) -> Self {
        let store = Store::new(tap, plan.flow_count());
        Model::whole(Sides::new(settings, tuning), store, plan, settings)
    }
}

impl<T: Tap, E: Events> Model<T, E> {
    #[cfg(test)]
    pub(crate) fn whole(events: E, store: Store<T>, plan: Network, settings: &Settings) -> Self {
        let mut watch = |_| ControlFlow::Continue(());
        Model::over(events, store, plan, settings, SetUp::new(&mut watch)).expect("it is not stopped")
    }

    pub(crate) fn over(
        mut events: E,
        store: Store<T>,
        plan: Network,
        settings: &Settings,
        mut set_up: SetUp<'_>,
    ) -> Result<Self, Rest> {
        assert!(
            settings.duration > settings.warm_up,
            "nothing would be measured: the run ends within the warm-up"
        );
        plan.links.iter().for_each(|_| events.add_link());
        let mut model = Model {
            events,
            store,
            links: Vec::with_capacity(plan.links.len()),
            legs: Vec::new(),
            groups: Vec::new(),
            edges: Edges::new(plan.aggregates, plan.groups.len()),
            sessions: Vec::new(),
            steps: Vec::new(),
            timed: BTreeMap::new(),
            on_times: OnTimes::of(&plan.groups, settings),
            measured_from: Time::ZERO + settings.warm_up,
            end: Time::ZERO + settings.duration,
            is_measuring: false,
            hears_trips: false,
            heard: Vec::new(),
            watched: 0,
            left: WATCH_EVERY,
            meaningless: 0,
        };
        for link in plan.links {
            if set_up.made().is_none() {
                return Err(model.rest());
            }
            model.links.push(Link::new(link));
        }
        model.hears_trips = model.links.iter().any(Link::hears_round_trips);
        for group in plan.groups {
            if model.add(group, settings.seed, &mut set_up).is_none() {
                return Err(model.rest());
            }
        }
        model.on_times.iter_mut().for_each(|on_times| on_times.sort());
        if model.measured_from == Time::ZERO {
            model.start_measuring();
        }
        model.show(T::start, Time::ZERO);
        Ok(model)
    }

    pub(crate) fn rest(self) -> Rest {
        let Model { events, store: Store { flows, frames, .. }, links, groups, sessions, .. } = self;
        Rest(Box::new((events, flows, frames, links, groups, sessions)))
    }

    fn add(&mut self, mut plan: GroupPlan, seed: Seed, set_up: &mut SetUp<'_>) -> Option<()> {
        let number = self.groups.len() as u32;
        let members = std::mem::take(&mut plan.members);
        let salt = seed.stream("flow hash").next_u64();
        let mut group = Group::new(number, plan, salt, &self.links, &mut self.legs, &mut self.events)
            .with(members.len() as u32, self.groups.last());
        let mut lanes = BTreeMap::new();
        for (at, member) in members.iter().enumerate() {
            set_up.made()?;
            let access_delay = member.access_delay;
            let lanes = *lanes.entry(access_delay).or_insert_with(|| lanes_of(&group, &mut self.events));
            let member_number = group.before + at as u32 + 1;
            let membership = Membership { group: number, member: member_number, access_delay, lanes };
            for (which, on) in group.plan.on_times(*member).enumerate() {
                let flows = self.add_member(&group, membership, (which, on.from), seed);
                self.stop_at(on.until, flows);
            }
        }
        group.plan.members = members; // their records show the members' own settings
        self.groups.push(group);
        Some(())
    }

    /// Adds the flows of a member of `group`, one per connection, for one period of activity. The
    /// period has the number `which`, and begins at `start`.
    fn add_member(
        &mut self,
        group: &Group,
        membership: Membership,
        (which, start): (usize, Duration),
        seed: Seed,
    ) -> Range<u32> {
        let (name, member, start) = (&group.plan.name, membership.member, Time::ZERO + start);
        let rng = || match which {
            0 => seed.stream_of(format_args!("flow/{name}.{member}")),
            _ => seed.stream_of(format_args!("flow/{name}.{member}/on/{which}")),
        };
        let first = self.store.flows.len() as u32;
        let flows = first..first + group.plan.connections() as u32;
        let mut session = None;
        if let Source::Tcp { tcp, load } = &group.plan.source {
            let machine = Machine::new(load, tcp.segment_bytes);
            let number = self.sessions.len() as u32;
            let mut user = Session::new(membership.group, flows.clone(), machine, rng());
            user.wake_at(start);
            self.events.push_at_host(start, Event::Session(number), number, Lane::NONE);
            self.sessions.push(user);
            session = Some(number);
        }
        for index in flows.clone() {
            self.store.flows.push(Flow::new(group, membership, session, rng));
            if session.is_none() {
                self.store.flows[index as usize].wake_at(start, index, &mut self.events);
            }
            self.edges.iter_mut().for_each(|edges| edges.add_flow());
        }
        flows
    }
}

fn lanes_of<E: Events>(group: &Group, events: &mut E) -> Lanes {
    let is_two_way = group.is_acknowledged() || group.is_outside();
    let of_two_way =
        |lane: fn(&mut E) -> Lane, events: &mut E| if is_two_way { lane(events) } else { Lane::NONE };
    let out = [events.lane_at_links(), of_two_way(E::lane_at_links, events)];
    if group.takes_time {
        events.mix_at_links();
    }
    let home = [(); 2].map(|()| of_two_way(E::lane_at_hosts, events));
    Lanes { out, home, wake: events.lane_at_hosts() }
}
