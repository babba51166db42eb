//! `fairwire trace`.

use crate::args::{Format, RatesArgs};
use crate::report::{self, table};
use fairwire_core::Duration;
use fairwire_document::bounded;
use fairwire_metrics::FlowRates;
use fairwire_metrics::flow_rates::TracePacket;
use fairwire_terminal::failure::{Ending, Failure};
use fairwire_terminal::notice::notice;
use fairwire_wire::pcap;
use serde_json::{Value, json};
use std::path::Path;

/// The maximum size of a capture in bytes, because the entire file is read into memory.
const LARGEST: u64 = 1 << 30;

/// The fractions of all flows that the rows of the table describe. Each fraction consists of the
/// fastest flows.
const PARTS: [f64; 7] = [0.0001, 0.001, 0.01, 0.1, 0.25, 0.5, 1.0];

pub(crate) fn rates(args: &RatesArgs, quiet: bool) -> Result<Ending, Failure> {
    if args.interval == Duration::ZERO {
        return Err(Failure::user(
            "`--interval` is 0 s, but a rate needs a time",
            "allowed: a time above zero",
        ));
    }
    let packets = packets(&args.file, quiet)?;
    let rates = FlowRates::of(&packets, args.interval);
    let text = match args.format {
        Format::Table => as_table(args, &packets, &rates),
        Format::Json => format!("{:#}\n", as_json(args, &packets, &rates)),
        Format::Csv => report::csv::text(points(&rates))?,
        Format::Latex => {
            let rows: Vec<_> = points(&rates).collect();
            report::latex::table(&rows[0], &rows[1..])
        }
    };
    report::print(text.as_bytes())?;
    Ok(Ending::Done)
}

fn packets(file: &Path, quiet: bool) -> Result<Vec<TracePacket>, Failure> {
    const ALLOWED: &str = "allowed: a capture as pcap or pcapng, a regular file of at most 1 GiB";
    let bytes = bounded(file, LARGEST, "a capture, pcap or pcapng")
        .map_err(|problem| Failure::user(problem, ALLOWED))?;
    let refused = |why: String| Failure::user(format!("`{}`: {why}", file.display()), ALLOWED);
    let packets = pcap::seen(&bytes).map_err(|error| refused(error.to_string()))?;
    if packets.is_empty() {
        return Err(refused("it has no packets".into()));
    }
    let notes = if quiet { Vec::new() } else { pcap::notes(&bytes).unwrap_or_default() };
    notes.iter().for_each(|note| notice(format_args!("note: `{}`: {note}", file.display())));
    Ok(packets.into_iter().map(|p| TracePacket { at: p.at, flow: p.flow, bytes: p.bytes }).collect())
}

fn flows(packets: &[TracePacket]) -> u32 {
    packets.iter().map(|packet| packet.flow).max().map_or(0, |last| last + 1)
}

fn lasts(packets: &[TracePacket]) -> Duration {
    packets.last().map_or(Duration::ZERO, |packet| packet.at)
}

fn as_table(args: &RatesArgs, packets: &[TracePacket], rates: &FlowRates) -> String {
    let mut rows = table::empty();
    rows.set_header(table::header(&[
        "of the flows, the fastest",
        "have at least, kbit/s",
        "have of the bytes, %",
    ]));
    // With few flows, the smallest fractions are less than one flow, and are omitted.
    for part in PARTS.into_iter().filter(|part| part * rates.len() as f64 >= 1.0) {
        let (rate, share) = (rates.rate_of_fastest(part) / 1000.0, 100.0 * rates.share_of_fastest(part));
        rows.add_row([format!("{} %", 100.0 * part), format!("{rate:.3}"), format!("{share:.1}")]);
    }
    format!(
        "{}: {} packets of {} flows in {:.3} s\n{} rates, each of a flow over {} in which it sends\n\n{rows}\n",
        args.file.display(),
        packets.len(),
        flows(packets),
        lasts(packets).secs(),
        rates.len(),
        args.interval,
    )
}

fn as_json(args: &RatesArgs, packets: &[TracePacket], rates: &FlowRates) -> Value {
    let point = |(rate, fraction): (f64, f64)| json!({ "rate_bps": rate, "fraction": fraction });
    json!({
        "packets": packets.len(),
        "flows": flows(packets),
        "lasts_s": lasts(packets).secs(),
        "interval_s": args.interval.secs(),
        "rates": rates.len(),
        "share_of_fastest_tenth": rates.share_of_fastest(0.1),
        "complementary": rates.complementary().into_iter().map(point).collect::<Value>(),
    })
}

fn points(rates: &FlowRates) -> impl Iterator<Item = Vec<String>> {
    let head = ["rate_bps", "fraction"].map(String::from).to_vec();
    let points = rates.complementary().into_iter().map(|(rate, f)| vec![rate.to_string(), f.to_string()]);
    std::iter::once(head).chain(points)
}
