//! Two running hosts, from the view of the process that started them.

use super::again;
use super::bed::Side;
use super::error::{During, TestbedError, Trouble};
use super::host::Host;
use super::message::{Answer, Instruction, Role, read_line, to_line};
use super::traffic::{HostCounts, Traffic};
use fairwire_core::Time;
use rustix::event::{PollFd, PollFlags, poll};
use std::io::{self, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// Both hosts. Dropping this value ends their processes.
#[derive(Debug)]
pub struct Agents([Agent; 2]);

/// A helper's failure, and the helper's role.
#[derive(Clone, Debug)]
pub struct Failed {
    /// The helper.
    pub role: &'static str,
    /// Why.
    pub trouble: Trouble,
}

impl std::error::Error for Failed {}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the {} could not go on: {}", self.role, self.trouble)
    }
}

impl From<Failed> for TestbedError {
    fn from(failed: Failed) -> Self {
        failed.trouble.into_error(failed.role)
    }
}

impl Agents {
    /// Starts this program again at both hosts, left and right, and waits until all connections of
    /// `traffic` are established. The program must pass control to
    /// [`agent::main`](crate::agent::main). Moves this thread to the right host.
    pub fn start(hosts: [&Host; 2], traffic: &Traffic) -> Result<Agents, Failed> {
        let [left, right] = hosts;
        let (left, right) = (Agent::start(left, Side::Left), Agent::start(right, Side::Right));
        let mut agents = Agents([left?, right?]);
        agents.instruct(&Instruction::Send(traffic.clone()))?;
        agents.hear(&mut |answer| matches!(answer, Answer::Listening))?;
        agents.instruct(&Instruction::Connect)?;
        agents.hear(&mut |answer| matches!(answer, Answer::Connected))?;
        Ok(agents)
    }

    /// Makes both hosts start traffic at the time `at` of the monotonic clock.
    pub fn begin(&mut self, at: Time) -> Result<(), Failed> {
        self.instruct(&Instruction::Start { at_ns: at.ns() })
    }

    /// Waits for the run's end, and returns the counts of both hosts.
    pub fn finish(&mut self) -> Result<HostCounts, Failed> {
        let mut all = HostCounts::default();
        self.hear(&mut |answer| {
            let Answer::Counted(seen) = answer else { return false };
            all.add(std::mem::take(seen));
            true
        })?;
        Ok(all)
    }

    /// Waits for one answer from each agent, in any order. Returns as soon as an agent fails.
    fn hear(&mut self, is_expected: &mut dyn FnMut(&mut Answer) -> bool) -> Result<(), Failed> {
        let mut silent: Vec<&mut Agent> = self.0.iter_mut().collect();
        while !silent.is_empty() {
            let mut waits: Vec<PollFd<'_>> =
                silent.iter().map(|agent| PollFd::new(agent.answers.get_ref(), PollFlags::IN)).collect();
            let is_ready = poll(&mut waits, None).is_ok();
            let answered: Vec<bool> =
                waits.iter().map(|wait| is_ready && !wait.revents().is_empty()).collect();
            for at in (0..silent.len()).rev().filter(|at| answered[*at]) {
                let mut answer = silent[at].answer()?;
                if !is_expected(&mut answer) {
                    return Err(silent[at].unexpected(&answer));
                }
                silent.swap_remove(at);
            }
        }
        Ok(())
    }

    fn instruct(&mut self, instruction: &Instruction) -> Result<(), Failed> {
        self.0.iter_mut().try_for_each(|agent| agent.instruct(instruction))
    }
}

#[derive(Debug)]
struct Agent {
    role: Role,
    child: Child,
    instructions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Agent {
    fn start(host: &Host, side: Side) -> Result<Agent, Failed> {
        let role = Role::Host(side);
        let start = || {
            host.enter()?;
            let mut command = again::command(role);
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().during("starting this program again")
        };
        let mut child = start().map_err(|trouble| Failed { role: role.name(), trouble })?;
        let instructions = child.stdin.take().expect("its standard input is a pipe");
        let answers = BufReader::new(child.stdout.take().expect("its standard output is a pipe"));
        Ok(Agent { role, child, instructions, answers })
    }

    fn instruct(&mut self, instruction: &Instruction) -> Result<(), Failed> {
        match self.instructions.write_all(to_line(instruction).as_bytes()) {
            Ok(()) => Ok(()),
            // The agent has ended, and may have reported the reason.
            Err(error) => Err(self.answer().err().unwrap_or_else(|| self.failed("ordering", &error))),
        }
    }

    fn answer(&mut self) -> Result<Answer, Failed> {
        match read_line(&mut self.answers) {
            Ok(Some(Answer::Failed(trouble))) => Err(Failed { role: self.role.name(), trouble }),
            Ok(Some(answer)) => Ok(answer),
            Ok(None) => {
                let how =
                    self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
                Err(self.failed("ended before its time", &io::Error::other(how)))
            }
            Err(error) => Err(self.failed("answering", &error)),
        }
    }

    fn unexpected(&self, answer: &Answer) -> Failed {
        self.failed("answering out of turn", &io::Error::other(to_line(answer).trim_end()))
    }

    fn failed(&self, operation: &str, error: &io::Error) -> Failed {
        Failed { role: self.role.name(), trouble: Trouble::new(operation, error) }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
