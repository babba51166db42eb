//! The runs of a scenario on one stage.

use crate::plan::Plan;
use crate::stage::{Clock, Failed, Stage};
use crate::view::View;
use crate::watch::Watch;
use fairwire_core::Duration;
use fairwire_metrics::record::RunRecord;
use fairwire_scenario::{Observers, RunId, SampleRow, Scenario, Unobserved, threads};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Follows the runs of a scenario on a stage. Each concurrent run has its own thread.
pub trait WatchRuns: Sync {
    /// Called when a run starts, on the run's thread. A run has the same index in `which` on all
    /// stages.
    fn begins<'a>(&'a self, which: RunId<'_>) -> Box<dyn WatchRun + 'a>;

    /// Called several times a second with the fraction of all runs that is done.
    fn reached(&self, fraction: f64);

    /// The observers of runs in the simulator, which are used instead of [`begins`](Self::begins).
    /// They observe each packet. A run whose record they provide is skipped.
    fn observers(&self) -> &dyn Observers {
        &Unobserved
    }
}

/// Follows one run of a scenario on a stage.
pub trait WatchRun {
    /// The sampling interval; `None` for no samples.
    fn every(&self) -> Option<Duration>;

    /// Called with each sampled value: see [`Watch::sample`].
    fn sample(&mut self, at: Duration, row: SampleRow<'_>);

    /// Are views of the link requested? See [`Watch::wants_views`].
    fn wants_views(&self) -> bool {
        false
    }

    /// Receives a view: see [`Watch::view`].
    fn view(&mut self, _view: View) {}

    /// Called when the run has finished.
    fn finished(self: Box<Self>);
}

pub(crate) fn one_by_one<S: Stage + ?Sized>(
    stage: &S,
    scenario: &Scenario,
    disciplines: &[usize],
    jobs: usize,
    watch: &dyn WatchRuns,
    stop: &AtomicBool,
) -> Result<Vec<RunRecord>, Failed> {
    let seeds = scenario.spec().seeds.as_slice();
    let all: Vec<(usize, usize)> = disciplines
        .iter()
        .flat_map(|&discipline| (0..seeds.len()).map(move |seed| (discipline, seed)))
        .collect();
    let runs = Runs {
        stage,
        scenario,
        done: Mutex::new(vec![0.0; all.len()]),
        finished: Mutex::new(all.iter().map(|_| None).collect()),
        all,
        next: AtomicUsize::new(0),
        has_failed: AtomicBool::new(false),
        watch,
        stop,
    };
    let side_by_side = if stage.about().clock == Clock::Machine { 1 } else { threads(jobs, runs.all.len()) };
    std::thread::scope(|scope| {
        (1..side_by_side).for_each(|_| drop(scope.spawn(|| runs.work())));
        runs.work(); // a single run uses the caller's thread
    });
    let finished = runs.finished.into_inner().unwrap_or_else(PoisonError::into_inner);
    finished.into_iter().flatten().collect()
}

struct Runs<'a, S: ?Sized> {
    stage: &'a S,
    scenario: &'a Scenario,
    /// The indices of the discipline and the seed of each run.
    all: Vec<(usize, usize)>,
    next: AtomicUsize,
    done: Mutex<Vec<f64>>,
    finished: Mutex<Vec<Option<Result<RunRecord, Failed>>>>,
    has_failed: AtomicBool,
    watch: &'a dyn WatchRuns,
    stop: &'a AtomicBool,
}

impl<S: Stage + ?Sized> Runs<'_, S> {
    fn work(&self) {
        while !self.stop.load(Ordering::Relaxed) && !self.has_failed.load(Ordering::Relaxed) {
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(made) = self.all.get(place).and_then(|_| self.one(place).transpose()) else { break };
            self.has_failed.fetch_or(made.is_err(), Ordering::Relaxed);
            self.finished.lock().unwrap_or_else(PoisonError::into_inner)[place] = Some(made);
        }
    }

    /// Runs the run at this index; `None` if it was stopped.
    fn one(&self, place: usize) -> Result<Option<RunRecord>, Failed> {
        let (discipline, at) = self.all[place];
        let plan = Plan { scenario: self.scenario, discipline };
        let seeds = self.scenario.spec().seeds.as_slice();
        let which = RunId { index: discipline * seeds.len() + at, discipline: plan.label(), seed: seeds[at] };
        let reached = |fraction| self.reached(place, fraction);
        let mut one = One { reached: &reached, watch: self.watch.begins(which) };
        let run = self.stage.run(&plan, seeds[at], &mut one, self.stop)?;
        if run.is_some() {
            one.reached(1.0);
            one.watch.finished();
        }
        Ok(run)
    }

    fn reached(&self, place: usize, fraction: f64) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done[place] = fraction;
        self.watch.reached(done.iter().sum::<f64>() / done.len() as f64);
    }
}

struct One<'a> {
    reached: &'a dyn Fn(f64),
    watch: Box<dyn WatchRun + 'a>,
}

impl Watch for One<'_> {
    fn reached(&mut self, fraction: f64) {
        (self.reached)(fraction);
    }
    fn every(&self) -> Option<Duration> {
        self.watch.every()
    }
    fn sample(&mut self, at: Duration, row: SampleRow<'_>) {
        self.watch.sample(at, row);
    }
    fn wants_views(&self) -> bool {
        self.watch.wants_views()
    }
    fn view(&mut self, view: View) {
        self.watch.view(view);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::Sim;
    use crate::stage::About;
    use fairwire_metrics::record::Fairness;
    use fairwire_scenario::{Overrides, parse};
    use std::collections::BTreeMap;
    use std::sync::Barrier;

    struct Counting {
        clock: Clock,
        at_work: AtomicUsize,
        together: AtomicUsize,
        barrier: Option<Barrier>,
        fails_at: u64,
    }

    impl Counting {
        fn new(clock: Clock, barrier: Option<Barrier>) -> Self {
            let [at_work, together] = Default::default();
            Counting { clock, at_work, together, barrier, fails_at: 0 }
        }
    }

    impl Stage for Counting {
        fn about(&self) -> About {
            About { name: "counting", summary: "", clock: self.clock }
        }
        fn can_run(&self, _: &Plan<'_>) -> Result<(), Failed> {
            Ok(())
        }
        fn run(
            &self,
            plan: &Plan<'_>,
            seed: u64,
            watch: &mut dyn Watch,
            _: &AtomicBool,
        ) -> Result<Option<RunRecord>, Failed> {
            let now = self.at_work.fetch_add(1, Ordering::Relaxed) + 1;
            self.together.fetch_max(now, Ordering::Relaxed);
            if let Some(barrier) = &self.barrier {
                barrier.wait(); // continues only when another run has arrived
            }
            watch.reached(0.5);
            self.at_work.fetch_sub(1, Ordering::Relaxed);
            if seed == self.fails_at {
                return Err(Failed::Machine("it is that seed".into()));
            }
            Ok(Some(RunRecord {
                discipline: plan.label().into(),
                stage: String::new(),
                seed,
                flows: Vec::new(),
                links: Vec::new(),
                transfers: Vec::new(),
                aggregates: Vec::new(),
                presence: None,
                fairness: Fairness {
                    jain: 1.0,
                    jain_throughput: 1.0,
                    worst_share: 1.0,
                    group_share: BTreeMap::new(),
                    group_fraction: BTreeMap::new(),
                },
                events: None,
            }))
        }
    }

    /// The calls received.
    #[derive(Default)]
    struct Heard {
        fractions: Mutex<Vec<f64>>,
        finished: AtomicUsize,
    }

    impl WatchRuns for Heard {
        fn begins<'a>(&'a self, _: RunId<'_>) -> Box<dyn WatchRun + 'a> {
            Box::new(HeardOne(self))
        }
        fn reached(&self, fraction: f64) {
            self.fractions.lock().unwrap().push(fraction);
        }
    }

    struct HeardOne<'a>(&'a Heard);

    impl WatchRun for HeardOne<'_> {
        fn every(&self) -> Option<Duration> {
            None
        }
        fn sample(&mut self, _: Duration, _: SampleRow<'_>) {}
        fn finished(self: Box<Self>) {
            self.0.finished.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn scenario() -> Scenario {
        let text = "format = 2\nname = \"s\"\nduration = \"1 s\"\nseeds = \"1..=3\"\ndisciplines = [\"tail-drop\", \"red\"]\n\
                    [link]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\nbuffer = \"9 packets\"\n\
                    [[flow]]\ngroup = \"tcp\"\nsource = \"bulk\"\ntcp = { profile = \"ns2-2002\" }\naccess = { rate = \"1 Mbit/s\", delay = \"1 ms\" }\n";
        parse("s.toml", text, &Overrides::default()).expect("a scenario")
    }

    #[test]
    fn a_parallel_stage_runs_side_by_side_and_keeps_records_in_order() {
        let (stage, heard) = (Counting::new(Clock::Virtual, Some(Barrier::new(2))), Heard::default());
        let runs = stage.run_all(&scenario(), &[0, 1], 2, &heard, &AtomicBool::new(false)).unwrap();
        let order: Vec<(&str, u64)> = runs.iter().map(|run| (run.discipline.as_str(), run.seed)).collect();
        let expected = ["tail-drop", "red"].into_iter().flat_map(|name| [1, 2, 3].map(|seed| (name, seed)));
        assert_eq!(order, expected.collect::<Vec<_>>());
        assert_eq!((stage.together.into_inner(), heard.finished.into_inner()), (2, 6));
        assert_eq!(heard.fractions.into_inner().unwrap().last(), Some(&1.0));
    }

    #[test]
    fn a_stage_that_needs_the_entire_machine_runs_one_at_a_time() {
        let (stage, heard) = (Counting::new(Clock::Machine, None), Heard::default());
        let runs = stage.run_all(&scenario(), &[1], 8, &heard, &AtomicBool::new(false)).unwrap();
        assert_eq!((runs.len(), stage.together.into_inner()), (3, 1));
        let fractions = heard.fractions.into_inner().unwrap();
        assert!(fractions.is_sorted() && fractions.len() == 6, "{fractions:?}");
    }

    #[test]
    fn no_run_begins_after_a_failed_one() {
        let (stage, heard) =
            (Counting { fails_at: 2, ..Counting::new(Clock::Machine, None) }, Heard::default());
        let failed = stage.run_all(&scenario(), &[0], 1, &heard, &AtomicBool::new(false)).unwrap_err();
        assert_eq!((failed.to_string().as_str(), heard.finished.into_inner()), ("it is that seed", 1));
    }

    #[test]
    fn the_simulator_gives_the_same_results_serially_and_in_parallel() {
        let (scenario, heard) = (scenario(), Heard::default());
        let at_once = Sim.run_all(&scenario, &[1], 2, &heard, &AtomicBool::new(false)).unwrap();
        let one_by_one = one_by_one(&Sim, &scenario, &[1], 2, &heard, &AtomicBool::new(false)).unwrap();
        let seeds: Vec<(&str, u64)> = at_once.iter().map(|run| (run.discipline.as_str(), run.seed)).collect();
        assert_eq!(seeds, [("red", 1), ("red", 2), ("red", 3)]);
        assert_eq!(format!("{at_once:?}"), format!("{one_by_one:?}"));
    }
}
