//! Links shown in the terminal.

mod draw;
#[cfg(test)]
mod tests;

pub(crate) use draw::draw;

use fairwire_experiment::view::{LinkView, View};
use fairwire_terminal::failure::{Ending, Failure};
use fairwire_terminal::{interrupt, screen};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

#[derive(Debug, Default)]
pub(crate) struct Scene {
    pub title: String,
    /// The line at the bottom, which lists the keys.
    pub keys: String,
    /// The error that the last key caused.
    pub trouble: Option<String>,
    /// The latest view.
    pub view: View,
    pasts: Vec<Past>,
}

#[derive(Clone, Debug, Default)]
struct Past {
    sent_bps: VecDeque<u64>,
    backlog_packets: VecDeque<u64>,
    wait_us: VecDeque<u64>,
    lost: VecDeque<u64>,
    /// The packets dropped, marked and lost up to the previous view.
    total: Option<u64>,
}

/// The number of values kept, one per column of the terminal.
const KEPT: usize = 512;

impl Scene {
    pub(crate) fn of(keys: &str) -> Self {
        Scene { keys: keys.into(), ..Scene::default() }
    }

    pub(crate) fn take(&mut self, view: View) {
        self.pasts.resize(view.links.len(), Past::default());
        for (past, link) in self.pasts.iter_mut().zip(&view.links) {
            past.take(link);
        }
        self.view = view;
    }
}

const FRAME: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(crate) struct Showing {
    views: Sender<View>,
    thread: JoinHandle<Result<Ending, Failure>>,
}

impl Showing {
    /// Shows the views in a thread. Ctrl-C ends the picture and the contest; `q` ends only the
    /// picture.
    pub(crate) fn begin(title: String) -> Self {
        let (views, receiver) = channel();
        let show = move || {
            let ended = show(&title, &receiver);
            if matches!(ended, Ok(Ending::Interrupted)) {
                interrupt::request();
            }
            ended
        };
        Showing { views, thread: std::thread::spawn(show) }
    }

    pub(crate) fn views(&self) -> &Sender<View> {
        &self.views
    }

    pub(crate) fn end(self) -> Result<(), Failure> {
        let Showing { views, thread } = self;
        drop(views);
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)).map(drop)
    }
}

pub(crate) fn follow(
    title: &str,
    views: impl Iterator<Item = View> + Send + 'static,
) -> Result<Ending, Failure> {
    let (sender, receiver) = channel();
    // The process ends without waiting for this thread.
    std::thread::spawn(move || {
        let _ = views.into_iter().try_for_each(|view| sender.send(view));
    });
    show(title, &receiver)
}

/// Shows received views until all senders are dropped, or until a key ends the picture.
pub(crate) fn show(title: &str, views: &Receiver<View>) -> Result<Ending, Failure> {
    let mut scene = Scene::of("q quit  p pause");
    let (mut is_paused, mut is_interrupted) = (false, false);
    let ended = screen::on_terminal("it fills one", |terminal| {
        while !interrupt::is_requested() {
            loop {
                match views.try_recv() {
                    Ok(view) if !is_paused => scene.take(view),
                    Ok(_) => {}
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => return Ok(()),
                }
            }
            let paused = if is_paused { "  paused" } else { "" };
            scene.title = format!("{title}  {:.1} s{paused}", scene.view.at_s);
            terminal.draw(|frame| draw(frame, &scene))?;
            let mut wait = FRAME;
            while event::poll(wait)? {
                wait = Duration::ZERO;
                let Event::Key(key) = event::read()? else { continue };
                match key.code {
                    _ if key.kind != KeyEventKind::Press => {}
                    KeyCode::Char('q') | KeyCode::Esc => return Ok(()),
                    KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                        is_interrupted = true;
                        return Ok(());
                    }
                    KeyCode::Char('p' | ' ') => is_paused = !is_paused,
                    _ => {}
                }
            }
        }
        Ok(())
    });
    ended.map(|ending| if is_interrupted { Ending::Interrupted } else { ending })
}

impl Past {
    fn take(&mut self, link: &LinkView) {
        let total = link.dropped + link.marked.unwrap_or(0) + link.lost;
        push(&mut self.sent_bps, link.sent_bps);
        push(&mut self.backlog_packets, link.backlog_packets as f64);
        push(&mut self.wait_us, link.wait_p99_s * 1e6);
        // Packets lost before the first view are not shown.
        let before = self.total.replace(total).unwrap_or(total);
        push(&mut self.lost, total.saturating_sub(before) as f64);
    }
}

fn push(values: &mut VecDeque<u64>, value: f64) {
    if values.len() == KEPT {
        values.pop_front();
    }
    values.push_back(if value.is_finite() { value.max(0.0).round() as u64 } else { 0 });
}
