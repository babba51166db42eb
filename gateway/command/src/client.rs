//! `fairwire-gateway reload`, `set-weight`, `set-rate` and `capture`: one request to a running
//! gateway.

use super::subscriber::{fold, whole};
use crate::args::WhomArgs;
use fairwire_control::client::send;
use fairwire_control::protocol::{Answer, Reloaded, Request};
use fairwire_datapath::capture::PartialFile;
use fairwire_service::service::{files_of, socket_of};
use fairwire_terminal::failure::{Ending, Failure};
use fairwire_terminal::print;
use std::fmt::{Display, Write};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The gateway's answer to `request`. A refusal or a missing answer is a user error.
pub(crate) fn answer(whom: &WhomArgs, request: &Request) -> Result<Answer, Failure> {
    let socket = match &whom.socket {
        Some(socket) => socket.clone(),
        None => socket_of(&whom.config)?,
    };
    match send(&socket, request) {
        Ok(Answer::Refused { message }) => {
            Err(Failure::user(message, "the gateway goes on as it was; its log has this message too"))
        }
        Ok(answer) => Ok(answer),
        Err(error) => Err(silent(error)),
    }
}

pub(crate) fn silent(why: impl Display) -> Failure {
    Failure::user(
        why,
        "start it with `fairwire-gateway run CONFIG`; only its owner, root and the group of `telemetry.readers` may use its socket",
    )
}

#[expect(
    clippy::disallowed_methods,
    reason = "the command line may know the time: leases end by it, and readings are of one"
)]
pub(crate) fn since_1970() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// Makes the gateway reload. The client hands over opened files, because the gateway's process may
/// not be permitted to read them.
pub(crate) fn reload(whom: &WhomArgs) -> Result<Ending, Failure> {
    files_of(&whom.config).iter().skip(1).for_each(|sheet| fold(sheet));
    carry_out(whom, &reload_with(&whom.config, false, whole, Vec::new()))
}

/// A reload request, with files opened by `open`. With `keeps`, the values that earlier requests
/// set remain.
pub(crate) fn reload_with(
    config: &Path,
    keeps: bool,
    open: impl Fn(&Path) -> io::Result<File>,
    record: Vec<OwnedFd>,
) -> Request {
    // The gateway knows its files by absolute names.
    let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
    let found = files_of(config).into_iter().map(absolute);
    // The gateway itself opens the files that cannot be opened here. Pipes are skipped, because
    // opening a pipe blocks until a writer opens it.
    let opened = found
        .filter(|path| path.is_file())
        .filter_map(|path| open(&path).ok().map(|file| (path, OwnedFd::from(file))));
    let (files, handed): (Vec<_>, Vec<_>) = opened.unzip();
    Request::Reload { files, keeps, handed: handed.into_iter().chain(record).collect() }
}

pub(crate) fn capture(whom: &WhomArgs, out: &Path) -> Result<Ending, Failure> {
    let path = std::path::absolute(out).unwrap_or_else(|_| out.to_owned());
    let failed = |error: io::Error| {
        Failure::user(
            format!("`--out` is `{}`, but that cannot be written: {error}", out.display()),
            "allowed: a file that does not exist yet, in a folder that you may write to",
        )
    };
    if path.exists() {
        let what = if path.is_dir() { "is a folder" } else { "exists already" };
        return Err(failed(io::Error::other(format!("it {what}"))));
    }
    let part = PartialFile::create(&path).map_err(failed)?;
    let file = part.file().try_clone().map_err(failed)?;
    let handed = [OwnedFd::from(file)].into_iter().collect();
    let answer = answer(whom, &Request::Capture { path: path.clone(), handed })?;
    part.place().map_err(failed)?;
    print(&answer)
}

pub(crate) fn carry_out(whom: &WhomArgs, request: &Request) -> Result<Ending, Failure> {
    print(&answer(whom, request)?)
}

pub(crate) fn print(answer: &Answer) -> Result<Ending, Failure> {
    let text = match answer {
        Answer::Reloaded(reloaded) => of_reload(reloaded),
        Answer::WeightSet { before } => format!("done; the weight was {before}\n"),
        Answer::RateSet { before_bps: 0 } => "done; nothing was sent before\n".into(),
        Answer::RateSet { before_bps } => format!("done; the rate was {before_bps} bit/s\n"),
        Answer::Captured { packets: 1 } => "1 packet written\n".into(),
        Answer::Captured { packets } => format!("{packets} packets written\n"),
        Answer::Snapshot(_)
        | Answer::Counts(_)
        | Answer::Noted
        | Answer::ReloadNeeded
        | Answer::Offered
        | Answer::Refused { .. } => "done\n".into(),
    };
    print::print(text.as_bytes())?;
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
