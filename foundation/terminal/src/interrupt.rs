//! Ctrl-C: the first one requests to stop and report, the second one ends at once.

use crate::notice::notice;
use std::sync::atomic::{AtomicBool, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);

/// The flag that Ctrl-C (or SIGTERM, or a closed terminal) raises.
///
/// Where no handler can be set, Ctrl-C keeps its usual effect and the flag stays down.
pub fn flag() -> &'static AtomicBool {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let handler = || {
            if STOP.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
            notice(format_args!(
                "interrupted: stopping and reporting what is finished (again to stop at once)"
            ));
        };
        if let Err(error) = ctrlc::set_handler(handler) {
            notice(format_args!("note: an interrupted run will report nothing: {error}"));
        }
    });
    &STOP
}

/// Raises the flag, as Ctrl-C does where the terminal gives it as a key.
pub fn request() {
    STOP.store(true, Ordering::Relaxed);
}

/// Has Ctrl-C been pressed?
pub fn is_requested() -> bool {
    flag().load(Ordering::Relaxed)
}
