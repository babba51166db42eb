//! Detects a closed terminal.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;

/// Ends this process, as an interrupt would, once the terminal of stdout is gone. For commands that
/// read keys and report nothing at the end.
///
/// SIGHUP is not sufficient, because a process of another session receives none. A flag would not
/// be checked: crossterm 0.29 loops at end of file and on any error.
pub(crate) fn end_with_terminal() {
    std::thread::spawn(|| {
        while !is_gone(None) {}
        std::process::exit(crate::failure::Ending::Interrupted.code().into());
    });
}

pub(crate) fn has_ended() -> bool {
    is_gone(Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))
}

fn is_gone(patience: Option<&Timespec>) -> bool {
    let stdout = io::stdout();
    // Requests no events: closing is always reported, and another thread reads keys.
    let mut terminal = [PollFd::new(&stdout, PollFlags::empty())];
    match poll(&mut terminal, patience) {
        Ok(_) => terminal[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL),
        Err(Errno::INTR) => false,
        Err(_) => true,
    }
}
