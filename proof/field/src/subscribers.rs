//! Subscribers that change, under this kernel's TCP.

use crate::config::{Document, direction};
use crate::fallible::Fallible;
use crate::fault::{Happened, bps};
use crate::gateway::program;
use crate::run::{Middle, Run};
use crate::world::{INSIDE, OUTSIDE, Wiring, World, flow, subscriber};
use fairwire_core::Duration;
use fairwire_linux::clock;
use fairwire_metrics::judge::Allowed;
use fairwire_testbed::pid_namespace::SCRATCH;
use fairwire_testbed::traffic::{Sends, Traffic};
use fairwire_wire::Way;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const LINK_MBPS: u64 = 100;
const DELAYS: [Duration; 2] = [Duration::from_ms(5); 2];
const SILENT: u32 = 20_000;
/// The smallest permitted use of a plan by TCP, as a fraction. TCP may leave capacity idle while it
/// repairs losses.
const USED: f64 = 0.95;
/// The largest permitted use of a plan, as a fraction. Traffic may exceed the ceiling only by the
/// content of the token bucket. The 1 % here is 15 ms of traffic in the shortest measured interval,
/// 1.5 s.
const NOT_BEYOND: f64 = 1.01;
/// The permitted range of the bytes that TCP gets beyond its ceiling, as a fraction of the burst.
/// TCP's start and repairs may cost a tenth of the burst. Bytes are counted in slots of 100 ms, and
/// a slot at the peak rate holds a twentieth of the burst.
const BURST_HAD: [f64; 2] = [0.9, 1.05];

/// Runs the cases selected by name.
pub fn all(is_wanted: &dyn Fn(&str) -> bool) -> Vec<Happened> {
    type Act = fn(&mut Happened) -> Fallible<()>;
    let runs: [(&'static str, &'static str, Act); 4] = [
        ("setup", "what it writes by options alone runs as it is, and TCP uses 95 % of its rate", set_up),
        ("burst", "a plan has its burst after a pause, as long as it says, and then its ceiling", burst),
        (
            "changes",
            "among 20 000 a suspension, its end, another plan and a session by RADIUS count at once, and no other \
             subscriber notices",
            changes,
        ),
        (
            "turnover",
            "for a minute 100 a second of 20 000 are added, changed or removed, each in 10 ms, and no other \
             subscriber notices",
            turnover,
        ),
    ];
    let one = |(name, promised, act): (&'static str, &'static str, Act)| {
        Happened::tried(false, &mut || Happened::of(name, promised, act))
    };
    runs.into_iter().filter(|(name, ..)| is_wanted(name)).map(one).collect()
}

fn downloads(names: &[&str], seconds: u64) -> Traffic {
    let duration_ns = seconds * 1_000_000_000;
    let one = |(number, name): (u16, &&str)| {
        flow(name, Sends::Tcp("cubic".into()), Way::Download, number, duration_ns)
    };
    Traffic::new((0..).zip(names).map(one).collect(), duration_ns)
}

fn wiring() -> Wiring {
    Wiring { delays: DELAYS, ..Wiring::default() }
}

fn set_up(happened: &mut Happened) -> Fallible<()> {
    const SECONDS: u64 = 12;
    let mut document = Document::new(None, None);
    {
        let world = World::new(wiring())?;
        world.gateway.enter()?;
        let file = Path::new(SCRATCH).join(format!("setup-{}.toml", clock::now().ns()));
        let path = file.to_string_lossy().into_owned();
        let rate = format!("{LINK_MBPS} Mbit/s");
        let words = ["setup", &path, "--outside", OUTSIDE.name, "--inside", INSIDE.name];
        let rates = ["--download", &rate, "--upload", &rate];
        let said = fairwire(&[&words[..], &rates].concat())?;
        happened.check(said.contains("wire"), "setup shows what it writes");
        document.spec = toml::from_str(&std::fs::read_to_string(&file)?)?;
    }
    let traffic = downloads(&["tcp"], SECONDS);
    let mut run = Run::begin(wiring(), Middle::Gateway(&document), traffic)?;
    let seen = happened.finish(&mut run)?;
    // `setup` gives the gateway 95 % of the line's rate.
    let used = bps(&run.traffic, &seen, "tcp", 3.0, SECONDS as f64) / (0.95e6 * LINK_MBPS as f64);
    happened.expect_in_time("the part of the rate that TCP uses", used, Allowed::at_least(USED));
    happened.check_conservation(run.gateway())
}

fn burst(happened: &mut Happened) -> Fallible<()> {
    const CEILING: f64 = 20e6;
    const PEAK: f64 = 40e6;
    const BURST_S: f64 = 4.0;
    const SECONDS: u64 = 14;
    let csv = format!(
        "name,addresses,download_ceiling,download_burst\nann,{},20 Mbit/s,40 Mbit/s for 4 s\n",
        subscriber(1, 0, false)
    );
    let document = Document::both_ways(direction(LINK_MBPS, "classful", None)).with_subscribers(csv);
    let mut run = Run::begin(wiring(), Middle::Gateway(&document), downloads(&["ann"], SECONDS))?;
    let seen = happened.finish(&mut run)?;
    let got = |from, to| bps(&run.traffic, &seen, "ann", from, to);
    for (name, rate, from, to) in [
        ("the part of its peak that it has at first", PEAK, 1.0, BURST_S - 0.5),
        ("the part of its ceiling that it has afterwards", CEILING, BURST_S + 2.0, SECONDS as f64),
    ] {
        happened.expect_in_time(name, got(from, to) / rate, Allowed::between(Some(USED), Some(NOT_BEYOND)));
    }
    let beyond = (got(0.0, BURST_S + 2.0) - CEILING) * (BURST_S + 2.0);
    let promised = (PEAK - CEILING) * BURST_S;
    happened.expect_in_time(
        "the part of its burst that it had",
        beyond / promised,
        Allowed::between(Some(BURST_HAD[0]), Some(BURST_HAD[1])),
    );
    happened.check_conservation(run.gateway())
}

/// The times of the changes, seconds.
const SUSPENDED: f64 = 4.0;
const RESUMED: f64 = 7.0;
const SLOWER: f64 = 12.0;
const SESSION: f64 = 16.0;
const END: u64 = 22;

fn changes(happened: &mut Happened) -> Fallible<()> {
    let traffic = downloads(&["ann", "bob", "carl"], END);
    let mut run = Run::begin(wiring(), Middle::Gateway(&many()), traffic)?;
    run.world.gateway.bring_up(LOOPBACK)?;
    let file = run.gateway().file.to_string_lossy().into_owned();
    let mut follower = Follower::start(&file)?;
    for (at, what, words) in [
        (SUSPENDED, "the suspension", vec!["suspend", &file, "ann"]),
        (RESUMED, "its end", vec!["resume", &file, "ann"]),
        (SLOWER, "another plan", vec!["set", &file, "ann", "download_ceiling=10 Mbit/s"]),
    ] {
        run.wait_until(at);
        let said = timed(happened, what, || fairwire(&[&["subscriber"], &words[..]].concat()))?;
        if what != "another plan" {
            let is_undisturbed = said.contains("nothing was forwarded for 0.000 ms");
            happened.check(is_undisturbed, format!("{what} leaves every queue as it is"));
        }
    }
    run.wait_until(SESSION);
    let has_session = match &mut follower {
        Some(follower) => timed(happened, "a session", || follower.begins("carl", 2)).map(|()| true)?,
        None => false,
    };
    if !has_session {
        eprintln!(
            "SKIPPED: sessions by RADIUS: radclient is missing; on Debian: apt-get install freeradius-utils"
        );
    }
    let seen = happened.finish(&mut run)?;
    let got = |name, from, to| bps(&run.traffic, &seen, name, from, to);
    let mut plan = |name: &str, who, mbps: f64, from, to| {
        let part = got(who, from, to) / (mbps * 1e6);
        happened.expect_in_time(name, part, Allowed::between(Some(USED), Some(NOT_BEYOND)));
    };
    plan("the part of 20 Mbit/s that ann has", "ann", 20.0, 1.0, SUSPENDED);
    plan("the same after the suspension", "ann", 20.0, SLOWER - 1.5, SLOWER);
    plan("the part of 10 Mbit/s that ann has after that", "ann", 10.0, SLOWER + 1.5, END as f64);
    if has_session {
        plan("the part of 10 Mbit/s that carl has in a session", "carl", 10.0, SESSION + 1.5, END as f64);
    }
    let left = got("ann", SUSPENDED + 1.0, RESUMED);
    happened.expect("bit/s of ann while it is suspended", left, Allowed::at_most(0.0));
    let seconds = (1..END).map(|second| got("bob", second as f64, second as f64 + 1.0) / 30e6);
    let least = seconds.fold(f64::INFINITY, f64::min);
    happened.expect_in_time(
        "the least part of 30 Mbit/s that bob has in a second",
        least,
        Allowed::at_least(USED),
    );
    happened.check_conservation(run.gateway())
}

/// Operations per second, for [`MINUTE_S`] seconds. The median time of each type of operation must
/// be at most [`ANSWERED_S`] seconds.
const EACH_S: u64 = 100;
const MINUTE_S: u64 = 60;
const ANSWERED_S: f64 = 0.010;
/// The start of the operations, seconds: by then, TCP has reached the rate of its plan.
const BEGIN: f64 = 3.0;
/// The interval of pings. Pings leave their subscriber's plan nearly idle, so they wait only
/// slightly longer than on the line.
const PING: Duration = Duration::from_ms(20);

fn turnover(happened: &mut Happened) -> Fallible<()> {
    let seconds = MINUTE_S + 5;
    let mut traffic = downloads(&["ann", "bob"], seconds);
    traffic.flows[0].sends = Sends::Ping { every_ns: PING.ns() };
    let mut run = Run::begin(wiring(), Middle::Gateway(&many()), traffic)?;
    let file = run.gateway().file.to_string_lossy().into_owned();
    run.wait_until(BEGIN);
    let began = clock::now();
    let mut took: [Vec<f64>; 3] = Default::default();
    let mut reloads = 0_u32;
    for number in 0..EACH_S * MINUTE_S {
        let due = began + Duration::from_ns(number * 1_000_000_000 / EACH_S);
        std::thread::sleep(std::time::Duration::from_nanos(due.since(clock::now()).ns()));
        let (turn, name) = (number / 3, format!("t{}", number / 3));
        let [address, plan] =
            [format!("addresses=10.200.{}.{}", turn / 250, turn % 250), "download_ceiling=40 Mbit/s".into()];
        // The subscriber to remove was added 500 turns ago.
        let old = format!("t{}", turn.saturating_sub(500));
        let words = match number % 3 {
            0 => vec!["set", &file, &name, &address, "download_ceiling=20 Mbit/s"],
            1 => vec!["set", &file, &name, &plan],
            _ if turn < 500 => vec!["set", &file, &name, "weight=2"],
            _ => vec!["remove", &file, &old],
        };
        let kind = if turn < 500 { (number % 3).min(1) } else { number % 3 };
        let start = clock::now();
        let said = fairwire(&[&["subscriber"], &words[..]].concat())?;
        took[kind as usize].push(clock::now().since(start).secs());
        reloads += u32::from(!said.contains("nothing was forwarded for 0.000 ms"));
    }
    let lasted = clock::now().since(began).secs();
    happened.expect_in_time(
        "operations a second",
        (EACH_S * MINUTE_S) as f64 / lasted,
        Allowed::at_least(0.99 * EACH_S as f64),
    );
    for (what, took) in ["adding", "changing", "removing"].iter().zip(&mut took) {
        took.sort_by(f64::total_cmp);
        let part = |part: f64| took[((took.len() - 1) as f64 * part) as usize];
        happened.expect_in_time(&format!("{what}, median, s"), part(0.5), Allowed::at_most(ANSWERED_S));
        happened.count(&format!("{what}, 99 of 100, s"), part(0.99));
        happened.count(&format!("{what}, longest, s"), part(1.0));
    }
    happened.count("reloads", reloads.into());
    let seen = happened.finish(&mut run)?;
    let got = |from: u64| bps(&run.traffic, &seen, "bob", from as f64, from as f64 + 1.0) / 30e6;
    let least = (BEGIN as u64..seconds - 1).map(got).fold(f64::INFINITY, f64::min);
    happened.expect_in_time(
        "the least part of 30 Mbit/s that bob has in a second",
        least,
        Allowed::at_least(USED),
    );
    let pings = &seen.flows[0];
    let mut delays: Vec<u64> = pings.delays_ns.iter().map(|(_, took)| *took).collect();
    delays.sort_unstable();
    let ms = |part: f64| delays[((delays.len() - 1) as f64 * part) as usize] as f64 / 1e6;
    happened.count("ping of ann, median, ms", ms(0.5));
    happened.count("ping of ann, 99 of 100, ms", ms(0.99));
    happened.count("ping of ann, longest, ms", ms(1.0));
    let lost = pings.sent.saturating_sub(delays.len() as u64);
    happened.expect("pings of ann that were lost", lost as f64, Allowed::at_most(0.0));
    happened.check_conservation(run.gateway())
}

const LOOPBACK: u32 = 1;

fn many() -> Document {
    let mut csv = String::from("name,addresses,download_ceiling\n");
    for (name, address, mbps) in [
        ("ann", subscriber(1, 0, false).to_string(), 20),
        ("bob", subscriber(1, 1, false).to_string(), 30),
        ("carl", String::new(), 10),
    ] {
        let _ = writeln!(csv, "{name},{address},{mbps} Mbit/s");
    }
    for number in 0..SILENT {
        let [_, high, mid, low] = number.to_be_bytes();
        let _ = writeln!(csv, "s{number},10.{}.{mid}.{low},50 Mbit/s", 100 + u32::from(high));
    }
    Document::both_ways(direction(LINK_MBPS, "classful", None)).with_subscribers(csv)
}

fn timed<T>(happened: &mut Happened, what: &str, act: impl FnOnce() -> Fallible<T>) -> Fallible<T> {
    let began = clock::now();
    let outcome = act()?;
    happened.count(&format!("{what} is answered after, s"), clock::now().since(began).secs());
    Ok(outcome)
}

fn fairwire(words: &[&str]) -> Fallible<String> {
    let output = Command::new(program()?.0).args(words).stdin(Stdio::null()).output()?;
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if output.status.success() { Ok(said) } else { Err(format!("`{}`: {said}", words.join(" ")).into()) }
}

struct Follower {
    child: Child,
    address: String,
}

const SECRET: &str = "testing123";

impl Follower {
    /// Starts a follower of RADIUS sessions; `None` without FreeRADIUS' client.
    fn start(file: &str) -> Fallible<Option<Follower>> {
        if Command::new("radclient").arg("-v").output().is_err() {
            return Ok(None);
        }
        let secret = Path::new(SCRATCH).join("radius.secret");
        std::fs::write(&secret, SECRET)?;
        let mut child = Command::new(program()?.0)
            .args(["follow", file, "--radius", "127.0.0.1:0", "--secret-file"])
            .arg(&secret)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut said = BufReader::new(child.stderr.take().ok_or("it has a pipe")?);
        let (mut line, mut follower) = (String::new(), Follower { child, address: String::new() });
        while follower.address.is_empty() {
            line.clear();
            if said.read_line(&mut line)? == 0 {
                return Err("`follow` has ended".into());
            }
            if line.contains("are answered at") {
                follower.address = line.trim().rsplit(' ').next().unwrap_or_default().to_owned();
            }
        }
        // The follower continues to write, and would be blocked by a full pipe.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        Ok(Some(follower))
    }

    fn begins(&mut self, name: &str, number: u16) -> Fallible<()> {
        let mut client = Command::new("radclient")
            .args(["-x", "-t", "10", &self.address, "acct", SECRET])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let address = subscriber(1, number, false);
        writeln!(
            client.stdin.take().ok_or("it has a pipe")?,
            "Acct-Status-Type=Start\nUser-Name={name}\nAcct-Session-Id=s1\nNAS-Identifier=bras\nFramed-IP-Address={address}"
        )?;
        let output = client.wait_with_output()?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if said.contains("Received Accounting-Response") {
            Ok(())
        } else {
            Err(format!("no answer: {said}").into())
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        // The process may have ended already; in either case, wait for it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
