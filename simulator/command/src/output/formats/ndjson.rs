//! Rows and packets as lines of JSON.

use crate::output::series::{Form, Of, SampleRow};
use crate::output::trace::{Names, Packets};
use fairwire_scenario::{Content, PacketEvent};
use std::io::{self, Write};

pub(in crate::output) fn packets() -> Box<dyn Packets> {
    Box::new(Lines)
}

pub(in crate::output) const SERIES: Form = Form { head: ["", ""], row };

fn row(out: &mut dyn Write, run: Of<'_>, time: &str, row: SampleRow<'_>) -> io::Result<()> {
    let SampleRow { kind, name, measure, unit, value } = row;
    write!(out, "{{\"discipline\":{},", quoted(run.discipline))?;
    if let Some(stage) = run.stage {
        write!(out, "\"stage\":\"{stage}\",")?;
    }
    writeln!(
        out,
        "\"seed\":{},\"time_s\":{time},\"kind\":\"{kind}\",\"name\":{},\"measure\":{},\"unit\":\"{unit}\",\"value\":{value}}}",
        run.seed,
        quoted(name),
        quoted(measure)
    )
}

#[derive(Debug)]
struct Lines;

impl Packets for Lines {
    fn packet(&mut self, event: &PacketEvent, names: &Names, out: &mut Vec<u8>) {
        let what = event.what.name();
        let mut line = format!("{{\"time_ns\":{},\"event\":\"{what}\"", event.at.ns());
        if let Some(cause) = event.what.cause() {
            line += &format!(",\"cause\":\"{}\"", cause.name());
        }
        if let Some(link) = event.link.and_then(|link| names.links.get(link as usize)) {
            line += &format!(",\"link\":{}", quoted(link));
        }
        let flow = &names.flows[event.flow as usize];
        line += &format!(",\"flow\":{}", quoted(&flow.name));
        if let Some(connection) = flow.connection {
            line += &format!(",\"connection\":{connection}");
        }
        line += &match event.content {
            Content::Syn => String::from(",\"packet\":\"syn\""),
            Content::Datagram => String::from(",\"packet\":\"datagram\""),
            Content::Data { seq, is_retransmission, cwr } => {
                format!(
                    ",\"packet\":\"data\",\"number\":{seq},\"retransmission\":{is_retransmission},\"cwr\":{cwr}"
                )
            }
            Content::Ack { next, is_for_syn: _, ece, sack } => {
                let blocks: Vec<String> =
                    sack.ranges(next).map(|[first, end]| format!("[{first},{end}]")).collect();
                let blocks = blocks.join(",");
                format!(",\"packet\":\"ack\",\"next\":{next},\"ece\":{ece},\"sack\":[{blocks}]")
            }
        };
        line += &format!(",\"bytes\":{},\"ecn\":\"{}\"}}\n", event.wire_bytes, event.ecn.name());
        out.extend(line.as_bytes());
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
