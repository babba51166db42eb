//! Axes: their ranges, ticks, and the positions of values.

use crate::number::{Unit, number, powers, unit};
use crate::panel::{Axis, Scale};
use libm::{log, log10, pow};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Orientation {
    Horizontal,
    /// A vertical axis. If it is linear and the paper has no range, it includes zero.
    Vertical,
}

/// The largest value drawn. Beyond it, the length of an axis could overflow.
const MAX_VALUE: f64 = 1e150;
/// The smallest absolute value drawn. A linear axis draws smaller values as zero.
const MIN_VALUE: f64 = 1e-150;
const MAX_TICKS: f64 = 7.0;
/// The minimum distance of labelled ticks, as a fraction of the axis.
const APART: f64 = 0.055;
/// The space beyond the outermost values, as a fraction of the axis.
const ROOM: f64 = 0.02;

pub(super) fn can_show(axis: &Axis, value: f64) -> bool {
    value.abs() <= MAX_VALUE && (axis.scale == Scale::Linear || value >= MIN_VALUE)
}

/// The axis's span, which covers at least `values` and the paper's range.
pub(super) fn fit(axis: &Axis, values: impl Iterator<Item = f64>, way: Orientation) -> Span {
    let of_paper = axis.range.into_iter().flatten();
    let shown = values.chain(of_paper).filter(|value| can_show(axis, *value)).map(tame);
    let found = shown.fold(None, |range: Option<[f64; 2]>, value| match range {
        None => Some([value, value]),
        Some([low, high]) => Some([low.min(value), high.max(value)]),
    });
    match axis.scale {
        Scale::Linear => linear(axis, found.unwrap_or([0.0, 1.0]), way),
        Scale::Log => logarithmic(axis, found.unwrap_or([1.0, 10.0]), way),
    }
}

/// Is `end` an end of the paper's axis? If so, the drawn axis ends exactly there.
fn is_of_paper(axis: &Axis, end: f64) -> bool {
    axis.range.is_some_and(|range| range.contains(&end))
}

fn linear(axis: &Axis, [mut low, mut high]: [f64; 2], way: Orientation) -> Span {
    if axis.range.is_none() && low > 0.0 && (way == Orientation::Vertical || low < 0.3 * high) {
        low = 0.0;
    }
    if axis.range.is_none() && high < 0.0 && way == Orientation::Vertical {
        high = 0.0;
    }
    if low == high {
        (low, high) = if low == 0.0 { (0.0, 1.0) } else { (low - low.abs() * 0.1, high + high.abs() * 0.1) };
    }
    let room = (high - low) * ROOM;
    let step = step(high - low);
    if !is_of_paper(axis, low) && low != 0.0 {
        low = if way == Orientation::Vertical { ((low - room) / step).floor() * step } else { low - room };
    }
    if !is_of_paper(axis, high) && high != 0.0 {
        high = if way == Orientation::Vertical { ((high + room) / step).ceil() * step } else { high + room };
    }
    let first = (low / step - 1e-9).ceil();
    let count = ((high / step + 1e-9).floor() - first).clamp(0.0, 4.0 * MAX_TICKS) as usize;
    // Adding 0.0 avoids a tick of -0, whose label would be "-0".
    let ticks = (0..=count).map(|at| (first + at as f64) * step + 0.0).collect();
    Span { low, high, scale: Scale::Linear, ticks, step }
}

fn logarithmic(axis: &Axis, ends: [f64; 2], way: Orientation) -> Span {
    let [low, high] = ends;
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
    let every = (decades / MAX_TICKS).ceil().max(1.0);
    let powers = (0..=((last - first) / every) as usize).map(|at| pow(10.0, first + at as f64 * every));
    let ticks = powers.flat_map(|power| factors.iter().map(move |factor| factor * power));
    let is_inside = |tick: &f64| *tick >= low * (1.0 - 1e-9) && *tick <= high * (1.0 + 1e-9);
    let mut span = Span { low, high, scale: Scale::Log, ticks: ticks.filter(is_inside).collect(), step: 0.0 };
    if way == Orientation::Horizontal && ends[0] < ends[1] {
        span.name_ends(ends);
    }
    span
}

fn tame(value: f64) -> f64 {
    if value.abs() < MIN_VALUE { 0.0 } else { value }
}

fn step(length: f64) -> f64 {
    let power = pow(10.0, log10(length / MAX_TICKS).floor());
    let fits = |step: &f64| length / step <= MAX_TICKS;
    [1.0, 2.0, 5.0].into_iter().map(|factor| factor * power).find(fits).unwrap_or(power * 10.0)
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Span {
    low: f64,
    high: f64,
    scale: Scale,
    pub ticks: Vec<f64>,
    step: f64,
}

impl Span {
    /// The span of an axis with `names` names, at the positions 0, 1, ...
    pub(super) fn of_names(names: usize) -> Self {
        let high = names.max(1) as f64 - 0.5;
        Span { low: -0.5, high, scale: Scale::Linear, ticks: Vec::new(), step: 1.0 }
    }

    pub(super) fn ends(&self) -> [f64; 2] {
        [self.low, self.high]
    }

    /// Puts ticks at the first and the last value, and removes other ticks that are too near.
    /// Otherwise, the ends of a logarithmic axis would have no labels.
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

    /// The position of `value`: 0 at the low end of the axis, 1 at the high end. A value that
    /// cannot be drawn is at the low end.
    pub(super) fn share(&self, value: f64) -> f64 {
        self.beyond(value.clamp(self.low, self.high)).clamp(0.0, 1.0)
    }

    pub(super) fn beyond(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => log(value / self.low) / log(self.high / self.low),
        };
        if share.is_finite() { share } else { 0.0 }
    }

    pub(super) fn holds(&self, value: f64) -> bool {
        value >= self.low && value <= self.high
    }

    /// The position at which bars begin. It is zero, or the end of the axis nearest to zero.
    pub(super) fn foot(&self) -> f64 {
        match self.scale {
            Scale::Linear => self.share(0.0),
            Scale::Log => 0.0,
        }
    }

    pub(super) fn name(&self, tick: f64) -> String {
        match self.scale {
            Scale::Log => number(tick, 3),
            Scale::Linear => self.even_name(tick),
        }
    }

    /// A tick's label with as many decimals as the other labels.
    fn even_name(&self, tick: f64) -> String {
        let largest = self.low.abs().max(self.high.abs());
        if tick == 0.0 {
            return "0".into();
        }
        let Some(Unit(unit, letter)) = unit(largest) else { return powers(tick, 3) };
        let digits = (-log10(self.step / unit) - 1e-9).ceil().clamp(0.0, 9.0) as usize;
        format!("{:.digits$}{letter}", tick / unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::axis;

    fn names(axis: &Axis, values: &[f64], way: Orientation) -> Vec<String> {
        let span = fit(axis, values.iter().copied(), way);
        span.ticks.iter().map(|tick| span.name(*tick)).collect()
    }

    #[test]
    fn ticks_are_few_and_round_and_show_the_differing_digits() {
        let linear = axis("", Scale::Linear, None);
        assert_eq!(
            names(&linear, &[0.55, 0.99], Orientation::Vertical),
            ["0", "0.2", "0.4", "0.6", "0.8", "1.0", "1.2"]
        );
        assert_eq!(
            names(&linear, &[1e6, 5.1e6], Orientation::Vertical),
            ["0", "1M", "2M", "3M", "4M", "5M", "6M"]
        );
        assert_eq!(names(&linear, &[-2.0, 3.0], Orientation::Horizontal), ["-2", "-1", "0", "1", "2", "3"]);
        assert_eq!(
            names(&linear, &[1e-9, 2e-9], Orientation::Vertical),
            ["0", "5e-10", "1e-9", "1.5e-9", "2e-9", "2.5e-9"]
        );
    }

    #[test]
    fn a_log_axis_labels_powers_and_others_where_there_is_room() {
        let log = axis("", Scale::Log, None);
        assert_eq!(
            names(&log, &[78.0, 1560.0], Orientation::Horizontal),
            ["78", "100", "200", "500", "1000", "1560"]
        );
        assert_eq!(
            names(&log, &[5.0, 400.0], Orientation::Horizontal),
            ["5", "10", "20", "50", "100", "200", "400"]
        );
        assert_eq!(
            names(&log, &[5.0, 480.0], Orientation::Horizontal).last().unwrap(),
            "480",
            "500 is too near"
        );
        assert_eq!(names(&log, &[78.0, 1560.0], Orientation::Vertical), ["100", "200", "500", "1000"]);
        assert_eq!(
            names(&log, &[1.0, 1e5], Orientation::Horizontal),
            ["1", "10", "100", "1000", "10k", "100k"]
        );
        assert!(
            (fit(&log, [10.0, 1000.0].into_iter(), Orientation::Horizontal).share(100.0) - 0.5).abs() < 1e-12
        );
        assert_eq!(fit(&log, [-1.0, 0.0, f64::NAN].into_iter(), Orientation::Vertical).share(0.0), 0.0);
    }

    #[test]
    fn the_papers_range_stays_unless_values_leave_it() {
        let jain = axis("", Scale::Linear, Some([0.8, 1.0]));
        let inside = fit(&jain, [0.9, 0.95].into_iter(), Orientation::Vertical);
        assert_eq!((inside.share(0.8), inside.share(1.0)), (0.0, 1.0));
        let below = fit(&jain, [0.5].into_iter(), Orientation::Vertical);
        assert!(below.share(0.5) > 0.0 && below.share(1.0) == 1.0, "{below:?}");
    }

    #[test]
    fn a_vertical_axis_begins_at_zero_and_a_horizontal_one_at_the_values() {
        let linear = axis("", Scale::Linear, None);
        assert_eq!(fit(&linear, [8.0, 9.0].into_iter(), Orientation::Vertical).share(0.0), 0.0);
        assert!(fit(&linear, [8.0, 9.0].into_iter(), Orientation::Horizontal).low > 7.0);
        assert_eq!(fit(&linear, [-8.0, -9.0].into_iter(), Orientation::Vertical).share(0.0), 1.0);
    }

    #[test]
    fn every_range_gives_finite_positions_and_few_ticks() {
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
                for way in [Orientation::Vertical, Orientation::Horizontal] {
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
                                && (value.abs() < MIN_VALUE || span.holds(value))
                        );
                    }
                }
            }
        }
    }
}
