//! Turns the output of `dumbbell.tcl` into the records of a run.

use super::words::Dumbbell;
use fairwire_core::Duration;
use fairwire_metrics::record::{BacklogRecord, FlowRecord, LinkRecord, WireRecord};
use fairwire_sim::Source;
use std::collections::BTreeMap;

/// The results that ns-2 prints, for the time after the warm-up.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Printed {
    flows: BTreeMap<String, Numbers>,
    link: Option<Numbers>,
}

type Numbers = BTreeMap<String, f64>;

impl Printed {
    /// Reads one line of the output, and returns the elapsed seconds if the line reports them.
    ///
    /// # Errors
    /// If the line is not from the script.
    pub(super) fn take(&mut self, line: &str) -> Result<Option<f64>, String> {
        let wrong = || format!("it printed `{line}`");
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["at", seconds] => return seconds.parse().map(Some).map_err(|_| wrong()),
            ["flow", name, numbers @ ..] => {
                let numbers = named(numbers).ok_or_else(wrong)?;
                self.flows.insert((*name).to_owned(), numbers);
            }
            ["link", numbers @ ..] => self.link = Some(named(numbers).ok_or_else(wrong)?),
            // ns-2's agent with Linux's algorithms prints these messages.
            ["cmd", ..] | [_, "resizing", "timestamp", "table"] => {}
            _ => return Err(wrong()),
        }
        Ok(None)
    }

    pub(super) fn records(
        &self,
        dumbbell: &Dumbbell,
        window: Duration,
    ) -> Result<(Vec<FlowRecord>, LinkRecord), String> {
        let mut flows = Vec::new();
        for group in &dumbbell.groups {
            for number in 1..=group.members.len() {
                let name = format!("{}.{number}", group.name);
                let numbers = self.flows.get(&name).ok_or_else(|| format!("it printed nothing of {name}"))?;
                flows.push(flow_record(name, group.name.as_str(), &group.source, numbers, window)?);
            }
        }
        let link = self.link.as_ref().ok_or("it printed nothing of the link")?;
        let dropped = flows.iter().map(|flow| flow.packets_dropped).sum();
        Ok((flows, link_record(dumbbell, link, dropped, window)?))
    }
}

fn named(words: &[&str]) -> Option<Numbers> {
    let (pairs, []) = words.as_chunks::<2>() else { return None };
    pairs.iter().map(|[name, number]| Some(((*name).to_owned(), number.parse().ok()?))).collect()
}

fn number(numbers: &Numbers, name: &str) -> Result<f64, String> {
    numbers.get(name).copied().ok_or_else(|| format!("it printed no {name}"))
}

fn count(numbers: &Numbers, name: &str) -> Result<u64, String> {
    number(numbers, name).map(|number| number as u64)
}

fn flow_record(
    name: String,
    group: &str,
    source: &Source,
    numbers: &Numbers,
    window: Duration,
) -> Result<FlowRecord, String> {
    let (kind, offered_bps, payload) = match source {
        Source::Bulk { tcp } => {
            let wire = f64::from(tcp.segment_bytes + tcp.header_bytes);
            (format!("bulk {}", tcp.name()), None, f64::from(tcp.segment_bytes) / wire)
        }
        Source::Cbr { rate, packet_bytes, header_bytes, .. } => {
            let payload = f64::from(packet_bytes - header_bytes) / f64::from(*packet_bytes);
            ("cbr".into(), Some(rate.bps() as f64), payload)
        }
        Source::Tcp { .. } | Source::Datagrams { .. } | Source::Endpoints { .. } => {
            unreachable!("refused before the run")
        }
    };
    let throughput_bps = number(numbers, "bytes")? * 8.0 / window.secs();
    Ok(FlowRecord {
        name: name.into(),
        group: group.into(),
        kind: kind.into(),
        offered_bps,
        throughput_bps,
        goodput_bps: throughput_bps * payload,
        packets_sent: count(numbers, "packets_in")?,
        packets_dropped: count(numbers, "drops")?,
        packets_marked: 0,
        packets_lost: None,
        timeouts: None,
        loss_episodes: None,
        timeout_episodes: None,
        start_s: None,
        access_delay_s: None,
        base_rtt_s: None,
        fair_bps: None,
        delivered_bytes: None,
    })
}

fn link_record(
    dumbbell: &Dumbbell,
    numbers: &Numbers,
    dropped: u64,
    window: Duration,
) -> Result<LinkRecord, String> {
    let rate_bps = dumbbell.rate_bps as f64;
    let sent_bps = number(numbers, "bytes_out")? * 8.0 / window.secs();
    Ok(LinkRecord {
        name: dumbbell.link.clone(),
        rate_bps,
        utilization: (sent_bps / rate_bps).min(1.0),
        packets_in: count(numbers, "packets_in")?,
        packets_out: count(numbers, "packets_out")?,
        drops: if dropped == 0 { BTreeMap::new() } else { BTreeMap::from([("ns2".to_string(), dropped)]) },
        marks: BTreeMap::new(),
        sojourn: None,
        wire: match dumbbell.is_lossy {
            true => Some(WireRecord { lost: count(numbers, "lost")?, ..WireRecord::default() }),
            false => None,
        },
        backlog: BacklogRecord {
            mean_packets: number(numbers, "mean_packets")?,
            mean_bytes: number(numbers, "mean_bytes")?,
            max_packets: None,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_the_script_is_read_and_other_text_is_refused() {
        let mut printed = Printed::default();
        assert_eq!(printed.take("at 1.5"), Ok(Some(1.5)));
        assert_eq!(printed.take("flow tcp.1 packets_in 9 drops 1 bytes 4416"), Ok(None));
        assert_eq!(printed.flows["tcp.1"]["drops"], 1.0);
        assert_eq!(printed.take("0x55f728d98860 resizing timestamp table"), Ok(None));
        for wrong in ["flow tcp.1 drops many", "flow tcp.1 drops", "hello", "link packets_in", "at noon"] {
            assert_eq!(printed.take(wrong), Err(format!("it printed `{wrong}`")));
        }
    }
}
