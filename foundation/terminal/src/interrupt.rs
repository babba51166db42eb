//! Ctrl-C: the first one requests to stop and report, the second one ends at once. So does the first
//! where nothing is left but to write.

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

/// The flag that Ctrl-C (or SIGTERM, or a closed terminal) raises.
///
/// Where no handler can be set, Ctrl-C keeps its usual effect and the flag stays down.
pub fn flag() -> &'static AtomicBool {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        if let Err(error) = listen() {
            notice(format_args!("note: an interrupted run will report nothing: {error}"));
        }
    });
    &STOP
}

/// Starts the thread that hears of signals, by a byte each in a pipe.
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
    // Heard and left alone: what is written beyond `ulimit -f` fails, and does not end the process.
    flag::register(SIGXFSZ, Arc::default())?;
    Ok(())
}

/// Raises the flag, as Ctrl-C does where the terminal gives it as a key.
pub fn request() {
    STOP.store(true, Ordering::Relaxed);
}

/// While it is held, nothing is left but to write what came out: Ctrl-C ends the process at once, and
/// no file is left that is not whole.
#[derive(Debug)]
pub struct Writing(());

/// Nothing is left but to write.
pub fn writing() -> Writing {
    WRITES.store(true, Ordering::Relaxed);
    Writing(())
}

impl Drop for Writing {
    fn drop(&mut self) {
        WRITES.store(false, Ordering::Relaxed);
    }
}

/// Has Ctrl-C been pressed?
pub fn is_requested() -> bool {
    flag().load(Ordering::Relaxed)
}
