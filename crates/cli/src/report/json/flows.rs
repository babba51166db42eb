//! The records of flows: there may be a million, alike but for their names and numbers.

use super::Sheet;
use fairwire_metrics::record::FlowRecord;
use serde::Serialize;
use std::io::{self, Write};
use std::sync::Arc;

/// The list of `flows`, whose fields are five levels in.
pub(super) fn put(flows: &[FlowRecord], sheet: &mut Sheet<impl Write>) -> io::Result<()> {
    let Some(first) = flows.first() else {
        sheet.text.extend_from_slice(b"[]");
        return Ok(());
    };
    sheet.text.push(b'[');
    let mut kin = Kin::of(first)?;
    let mut lead = "";
    for flow in flows {
        if !kin.has(flow) {
            kin = Kin::of(flow)?;
        }
        sheet.text.extend_from_slice(lead.as_bytes());
        put_one(flow, &kin, &mut sheet.text)?;
        sheet.pass_on()?;
        lead = ",";
    }
    sheet.text.extend_from_slice(b"\n      ]");
    Ok(())
}

/// Flows that share the names of their group and kind, and the text of these.
struct Kin {
    group: Arc<str>,
    kind: Arc<str>,
    text: Vec<u8>,
}

impl Kin {
    fn of(flow: &FlowRecord) -> io::Result<Self> {
        let mut text = Vec::new();
        put_field("group", &*flow.group, &mut text)?;
        put_field("kind", &*flow.kind, &mut text)?;
        Ok(Kin { group: Arc::clone(&flow.group), kind: Arc::clone(&flow.kind), text })
    }

    fn has(&self, flow: &FlowRecord) -> bool {
        Arc::ptr_eq(&self.group, &flow.group) && Arc::ptr_eq(&self.kind, &flow.kind)
    }
}

fn put_one(flow: &FlowRecord, kin: &Kin, text: &mut Vec<u8>) -> io::Result<()> {
    let FlowRecord { name, group: _, kind: _, offered_bps, throughput_bps, goodput_bps, .. } = flow;
    let FlowRecord { packets_sent, packets_dropped, packets_marked, .. } = flow;
    let FlowRecord { timeouts, loss_episodes, timeout_episodes, .. } = flow;
    text.extend_from_slice(b"\n        {\n          \"name\": ");
    put_value(name.as_str(), text)?;
    text.extend_from_slice(&kin.text);
    if let Some(offered_bps) = offered_bps {
        put_field("offered_bps", offered_bps, text)?;
    }
    put_field("throughput_bps", throughput_bps, text)?;
    put_field("goodput_bps", goodput_bps, text)?;
    put_field("packets_sent", packets_sent, text)?;
    put_field("packets_dropped", packets_dropped, text)?;
    put_field("packets_marked", packets_marked, text)?;
    for (key, count) in
        [("timeouts", timeouts), ("loss_episodes", loss_episodes), ("timeout_episodes", timeout_episodes)]
    {
        if let Some(count) = count {
            put_field(key, count, text)?;
        }
    }
    text.extend_from_slice(b"\n        }");
    Ok(())
}

/// A field that is not the first.
#[inline(always)] // so that what stands around each value is one piece
fn put_field<T: Serialize + ?Sized>(key: &str, value: &T, text: &mut Vec<u8>) -> io::Result<()> {
    text.extend_from_slice(b",\n          \"");
    text.extend_from_slice(key.as_bytes());
    text.extend_from_slice(b"\": ");
    put_value(value, text)
}

/// A string or a number.
fn put_value<T: Serialize + ?Sized>(value: &T, text: &mut Vec<u8>) -> io::Result<()> {
    Ok(serde_json::to_writer(text, value)?)
}
