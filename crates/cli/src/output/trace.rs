//! Packet traces: NDJSON, or pcapng with made-up headers.

use super::file::Scratch;
use super::series::quoted;
use fairwire_core::Ecn;
use fairwire_metrics::FlowName;
use fairwire_scenario::{Block, Content, PacketEvent, View, What, Which};
use fairwire_wire::pcapng::{self, CWR, ECE, MOST_BLOCKS, MadeUp, SYN, Transport};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// How packets are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Pcapng,
    Ndjson,
}

/// Bytes of IPv4 and TCP headers without options: what a made-up segment has around its data.
const TCP_IP: u32 = 40;

/// Writes the packets of one run.
#[derive(Debug)]
pub(super) struct Trace {
    out: Scratch,
    form: Form,
    title: String,
    links: Vec<String>,
    flows: Vec<Flow>,
    /// Marked, and not yet sent: its causes, by frame.
    marked: BTreeMap<u32, &'static str>,
    block: Vec<u8>,
    failed: Option<io::Error>,
}

#[derive(Debug)]
struct Flow {
    /// As in records.
    name: FlowName,
    /// Which of its connections, where it has several.
    connection: Option<u32>,
    dscp: u8,
    data_bytes: u32,
}

impl Trace {
    pub(super) fn new(out: Scratch, form: Form, which: Which<'_>) -> Self {
        let title = format!("discipline {}, seed {}", which.discipline, which.seed);
        let (links, flows, marked, block) = (Vec::new(), Vec::new(), BTreeMap::new(), Vec::new());
        Trace { out, form, title, links, flows, marked, block, failed: None }
    }

    /// What was written, or why it could not be.
    pub(super) fn finish(self) -> io::Result<Scratch> {
        self.failed.map_or(Ok(self.out), Err)
    }

    /// Reads the names of links and flows, and writes what stands before packets.
    pub(super) fn start(&mut self, view: &View<'_>) {
        self.links = view.links().map(|link| link.name.to_string()).collect();
        self.flows = view
            .flows()
            .map(|flow| Flow {
                name: flow.name(),
                connection: flow.connection,
                dscp: flow.dscp,
                data_bytes: flow.data_bytes,
            })
            .collect();
        if self.form == Form::Pcapng {
            let program = concat!("fairwire ", env!("CARGO_PKG_VERSION"));
            pcapng::section(&mut self.block, program, &self.title);
            for link in &self.links {
                for place in ["in", "out", "drop"] {
                    pcapng::interface(&mut self.block, &format!("{link} {place}"));
                }
            }
            pcapng::interface(&mut self.block, "delivered");
            self.write();
        }
    }

    pub(super) fn packet(&mut self, event: &PacketEvent) {
        match self.form {
            Form::Ndjson => self.line(event),
            Form::Pcapng => self.frame(event),
        }
        self.write();
    }

    fn write(&mut self) {
        if self.failed.is_none() {
            self.failed = self.out.write_all(&self.block).err();
        }
        self.block.clear();
    }

    fn line(&mut self, event: &PacketEvent) {
        let (what, cause) = named(event.what);
        let mut line = format!("{{\"time_ns\":{},\"event\":\"{what}\"", event.at.ns());
        if let Some(cause) = cause {
            line += &format!(",\"cause\":\"{cause}\"");
        }
        if let Some(link) = event.link.and_then(|link| self.links.get(link as usize)) {
            line += &format!(",\"link\":{}", quoted(link));
        }
        let flow = &self.flows[event.flow as usize];
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
                let block = |block: Block| {
                    let first = next + u64::from(block.offset);
                    format!("[{first},{}]", first + u64::from(block.len))
                };
                let blocks: Vec<String> = sack.iter().map(block).collect();
                let blocks = blocks.join(",");
                format!(",\"packet\":\"ack\",\"next\":{next},\"ece\":{ece},\"sack\":[{blocks}]")
            }
        };
        line += &format!(",\"bytes\":{},\"ecn\":\"{}\"}}\n", event.wire_bytes, ecn(event.ecn));
        self.block.extend(line.as_bytes());
    }

    fn frame(&mut self, event: &PacketEvent) {
        let place = match event.what {
            What::Mark(cause) => {
                self.marked.insert(event.frame, cause.name());
                return; // told of when it leaves
            }
            What::Arrive => 0,
            What::Depart => 1,
            What::Drop(_) => 2,
            What::Deliver => 0,
        };
        let interface = event.link.map_or(3 * self.links.len() as u32, |link| 3 * link + place);
        let comment = match event.what {
            What::Drop(cause) => {
                self.marked.remove(&event.frame);
                Some(format!("drop: {}", cause.name()))
            }
            What::Depart => self.marked.remove(&event.frame).map(|cause| format!("mark: {cause}")),
            What::Arrive | What::Mark(_) | What::Deliver => None,
        };
        let headers = self.made_up(event).headers();
        pcapng::packet(&mut self.block, interface, event.at, &headers, comment.as_deref());
    }

    /// The frame of a packet. Its data begins at sequence number 1, behind the opening of the connection, and every segment has as
    /// much as fits between the headers.
    fn made_up(&self, event: &PacketEvent) -> MadeUp {
        let flow = &self.flows[event.flow as usize];
        let payload = u64::from(flow.data_bytes.saturating_sub(TCP_IP));
        let at = |number: u64| (1 + number * payload) as u32; // sequence numbers wrap (RFC 9293, section 3.4)
        let none = [None; MOST_BLOCKS];
        let tcp = |seq, ack, flags| Transport::Tcp { seq, ack, flags, sack: none };
        let transport = match event.content {
            Content::Datagram => Transport::Udp,
            Content::Syn => tcp(0, None, SYN),
            Content::Data { seq, cwr, .. } => tcp(at(seq), Some(1), if cwr { CWR } else { 0 }),
            Content::Ack { next, is_for_syn, ece, sack } => {
                let mut edges = none;
                for (to, block) in edges.iter_mut().zip(sack.iter()) {
                    let first = next + u64::from(block.offset);
                    *to = Some([at(first), at(first + u64::from(block.len))]);
                }
                let flags = if is_for_syn { SYN } else { 0 } | if ece { ECE } else { 0 };
                Transport::Tcp { seq: u32::from(!is_for_syn), ack: Some(at(next)), flags, sack: edges }
            }
        };
        let is_reverse = matches!(event.content, Content::Ack { .. });
        MadeUp {
            flow: event.flow,
            is_reverse,
            ip_bytes: event.wire_bytes,
            dscp: flow.dscp,
            ecn: event.ecn,
            transport,
        }
    }
}

fn named(what: What) -> (&'static str, Option<&'static str>) {
    match what {
        What::Arrive => ("arrive", None),
        What::Drop(cause) => ("drop", Some(cause.name())),
        What::Mark(cause) => ("mark", Some(cause.name())),
        What::Depart => ("depart", None),
        What::Deliver => ("deliver", None),
    }
}

fn ecn(ecn: Ecn) -> &'static str {
    match ecn {
        Ecn::NotEct => "not-ect",
        Ecn::Ect0 => "ect0",
        Ecn::Ect1 => "ect1",
        Ecn::Ce => "ce",
    }
}
