//! The processor time and memory of a gateway's process.

use fairwire_control::snapshot::ProcessSnapshot;
use fairwire_core::{Duration, Time};
use fairwire_linux::clock;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

/// `/proc/self/stat`, which stays open since the rights to open it may be given up later.
static PROCESS: OnceLock<Option<Process>> = OnceLock::new();

struct Process {
    stat: File,
    /// The start time, computed once. After a step of the calendar clock, a later result would
    /// differ, as if the process had restarted.
    started_s: f64,
}

/// Opens `/proc/self/stat`, while this is allowed.
pub fn open() {
    let _ = process();
}

fn process() -> Option<&'static Process> {
    PROCESS.get_or_init(Process::open).as_ref()
}

impl Process {
    fn open() -> Option<Self> {
        let stat = File::open("/proc/self/stat").ok()?;
        let since_boot =
            Fields::of(&stat)?.started_ticks as f64 / rustix::param::clock_ticks_per_second() as f64;
        let age_s = (clock::boot().since(Time::ZERO).secs() - since_boot).max(0.0);
        // The kernel's resolution is a hundredth of a second.
        let started_s = ((clock::calendar().since(Time::ZERO).secs() - age_s) * 100.0).round() / 100.0;
        Some(Process { stat, started_s })
    }
}

/// The process's resources; `None` if the kernel does not report them. `forwarding` is the
/// processor time of the datapath threads.
pub(super) fn snapshot(forwarding: Duration) -> Option<ProcessSnapshot> {
    let process = process()?;
    let fields = Fields::of(&process.stat)?;
    Some(ProcessSnapshot {
        cpu_s: clock::process().since(Time::ZERO).secs(),
        forwarding_cpu_s: forwarding.secs(),
        resident_bytes: fields.resident_pages * rustix::param::page_size() as u64,
        virtual_bytes: fields.virtual_bytes,
        threads: fields.threads,
        started_s: process.started_s,
    })
}

/// Fields of `/proc/PID/stat` (proc(5)).
#[derive(Debug, PartialEq, Eq)]
struct Fields {
    threads: u64,
    started_ticks: u64,
    virtual_bytes: u64,
    resident_pages: u64,
}

impl Fields {
    fn of(stat: &File) -> Option<Self> {
        let mut text = [0; 1024];
        let count = stat.read_at(&mut text, 0).ok()?;
        Fields::read(std::str::from_utf8(&text[..count]).ok()?)
    }

    fn read(text: &str) -> Option<Self> {
        // The program's name is in parentheses, and may contain parentheses. The third field
        // follows the name.
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        let number = |field: usize| fields.get(field - 3)?.parse().ok();
        Some(Fields {
            threads: number(20)?,
            started_ticks: number(22)?,
            virtual_bytes: number(23)?,
            resident_pages: number(24)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_after_any_program_name() {
        let text =
            "47 (a) S (b 1 2) S 1 47 47 0 -1 4194560 900 0 0 0 12 3 0 0 20 0 5 0 8812 23089152 1420 184";
        let fields =
            Fields { threads: 5, started_ticks: 8812, virtual_bytes: 23_089_152, resident_pages: 1420 };
        assert_eq!(Fields::read(text), Some(fields));
        assert_eq!(Fields::read("47 (short) S 1 2 3"), None);
        assert_eq!(Fields::read(""), None);
    }

    #[test]
    fn this_process_has_memory_threads_and_a_start_time() {
        let its = snapshot(Duration::from_ms(5)).expect("Linux has /proc");
        assert!(its.resident_bytes > 100_000 && its.virtual_bytes >= its.resident_bytes, "{its:?}");
        assert!(its.threads >= 1 && its.cpu_s > 0.0 && its.forwarding_cpu_s == 0.005, "{its:?}");
        let now_s = clock::calendar().since(Time::ZERO).secs();
        // No test runs for a day.
        assert!((now_s - 86_400.0..=now_s + 0.1).contains(&its.started_s), "{its:?}");
    }
}
