//! Polls the counts of a gateway, and turns them into records.

use super::counts::{Mark, Reading};
use super::samples::Samples;
use fairwire_control::client::send;
use fairwire_control::protocol::{Answer, MAX_FLOWS, RateStep, Request};
use fairwire_core::{Duration, Time};
use fairwire_experiment::contest::{ContestError, ContestPlan, Counted, Meter};
use fairwire_experiment::series::Snapshot;
use fairwire_linux::clock;
use fairwire_wire::Way;
use std::path::Path;

pub(super) struct Counters<'a> {
    plan: &'a ContestPlan,
    socket: &'a Path,
    /// The rate changes after the contest's start; empty once sent.
    steps: Vec<RateStep>,
    /// The gateway's flow names, by sender.
    names: Vec<String>,
    poll_at: Time,
    samples: Samples,
    /// The longest queue since measuring started, packets.
    most_waiting: u64,
    begin: Option<Mark>,
    end: Option<Mark>,
}

/// The interval between polls, unless a sample is due earlier.
const EVERY: Duration = Duration::from_ms(100);

impl<'a> Counters<'a> {
    pub(super) fn new(plan: &'a ContestPlan, steps: Vec<RateStep>, socket: &'a Path) -> Self {
        let names: Vec<String> =
            (0..plan.senders.len()).map(|flow| plan.flow_key(flow).to_string()).collect();
        Counters {
            plan,
            socket,
            steps,
            poll_at: Time::ZERO,
            samples: Samples::new(plan.every, plan.duration, names.len()),
            names,
            most_waiting: 0,
            begin: None,
            end: None,
        }
    }

    pub(super) fn snapshots(self) -> Vec<Snapshot> {
        self.samples.finish()
    }

    fn answer(&self, request: &Request) -> Result<Answer, ContestError> {
        send(self.socket, request).map_err(|error| ContestError::Gateway(error.to_string()))
    }

    fn set_rates(&mut self, start: Time) -> Result<(), ContestError> {
        let mut steps = std::mem::take(&mut self.steps);
        if steps.is_empty() {
            return Ok(());
        }
        let until_start_ms = start.since(clock::now()).seconds() * 1e3;
        steps.iter_mut().for_each(|step| step.after_ms += until_start_ms);
        match self.answer(&Request::SetRate { way: Way::Upload, steps })? {
            Answer::RateSet { .. } => Ok(()),
            other => Err(unexpected("another rate", &other)),
        }
    }

    fn poll(&mut self, now: Time) -> Result<Reading, ContestError> {
        self.poll_at = now + EVERY;
        let counts = match self.answer(&Request::Counts { flows: MAX_FLOWS })? {
            Answer::Counts(counts) => counts,
            other => return Err(unexpected("its counts", &other)),
        };
        let reading = Reading::of(*counts, &self.names)
            .ok_or_else(|| ContestError::Gateway("the gateway reports nothing of its upload".into()))?;
        self.most_waiting = self.most_waiting.max(reading.way.backlog_packets);
        for mark in [&mut self.begin, &mut self.end].into_iter().flatten() {
            mark.take(&reading);
        }
        Ok(reading)
    }
}

fn unexpected(what: &str, answer: &Answer) -> ContestError {
    ContestError::Gateway(format!("the gateway answered a request for {what} with {answer:?}"))
}

impl Meter for Counters<'_> {
    fn look(&mut self, start: Time, now: Time) -> Result<(), ContestError> {
        self.set_rates(start)?;
        if now >= self.poll_at.min(self.samples.due(start)) {
            let reading = self.poll(now)?;
            self.samples.take(start, clock::now(), &reading);
        }
        Ok(())
    }

    fn due(&self, start: Time) -> Time {
        self.samples.due(start)
    }

    fn begin(&mut self, now: Time) -> Result<(), ContestError> {
        self.most_waiting = 0;
        let reading = self.poll(now)?;
        self.most_waiting = reading.way.backlog_packets;
        self.begin = Some(Mark::at(reading));
        Ok(())
    }

    fn end(&mut self, now: Time) -> Result<Option<Counted>, ContestError> {
        if self.end.is_none() {
            self.end = Some(Mark::at(self.poll(now)?));
        }
        let (Some(begin), Some(end)) = (&self.begin, &self.end) else { return Ok(None) };
        Ok(begin.until(end, self.plan, self.most_waiting))
    }
}
