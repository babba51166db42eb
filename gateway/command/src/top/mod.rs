//! `fairwire-gateway top`.

mod draw;
mod feed;
mod view;

use super::client::silent;
use crate::args::TopArgs;
use fairwire_control::snapshot::Snapshot;
use fairwire_service::service::socket_of;
use fairwire_terminal::failure::{Ending, Failure};
use fairwire_terminal::interrupt;
use fairwire_terminal::print::print;
use fairwire_terminal::screen::{self, picture};
use feed::News;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::Duration;
use view::{Table, View};

/// The interval at which news is polled. The screen is drawn after news and after each key.
const FRAME: Duration = Duration::from_millis(100);

pub(super) fn top(args: &TopArgs) -> Result<Ending, Failure> {
    let socket = match (&args.socket, &args.config) {
        (Some(socket), _) => socket.clone(),
        (None, Some(config)) => socket_of(config)?,
        (None, None) => {
            return Err(Failure::user("`<CONFIG>` is missing", "allowed: a configuration, or `--socket`"));
        }
    };
    if args.once || !io::stdout().is_terminal() {
        return once(&socket);
    }
    let wants_all = Arc::new(AtomicBool::new(false));
    let news = feed::follow(socket.clone(), args.every, wants_all.clone());
    let view = View::new(&socket);
    screen::on_terminal("`--once` shows one picture and needs none", |terminal| {
        watch(terminal, view, &news, &wants_all)
    })
}

fn watch(
    terminal: &mut DefaultTerminal,
    mut view: View,
    news: &Receiver<News>,
    wants_all: &AtomicBool,
) -> io::Result<()> {
    let mut is_new = true;
    while !interrupt::is_requested() {
        for news in news.try_iter() {
            view.take(news);
            is_new = true;
        }
        wants_all.store(view.wants_all(), Ordering::Relaxed);
        if is_new {
            terminal.draw(|frame| draw::draw(frame, &view))?;
            is_new = false;
        }
        let mut wait = FRAME;
        while event::poll(wait)? {
            (wait, is_new) = (Duration::ZERO, true);
            if let Event::Key(key) = event::read()?
                && is_last(&mut view, key)
            {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn is_last(view: &mut View, key: KeyEvent) -> bool {
    if key.kind != KeyEventKind::Press {
        return false;
    }
    // In raw mode, the terminal sends keys, not signals.
    if key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL) {
        return true;
    }
    if view.is_typing {
        search(view, key.code);
        return false;
    }
    let page = view.page.get().max(1).cast_signed();
    match key.code {
        KeyCode::Char('q') => return true,
        KeyCode::Esc if view.search.is_empty() => return true,
        KeyCode::Esc => view.search_for(String::new()),
        KeyCode::Char('/') => {
            view.search_for(String::new());
            view.is_typing = true;
        }
        KeyCode::Char('d') => view.show(0, view.table),
        KeyCode::Char('u') => view.show(1, view.table),
        KeyCode::Char('c') => view.show(view.way, Table::Classes),
        KeyCode::Char('f') => view.show(view.way, Table::Flows),
        KeyCode::Char('s') => view.order = view.order.next(),
        KeyCode::Char('p') => view.is_paused = !view.is_paused,
        KeyCode::Down | KeyCode::Char('j') => view.scroll(1),
        KeyCode::Up | KeyCode::Char('k') => view.scroll(-1),
        KeyCode::PageDown | KeyCode::Char(' ') => view.scroll(page),
        KeyCode::PageUp => view.scroll(-page),
        KeyCode::Home | KeyCode::Char('g') => view.scroll(isize::MIN),
        KeyCode::End | KeyCode::Char('G') => view.scroll(isize::MAX),
        _ => {}
    }
    false
}

/// The longest search, in bytes.
const MAX_SEARCH: usize = 100;

fn search(view: &mut View, key: KeyCode) {
    let mut text = view.search.clone();
    match key {
        KeyCode::Enter => view.is_typing = false,
        KeyCode::Esc => {
            view.is_typing = false;
            view.search_for(String::new());
        }
        KeyCode::Backspace => {
            text.pop();
            view.search_for(text);
        }
        KeyCode::Char(letter) if text.len() < MAX_SEARCH => {
            text.push(letter);
            view.search_for(text);
        }
        _ => {}
    }
}

fn once(socket: &Path) -> Result<Ending, Failure> {
    let snapshot = feed::fetch(socket).map_err(silent)?;
    print(as_text(snapshot, socket).as_bytes())?;
    Ok(Ending::Done)
}

const COLUMNS: u16 = 100;
/// The maximum number of rows printed per table.
const ROWS: usize = 1000;

fn as_text(snapshot: Snapshot, socket: &Path) -> String {
    let mut view = View::new(socket);
    let ways = snapshot.ways.len();
    view.take(News::Snapshot(Box::new(snapshot)));
    let mut text = picture(COLUMNS, draw::HEAD_LINES, &|frame| draw::head(frame, &view, frame.area()));
    for way in 0..ways {
        view.show(way, Table::Classes);
        text += "\n";
        text += &picture(COLUMNS, draw::COUNT_LINES, &|frame| draw::counts(frame, &view, frame.area()));
        for table in [Table::Classes, Table::Flows] {
            view.show(way, table);
            let rows = view.rows().min(ROWS) as u16;
            if rows > 0 {
                text += "\n";
                let lines = draw::TABLE_LINES + rows;
                text += &picture(COLUMNS, lines, &|frame| draw::table(frame, &view, frame.area()));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests;
