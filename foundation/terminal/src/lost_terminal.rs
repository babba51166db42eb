//! A terminal that is closed.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;

/// Ends this process, from a thread of its own, once the terminal of stdout is gone: with the code
/// of an interrupted one.
///
/// For a command that reads keys and has nothing to report at its end. SIGHUP alone does not do: a
/// process of another session gets none, and crossterm 0.29, whose loop reads on at the end of file
/// and at any error, never returns to find a flag raised.
pub(crate) fn end_with_terminal() {
    std::thread::spawn(|| {
        while !is_gone(None) {}
        std::process::exit(crate::failure::Ending::Interrupted.code().into());
    });
}

/// Is the terminal of stdout gone by now?
pub(crate) fn has_ended() -> bool {
    is_gone(Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))
}

/// Waits for news of the terminal of stdout, at most for `patience`. Is it gone?
fn is_gone(patience: Option<&Timespec>) -> bool {
    let stdout = io::stdout();
    // Of no events but those that are always reported: the keys are another thread's.
    let mut terminal = [PollFd::new(&stdout, PollFlags::empty())];
    match poll(&mut terminal, patience) {
        Ok(_) => terminal[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL),
        Err(Errno::INTR) => false,
        Err(_) => true,
    }
}
