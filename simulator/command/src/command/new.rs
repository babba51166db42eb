//! `fairwire new`: a commented scenario from five answers.

use crate::args::NewArgs;
use fairwire_core::{Duration, Rate, spelling};
use fairwire_document::quoted;
use fairwire_scenario::{Overrides, control, entries, parse, schema, source};
use fairwire_terminal::failure::{Ending, Failure};
use fairwire_terminal::new_file;
use fairwire_terminal::notice::notice;
use fairwire_terminal::questions::Questions;
use serde_json::Value;
use std::fmt::Write as _;
use std::str::FromStr;

/// Writes the scenario.
pub(crate) fn new(args: &NewArgs) -> Result<Ending, Failure> {
    let path = &args.file;
    new_file::check_free(path)?;
    let answers = Answers::of(args)?;
    let text = scenario(&answers, &new_file::name_of(path, "scenario"));
    // The new scenario must run, so it is parsed here as in `run`.
    parse(&path.display().to_string(), &text, &Overrides::default())?;
    new_file::write(path, &text)?;
    notice(format_args!("written: {0}; `fairwire run {0}` runs it", path.display()));
    Ok(Ending::Done)
}

#[derive(Clone, Debug)]
struct Answers {
    rate: Rate,
    rtt: Duration,
    senders: Vec<Sender>,
    disciplines: Vec<String>,
    duration: Duration,
}

struct Question {
    option: &'static str,
    text: &'static str,
    default: &'static str,
    /// Stores an answer.
    put: fn(&mut Answers, &str) -> Result<(), String>,
}

const QUESTIONS: [Question; 5] = [
    Question {
        option: "--rate",
        text: "rate of the link",
        default: "10 Mbit/s",
        put: |all, text| read(text).map(|rate| all.rate = rate),
    },
    Question {
        option: "--rtt",
        text: "round-trip time",
        default: "40 ms",
        put: |all, text| read(text).map(|rtt| all.rtt = rtt),
    },
    Question {
        option: "--senders",
        text: "who sends",
        default: "4 cubic, 1 cbr 2 Mbit/s",
        put: |all, text| senders(text).map(|senders| all.senders = senders),
    },
    Question {
        option: "--disciplines",
        text: "disciplines",
        default: "tail-drop, fq-codel",
        put: |all, text| disciplines(text).map(|disciplines| all.disciplines = disciplines),
    },
    Question {
        option: "--duration",
        text: "how long",
        default: "30 s",
        put: |all, text| read(text).map(|duration| all.duration = duration),
    },
];

fn read<T: FromStr<Err: ToString>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

impl Answers {
    fn of(args: &NewArgs) -> Result<Answers, Failure> {
        let mut questions = Questions::new("fairwire new");
        let given = [
            args.rate.map(|rate| rate.to_string()),
            args.rtt.map(|rtt| rtt.to_string()),
            args.senders.clone(),
            args.disciplines.clone(),
            args.duration.map(|duration| duration.to_string()),
        ];
        // Answers from the arguments come first, because the later answers must fit them.
        let mut all = Answers::defaults();
        for (question, given) in QUESTIONS.iter().zip(&given).filter(|(_, given)| given.is_some()) {
            let read = |text: &str| all.with(question, text);
            all = questions.text(
                (question.option, given.as_deref()),
                question.text,
                question.default,
                &read,
            )?;
        }
        for (question, _) in QUESTIONS.iter().zip(&given).filter(|(_, given)| given.is_none()) {
            all =
                questions.answer(question.text, question.default, &|text| all.with_answer(question, text))?;
        }
        Ok(all)
    }

    fn defaults() -> Answers {
        let none = Duration::from_ns(0);
        let rate = Rate::from_bps(1).expect("not zero");
        let all = Answers { rate, rtt: none, senders: vec![], disciplines: vec![], duration: none };
        let with = |all: Answers, question: &Question| {
            all.with(question, question.default).expect("a default is right")
        };
        QUESTIONS.iter().fold(all, with)
    }

    fn with(&self, question: &Question, text: &str) -> Result<Answers, String> {
        let mut all = self.clone();
        (question.put)(&mut all, text).map(|()| all)
    }

    fn with_answer(&self, question: &Question, text: &str) -> Result<Answers, String> {
        let all = self.with(question, text)?;
        match all.refusal() {
            Some(why) if self.refusal().is_none() => Err(why),
            _ => Ok(all),
        }
    }

    fn refusal(&self) -> Option<String> {
        let error = parse("scenario", &scenario(self, "scenario"), &Overrides::default()).err()?;
        let advice = error.problem.advice().map_or_else(String::new, |advice| format!("; {advice}"));
        Some(format!("{}{advice}", error.problem))
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Sender {
    count: u32,
    kind: Kind,
    rate: Option<Rate>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Controller(&'static str),
    Source { name: &'static str, example: &'static str, is_tcp: bool, has_rate: bool },
}

const MAX_COUNT: u32 = 1000;

fn senders(text: &str) -> Result<Vec<Sender>, String> {
    text.split(',')
        .map(str::trim)
        .filter(|one| !one.is_empty())
        .map(sender)
        .collect::<Result<Vec<_>, _>>()
        .and_then(|all| {
            if all.is_empty() {
                Err("there is no sender; allowed: such as \"4 cubic, 1 cbr 2 Mbit/s\"".into())
            } else {
                Ok(all)
            }
        })
}

/// `[COUNT] NAME [RATE]`.
fn sender(text: &str) -> Result<Sender, String> {
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let (count, rest) = match first.parse::<u32>() {
        Ok(count) => (count, rest.trim()),
        Err(_) => (1, text),
    };
    if !(1..=MAX_COUNT).contains(&count) {
        return Err(format!("{count} flows of `{rest}`; allowed: 1 to {MAX_COUNT}"));
    }
    let (name, rate) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let kind = kind(name)?;
    let rate = match rate.trim() {
        "" => None,
        rate => Some(rate.parse::<Rate>().map_err(|error| error.to_string())?),
    };
    match kind {
        Kind::Source { has_rate: true, .. } => Ok(Sender { count, kind, rate }),
        _ if rate.is_some() => Err(format!("`{name}` has no rate of its own; allowed: `{name}` alone")),
        _ => Ok(Sender { count, kind, rate }),
    }
}

/// The available sources, except those that need a separate file.
fn sources() -> impl Iterator<Item = &'static source::Entry> {
    source::all().iter().filter(|entry| entry.name != "replay")
}

fn kind(name: &str) -> Result<Kind, String> {
    if let Some(controller) = control::all().iter().find(|known| known.name == name) {
        return Ok(Kind::Controller(controller.name));
    }
    if let Some(entry) = sources().find(|entry| entry.name == name) {
        let example = if entry.needed().is_some() { entry.about.example } else { "" };
        let has_rate = entry.fields.iter().any(|field| field.name == "rate");
        return Ok(Kind::Source { name: entry.name, example, is_tcp: entry.about.is_tcp, has_rate });
    }
    let known: Vec<&str> =
        control::all().iter().map(|known| known.name).chain(sources().map(|entry| entry.name)).collect();
    let near = spelling::hint(name, known.iter().copied());
    Err(format!("`{name}` is no known sender; allowed: {}{near}", known.join(", ")))
}

fn disciplines(text: &str) -> Result<Vec<String>, String> {
    let all = entries(&[text.to_owned()]);
    for entry in all.iter().filter(|entry| !entry.starts_with('{')) {
        let name = entry.trim_matches('"');
        if fairwire_catalogue::find(name).is_err() {
            let known = fairwire_catalogue::allowed(name);
            let (allowed, near) = (known.join(", "), spelling::hint(name, known.iter().copied()));
            return Err(format!(
                "`{name}` is no discipline; allowed: {allowed} (`fairwire list disciplines`){near}"
            ));
        }
    }
    Ok(all)
}

fn scenario(answers: &Answers, name: &str) -> String {
    let Answers { rate, rtt, disciplines, duration, .. } = answers;
    let schema = schema();
    let mut out = Text { schema: &schema, text: String::new() };
    out.comment("`fairwire run FILE` runs it, `fairwire watch FILE` plays it, and `fairwire describe NAME` explains a part.");
    out.key("Spec", "format", "2");
    out.key("Spec", "name", &quoted(name));
    out.key("Spec", "duration", &quoted(&duration.to_string()));
    out.key("Spec", "warm_up", &quoted(&Duration::from_ns(duration.ns() / 5).to_string()));
    out.key("Spec", "seeds", "\"1..=10\"");
    out.key("Spec", "disciplines", &format!("[{}]", disciplines.join(", ")));
    disciplines.iter().for_each(|entry| out.part("discipline", entry.trim_matches('"')));
    out.text += "\n[link]";
    out.key("LinkSpec", "rate", &quoted(&rate.to_string()));
    out.key("LinkSpec", "delay", &quoted(&Duration::from_ns(rtt.ns() / 2).to_string()));
    out.comment("Half of the round-trip time: access links have none.");
    out.key("LinkSpec", "buffer", &quoted(&buffer(*rate, *rtt)));
    out.comment("What the link sends in a round-trip time, and ten packets at least.");
    let mut groups: Vec<String> = Vec::new();
    for sender in &answers.senders {
        out.flow(sender, &mut groups);
    }
    out.text
}

/// The bytes of ten full-size packets.
const TEN_PACKETS: f64 = 15_000.0;

fn buffer(rate: Rate, rtt: Duration) -> String {
    let fits = rate.bps() as f64 * rtt.secs() / 8.0 >= TEN_PACKETS;
    if fits { rtt.to_string() } else { "10 packets".into() }
}

struct Text<'a> {
    schema: &'a Value,
    text: String,
}

const COLUMNS: usize = 98;

impl Text<'_> {
    fn key(&mut self, table: &str, key: &str, value: &str) {
        let properties = match table {
            "Spec" => &self.schema["properties"],
            table => &self.schema["$defs"][table]["properties"],
        };
        let said = properties[key]["description"].as_str().unwrap_or_default().to_owned();
        self.text += "\n";
        self.comment(&said);
        writeln!(self.text, "{key} = {value}").expect("writing to a string succeeds");
    }

    fn comment(&mut self, said: &str) {
        for line in textwrap::wrap(&said.replace('\n', " "), COLUMNS) {
            writeln!(self.text, "# {line}").expect("writing to a string succeeds");
        }
    }

    fn part(&mut self, kind: &str, name: &str) {
        if let Some(part) =
            fairwire_scenario::parts::all().find(|part| part.kind == kind && part.name == name)
        {
            self.comment(&format!("{}: {}", part.name, part.summary));
        }
    }

    fn flow(&mut self, Sender { count, kind, rate }: &Sender, groups: &mut Vec<String>) {
        let name = match kind {
            Kind::Controller(name) | Kind::Source { name, .. } => *name,
        };
        // Senders of the same name differ in rate, so their groups are numbered.
        let same = groups.iter().filter(|group| group.split('_').next() == Some(name)).count();
        let group = if same == 0 { name.to_owned() } else { format!("{name}_{}", same + 1) };
        self.text += "\n[[flow]]";
        self.key("FlowSpec", "group", &quoted(&group));
        groups.push(group);
        self.key("FlowSpec", "count", &count.to_string());
        self.key("FlowSpec", "source", &source_of(kind, *rate));
        if let Kind::Source { name, .. } = kind {
            self.part("source", name);
        }
        match kind {
            Kind::Controller(name) => {
                self.key("FlowSpec", "tcp", &format!("{{ control = \"{name}\", profile = \"modern\" }}"));
                self.part("controller", name);
            }
            Kind::Source { is_tcp: true, .. } => self.key("FlowSpec", "tcp", "{ profile = \"modern\" }"),
            Kind::Source { .. } => {}
        }
        self.key("FlowSpec", "access", "{ rate = \"10 Gbit/s\", delay = \"0 s\" }");
        self.key("FlowSpec", "start", "\"0 s..1 s\"");
    }
}

fn source_of(kind: &Kind, rate: Option<Rate>) -> String {
    match (kind, rate) {
        (Kind::Controller(_), _) => "\"bulk\"".into(),
        (Kind::Source { name, example, .. }, Some(rate)) => {
            format!("{{ {name} = {{ {} }} }}", at_rate(example, rate))
        }
        (Kind::Source { name, example: "", .. }, None) => quoted(name),
        (Kind::Source { name, example, .. }, None) => format!("{{ {name} = {{ {example} }} }}"),
    }
}

fn at_rate(example: &str, rate: Rate) -> String {
    let is_rate = |part: &&str| part.starts_with("rate = ");
    // A comma can also be inside a value, so the example is split only after `", ` and `}, `.
    let others = example.split_inclusive("\", ").flat_map(|part| part.split_inclusive("}, "));
    let others: String = others.filter(|part| !is_rate(part)).collect();
    let others = others.trim_end_matches(", ");
    let separator = if others.is_empty() { "" } else { ", " };
    format!("rate = \"{rate}\"{separator}{others}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(senders_text: &str) -> String {
        let answers = Answers {
            rate: "10 Mbit/s".parse().expect("a rate"),
            rtt: "40 ms".parse().expect("a time"),
            senders: senders(senders_text).expect("senders"),
            disciplines: disciplines("tail-drop, { red = { gentle = true }, label = \"mild\" }")
                .expect("two"),
            duration: "30 s".parse().expect("a time"),
        };
        scenario(&answers, "mine")
    }

    #[test]
    fn a_new_scenario_runs_with_every_kind_of_sender() {
        let names = control::all().iter().map(|known| known.name);
        let with_rate = sources().filter(|entry| entry.fields.iter().any(|field| field.name == "rate"));
        let at_rates = with_rate.map(|entry| format!("3 {} 1500 kbit/s", entry.name));
        let plain = names.chain(sources().map(|entry| entry.name)).map(|name| format!("3 {name}, {name}"));
        for name in plain.chain(at_rates) {
            let text = text(&name);
            let read = parse("mine.toml", &text, &Overrides::default());
            assert!(
                read.is_ok(),
                "{name}: {}\n{text}",
                read.err().map(|error| error.to_string()).unwrap_or_default()
            );
        }
    }

    #[test]
    fn comments_are_those_of_the_declarations() {
        let text = text("1 cbr 2 Mbit/s, cubic");
        for said in [
            "# Length of each run, warm-up included.",
            "# cubic: ",
            "source = { cbr = { rate = \"2 Mbit/s\" } }",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
        assert!(text.lines().all(|line| line.len() <= 100), "{text}");
    }

    #[test]
    fn an_unknown_sender_or_one_without_a_rate_is_refused_with_allowed_ones() {
        let refusal = |text: &str| senders(text).expect_err("it is refused");
        assert!(refusal("4 cubik").contains("did you mean `cubic`?"), "{}", refusal("4 cubik"));
        assert!(!refusal("1 replay").contains("`replay`?"), "{}", refusal("1 replay"));
        assert!(refusal("cubic 3 Mbit/s").contains("no rate of its own"));
        assert!(refusal("0 cubic").contains("allowed: 1 to 1000"));
        assert!(refusal("1 cbr fast").contains("fast"));
        assert!(refusal(" , ").contains("allowed"));
        assert!(disciplines("tail-dorp").expect_err("it is refused").contains("tail-drop"));
    }

    #[test]
    fn an_answer_that_breaks_the_scenario_is_refused_at_once() {
        let question = |option: &str| QUESTIONS.iter().find(|it| it.option == option).expect("it is one");
        let all = Answers::defaults();
        let why = all.with_answer(question("--duration"), "1 s").expect_err("no flow starts in time");
        assert!(why.contains("the run is over by then; allowed: "), "{why}");
        assert!(all.with_answer(question("--duration"), "20 s").is_ok());
        // An answer is not refused for a mistake in an earlier answer.
        let short = all.with(question("--duration"), "1 s").expect("it is a time");
        assert!(short.with_answer(question("--rate"), "20 Mbit/s").is_ok());
    }

    #[test]
    fn a_source_takes_further_parameters_from_its_example() {
        let text = text("1 on-off 5 Mbit/s");
        assert!(text.contains("on-off = { rate = \"5 Mbit/s\", burst = { fixed = "), "{text}");
    }
}
