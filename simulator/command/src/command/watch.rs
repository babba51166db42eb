//! `fairwire watch`: plays a run in the terminal, and changes it while it runs.

use crate::args::{WatchArgs, changes};
use crate::scene::{Scene, draw};
use fairwire_core::units::{Amount, Room};
use fairwire_core::{Duration as Span, Rate, Time};
use fairwire_experiment::view::{FlowView, LinkView, View};
use fairwire_play::{Frame, MAX_FLOWS, Player, SideFrame};
use fairwire_scenario::{Links, Overrides, Scenario, load};
use fairwire_terminal::failure::{Ending, Failure};
use fairwire_terminal::{interrupt, screen};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

const FRAME: Duration = Duration::from_millis(50);
/// The simulated seconds per second that keys select.
const SPEEDS: [f64; 10] = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0];
/// The simulated time of a step in seconds: one sampling interval.
const STEP_S: f64 = 0.01;
/// The factor by which a key changes a rate or a buffer.
const FACTOR: f64 = 1.25;
const KEYS: &str = "q quit  space pause  . step  +/- speed  up/down rate  [/] buffer  d/D discipline";
const WITHOUT: &str = "`fairwire run --plot` draws the same into a file";

/// Plays the scenario.
pub(crate) fn watch(args: &WatchArgs) -> Result<Ending, Failure> {
    let overrides = Overrides {
        set: changes(&args.set)?,
        disciplines: args.discipline.clone(),
        seeds: args.seed.clone(),
    };
    let scenario = load(&args.scenario, &overrides)?;
    let allowed = format!("allowed: a scenario of at most {MAX_FLOWS} flows");
    let mut playing = Playing::new(scenario, args.speed).map_err(|error| Failure::user(error, allowed))?;
    if !io::stdout().is_terminal() {
        let what = "`watch` needs a terminal, but the output is not a terminal";
        return Err(Failure::user(what, format!("allowed: a terminal; {WITHOUT}")));
    }
    screen::on_terminal(WITHOUT, |terminal| play(terminal, &mut playing))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the command line may know the time: what is played passes as on a clock"
)]
fn play(terminal: &mut DefaultTerminal, playing: &mut Playing) -> io::Result<()> {
    let mut before = Instant::now();
    while !interrupt::is_requested() {
        let now = Instant::now();
        playing.pass(now.duration_since(before));
        before = now;
        terminal.draw(|frame| draw(frame, &playing.scene))?;
        let mut wait = FRAME.saturating_sub(now.elapsed());
        while event::poll(wait)? {
            wait = Duration::ZERO;
            if let Event::Key(key) = event::read()?
                && playing.is_last(key)
            {
                return Ok(());
            }
        }
    }
    Ok(())
}

pub(super) struct Playing {
    player: Player,
    pub(super) scene: Scene,
    flows: Vec<String>,
    at_s: f64,
    speed: usize,
    is_paused: bool,
    is_over: bool,
    /// Packets dropped since the start, for each discipline shown: in total and per flow.
    dropped: Vec<(u64, Vec<u64>)>,
}

impl Playing {
    pub(super) fn new(scenario: Scenario, speed: f64) -> Result<Self, String> {
        let player = Player::of(scenario).map_err(|error| error.to_string())?;
        let flows = player.flows();
        let speed = SPEEDS.iter().rposition(|known| *known <= speed).unwrap_or(0);
        let scene = Scene::of(KEYS);
        let mut playing = Playing {
            player,
            scene,
            flows,
            at_s: 0.0,
            speed,
            is_paused: false,
            is_over: false,
            dropped: Vec::new(),
        };
        playing.go_on(STEP_S);
        Ok(playing)
    }

    pub(super) fn pass(&mut self, time: Duration) {
        if !self.is_paused && !self.is_over {
            // If the process was suspended (Ctrl-Z), the run does not make up for that time.
            self.go_on(time.min(4 * FRAME).as_secs_f64() * SPEEDS[self.speed]);
        }
        self.say();
    }

    fn go_on(&mut self, seconds: f64) {
        self.at_s += seconds;
        let frame = self.player.advance(Time::ZERO + Span::from_secs_f64(self.at_s));
        self.is_over = frame.is_over;
        if self.is_over {
            self.at_s = frame.now_s;
        }
        if frame.sides.iter().any(|side| !side.samples.is_empty()) {
            let view = self.view(&frame);
            self.scene.take(view);
        }
    }

    fn view(&mut self, frame: &Frame) -> View {
        self.dropped.resize(frame.sides.len(), (0, vec![0; self.flows.len()]));
        let labels: Vec<String> = {
            let disciplines = &self.player.scenario().spec().disciplines;
            disciplines.iter().map(|compared| compared.label().to_owned()).collect()
        };
        let sides = frame.sides.iter().zip(&mut self.dropped).zip(labels);
        let links = sides.map(|((side, dropped), name)| link(side, dropped, name, &self.flows)).collect();
        View { at_s: frame.now_s, links }
    }

    fn say(&mut self) {
        let spec = self.player.scenario().spec();
        let how = match (self.is_over, self.is_paused) {
            (true, _) => "at its end".to_owned(),
            (_, true) => "paused".to_owned(),
            _ => format!("{} x", SPEEDS[self.speed]),
        };
        let link = match &spec.link {
            Some(Links::Shared(link)) => {
                let rate = link.rate.map_or_else(String::new, |rate| format!("{}, ", rate.0.rounded()));
                format!("  {rate}buffer {}", link.buffer)
            }
            _ => String::new(),
        };
        self.scene.title = format!("{}  {:.2} s of {}  {how}{link}", spec.name, self.at_s, spec.duration);
    }

    /// Handles a key; returns true if it ends the run.
    pub(super) fn is_last(&mut self, key: KeyEvent) -> bool {
        if key.kind != KeyEventKind::Press {
            return false;
        }
        let is_interrupt = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
        let is_change =
            matches!(key.code, KeyCode::Up | KeyCode::Down | KeyCode::Char(']' | '[' | 'd' | 'D'));
        match key.code {
            _ if is_interrupt => return true,
            _ if is_change && self.is_over => {
                self.scene.trouble = Some("the run is at its end, and nothing changes any more".into());
            }
            KeyCode::Char('q') | KeyCode::Esc => return true,
            KeyCode::Char(' ') => self.is_paused = !self.is_paused,
            KeyCode::Char('.') if !self.is_over => {
                self.is_paused = true;
                self.go_on(STEP_S);
            }
            KeyCode::Char('+' | '=') => self.speed = (self.speed + 1).min(SPEEDS.len() - 1),
            KeyCode::Char('-') => self.speed = self.speed.saturating_sub(1),
            KeyCode::Up => self.change_rate(FACTOR),
            KeyCode::Down => self.change_rate(1.0 / FACTOR),
            KeyCode::Char(']') => self.change_buffer(FACTOR),
            KeyCode::Char('[') => self.change_buffer(1.0 / FACTOR),
            KeyCode::Char('d') => self.change_discipline(0),
            KeyCode::Char('D') => self.change_discipline(1),
            _ => {}
        }
        self.say();
        false
    }

    fn change_rate(&mut self, by: f64) {
        let link = self.player.scenario().spec().shared_link();
        let Some(rate) = link.and_then(|link| link.rate) else {
            self.scene.trouble = Some("keys change the rate of one `[link]` without a `trace`".into());
            return;
        };
        let bps = Rate::from_bps((rate.0.bps() as f64 * by).round().max(1.0) as u64);
        self.set(bps.map(|rate| format!("link.rate={rate}")));
    }

    fn change_buffer(&mut self, by: f64) {
        let Some(link) = self.player.scenario().spec().shared_link() else {
            self.scene.trouble = Some("keys change the buffer of one `[link]`".into());
            return;
        };
        // Rounding away from the old value changes it by at least one.
        let times = |value: f64| {
            let product = if by > 1.0 { (value * by).ceil() } else { (value * by).floor() };
            product.max(1.0)
        };
        let amount = match link.buffer.0 {
            Room::Bdp(factor) => Room::Bdp(factor * by),
            Room::Amount(Amount::Packets(packets)) => {
                Room::Amount(Amount::Packets(times(f64::from(packets)) as u32))
            }
            Room::Amount(Amount::Bytes(bytes)) => Room::Amount(Amount::Bytes(times(bytes as f64) as u64)),
            Room::Amount(Amount::Time(time)) => {
                Room::Amount(Amount::Time(Span::from_ns(times(time.ns() as f64) as u64)))
            }
        };
        self.set(Some(format!("link.buffer={amount}")));
    }

    fn change_discipline(&mut self, side: usize) {
        let disciplines = &self.player.scenario().spec().disciplines;
        let mut labels: Vec<String> =
            disciplines.iter().map(|compared| compared.label().to_owned()).collect();
        let Some(now) = labels.get(side).cloned() else { return };
        let all: Vec<&str> = fairwire_catalogue::all().iter().map(|entry| entry.name).collect();
        let from = all.iter().position(|name| *name == now).map_or(0, |at| at + 1);
        for at in 0..all.len() {
            let name = all[(from + at) % all.len()];
            if labels.iter().any(|label| label == name) {
                continue;
            }
            labels[side] = name.into();
            let typed: Vec<String> = labels.iter().map(|label| format!("\"{label}\"")).collect();
            if self.player.set(&[format!("disciplines=[{}]", typed.join(", "))]).is_ok() {
                self.scene.trouble = None;
                return;
            }
        }
        self.scene.trouble = Some("no other discipline can be there: labels stay with their tables".into());
    }

    fn set(&mut self, change: Option<String>) {
        let outcome = change.map_or(Ok(()), |change| self.player.set(&[change]));
        self.scene.trouble = outcome.err().map(|error| error.to_string());
    }
}

/// The state of the link under one of the shown disciplines, since the previous frame.
fn link(side: &SideFrame, dropped: &mut (u64, Vec<u64>), name: String, flows: &[String]) -> LinkView {
    let SideFrame { samples, levels } = side;
    let count = samples.len().max(1) as f64;
    let waits = |of: &dyn Fn(usize) -> f64| {
        let known = (0..samples.len()).map(of).filter(|wait| wait.is_finite());
        known.fold(0.0, f64::max)
    };
    for sample in samples {
        dropped.0 += sample.dropped.iter().sum::<f64>() as u64;
        for (total, flow) in dropped.1.iter_mut().zip(&sample.flows) {
            *total += flow.dropped as u64;
        }
    }
    let last = samples.last();
    let flow = |(at, (name, level)): (usize, (&String, &fairwire_play::Level))| FlowView {
        name: name.clone(),
        bps: level.delivered_bps,
        fair_bps: Some(level.share_bps).filter(|share| share.is_finite()),
        dropped: dropped.1.get(at).copied().unwrap_or(0),
        window: last
            .and_then(|sample| sample.flows.get(at))
            .map(|flow| flow.window)
            .filter(|it| it.is_finite()),
    };
    LinkView {
        name,
        rate_bps: samples.iter().map(|sample| sample.link_bps).sum::<f64>() / count,
        sent_bps: levels.iter().map(|level| level.delivered_bps).sum(),
        backlog_packets: last.map_or(0.0, |sample| sample.waiting_packets) as u64,
        backlog_bytes: last.map_or(0.0, |sample| sample.waiting_bytes) as u64,
        wait_p50_s: waits(&|at| samples[at].wait_p50_s),
        wait_p99_s: waits(&|at| samples[at].wait_p99_s),
        dropped: dropped.0,
        marked: None,
        lost: 0,
        flows: flows.iter().zip(levels).enumerate().map(flow).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_scenario::parse;
    use fairwire_terminal::screen::picture;

    fn playing() -> Playing {
        let text = r#"
            format = 2
            name = "two"
            duration = "20 s"
            disciplines = ["tail-drop", "faba"]
            link = { rate = "2 Mbit/s", delay = "5 ms", buffer = "40 packets" }
            [[flow]]
            group = "tcp"
            count = 2
            source = "bulk"
            access = { rate = "100 Mbit/s", delay = "1 ms" }
            [[flow]]
            group = "udp"
            source = { cbr = { rate = "1500 kbit/s" } }
            access = { rate = "100 Mbit/s", delay = "1 ms" }
            [[expect]]
            discipline = "faba"
            measure = "jain"
            min = 0.5
        "#;
        let scenario = parse("two", text, &Overrides::default()).expect("a scenario");
        Playing::new(scenario, 1.0).expect("it can be played")
    }

    fn press(playing: &mut Playing, key: KeyCode) -> bool {
        playing.is_last(KeyEvent::new(key, KeyModifiers::NONE))
    }

    fn shown(playing: &Playing) -> String {
        picture(120, 30, &|frame| draw(frame, &playing.scene))
    }

    #[test]
    fn time_passes_at_the_chosen_speed_and_stops_at_a_pause_and_the_end() {
        let mut playing = playing();
        for _ in 0..20 {
            playing.pass(FRAME);
        }
        assert!(shown(&playing).starts_with("two  1.01 s of 20 s  1 x  2 Mbit/s, buffer 40 packets"));
        press(&mut playing, KeyCode::Char(' '));
        playing.pass(FRAME);
        assert!(shown(&playing).starts_with("two  1.01 s of 20 s  paused"), "{}", shown(&playing));
        press(&mut playing, KeyCode::Char('.'));
        assert!(shown(&playing).starts_with("two  1.02 s"), "a step");
        press(&mut playing, KeyCode::Char(' '));
        for _ in 0..9 {
            press(&mut playing, KeyCode::Char('+'));
        }
        for _ in 0..5 {
            playing.pass(FRAME);
        }
        let text = shown(&playing);
        assert!(text.starts_with("two  20.00 s of 20 s  at its end"), "{text}");
        assert!(text.contains("tail-drop") && text.contains("faba") && text.contains("udp.1"), "{text}");
        press(&mut playing, KeyCode::Up);
        let text = shown(&playing);
        assert!(text.contains("at its end  2 Mbit/s") && text.contains("nothing changes any more"), "{text}");
        assert!(press(&mut playing, KeyCode::Char('q')));
    }

    #[test]
    fn keys_change_rate_buffer_and_discipline_during_a_run_and_show_refusals() {
        let mut playing = playing();
        playing.pass(FRAME);
        for key in [KeyCode::Up, KeyCode::Char(']'), KeyCode::Char('D')] {
            press(&mut playing, key);
        }
        playing.pass(FRAME);
        let text = shown(&playing);
        assert!(text.contains("2.5 Mbit/s, buffer 50 packets"), "{text}");
        assert!(
            text.contains("hfaba") && text.contains("tail-drop"),
            "what follows faba in the list: {text}"
        );
        playing.set(Some("link.delay=1 s".into()));
        let trouble = playing.scene.trouble.clone().unwrap_or_default();
        assert!(trouble.contains("all else needs a new run"), "{trouble}");
        assert!(shown(&playing).contains("`link.delay` is `1 s`"), "{}", shown(&playing));
        press(&mut playing, KeyCode::Char('['));
        assert!(playing.scene.trouble.is_none() && shown(&playing).contains("buffer 40 packets"));
    }
}
