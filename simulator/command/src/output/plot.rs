//! The picture of each group's rate out of the link over time.

use super::plan::{Destination, Request};
use super::written::{Done, Kept, Looks, Place, Recorder, Run, Wants, Writer};
use crate::figure::{Form, RATE, Sampled, conditions, over_time};
use fairwire_core::{Duration, Time};
use fairwire_figures::Figure;
use fairwire_metrics::record::Report;
use fairwire_scenario::{Output, SampleRow};
use fairwire_terminal::failure::Failure;
use fairwire_terminal::file;

pub(super) use crate::figure::FORMS;

pub(super) fn prepare<'a>(request: &Request<'a>) -> Result<Option<Box<dyn Writer + 'a>>, Failure> {
    let place = request.destination(Output::Plot, &FORMS)?;
    let (every, warm_up) = (request.every(), request.warm_up());
    Ok(place.map(|(place, form)| Box::new(Plot { place, form, every, warm_up, kept: Kept::default() }) as _))
}

struct Plot {
    place: Destination,
    form: Form,
    every: Duration,
    warm_up: Time,
    kept: Kept<Sampled>,
}

impl Writer for Plot {
    fn looks(&self) -> Looks {
        Looks::AtSamples
    }

    fn wants(&self) -> Wants {
        Wants { samples: true, ..Wants::default() }
    }

    fn begin<'a>(&'a self, run: Run<'_>) -> Result<Option<Box<dyn Recorder + 'a>>, Failure> {
        let (at, stage, every_s) = (run.place(), run.stage.unwrap_or_default(), self.every.secs());
        let sampled = Sampled::new(run.which.discipline, stage, run.which.seed, every_s);
        Ok(Some(Box::new(OfRun { plot: self, at, sampled })))
    }

    fn close(&self, report: &mut Report, done: &mut Done) {
        let (form, path, title) = (self.form, &self.place.path, &report.manifest.scenario);
        let drawn = draw(&self.kept.take(), title, self.warm_up, form);
        done.wrote(path, file::write(path, &drawn));
    }
}

struct OfRun<'a> {
    plot: &'a Plot,
    at: Place,
    sampled: Sampled,
}

impl Recorder for OfRun<'_> {
    fn row(&mut self, at: Time, row: SampleRow<'_>) {
        self.sampled.row(at.secs(), row.into(), &RATE);
    }

    fn finish(self: Box<Self>) -> Result<(), Failure> {
        self.plot.kept.keep(self.at, self.sampled);
        Ok(())
    }
}

fn draw(runs: &[Sampled], title: &str, warm_up: Time, form: Form) -> Vec<u8> {
    let measured_from = Some(warm_up.since(Time::ZERO).secs()).filter(|from| *from > 0.0);
    let (first, panels) = over_time(runs, &RATE, measured_from);
    let what = match first {
        Some(run) if run.is_of_network() => "what leaves the last link of its way",
        _ => "what leaves the link",
    };
    let conditions = first.map_or(String::new(), |run| conditions(run, measured_from));
    let title = format!("{title}: {what}");
    let detail = vec![conditions];
    form(&Figure { title: &title, detail, panels: &panels, has_one_scale: true, ..Figure::default() }, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY: Duration = Duration::from_ms(100);

    fn sampled(discipline: &str, stage: &str, groups: &[(&str, Vec<f64>)]) -> Sampled {
        let mut run = Sampled::new(discipline, stage, 1, EVERY.secs());
        for at in 0..groups[0].1.len() {
            let mut row = |kind, name, measure, value| {
                let at_s = (at + 1) as f64 * EVERY.secs();
                run.row(at_s, SampleRow { kind, name, measure, unit: "bit/s", value }.into(), &RATE);
            };
            row("link", "bottleneck", "capacity", 4e6);
            groups.iter().for_each(|(name, values)| row("group", name, "egress", values[at]));
        }
        run
    }

    fn svg(runs: &[Sampled], warm_up: Time) -> String {
        String::from_utf8(draw(runs, "t", warm_up, FORMS[0].1)).unwrap()
    }

    #[test]
    fn each_discipline_has_a_panel_and_each_group_a_line() {
        let of = |name| sampled(name, "", &[("tcp", vec![1e6; 5000]), ("a<b", vec![2e6; 5000])]);
        let picture = svg(&[of("red"), of("red"), of("faba")], Time::ZERO);
        assert_eq!(picture.matches("class=\"name\"").count(), 2);
        // The legend and both panels have a line per group.
        assert_eq!(picture.matches("<path class=\"line s").count(), 3 * 2);
        assert!(picture.contains("a&lt;b") && !picture.contains("a<b"));
    }

    #[test]
    fn with_several_stages_each_group_has_a_panel_with_a_line_for_each_of_them() {
        let of = |stage| sampled("red", stage, &[("tcp", vec![1e6; 50]), ("udp", vec![2e6; 50])]);
        let picture = svg(&[of("sim"), of("lab")], Time::ZERO);
        assert!(picture.contains(">red: tcp<") && picture.contains(">red: udp<"), "{picture}");
        assert_eq!(picture.matches("class=\"name\"").count(), 2);
        // The legend and both panels have a line per stage.
        assert_eq!(picture.matches("<path class=\"line s").count(), 3 * 2);
        assert!(picture.contains(">sim<") && picture.contains(">lab<"));
    }

    #[test]
    fn the_axis_fits_the_measurements_and_the_rate_of_the_link_is_a_line() {
        let values = (0..100).map(|at| if at < 10 { 200e6 } else { 3e6 }).collect();
        let run = [sampled("red", "", &[("tcp", values)])];
        let after = |ms| svg(&run, Time::ZERO + Duration::from_ms(ms));
        let tick = |picture: &str, value: &str| {
            let up = picture.split("text-anchor=\"middle\"").next().unwrap_or_default();
            up.contains(&format!(">{value}</text>"))
        };
        assert!(tick(&after(0), "200") && tick(&after(900), "200"), "the spike is measured");
        let measured = after(1000);
        assert!(tick(&measured, "4") && !tick(&measured, "10"), "{measured}");
        assert_eq!(measured.matches("<path class=\"limit\"").count(), 2, "in the key, and in the panel");
        assert!(measured.contains("dashed line") && !after(0).contains("dashed line"));
        assert_eq!(measured.matches("<svg x=").count(), 1, "what is above the axis is cut off");
    }

    #[test]
    fn no_runs_give_an_empty_picture() {
        assert!(svg(&[], Time::ZERO).ends_with("</svg>\n"));
    }
}
