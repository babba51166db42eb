//! Changes the configuration while the gateway runs. The control thread reads, checks and builds
//! the configuration, and the datapath thread applies it.

use super::engine::{Command, Edit, NewTerms, Replace, Replaced};
use super::following::Following;
use super::mailbox;
use super::ports;
use crate::config::rows::{OtherRows, OtherTerms};
use crate::config::{Config, PlanContext, is_of};
use crate::telemetry::{About, Board};
use fairwire_control::handed::Handed;
use fairwire_control::protocol::{MAX_STEPS, RateStep, Reloaded};
use fairwire_control::record::Record;
use fairwire_core::{Duration, Rate, RateLaw, SetWeightError, Step, Time, Weight};
use fairwire_datapath::classify::FlowKind;
use fairwire_datapath::direction::{Replacement, Sizes};
use fairwire_datapath::edge::EdgeViews;
use fairwire_datapath::trips::ClassTrips;
use fairwire_document::{Problem, read_open, read_text};
use fairwire_subscribers::sheet::{MAX_BYTES, SheetText, read};
use fairwire_wire::Way;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration as StdDuration;

pub(crate) struct Present {
    pub config: Arc<Config>,
    pub path: PathBuf,
    pub context: PlanContext,
    pub sizes: [Sizes; 2],
    pub commands: mailbox::Sender<Command>,
    pub board: Arc<Board>,
    /// Values set by requests, which may differ from the file.
    pub set: Set,
    /// The state of the edges, as the datapath thread shows it.
    pub edges: EdgeViews,
    pub following: Option<Following>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Set {
    weights: BTreeMap<String, Weight>,
    /// Rates and their start times, by the number of the [`Way`].
    rates: [Option<(RateLaw, Time)>; 2],
}

impl Set {
    fn numbered(&self, config: &Config) -> Vec<(u32, Weight)> {
        let number = |(name, weight): (&String, &Weight)| Some((config.book().number(name)?, *weight));
        self.weights.iter().filter_map(number).collect()
    }

    fn lines_without(&self, kept: &Set) -> Vec<String> {
        let weights = self.weights.keys().filter(|name| !kept.weights.contains_key(*name));
        let weights = weights.map(|name| format!("weight of {name}: what the file says, again"));
        let is_gone = |way: &&Way| {
            let [was, is] = [self, kept].map(|set| set.rates[**way as usize].is_some());
            was && !is
        };
        let rates = Way::ALL.iter().filter(is_gone);
        weights.chain(rates.map(|way| format!("rate of {}: what the file says, again", way.name()))).collect()
    }
}

/// The longest wait for the datapath thread, which answers within a few milliseconds unless it is
/// stuck.
const ANSWER: StdDuration = StdDuration::from_secs(10);

impl Present {
    /// Reads the configuration file again, and applies it. If the file is refused, nothing changes.
    ///
    /// `handed` has the open `files`, in the same order, and perhaps the record of the change. With
    /// `keeps`, weights and rates set by requests stay, unless the file changes them.
    pub(super) fn reload(
        &mut self,
        files: &[PathBuf],
        keeps: bool,
        handed: &Handed,
    ) -> Result<Reloaded, String> {
        let start = fairwire_linux::clock::now();
        let mut read = |path: &Path, limit, wanted| {
            let place = files.iter().position(|file| is_of(path, file));
            match place.and_then(|place| Some((place, handed.file(place).ok().flatten()?))) {
                Some((place, file)) if files[place] == path => read_open(&file, path, limit, wanted),
                Some(_) => Ok(String::new()), // the text that was handed over includes the journal
                None => read_text(path, limit, wanted),
            }
        };
        let next = Config::load_by(&self.path, &mut read).map_err(|error| message_of(&error, &self.path))?;
        let changes = self.config.changes(&next);
        if !changes.needs_restart.is_empty() {
            let keys: Vec<String> = changes.needs_restart.iter().map(|key| format!("`{key}`")).collect();
            return Err(format!(
                "{} cannot change while the gateway runs; stop it and start it again, or put back what was there",
                keys.join(", ")
            ));
        }
        let record = recorded(handed, files.len())?;
        let mut kept = if keeps { self.kept(&next) } else { Set::default() };
        let taken_back = self.set.lines_without(&kept);
        if changes.is_empty && taken_back.is_empty() {
            let is_balanced = self.is_balanced()?;
            return Ok(Reloaded { took_ms: ms_since(start), is_balanced, ..Reloaded::default() });
        }
        let next = Arc::new(next);
        let mut lines: Vec<String> = changes.lines.into_iter().chain(taken_back).collect();
        // A discipline that cannot take these weights is rebuilt.
        let is_enough = changes.is_edit && self.set == kept && {
            let members = Some([next.members(), next.members()]);
            self.edit(Edit { weights: changes.new_weights, members, ..Edit::default() }).is_ok()
        };
        let reloaded = match is_enough {
            true => {
                self.board.edited(About::of(&next));
                Reloaded { is_balanced: self.is_balanced()?, ..Reloaded::default() }
            }
            false => {
                let replaced = self.replace(&next, &kept);
                let take_back = |_: &String| record.iter().for_each(Record::take_back);
                let (reloaded, are_weights_set) = replaced.inspect_err(take_back)?;
                if !are_weights_set {
                    let without = Set { weights: BTreeMap::new(), ..kept.clone() };
                    lines.extend(kept.lines_without(&without));
                    kept = without;
                }
                reloaded
            }
        };
        (self.config, self.set) = (next, kept);
        self.show_set();
        self.follow();
        Ok(Reloaded { changes: lines, took_ms: ms_since(start), ..reloaded })
    }

    /// Replaces some subscribers' rows. `handed` contains a table of old rows, a table of new rows,
    /// and perhaps the record of the change. Returns `None` if a reload is required.
    pub(super) fn change_subscribers(&mut self, handed: &Handed) -> Result<Option<Reloaded>, String> {
        let start = fairwire_linux::clock::now();
        let mut tables = [String::new(), String::new()];
        for (place, text) in tables.iter_mut().enumerate() {
            let file = handed.file(place).ok().flatten().ok_or("two tables come beside the request")?;
            let wanted = "lines of the subscriber file";
            *text = read_open(&file, &self.path, MAX_BYTES, wanted).map_err(|error| error.to_string())?;
        }
        let name = "the subscribers before and after";
        let [before, after] = [0, 1].map(|place: usize| read(SheetText { name, text: &tables[place] }));
        // `None` causes a reload, which reports errors with their positions in the file.
        let (Ok(before), Ok(after)) = (before, after) else { return Ok(None) };
        let Some(next) = self.config.with_rows(&before.rows, &after.rows) else { return Ok(None) };
        let OtherRows { config: next, gone, new, terms, mut weights, has_members } = next;
        let Some(terms) = terms.iter().map(|terms| self.new_terms(&next, terms)).collect() else {
            return Ok(None);
        };
        let kept = self.kept(&next);
        weights.extend(kept.numbered(&next));
        let members = has_members.then(|| [next.members(), next.members()]);
        let record = recorded(handed, tables.len())?;
        let Some(is_balanced) = self.edit_and_balance(Edit { gone, new, terms, weights, members })? else {
            record.iter().for_each(Record::take_back);
            return Ok(None);
        };
        let next = Arc::new(next);
        self.board.edited(About::of(&next));
        let changes = self.config.other_rows(&next, &before.rows, &after.rows);
        (self.config, self.set) = (next, kept);
        self.show_set();
        Ok(Some(Reloaded { changes, took_ms: ms_since(start), is_balanced, ..Reloaded::default() }))
    }

    /// Applies `edit`, and returns whether every packet is accounted for. `None` if the datapath
    /// refuses `edit`.
    fn edit_and_balance(&self, edit: Edit) -> Result<Option<bool>, String> {
        // Both commands are sent at once, so that the datapath thread handles them in one turn.
        let (edit, balance) = (self.begin_edit(edit)?, self.begin_balance()?);
        let is_edited = edit.recv_timeout(ANSWER).map_err(|_| GONE)?.map(drop).is_ok();
        let is_balanced = balance.recv_timeout(ANSWER).map_err(|_| GONE)?;
        Ok(is_edited.then_some(is_balanced))
    }

    fn new_terms(&self, next: &Config, terms: &OtherTerms) -> Option<NewTerms> {
        let OtherTerms { class, parent, ways } = *terms;
        let mut fresh = [None, None];
        for way in Way::ALL.into_iter().filter(|way| ways[*way as usize]) {
            fresh[way as usize] = Some(next.with_class_alone(way, class, &self.context)?);
        }
        Some(NewTerms { class, parent, fresh })
    }

    /// The values in `self.set` that also apply to `next`: their entries in the file are unchanged,
    /// and a weight's class exists in `next`.
    fn kept(&self, next: &Config) -> Set {
        let weight =
            |config: &Config, name: &str| Some(config.book().class(config.book().number(name)?)?.weight);
        let weights = self.set.weights.iter().filter(|(name, _)| {
            let listed = weight(next, name);
            listed.is_some() && listed == weight(&self.config, name)
        });
        let rate = |config: &Config, way| config.shaping(way).map(|shaping| (shaping.rate, shaping.autorate));
        let rates = Way::ALL.map(|way| {
            let set = self.set.rates[way as usize].clone();
            set.filter(|_| rate(next, way) == rate(&self.config, way))
        });
        Set { weights: weights.map(|(name, weight)| (name.clone(), *weight)).collect(), rates }
    }

    fn show_set(&self) {
        for (number, weight) in self.set.numbered(&self.config) {
            self.board.set_weight(number, weight);
        }
        for way in Way::ALL {
            if let Some((law, since)) = &self.set.rates[way as usize] {
                self.board.set_rate(way, law.clone(), *since);
            }
        }
    }

    /// Makes the rates follow the outside line as configured. If the settings are unchanged, the
    /// previous state continues.
    pub(super) fn follow(&mut self) {
        if self.following.as_mut().is_some_and(|following| following.goes_on(&self.config)) {
            return;
        }
        let was = self.following.is_some();
        let (following, listener) = Following::of(&self.config).unzip();
        if was || listener.is_some() {
            // This fails only if the datapath thread has ended, and then the gateway ends too.
            let _ = self.commands.send(Command::Listen(listener));
        }
        self.following = following;
    }

    pub(super) fn set_weight(&mut self, name: &str, weight: f64) -> Result<f64, String> {
        let book = self.config.book();
        let Some(number) = book.number(name) else {
            let names = book.iter().map(|(_, class)| class.name.as_str());
            let hint = fairwire_core::spelling::hint(name, names);
            return Err(format!(
                "there is no class or subscriber `{name}`{hint}; `fairwire-gateway status CONFIG --classes` lists all"
            ));
        };
        let weight = Weight::new(weight).ok_or("allowed for a weight: a number from 0.000001 to 1000000")?;
        let listed = book.class(number).map_or(Weight::ONE, |class| class.weight);
        let before = self.set.weights.get(name).copied().unwrap_or(listed);
        self.edit(Edit { weights: vec![(number, weight)], ..Edit::default() })?;
        self.board.set_weight(number, weight);
        self.set.weights.insert(name.to_owned(), weight);
        Ok(before.get())
    }

    /// Makes the rate of `way` follow `steps` from now on. Returns the previous rate, or `None` if
    /// the link was stopped.
    pub(super) fn set_rate(&mut self, way: Way, steps: &[RateStep]) -> Result<Option<Rate>, String> {
        let Some(first) = self.config.shaping(way).map(|shaping| shaping.rate) else {
            return Err(format!(
                "nothing is shaped on the way `{}`; allowed: one with a `rate` in the file",
                way.name()
            ));
        };
        if self.config.shaping(way).is_some_and(|shaping| shaping.autorate.is_some()) {
            return Err(format!(
                "the rate of the way `{}` follows the line outside; allowed: one without `autorate` in the file",
                way.name()
            ));
        }
        let now = fairwire_linux::clock::now();
        let before = match &self.set.rates[way as usize] {
            Some((law, start)) => law.rate_after(first, now.since(*start)),
            None => Some(first),
        };
        let law = law(before, steps)?;
        self.commands.send(Command::SetRate(way, law.clone(), now)).map_err(|_| GONE)?;
        self.board.set_rate(way, law.clone(), now);
        self.set.rates[way as usize] = Some((law, now));
        Ok(before)
    }

    fn begin_edit(&self, edit: Edit) -> Result<Receiver<Result<Edit, SetWeightError>>, String> {
        let (done, answer) = sync_channel(1);
        self.commands.send(Command::Edit(edit, done)).map_err(|_| GONE)?;
        Ok(answer)
    }

    fn edit(&self, edit: Edit) -> Result<(), String> {
        let answer = self.begin_edit(edit)?;
        // Replaced memory is freed here, not on the datapath thread.
        answer.recv_timeout(ANSWER).map_err(|_| GONE)?.map(drop).map_err(|error| error.to_string())
    }

    fn is_balanced(&self) -> Result<bool, String> {
        Ok(self.begin_balance()?.recv_timeout(ANSWER).map_err(|_| GONE)?)
    }

    fn begin_balance(&self) -> Result<Receiver<bool>, String> {
        let (done, answer) = sync_channel(1);
        self.commands.send(Command::Balance(done)).map_err(|_| GONE)?;
        Ok(answer)
    }

    /// Applies `next` and the values in `set`. The flag is true if the weights were applied.
    fn replace(&mut self, next: &Arc<Config>, set: &Set) -> Result<(Reloaded, bool), String> {
        // An interface's MTU may have changed.
        let frame_bytes = ports::frame_bytes(next.spec()).unwrap_or(self.context.frame_bytes);
        let context = PlanContext { frame_bytes, ..self.context };
        let plan = next.plan(&context).map_err(|error| error.to_string())?;
        let class_map = self.config.class_map(next);
        let keeps = Way::ALL.map(|way| keeps_flows(&self.config, next, &class_map, way));
        let [download, upload] = next.edges();
        let edges = EdgeViews::of([&download, &upload]);
        let ways = [
            Replacement::new(plan.forward, self.sizes[0], keeps[0]).at_edge(download),
            Replacement::new(plan.backward, self.sizes[1], keeps[1]).at_edge(upload),
        ];
        let (done, answer) = sync_channel(1);
        let about = About::of(next);
        let samplers = self.board.samplers(&about, fairwire_linux::clock::now());
        let trips = [(); 2].map(|()| ClassTrips::new(next.book().numbers()));
        let (weights, rates) = (set.numbered(next), set.rates.clone());
        let config = next.clone();
        let replace = Replace { ways, class_map, trips, samplers, config, weights, rates, done };
        self.commands.send(Command::Replace(Box::new(replace))).map_err(|_| GONE)?;
        let replaced = answer.recv_timeout(ANSWER).map_err(|_| GONE)?;
        let Replaced { ways, at, paused, are_weights_set, worked, sizes, retired } = replaced;
        self.board.replaced(about, at);
        (self.context, self.sizes, self.edges) = (context, sizes, edges);
        drop(retired);
        let reloaded = Reloaded {
            handed_over: ways.iter().map(|way| way.packets).sum(),
            ahead: ways.iter().map(|way| way.ahead).sum(),
            paused_ms: paused.secs() * 1e3,
            paused_cpu_ms: worked.secs() * 1e3,
            is_balanced: ways.iter().all(|way| way.is_balanced),
            ..Reloaded::default()
        };
        Ok((reloaded, are_weights_set))
    }
}

const MAX_AFTER_MS: f64 = 24.0 * 3_600_000.0;

/// The highest rate that a request may set, bit/s.
const MAX_RATE: u64 = 1_000_000_000_000;

fn law(before: Option<Rate>, steps: &[RateStep]) -> Result<RateLaw, String> {
    let (count, is_sorted) = (steps.len(), steps.is_sorted_by_key(|step| step.after_ms));
    if !(1..=MAX_STEPS).contains(&count) || !is_sorted {
        return Err(format!("{count} rates; allowed: from 1 to {MAX_STEPS}, in order of time"));
    }
    if let Some(step) = steps.iter().find(|step| !(0.0..=MAX_AFTER_MS).contains(&step.after_ms)) {
        return Err(format!("a rate after {} ms; allowed: from 0 ms to a day", step.after_ms));
    }
    let is_for_ever = steps.last().is_some_and(|step| step.bps == 0);
    let highest = steps.iter().map(|step| step.bps).max().unwrap_or(0);
    if is_for_ever || highest > MAX_RATE {
        return Err(format!(
            "{highest} bit/s at most, and {} at the end; allowed: up to 1 Tbit/s, and a rate at the end",
            if is_for_ever { "none" } else { "one" }
        ));
    }
    let at = |ms: f64| Time::ZERO + Duration::from_secs_f64(ms / 1e3);
    let given = steps.iter().map(|step| Step { at: at(step.after_ms), rate: Rate::from_bps(step.bps) });
    Ok(RateLaw::Steps(std::iter::once(Step { at: Time::ZERO, rate: before }).chain(given).collect()))
}

/// Completes the record of a change before the change is applied. The record is file number `place`
/// of `handed`.
fn recorded(handed: &Handed, place: usize) -> Result<Option<Record>, String> {
    let record = Record::of(handed, place).and_then(|record| match record {
        Some(record) => record.end().map(|()| Some(record)),
        None => Ok(None),
    });
    record.map_err(|error| format!("the change cannot be recorded: {error}; nothing was changed"))
}

const GONE: &str = "the thread that forwards does not answer; nothing is known of the change";

/// Do the flows of `way` keep their names? Class n of `present` is `class_map[n]` in `next`.
fn keeps_flows(present: &Config, next: &Config, class_map: &[u32], way: Way) -> bool {
    // The effective values are compared, since the default of `flows` depends on the discipline and
    // on whether there are subscribers.
    let of = |config: &Config| config.shaping(way).map_or(FlowKind::FiveTuple, |shaping| shaping.flows);
    let is_renumbered = || (0..).zip(class_map).any(|(number, then)| number != *then);
    of(present) == of(next) && !(of(next) == FlowKind::Subscriber && is_renumbered())
}

fn ms_since(start: Time) -> f64 {
    fairwire_linux::clock::now().since(start).secs() * 1e3
}

pub(super) fn message_of(error: &fairwire_document::DocumentError, path: &Path) -> String {
    let place = error.location.as_ref();
    let place = place.map_or_else(
        || path.display().to_string(),
        |place| format!("{}:{}:{}", place.source, place.line, place.column),
    );
    let advice = error.problem.advice().map(|advice| format!("; {advice}")).unwrap_or_default();
    let is_closed = matches!(&error.problem, Problem::Unreadable { cause, .. } if cause.kind() == ErrorKind::PermissionDenied);
    let advice = match is_closed {
        true => format!(
            "; the gateway's process may not read it: run `fairwire-gateway reload {}` as a user who may",
            path.display()
        ),
        false => advice,
    };
    let others: String = error.more.iter().map(|other| format!("\n{other}")).collect();
    let end = if others.is_empty() { "; " } else { "\n" };
    format!("{place}: {}{advice}{others}{end}nothing was changed", error.problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(download: &str) -> Config {
        with_subscribers(download, "name,addresses\nann,10.0.0.1\n")
    }

    fn with_subscribers(download: &str, csv: &str) -> Config {
        let text = format!(
            "format = 2\nname = \"t\"\n[wire]\ninside = \"a\"\noutside = \"b\"\n[subscribers]\nfile = \"s.csv\"\n\
             [download]\nrate = \"1 Gbit/s\"\n{download}\n"
        );
        Config::parse("t.toml", &text, Some(("s.csv", csv))).unwrap()
    }

    #[test]
    fn flow_counts_continue_only_while_flows_mean_the_same() {
        let [plain, same, queues, hosts] = [
            "",
            "flows = \"subscriber\"",
            "discipline = \"classful\"", // its flows are conversations by default
            "flows = \"inside\"",
        ]
        .map(config);
        let keeps = |next: &Config, way| keeps_flows(&plain, next, &plain.class_map(next), way);
        assert!(keeps(&same, Way::Download));
        assert!(!keeps(&queues, Way::Download));
        assert!(!keeps(&hosts, Way::Download));
        assert!(keeps(&hosts, Way::Upload));
    }

    #[test]
    fn rate_steps_must_be_in_order_and_end_with_a_rate() {
        let rate = Rate::from_bps(1000);
        let step = |after_ms, bps| RateStep { after_ms, bps };
        let refused = |steps: &[RateStep]| law(rate, steps).expect_err("it is refused");
        assert_eq!(refused(&[]), "0 rates; allowed: from 1 to 100, in order of time");
        assert_eq!(
            refused(&[step(2.0, 1), step(1.0, 1)]),
            "2 rates; allowed: from 1 to 100, in order of time"
        );
        assert_eq!(refused(&[step(f64::NAN, 1)]), "a rate after NaN ms; allowed: from 0 ms to a day");
        assert!(refused(&[step(0.0, 7), step(1.0, 0)]).contains("none at the end"));
        assert!(refused(&[step(0.0, u64::MAX)]).contains("up to 1 Tbit/s"));
        let law = law(rate, &[step(2.5, 0), step(80.0, 500)]).expect("a law");
        let after = |us| law.rate_after(Rate::from_bps(7).expect("a rate"), Duration::from_us(us));
        assert_eq!(
            [after(0), after(2499), after(2500), after(80_000)],
            [rate, rate, None, Rate::from_bps(500)]
        );
    }

    #[test]
    fn a_renumbered_subscriber_is_another_flow() {
        let [ann, after, before] = ["", "zoe,10.0.0.2\n", "abe,10.0.0.2\n"];
        let csv = |first: &str, last: &str| format!("name,addresses\n{first}ann,10.0.0.1\n{last}");
        let [ann, after, before] =
            [csv("", ann), csv("", after), csv(before, "")].map(|csv| with_subscribers("", &csv));
        assert!(keeps_flows(&ann, &after, &ann.class_map(&after), Way::Download));
        assert!(!keeps_flows(&ann, &before, &ann.class_map(&before), Way::Download));
    }
}
