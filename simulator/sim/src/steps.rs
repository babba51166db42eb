//! Runs to the end, or in steps. Between two steps the caller does other work.

use crate::event::Events;
use crate::model::Model;
use crate::observe::{Observer, Tap, Watch};
use crate::plan::{Measured, Network, Settings};
use crate::queue::Sides;
use fairwire_core::{Discipline, Rate, Time};
use std::ops::ControlFlow;

impl<T: Tap, E: Events> Model<T, E> {
    /// Runs to the end; false if `watch` stopped the run.
    pub(crate) fn go(&mut self, watch: &mut dyn FnMut(Time) -> ControlFlow<()>) -> bool {
        loop {
            if let ControlFlow::Break(is_whole) = self.go_to_pause(watch) {
                return is_whole;
            }
        }
    }

    fn change_discipline(&mut self, link: u32, fresh: Box<dyn Discipline>, now: Time) {
        self.store.tap.set_place(now, Some(link));
        let queue = &mut self.links[link as usize];
        let free_at = queue.next_poll_at();
        queue.change(fresh, now, &mut self.store);
        if queue.next_poll_at() != free_at {
            self.schedule_link(link);
        }
    }
}

/// A run that proceeds from one sample of its observer to the next. Between steps, disciplines and
/// link rates may be changed. Without changes the results are those of
/// [`run_observed`](crate::run_observed), bit for bit.
pub struct Steps {
    model: Box<Model<Watch<'static>, Sides>>,
    now: Time,
    is_over: bool,
}

impl Steps {
    /// A run of `network` at its start.
    ///
    /// # Panics
    /// As [`run`](crate::run).
    pub fn new(network: Network, settings: &Settings, observer: Box<dyn Observer>) -> Self {
        let mut goes_on = |_| ControlFlow::Continue(());
        let model = Model::new(network, settings, Watch::new(observer), &mut goes_on);
        let model = Box::new(model.expect("nothing stops it"));
        Steps { model, now: Time::ZERO, is_over: false }
    }

    /// Proceeds to the next sample or to the end, where a sample may also be due. Returns whether
    /// the run continues.
    ///
    /// # Panics
    /// As [`run`](crate::run).
    pub fn advance(&mut self) -> bool {
        let sample = self.model.store.tap.next_sample();
        while !self.is_over && self.model.store.tap.next_sample() == sample {
            self.is_over = self.model.go_to_pause(&mut |_| ControlFlow::Continue(())).is_break();
        }
        self.now = if self.is_over { self.model.end } else { sample };
        !self.is_over
    }

    /// The results of the run; `None` before its end.
    pub fn measured(&self) -> Option<Measured> {
        self.is_over.then(|| self.model.measured())
    }

    /// The simulated time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Changes the discipline of the plan's link number `link` to the newly built `fresh`. If the
    /// present discipline can [take over](Discipline::retune) the parameters of `fresh`, it does so
    /// and keeps its state. Otherwise the waiting packets are offered to `fresh`, which drops them
    /// like arrivals if it has no room.
    ///
    /// # Panics
    /// When there is no such link.
    pub fn change_discipline(&mut self, link: usize, fresh: Box<dyn Discipline>) {
        self.model.change_discipline(link as u32, fresh, self.now);
    }

    /// Changes the rate of the plan's link number `link` from now on. A packet being sent ends as
    /// scheduled. If a schedule changes the link's rate, `rate` applies only before the schedule's
    /// first change. A link that follows a trace ignores `rate`.
    ///
    /// # Panics
    /// When there is no such link.
    pub fn set_rate(&mut self, link: usize, rate: Rate) {
        self.model.links[link].set_rate(rate, self.now);
        self.model.groups.iter_mut().for_each(|group| group.follow(&self.model.links));
    }
}
