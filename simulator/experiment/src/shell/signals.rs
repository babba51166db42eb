//! The signals that end a command.

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(super) struct Signals {
    ends: Arc<AtomicUsize>,
    /// The number of the last Ctrl-C or Ctrl-\ signal; 0 if there was none. These signals belong to
    /// the command while it runs.
    interrupts: Arc<AtomicUsize>,
}

impl Signals {
    pub(super) fn listen() -> io::Result<Self> {
        let signals = Signals { ends: Arc::default(), interrupts: Arc::default() };
        let register = |(signal, number): (i32, &Arc<AtomicUsize>)| {
            signal_hook::flag::register_usize(signal, Arc::clone(number), signal.unsigned_abs() as usize)
                .map(drop)
        };
        let Signals { ends, interrupts } = &signals;
        let all = [(SIGTERM, ends), (SIGHUP, ends), (SIGINT, interrupts), (SIGQUIT, interrupts)];
        all.into_iter().try_for_each(register)?;
        Ok(signals)
    }

    /// The number of the last SIGTERM or SIGHUP since the previous call; `None` if there was none.
    pub(super) fn end(&self) -> Option<u8> {
        u8::try_from(self.ends.swap(0, Ordering::Relaxed)).ok().filter(|signal| *signal > 0)
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupts.swap(0, Ordering::Relaxed) > 0
    }
}
