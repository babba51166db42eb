//! `fairwire-gateway setup`: a configuration from a survey of the machine and five answers.

use super::check;
use crate::args::SetupArgs;
use fairwire_core::{Duration, Rate};
use fairwire_document::{listed, quoted};
use fairwire_linux::clock;
use fairwire_service::config::backend::BackendKind;
use fairwire_service::config::environment::survey::{Counted, Survey, Surveyed, counted};
use fairwire_service::config::{Config, environment};
use fairwire_terminal::failure::{Ending, Failure};
use fairwire_terminal::new_file;
use fairwire_terminal::notice::notice;
use fairwire_terminal::print::print;
use fairwire_terminal::questions::Questions;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// The gateway's rate, in percent of the line's rate. Below 100 %, packets wait in the gateway, not
/// in the modem.
const PERCENT: u64 = 95;
const MEASURED: Duration = Duration::from_secs(30);
/// The lowest plausible rate of a speed test, bit/s.
const MIN_MEASURED_BPS: f64 = 100_000.0;
/// A direction with less than this fraction of the other direction's rate may carry only
/// acknowledgements. One acknowledgement (84 bytes) answers two full packets (1538 bytes each).
const ACKNOWLEDGEMENTS: f64 = 1.0 / 25.0;
/// Bytes that the default `framing` adds to each Ethernet frame.
const BESIDE_FRAME: u64 = 24;
const HEADER: u64 = 14;

pub(crate) fn setup(args: &SetupArgs) -> Result<Ending, Failure> {
    let path = &args.file;
    new_file::check_free(path)?;
    let survey = Survey::take();
    notice(format_args!("{}", shown(&survey)));
    let answers = Answers::of(args, &survey)?;
    let text = answers.configuration(&survey, path);
    let again = |failure: Failure| {
        notice(format_args!("nothing was written; with these answers again: {}", answers.command(path)));
        failure
    };
    // `again` also prints a command with the answers, because the errors refer to a file that was
    // not written.
    let config = Config::load_text(path, &text).map_err(|error| again(error.into()))?;
    let notes = environment::check(&config).map_err(|error| again(error.into()))?;
    new_file::write(path, &text)?;
    let mut explanation = config.explain();
    explanation.notes.extend(notes.into_iter().chain(environment::held(&config)).map(|note| note.0));
    let resident_bytes = check::built(&config)?;
    let mut out = check::text(&explanation, resident_bytes, false);
    out.push('\n');
    out += &next_steps(path, config.name());
    print(out.as_bytes())?;
    Ok(Ending::Done)
}

fn shown(survey: &Survey) -> String {
    let mut out = String::from("this machine has:\n");
    for interface in &survey.interfaces {
        writeln!(out, "  {}", described(interface)).expect("a string takes all");
    }
    if survey.interfaces.is_empty() {
        out += "  no interface but its loopback\n";
    }
    let route = survey.default_route.as_deref().map_or("none".to_owned(), |name| format!("`{name}`"));
    let forwards = match (survey.forwards_ipv4, survey.forwards_ipv6) {
        (true, true) => "IPv4 and IPv6",
        (true, false) => "IPv4, not IPv6",
        (false, true) => "IPv6, not IPv4",
        (false, false) => "nothing",
    };
    write!(out, "  default route: {route}; it forwards {forwards}; {}", translation(&ruleset()))
        .expect("a string takes all");
    out
}

/// An interface in words: for example `wan0: up, 203.0.113.5, 1 Gbit/s, MTU 1500`.
fn described(interface: &Surveyed) -> String {
    let Surveyed { name, about, ipv4, has_ipv6, master, speed } = interface;
    let state = match (about.is_up, about.is_running) {
        (true, true) => "up",
        (true, false) => "up, no carrier",
        (false, _) => "down",
    };
    let mut parts = vec![state.to_owned()];
    parts.extend(ipv4.map(|address| address.to_string()));
    if *has_ipv6 {
        parts.push("IPv6".into());
    }
    if !interface.has_address() {
        parts.push("no address".into());
    }
    parts.extend(master.as_ref().map(|master| format!("port of `{master}`")));
    parts.extend(speed.map(|speed| speed.to_string()));
    parts.push(format!("MTU {}", about.mtu));
    if !about.is_ethernet {
        parts.push("no Ethernet".into());
    }
    if has_large_receive(name) {
        parts
            .push("large-receive-offload on (switch it off on what forwards: `ethtool -K … lro off`)".into());
    }
    format!("{name}: {}", parts.join(", "))
}

fn ruleset() -> Option<String> {
    let mut found = None;
    for (program, arguments) in [("nft", &["list", "ruleset"][..]), ("iptables-save", &["-t", "nat"])] {
        let Ok(output) = Command::new(program).args(arguments).output() else { continue };
        if output.status.success() {
            found.get_or_insert_with(String::new).push_str(&String::from_utf8_lossy(&output.stdout));
        }
    }
    found
}

fn translation(ruleset: &Option<String>) -> String {
    let Some(rules) = ruleset else {
        return "whether it translates addresses is not known: neither `nft` nor `iptables-save` says so"
            .into();
    };
    let rules = rules.to_lowercase();
    let translates = ["masquerade", "snat"].iter().any(|word| rules.contains(word));
    let mut said = String::from(if translates {
        "it translates addresses (NAT): uploads are shaped before that, downloads after it"
    } else {
        "it translates no addresses"
    });
    if rules.contains("flowtable") {
        said += "; its firewall has a flowtable, whose flows pass the gateway by: take the flowtable out";
    }
    said
}

fn has_large_receive(name: &str) -> bool {
    let Ok(output) = Command::new("ethtool").args(["-k", name]).output() else { return false };
    let text = String::from_utf8_lossy(&output.stdout);
    let mut found = text.lines().filter_map(|line| line.trim().strip_prefix("large-receive-offload:"));
    found.any(|state| state.trim().starts_with("on"))
}

struct Answers {
    outside: String,
    inside: String,
    /// The line's rate.
    download: Rate,
    upload: Rate,
    share: Share,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Share {
    Hosts,
    Subscribers(String),
}

#[derive(Clone, Copy)]
enum LineRate {
    Known(Rate),
    Measure,
}

impl Answers {
    fn of(args: &SetupArgs, survey: &Survey) -> Result<Answers, Failure> {
        let mut questions = Questions::new("fairwire-gateway setup");
        let outside = questions.text(
            ("--outside", args.outside.as_deref()),
            "the interface towards the line",
            survey.outside(args.inside.as_deref()).map_or("", |interface| &interface.name),
            &|text| interface(survey, text, None),
        )?;
        let inside = questions.text(
            ("--inside", args.inside.as_deref()),
            "the interface towards those who share",
            survey.inside(&outside).map_or("", |interface| &interface.name),
            &|text| interface(survey, text, Some(&outside)),
        )?;
        let mut rate = |given: Option<Rate>, option: &str, question: &str| match (given, args.measure) {
            (Some(rate), _) => Ok(LineRate::Known(rate)),
            (None, Some(_)) => Ok(LineRate::Measure),
            (None, None) if !questions.is_answered() => Err(Failure::user(
                format!("the {question} of the line is not known"),
                format!(
                    "allowed: `{option} RATE`, such as `{option} \"100 Mbit/s\"`, or `--measure \"30 s\"` while a speed test runs"
                ),
            )),
            (None, None) => questions.answer(
                &format!("the line's {question}, as a speed test shows it, or `measure`"),
                "measure",
                &line_rate,
            ),
        };
        let down = rate(args.download, "--download", "download rate")?;
        let up = match down {
            // One speed test measures both directions.
            LineRate::Measure if args.upload.is_none() => LineRate::Measure,
            _ => rate(args.upload, "--upload", "upload rate")?,
        };
        let (download, upload) = match (down, up) {
            (LineRate::Known(down), LineRate::Known(up)) => (down, up),
            (down, up) => {
                let measured = measure(survey, &outside, args.measure.unwrap_or(MEASURED))?;
                let of = |rate: LineRate, way: usize, name: &str| match rate {
                    LineRate::Known(rate) => Ok(rate),
                    LineRate::Measure => busiest(measured[way], measured[1 - way], name),
                };
                (of(down, 0, "download")?, of(up, 1, "upload")?)
            }
        };
        let folder = args.file.parent().unwrap_or(Path::new("")).to_owned();
        let share = questions.text(
            ("--share", args.share.as_deref()),
            "who shares: `hosts`, or a file of subscribers",
            "hosts",
            &|text| share(text, &folder),
        )?;
        Ok(Answers { outside, inside, download, upload, share })
    }

    fn configuration(&self, survey: &Survey, path: &Path) -> String {
        let Answers { outside, inside, download, upload, share } = self;
        let (backend, why) = match survey.backend(inside, outside) {
            BackendKind::Router => (
                "router",
                "Both have addresses: the kernel forwards, and the gateway shapes what it forwards",
            ),
            _ => ("af-packet", "A bump in the wire: frames pass between the two, and nothing else changes"),
        };
        let mut text = format!(
            "# Written by `fairwire-gateway setup`. docs/gateway/configuration.md has every key;\n\
             # `fairwire-gateway check FILE` prints what this does.\n\
             format = 2\nname = {}\n\n[wire]\n# {why}.\nbackend = {}\ninside = {}\noutside = {}\n",
            quoted(&new_file::name_of(path, "gateway")),
            quoted(backend),
            quoted(inside),
            quoted(outside),
        );
        for (way, rate) in [("download", *download), ("upload", *upload)] {
            write!(
                text,
                "\n[{way}]\n# {PERCENT} % of the line's {rate}, so that the queue is here and not in the modem.\nrate = {}\n",
                quoted(&below(rate).to_string())
            )
            .expect("a string takes all");
        }
        text += match share {
            Share::Hosts => {
                "\n# Every host inside gets an equal part, and its conversations share that: `flows` and `discipline`\n\
                 # are what they are by default.\n"
            }
            Share::Subscribers(_) => "\n# Every subscriber gets a part by its weight, within its plan.\n",
        };
        if let Share::Subscribers(file) = share {
            write!(text, "[subscribers]\nfile = {}\n", quoted(file)).expect("a string takes all");
        }
        text += "\n[safety]\n# If the gateway dies, packets pass unshaped; \"closed\": none pass.\non_failure = \"open\"\n";
        text
    }

    fn command(&self, path: &Path) -> String {
        let Answers { outside, inside, download, upload, share } = self;
        let share = match share {
            Share::Hosts => "hosts",
            Share::Subscribers(file) => file,
        };
        format!(
            "fairwire-gateway setup {} --outside {outside} --inside {inside} --download \"{download}\" --upload \"{upload}\" --share {share}",
            path.display()
        )
    }
}

fn interface(survey: &Survey, text: &str, other: Option<&str>) -> Result<String, String> {
    let names = survey.interfaces.iter().map(|interface| interface.name.clone());
    let names: Vec<String> = names.filter(|name| Some(name.as_str()) != other).collect();
    let why = match survey.find(text) {
        _ if other == Some(text) => format!("`{text}` is the other one"),
        Some(_) => return Ok(text.to_owned()),
        None if text.is_empty() => {
            let option = if other.is_some() { "--inside" } else { "--outside" };
            format!("nothing here shows which it is, so `{option}` is needed")
        }
        None => format!("there is no interface `{text}`"),
    };
    if names.is_empty() {
        return Err(format!("{why}; allowed: an interface, of which there is none here"));
    }
    let meant = names.iter().map(String::as_str).filter(|_| names.len() > 1);
    let near = fairwire_core::spelling::hint(text, meant);
    Err(format!("{why}; allowed: {}{near}", listed(&names)))
}

fn line_rate(text: &str) -> Result<LineRate, String> {
    match text {
        "measure" => Ok(LineRate::Measure),
        text => text
            .parse()
            .map(LineRate::Known)
            .map_err(|error: fairwire_core::units::UnitError| error.to_string()),
    }
}

fn share(text: &str, folder: &Path) -> Result<Share, String> {
    match text {
        "hosts" => Ok(Share::Hosts),
        file if folder.join(file).is_file() => Ok(Share::Subscribers(file.to_owned())),
        file => Err(format!(
            "there is no file `{}`; allowed: `hosts`, or a table of subscribers such as docs/gateway/subscribers.csv",
            folder.join(file).display()
        )),
    }
}

/// The busiest second's rates, download and upload, bit/s.
type Busiest = [f64; 2];

fn measure(survey: &Survey, outside: &str, length: Duration) -> Result<Busiest, Failure> {
    let is_ethernet = survey.find(outside).is_none_or(|interface| interface.about.is_ethernet);
    let beside = BESIDE_FRAME + if is_ethernet { 0 } else { HEADER };
    let seconds = (length.ns() / 1_000_000_000).max(2);
    notice(format_args!(
        "measuring `{outside}` for {seconds} s: run a speed test now, both ways, on a machine that nothing else keeps from the line"
    ));
    let read = || {
        counted(outside).ok_or_else(|| {
            Failure::user(format!("`{outside}` is gone"), "allowed: an interface that `ip link` shows")
        })
    };
    let began = clock::now();
    let (mut before, mut since) = (read()?, began);
    let mut most: Busiest = [0.0; 2];
    for second in 1..=seconds {
        clock::sleep_until(began + Duration::from_secs(second));
        let (now, at) = (read()?, clock::now());
        let rates = [0, 1].map(|way| bps(&before, &now, way, beside, at.since(since)));
        most = [0, 1].map(|way| f64::max(most[way], rates[way]));
        notice(format_args!(
            "  {second} s: {:.1} Mbit/s down, {:.1} up; most so far {:.1} and {:.1}",
            rates[0] / 1e6,
            rates[1] / 1e6,
            most[0] / 1e6,
            most[1] / 1e6
        ));
        (before, since) = (now, at);
    }
    Ok(most)
}

/// The rate on the link over the time `over`, bit/s; 0 if the counters were reset.
fn bps(before: &Counted, now: &Counted, way: usize, beside: u64, over: Duration) -> f64 {
    let bytes = now.bytes[way].saturating_sub(before.bytes[way]);
    let packets = now.packets[way].saturating_sub(before.packets[way]);
    (bytes + packets * beside) as f64 * 8.0 / over.secs()
}

/// The rate of the direction `way`, if plausible. `bps` and `other` are the rates of `way` and of
/// the opposite direction, each in its busiest second.
fn busiest(bps: f64, other: f64, way: &str) -> Result<Rate, Failure> {
    let refused = |why: &str| {
        Err(Failure::user(
            format!("the busiest second of the {way} had {:.3} Mbit/s: {why}", bps / 1e6),
            format!("allowed: a speed test of the {way} while it measures, or `--{way} RATE`"),
        ))
    };
    match Rate::from_bps(three_digits(bps as u64)) {
        Some(rate) if bps >= MIN_MEASURED_BPS && bps >= other * ACKNOWLEDGEMENTS => Ok(rate),
        Some(_) if bps >= MIN_MEASURED_BPS => refused(&format!(
            "beside {:.1} Mbit/s the other way these may be acknowledgements alone",
            other / 1e6
        )),
        _ => refused("that was no speed test"),
    }
}

fn below(rate: Rate) -> Rate {
    let bps = three_digits((u128::from(rate.bps()) * u128::from(PERCENT) / 100) as u64);
    Rate::from_bps(bps.max(1)).unwrap_or(rate)
}

fn three_digits(number: u64) -> u64 {
    let unit = 10_u64.pow(number.checked_ilog10().unwrap_or(0).saturating_sub(2));
    number / unit * unit
}

fn next_steps(path: &Path, name: &str) -> String {
    let file = path.display();
    let mut text = format!(
        "written: {file}; nothing else was changed\n\
         try it:  fairwire-gateway run {file}    (Ctrl-C ends it, and the machine is as it was)\n\
         watch:   fairwire-gateway top {file}\n"
    );
    let unit = "fairwire-gateway@.service";
    let folders = ["/usr/lib/systemd/system", "/lib/systemd/system", "/etc/systemd/system"];
    text += &match folders.iter().any(|folder| Path::new(folder).join(unit).exists()) {
        true => format!(
            "keep it: cp {file} /etc/fairwire/{name}.toml && systemctl enable --now fairwire-gateway@{name}\n\
             undo:    systemctl disable --now fairwire-gateway@{name}; rm /etc/fairwire/{name}.toml {file}\n"
        ),
        false => format!("undo:    end the gateway, and rm {file}\n"),
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(text: &str) -> Rate {
        text.parse().expect("a rate")
    }

    #[test]
    fn the_gateway_gets_at_most_95_percent_in_three_digits() {
        assert_eq!(below(rate("100 Mbit/s")), rate("95 Mbit/s"));
        assert_eq!(below(rate("93.777 Mbit/s")), rate("89 Mbit/s"));
        assert_eq!(below(rate("1 bit/s")), rate("1 bit/s"));
        assert_eq!(three_digits(0), 0);
        assert_eq!(three_digits(1_234_567), 1_230_000);
    }

    #[test]
    fn counters_give_the_rate_on_the_link() {
        let before = Counted { bytes: [0, 0], packets: [0, 0] };
        let now = Counted { bytes: [1_500_000, 64], packets: [1000, 1] };
        let over = Duration::from_secs(2);
        assert_eq!(bps(&before, &now, 0, 24, over), 4.0 * 1_524_000.0);
        // Counters decrease after an interface disappeared and returned.
        assert_eq!(bps(&now, &before, 0, 24, over), 0.0);
        assert!(busiest(3000.0, 0.0, "upload").is_err());
        assert!(busiest(2.6e6, 94e6, "upload").is_err());
        assert_eq!(busiest(18_765_432.0, 94e6, "upload").expect("a rate"), rate("18.7 Mbit/s"));
    }

    #[test]
    fn setup_writes_valid_configurations_for_hosts_and_subscribers() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("s.csv"), "name,addresses\nann,192.0.2.1\n").expect("it is ours");
        let path = folder.path().join("my home.toml");
        for share in [Share::Hosts, Share::Subscribers("s.csv".into())] {
            let answers = Answers {
                outside: "wan0".into(),
                inside: "lan0".into(),
                download: rate("100 Mbit/s"),
                upload: rate("20 Mbit/s"),
                share,
            };
            let text = answers.configuration(&Survey::default(), &path);
            let config = Config::load_text(&path, &text);
            let config = config.unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(config.name(), "my-home");
            assert!(text.contains("rate = \"19 Mbit/s\""), "{text}");
        }
    }

    #[test]
    fn nat_and_flowtables_are_found_in_the_rules() {
        let said = |rules: &str| translation(&Some(rules.to_owned()));
        assert!(said("oifname \"wan0\" masquerade").starts_with("it translates addresses"));
        assert!(said("-A POSTROUTING -o wan0 -j MASQUERADE").starts_with("it translates addresses"));
        assert_eq!(said(""), "it translates no addresses");
        assert!(said("flowtable f { hook ingress priority 0 }").contains("take the flowtable out"));
        assert!(translation(&None).contains("not known"));
    }

    #[test]
    fn a_missing_interface_is_refused() {
        let refusal = |text: &str| interface(&Survey::default(), text, None).expect_err("it is refused");
        assert!(refusal("wan0").contains("no interface `wan0`"));
        assert!(refusal("").contains("of which there is none here"));
    }
}
