//! `fairwire gateway reload`, `weigh` and `capture`: one question to a running gateway.

use crate::args::WhomArgs;
use crate::failure::{Ending, Failure};
use crate::report;
use fairwire_gateway::control::protocol::{Answer, Reloaded, Request};
use fairwire_gateway::service::{ask, socket_of};
use std::fmt::{Display, Write};

/// Asks the gateway that `whom` names. What it refuses, and that none answers, is the user's to mend.
pub fn answer(whom: &WhomArgs, request: &Request) -> Result<Answer, Failure> {
    let socket = match &whom.socket {
        Some(socket) => socket.clone(),
        None => socket_of(&whom.config)?,
    };
    match ask(&socket, request) {
        Ok(Answer::Refused { message }) => {
            Err(Failure::user(message, "the gateway goes on as it was; its log has this message too"))
        }
        Ok(answer) => Ok(answer),
        Err(error) => Err(silent(error)),
    }
}

/// Nobody answers, for all commands alike.
pub fn silent(why: impl Display) -> Failure {
    Failure::user(
        why,
        "is the gateway running? `fairwire gateway run CONFIG` starts it, and only who owns it may ask",
    )
}

/// Asks, and prints the answer.
pub fn tell(whom: &WhomArgs, request: &Request) -> Result<Ending, Failure> {
    let text = match answer(whom, request)? {
        Answer::Reloaded(reloaded) => of_reload(&reloaded),
        Answer::Weighed { before } => format!("done; the weight was {before}\n"),
        Answer::Captured { packets } => format!("{packets} packets written\n"),
        Answer::Snapshot(_) | Answer::Refused { .. } => "done\n".into(),
    };
    report::print(text.as_bytes())?;
    Ok(Ending::Done)
}

fn of_reload(reloaded: &Reloaded) -> String {
    let Reloaded { changes, handed_over, ahead, took_ms, paused_ms, paused_cpu_ms, is_balanced } = reloaded;
    let mut text = String::new();
    for change in changes {
        let _ = writeln!(text, "{change}");
    }
    if changes.is_empty() {
        text.push_str("the file says what it said before: nothing changed\n");
    }
    let _ = writeln!(
        text,
        "{handed_over} packets that waited were handed over, {ahead} of them ahead of the new discipline"
    );
    let _ = writeln!(
        text,
        "took {took_ms:.1} ms; nothing was forwarded for {paused_ms:.3} ms ({paused_cpu_ms:.3} ms of processor time)"
    );
    let verdict = if *is_balanced {
        "every packet has its place"
    } else {
        "packets are missing: this is a fault of fairwire"
    };
    let _ = writeln!(text, "in = out + dropped + lost + inside: {verdict}");
    text
}
