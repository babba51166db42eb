//! `fairwire lab`: a scenario built from arguments, run on the stage `lab`.

use super::run;
use crate::args::{Format, OutputArgs, ShareArgs};
use crate::progress::Part;
use crate::report::Headline;
use fairwire_core::Duration;
use fairwire_experiment::lab::Lab;
use fairwire_scenario::{Overrides, Scenario, entries, parse};
use fairwire_terminal::failure::{Ending, Failure};
use fairwire_testbed::agent;
use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::path::Path;

pub(crate) fn share(args: &ShareArgs, quiet: bool) -> Result<Ending, Failure> {
    if args.watch && !io::stdout().is_terminal() {
        let what = "`--watch` needs a terminal, but the output is not a terminal";
        return Err(Failure::user(what, "allowed: a terminal; `--format json` writes the results instead"));
    }
    // Progress would overwrite the picture.
    carry_out(args, args.format, args.out.as_deref(), Part::whole(), quiet || args.watch)
}

pub(crate) fn carry_out(
    args: &ShareArgs,
    format: Format,
    out: Option<&Path>,
    part: Part,
    quiet: bool,
) -> Result<Ending, Failure> {
    let scenario = scenario(args)?;
    let lab = Lab { congestion_control: Some(args.congestion.clone()) };
    let order = run::RunOptions {
        jobs: 0,
        format,
        out,
        output: &OutputArgs::default(),
        folder: None,
        stages: &[&lab],
        is_uncached: true,
        watched: args.watch.then(|| headline(args).title),
        headline: Some(headline(args)),
        member: None,
    };
    run::carry_out(&scenario, &order, part, quiet)
}

pub(crate) fn length(args: &ShareArgs) -> std::time::Duration {
    let contests = disciplines(args).len() * args.runs as usize;
    std::time::Duration::from_secs_f64(args.seconds * contests as f64)
}

pub(crate) fn agent(args: Vec<String>) -> Ending {
    Ending::Agent(u8::try_from(agent::main(args)).unwrap_or(1))
}

const DEFAULTS: [&str; 2] = ["tail-drop", "faba"];

/// The scenario of `lab share`. Only the shared link has a delay.
fn scenario(args: &ShareArgs) -> Result<Scenario, Failure> {
    let ShareArgs { rate, rtt, buffer, tcp, udp, packet, seconds, runs, .. } = args;
    let warm_up = warm_up(args);
    // Random start times keep the flows from synchronizing.
    let start = match (warm_up / 2.0).min(1.0) {
        0.0 => "0 s".to_owned(),
        spread => format!("0 s..{spread} s"),
    };
    let delay = Duration::from_ns(rtt.ns() / 2);
    let access = "access = { rate = \"10 Gbit/s\", delay = \"0 s\" }";
    let mut text = format!(
        "format = 2\nname = \"lab-share\"\nduration = \"{seconds} s\"\nwarm_up = \"{warm_up} s\"\nseeds = \"1..={runs}\"\n\
         disciplines = [{}]\n[link]\nrate = \"{rate}\"\ndelay = \"{delay}\"\nbuffer = \"{buffer}\"\n",
        disciplines(args).join(", ")
    );
    if *tcp > 0 {
        write!(
            text,
            "[[flow]]\ngroup = \"tcp\"\ncount = {tcp}\nsource = \"bulk\"\ntcp = {{ profile = \"modern\", segment = \"{packet} B\" }}\n{access}\n\
             start = \"{start}\"\n"
        )
        .expect("writing to a string succeeds");
    }
    write!(
        text,
        "[[flow]]\ngroup = \"udp\"\nsource = {{ cbr = {{ rate = \"{udp}\", packet = \"{packet} B\" }} }}\n{access}\nstart = \"{start}\"\n"
    )
    .expect("writing to a string succeeds");
    Ok(parse("lab share", &text, &Overrides::default())?)
}

fn disciplines(args: &ShareArgs) -> Vec<String> {
    match args.discipline.as_slice() {
        [] => entries(&DEFAULTS.map(String::from)),
        given => entries(given),
    }
}

fn warm_up(args: &ShareArgs) -> f64 {
    args.warm_up.unwrap_or(args.seconds / 5.0)
}

fn headline(args: &ShareArgs) -> Headline {
    let ShareArgs { tcp, congestion, udp, rate, rtt, buffer, seconds, .. } = args;
    Headline {
        title: format!("Live: {tcp} kernel {congestion} flows against one {udp} UDP flow"),
        detail: format!(
            "real packets: {rate} link, RTT {rtt}, buffer {buffer}; {seconds} s each{}",
            run::not_measured(Duration::from_secs_f64(warm_up(args)))
        ),
    }
}
