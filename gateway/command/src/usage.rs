//! `fairwire-gateway usage`: the bytes sent to each class and subscriber, for billing.

use super::client::{answer, since_1970};
use crate::args::UsageArgs;
use fairwire_control::protocol::{Answer, Request};
use fairwire_control::snapshot::Snapshot;
use fairwire_core::Duration;
use fairwire_linux::clock;
use fairwire_terminal::failure::{Ending, Failure};
use fairwire_terminal::file;
use fairwire_terminal::print::print;

const HEAD: [&str; 8] = ["read_s", "started_s", "gateway", "way", "class", "parent", "bytes", "dropped"];

/// The maximum wait for counters. They are copied once per `telemetry.interval`, which is at most
/// 10 s.
const PATIENCE: Duration = Duration::from_secs(12);
const GLANCE: Duration = Duration::from_ms(20);

pub(crate) fn usage(args: &UsageArgs) -> Result<Ending, Failure> {
    if let Some(path) = &args.out {
        file::check_writable("--out", path, &["csv"])?;
    }
    let snapshot = counted(args)?;
    let text =
        rows(&snapshot, since_1970().as_secs_f64()).map_err(|error| Failure::Ours(error.to_string()))?;
    match &args.out {
        None => print(&text)?,
        Some(path) => file::write(path, &text)?,
    }
    Ok(Ending::Done)
}

/// Waits for a snapshot with counters. Right after a start or a reload, counters are missing, and
/// an empty table would look like no traffic.
fn counted(args: &UsageArgs) -> Result<Snapshot, Failure> {
    let until = clock::now() + PATIENCE;
    loop {
        let Answer::Snapshot(snapshot) = answer(&args.whom, &Request::Status { classes: true })? else {
            return Err(Failure::Ours("the gateway answered something else than its status".into()));
        };
        if snapshot.ways.iter().any(|way| !way.classes.is_empty()) {
            return Ok(*snapshot);
        }
        if clock::now() >= until {
            return Err(Failure::Ours(format!("the gateway has counted nothing for {PATIENCE}")));
        }
        clock::sleep_until(clock::now() + GLANCE);
    }
}

/// The snapshot, read at `now_s` (seconds since 1970), as a CSV table.
fn rows(snapshot: &Snapshot, now_s: f64) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(HEAD)?;
    let started =
        snapshot.process.as_ref().map_or(String::new(), |process| format!("{:.2}", process.started_s));
    for way in &snapshot.ways {
        for class in &way.classes {
            let [bytes, dropped] = [class.bytes_out, class.dropped].map(|count| count.to_string());
            let read = format!("{now_s:.3}");
            let own = [&read, &started, &snapshot.name, &way.way, &class.class, &class.parent];
            writer.write_record(own.into_iter().chain([&bytes, &dropped]))?;
        }
    }
    writer.into_inner().map_err(|error| error.into_error().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_control::snapshot::{ClassSnapshot, ProcessSnapshot, WaySnapshot};

    #[test]
    fn each_class_and_direction_has_a_row() {
        let class = |name: &str, bytes_out| ClassSnapshot {
            class: name.into(),
            parent: "gold, plus".into(),
            bytes_out,
            dropped: 2,
            ..ClassSnapshot::default()
        };
        let way = |way: &str, classes| WaySnapshot { way: way.into(), classes, ..WaySnapshot::default() };
        let snapshot = Snapshot {
            name: "tower".into(),
            process: Some(ProcessSnapshot { started_s: 7.5, ..ProcessSnapshot::default() }),
            ways: vec![way("download", vec![class("ann", 10), class("bob", 20)]), way("upload", vec![])],
            ..Snapshot::default()
        };
        let text = String::from_utf8(rows(&snapshot, 9.25).unwrap()).unwrap();
        let expected = "read_s,started_s,gateway,way,class,parent,bytes,dropped\n\
                        9.250,7.50,tower,download,ann,\"gold, plus\",10,2\n\
                        9.250,7.50,tower,download,bob,\"gold, plus\",20,2\n";
        assert_eq!(text, expected);
    }
}
