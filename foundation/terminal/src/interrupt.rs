//! The first Ctrl-C requests a stop and a report; the second ends the process. When only the
//! results remain to be written, the first ends the process.

use crate::file;
use crate::notice::notice;
use signal_hook::consts::signal::SIGXFSZ;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::low_level::pipe;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static STOP: AtomicBool = AtomicBool::new(false);
static WRITES: AtomicBool = AtomicBool::new(false);

/// The flag raised by Ctrl-C, SIGTERM or a closed terminal.
///
/// If no handler can be installed, Ctrl-C keeps its default effect.
pub fn flag() -> &'static AtomicBool {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        if let Err(error) = listen() {
            notice(format_args!("note: an interrupted run will report nothing: {error}"));
        }
    });
    &STOP
}

fn listen() -> io::Result<()> {
    let (mut signals, writer) = io::pipe()?;
    let hear = move || {
        while signals.read_exact(&mut [0]).is_ok() {
            if STOP.swap(true, Ordering::Relaxed) || WRITES.load(Ordering::Relaxed) {
                file::remove_hidden();
                std::process::exit(130);
            }
            notice(format_args!(
                "interrupted: stopping and reporting what is finished (again to stop at once)"
            ));
        }
    };
    thread::Builder::new().name("signals".into()).spawn(hear)?;
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        pipe::register(signal, writer.try_clone()?)?;
    }
    // With SIGXFSZ ignored, a write beyond `ulimit -f` fails without ending the process.
    flag::register(SIGXFSZ, Arc::default())?;
    Ok(())
}

/// Raises the flag, for terminals that deliver Ctrl-C as a key.
pub fn request() {
    STOP.store(true, Ordering::Relaxed);
}

/// While this value is held, Ctrl-C ends the process at once, and leaves no incomplete file.
#[derive(Debug)]
pub struct Writing(());

/// Marks that only writing is left.
pub fn writing() -> Writing {
    WRITES.store(true, Ordering::Relaxed);
    Writing(())
}

impl Drop for Writing {
    fn drop(&mut self) {
        WRITES.store(false, Ordering::Relaxed);
    }
}

/// True once [`flag`] is raised.
pub fn is_requested() -> bool {
    flag().load(Ordering::Relaxed)
}
