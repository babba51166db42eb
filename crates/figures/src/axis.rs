//! Axes: which range, which ticks, where a value stands.

use crate::number::{number, powers, unit};
use crate::panel::{Axis, Scale};
use libm::{log, log10, pow};

/// Which way an axis goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Across,
    /// Begins at zero, unless the paper's does not.
    Up,
}

/// No larger value is drawn: lengths of axes must not overflow.
const LARGEST: f64 = 1e150;
/// Nearer to zero than this is zero, to a picture.
const SMALLEST: f64 = 1e-150;
const MOST_TICKS: f64 = 7.0;
/// Nearer ticks have no room for their names, as a part of the axis.
const APART: f64 = 0.055;
/// Room beyond the outermost values.
const ROOM: f64 = 0.02;

/// Has `value` a place on `axis`?
pub(super) fn can_show(axis: &Axis, value: f64) -> bool {
    value.abs() <= LARGEST && (axis.scale == Scale::Linear || value >= SMALLEST)
}

/// The span of `axis` for `values`, of which those are passed over that have no place. It holds the paper's range, and is
/// longer where values leave that.
pub(super) fn fit(axis: &Axis, values: impl Iterator<Item = f64>, way: Way) -> Span {
    let of_paper = axis.range.into_iter().flatten();
    let shown = values.chain(of_paper).filter(|value| can_show(axis, *value)).map(tame);
    let found = shown.fold(None, |range: Option<(f64, f64)>, value| match range {
        None => Some((value, value)),
        Some((low, high)) => Some((low.min(value), high.max(value))),
    });
    match axis.scale {
        Scale::Linear => linear(axis, found.unwrap_or((0.0, 1.0)), way),
        Scale::Log => logarithmic(axis, found.unwrap_or((1.0, 10.0)), way),
    }
}

/// Is `end` an end of the paper's axis? Then it stays where it is.
fn is_of_paper(axis: &Axis, end: f64) -> bool {
    axis.range.is_some_and(|range| range.contains(&end))
}

fn linear(axis: &Axis, (mut low, mut high): (f64, f64), way: Way) -> Span {
    if axis.range.is_none() && low > 0.0 && (way == Way::Up || low < 0.3 * high) {
        low = 0.0;
    }
    if axis.range.is_none() && high < 0.0 && way == Way::Up {
        high = 0.0;
    }
    if low == high {
        (low, high) = if low == 0.0 { (0.0, 1.0) } else { (low - low.abs() * 0.1, high + high.abs() * 0.1) };
    }
    let room = (high - low) * ROOM;
    let step = step(high - low);
    if !is_of_paper(axis, low) && low != 0.0 {
        low = if way == Way::Up { ((low - room) / step).floor() * step } else { low - room };
    }
    if !is_of_paper(axis, high) && high != 0.0 {
        high = if way == Way::Up { ((high + room) / step).ceil() * step } else { high + room };
    }
    let first = (low / step - 1e-9).ceil();
    let count = ((high / step + 1e-9).floor() - first).clamp(0.0, 4.0 * MOST_TICKS) as usize;
    // A tick of -0 would be named so.
    let ticks = (0..=count).map(|at| (first + at as f64) * step + 0.0).collect();
    Span { low, high, scale: Scale::Linear, ticks, step }
}

fn logarithmic(axis: &Axis, (low, high): (f64, f64), way: Way) -> Span {
    let ends = [low, high];
    let room = if low == high { 2.0 } else { pow(high / low, 2.0 * ROOM) };
    let low = if is_of_paper(axis, low) { low } else { low / room };
    let high = if is_of_paper(axis, high) { high } else { high * room };
    let (first, last) = (log10(low).floor(), log10(high).ceil());
    let decades = log10(high) - log10(low);
    let factors: &[f64] = match decades {
        d if d < 2.3 => &[1.0, 2.0, 5.0],
        d if d < 3.6 => &[1.0, 3.0],
        _ => &[1.0],
    };
    let every = (decades / MOST_TICKS).ceil().max(1.0);
    let powers = (0..=((last - first) / every) as usize).map(|at| pow(10.0, first + at as f64 * every));
    let ticks = powers.flat_map(|power| factors.iter().map(move |factor| factor * power));
    let is_inside = |tick: &f64| *tick >= low * (1.0 - 1e-9) && *tick <= high * (1.0 + 1e-9);
    let mut span = Span { low, high, scale: Scale::Log, ticks: ticks.filter(is_inside).collect(), step: 0.0 };
    if way == Way::Across && ends[0] < ends[1] {
        span.name_ends(ends);
    }
    span
}

fn tame(value: f64) -> f64 {
    if value.abs() < SMALLEST { 0.0 } else { value }
}

/// The distance of ticks: 1, 2 or 5 times a power of ten, for few enough of them.
fn step(length: f64) -> f64 {
    let power = pow(10.0, log10(length / MOST_TICKS).floor());
    let fits = |step: &f64| length / step <= MOST_TICKS;
    [1.0, 2.0, 5.0].into_iter().map(|factor| factor * power).find(fits).unwrap_or(power * 10.0)
}

/// A range of values with its ticks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Span {
    low: f64,
    high: f64,
    scale: Scale,
    pub ticks: Vec<f64>,
    /// Between ticks of a linear axis.
    step: f64,
}

impl Span {
    /// The places 0, 1, ... of so many names, each in the middle of its column.
    pub(super) fn of_names(names: usize) -> Self {
        let high = names.max(1) as f64 - 0.5;
        Span { low: -0.5, high, scale: Scale::Linear, ticks: Vec::new(), step: 1.0 }
    }

    /// From where to where.
    pub(super) fn ends(&self) -> [f64; 2] {
        [self.low, self.high]
    }

    /// Has a tick at the first and at the last value, in place of those that are too near: between round numbers of a logarithmic axis
    /// nobody can read where they are.
    fn name_ends(&mut self, ends: [f64; 2]) {
        for end in ends {
            let at = self.share(end);
            let is_apart = |tick: &f64| (self.share(*tick) - at).abs() >= APART;
            let mut ticks: Vec<f64> = self.ticks.iter().copied().filter(is_apart).collect();
            ticks.push(end);
            self.ticks = ticks;
        }
        self.ticks.sort_by(f64::total_cmp);
    }

    /// Where `value` stands, 0 at the low end and 1 at the high one. Values without a place stand at the low end.
    pub(super) fn share(&self, value: f64) -> f64 {
        self.beyond(value.clamp(self.low, self.high)).clamp(0.0, 1.0)
    }

    /// As [`Span::share`], and beyond the ends for values that are.
    pub(super) fn beyond(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => log(value / self.low) / log(self.high / self.low),
        };
        if share.is_finite() { share } else { 0.0 }
    }

    /// Is `value` on the axis, and not beyond its ends?
    pub(super) fn holds(&self, value: f64) -> bool {
        value >= self.low && value <= self.high
    }

    /// Where bars begin: at zero, or else at the end that is nearest to it.
    pub(super) fn foot(&self) -> f64 {
        match self.scale {
            Scale::Linear => self.share(0.0),
            Scale::Log => 0.0,
        }
    }

    /// The text at `tick`.
    pub(super) fn name(&self, tick: f64) -> String {
        match self.scale {
            Scale::Log => number(tick, 3),
            Scale::Linear => self.even_name(tick),
        }
    }

    /// With as many digits as neighbours have.
    fn even_name(&self, tick: f64) -> String {
        let largest = self.low.abs().max(self.high.abs());
        if tick == 0.0 {
            return "0".into();
        }
        let Some((unit, letter)) = unit(largest) else { return powers(tick, 3) };
        let digits = (-log10(self.step / unit) - 1e-9).ceil().clamp(0.0, 9.0) as usize;
        format!("{:.digits$}{letter}", tick / unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::axis;

    fn names(axis: &Axis, values: &[f64], way: Way) -> Vec<String> {
        let span = fit(axis, values.iter().copied(), way);
        span.ticks.iter().map(|tick| span.name(*tick)).collect()
    }

    #[test]
    fn ticks_are_few_and_round_and_name_what_differs() {
        let linear = axis("", Scale::Linear, None);
        assert_eq!(names(&linear, &[0.55, 0.99], Way::Up), ["0", "0.2", "0.4", "0.6", "0.8", "1.0", "1.2"]);
        assert_eq!(names(&linear, &[1e6, 5.1e6], Way::Up), ["0", "1M", "2M", "3M", "4M", "5M", "6M"]);
        assert_eq!(names(&linear, &[-2.0, 3.0], Way::Across), ["-2", "-1", "0", "1", "2", "3"]);
        assert_eq!(
            names(&linear, &[1e-9, 2e-9], Way::Up),
            ["0", "5e-10", "1e-9", "1.5e-9", "2e-9", "2.5e-9"]
        );
    }

    #[test]
    fn a_log_axis_names_powers_and_between_them_what_has_room() {
        let log = axis("", Scale::Log, None);
        assert_eq!(names(&log, &[78.0, 1560.0], Way::Across), ["78", "100", "200", "500", "1000", "1560"]);
        assert_eq!(names(&log, &[5.0, 400.0], Way::Across), ["5", "10", "20", "50", "100", "200", "400"]);
        assert_eq!(names(&log, &[5.0, 480.0], Way::Across).last().unwrap(), "480", "500 is too near");
        assert_eq!(names(&log, &[78.0, 1560.0], Way::Up), ["100", "200", "500", "1000"]);
        assert_eq!(names(&log, &[1.0, 1e5], Way::Across), ["1", "10", "100", "1000", "10k", "100k"]);
        // In the middle but for the rounding of logarithms.
        assert!((fit(&log, [10.0, 1000.0].into_iter(), Way::Across).share(100.0) - 0.5).abs() < 1e-12);
        assert_eq!(fit(&log, [-1.0, 0.0, f64::NAN].into_iter(), Way::Up).share(0.0), 0.0);
    }

    #[test]
    fn the_papers_range_stays_unless_values_leave_it() {
        let jain = axis("", Scale::Linear, Some([0.8, 1.0]));
        let inside = fit(&jain, [0.9, 0.95].into_iter(), Way::Up);
        assert_eq!((inside.share(0.8), inside.share(1.0)), (0.0, 1.0));
        let below = fit(&jain, [0.5].into_iter(), Way::Up);
        assert!(below.share(0.5) > 0.0 && below.share(1.0) == 1.0, "{below:?}");
    }

    #[test]
    fn an_upward_axis_begins_at_zero_and_one_across_where_the_values_do() {
        let linear = axis("", Scale::Linear, None);
        assert_eq!(fit(&linear, [8.0, 9.0].into_iter(), Way::Up).share(0.0), 0.0);
        assert!(fit(&linear, [8.0, 9.0].into_iter(), Way::Across).low > 7.0);
        assert_eq!(fit(&linear, [-8.0, -9.0].into_iter(), Way::Up).share(0.0), 1.0);
    }

    #[test]
    fn every_range_gives_finite_places_and_few_ticks() {
        let values = [
            0.0,
            1.0,
            -1.0,
            1e-150,
            1e-149,
            1e150,
            -1e150,
            f64::MIN_POSITIVE,
            f64::MAX,
            f64::NAN,
            f64::INFINITY,
        ];
        for scale in [Scale::Linear, Scale::Log] {
            let axis = axis("", scale, None);
            for (first, second) in values.iter().flat_map(|first| values.map(|second| (*first, second))) {
                for way in [Way::Up, Way::Across] {
                    let span = fit(&axis, [first, second].into_iter(), way);
                    assert!(
                        span.low < span.high && (span.high - span.low).is_finite(),
                        "{first} {second}: {span:?}"
                    );
                    assert!(
                        span.ticks.len() <= 12 && span.ticks.iter().all(|tick| tick.is_finite()),
                        "{span:?}"
                    );
                    for value in [first, second].into_iter().filter(|value| can_show(&axis, *value)) {
                        assert!(
                            (0.0..=1.0).contains(&span.share(value))
                                && (value.abs() < SMALLEST || span.holds(value))
                        );
                    }
                }
            }
        }
    }
}
