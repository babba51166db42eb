//! Disciplines and links that a page's program drives packet by packet.
//!
//! Each object has a number, which is valid until the message `free`. Times are in nanoseconds. If
//! a time is earlier than a previous time, the latest time so far counts instead.

use crate::player::PlayError;
use fairwire_catalogue::{self as catalogue, Choice, Parameters};
use fairwire_core::units::Amount;
use fairwire_core::{Cause, Discipline, Duration, Ecn, Packet, Rate, Seed, Signals, Time};
use fairwire_document::read_document;
use fairwire_laws::Site;
use fairwire_link::{DEFAULT_MTU, Link, LinkBuilder};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const MAX_OBJECTS: usize = 1024;
const MAX_PACKETS: usize = 4096;

#[derive(Default)]
pub(crate) struct Objects {
    objects: BTreeMap<u32, Object>,
    next: u32,
}

enum Object {
    Discipline { discipline: Box<dyn Discipline>, now: Time },
    Link(Box<Link<u32, std::time::Duration>>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DisciplineWanted {
    /// The discipline's name, or a TOML table in braces with its name and parameters.
    discipline: String,
    rate: String,
    buffer: String,
    #[serde(default = "full")]
    packet_bytes: u32,
    #[serde(default)]
    seed: u64,
}

fn full() -> u32 {
    1514
}

/// A link, with the settings of [`LinkBuilder`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkWanted {
    rate: String,
    delay: String,
    #[serde(default = "plain")]
    queue: String,
    #[serde(default = "hundred")]
    buffer: String,
    mtu: Option<u32>,
    loss: Option<f64>,
    jitter: Option<String>,
    duplicate: Option<f64>,
    #[serde(default)]
    seed: u64,
}

fn plain() -> String {
    "tail-drop".into()
}

fn hundred() -> String {
    "100 packets".into()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PacketGiven {
    /// The number that the page gives the packet.
    id: u32,
    flow: u64,
    bytes: u32,
    #[serde(default)]
    class: u32,
    #[serde(default)]
    ecn: u8,
    #[serde(default)]
    dscp: u8,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    object: u32,
    #[serde(default)]
    now_ns: u64,
    #[serde(default)]
    packets: Vec<PacketGiven>,
    #[serde(default)]
    most: usize,
}

impl Objects {
    pub(crate) fn answer(&mut self, call: &str, input: &[u8]) -> Option<Result<Value, PlayError>> {
        Some(match call {
            "discipline" => read(input).and_then(|wanted| self.keep(discipline(&wanted)?)),
            "link" => read(input).and_then(|wanted| self.keep(link(wanted)?)),
            "send" => read(input).and_then(|call| self.send(call)),
            "take" => read(input).and_then(|call| self.take(&call)),
            "look" => read(input).and_then(|call: Call| self.look(call.object)),
            "free" => read(input).map(|call: Call| json!(self.objects.remove(&call.object).is_some())),
            _ => return None,
        })
    }

    fn keep(&mut self, object: Object) -> Result<Value, PlayError> {
        if self.objects.len() >= MAX_OBJECTS {
            return Err(PlayError(format!("there are {MAX_OBJECTS} objects; allowed: `free` some first")));
        }
        self.next += 1;
        self.objects.insert(self.next, object);
        Ok(json!({ "object": self.next }))
    }

    fn object(&mut self, number: u32) -> Result<&mut Object, PlayError> {
        self.objects.get_mut(&number).ok_or_else(|| PlayError(format!("there is no object {number}")))
    }

    fn send(&mut self, call: Call) -> Result<Value, PlayError> {
        let Call { object, now_ns, packets, .. } = call;
        let bad = |packet: &PacketGiven| packet.ecn > 3 || packet.dscp > 63 || packet.bytes == 0;
        if let Some(packet) = packets.iter().find(|packet| bad(packet)) {
            let why = "allowed: at least a byte, `ecn` from 0 to 3, `dscp` from 0 to 63";
            return Err(PlayError(format!("packet {}: {why}; no packet was taken", packet.id)));
        }
        match self.object(object)? {
            Object::Discipline { discipline, now } => {
                *now = (*now).max(Time::from_ns(now_ns));
                let mut signals = Signalled::default();
                for packet in packets {
                    let PacketGiven { id, flow, bytes, class, ecn, dscp } = packet;
                    let (ecn, plain) = (Ecn::from_bits(ecn), Packet::new(id, bytes, flow.into(), *now));
                    discipline.enqueue(Packet { class, ecn, dscp, ..plain }, *now, &mut signals);
                }
                Ok(signals.shown(discipline.as_ref(), Vec::new()))
            }
            Object::Link(link) => {
                let now = std::time::Duration::from_nanos(now_ns);
                let mut refused = Vec::new();
                for PacketGiven { id, flow, bytes, ecn, .. } in packets {
                    if link.send(id, bytes as usize, flow, Ecn::from_bits(ecn), now).is_err() {
                        refused.push(id);
                    }
                }
                Ok(json!({ "refused": refused, "next_ns": next_ns(link) }))
            }
        }
    }

    fn take(&mut self, call: &Call) -> Result<Value, PlayError> {
        let most = call.most.clamp(1, MAX_PACKETS);
        match self.object(call.object)? {
            Object::Discipline { discipline, now } => {
                *now = (*now).max(Time::from_ns(call.now_ns));
                let mut signals = Signalled::default();
                let taken = std::iter::from_fn(|| discipline.dequeue(*now, &mut signals)).take(most);
                let packets =
                    taken.map(|packet| json!({ "id": packet.frame, "ecn": packet.ecn as u8 })).collect();
                Ok(signals.shown(discipline.as_ref(), packets))
            }
            Object::Link(link) => {
                let now = std::time::Duration::from_nanos(call.now_ns);
                let taken = std::iter::from_fn(|| link.receive(now)).take(most);
                let shown = |arrival: fairwire_link::Arrival<u32, std::time::Duration>| {
                    json!({
                        "id": arrival.payload,
                        "ecn": arrival.ecn as u8,
                        "arrived_ns": arrival.arrived.as_nanos() as u64,
                    })
                };
                let packets: Vec<Value> = taken.map(shown).collect();
                Ok(json!({ "packets": packets, "next_ns": next_ns(link) }))
            }
        }
    }

    fn look(&mut self, object: u32) -> Result<Value, PlayError> {
        Ok(match self.object(object)? {
            Object::Discipline { discipline, .. } => {
                let backlog = discipline.backlog();
                json!({ "backlog_packets": backlog.packets, "backlog_bytes": backlog.bytes })
            }
            Object::Link(link) => {
                let (backlog, report) = (link.backlog(), link.report());
                let flow = |flow: &fairwire_link::FlowReport| {
                    json!({
                        "flow": flow.flow, "sent": flow.sent, "delivered": flow.delivered, "dropped": flow.dropped,
                        "lost": flow.lost, "marked": flow.marked, "rate_bps": flow.rate_bps,
                        "delay_p50_ns": flow.delay.p50.as_nanos() as u64, "delay_p99_ns": flow.delay.p99.as_nanos() as u64,
                    })
                };
                let flows: Vec<Value> = report.flows.iter().map(flow).collect();
                json!({
                    "backlog_packets": backlog.packets, "backlog_bytes": backlog.bytes,
                    "utilization": report.utilization, "jain": report.jain, "flows": flows,
                })
            }
        })
    }
}

fn read<'a, T: Deserialize<'a>>(input: &'a [u8]) -> Result<T, PlayError> {
    serde_json::from_slice(input)
        .map_err(|error| PlayError(format!("the message is not understood: {error}")))
}

fn discipline(wanted: &DisciplineWanted) -> Result<Object, PlayError> {
    Ok(Object::Discipline { discipline: built(wanted)?, now: Time::ZERO })
}

fn built(wanted: &DisciplineWanted) -> Result<Box<dyn Discipline>, PlayError> {
    #[derive(Deserialize)]
    struct Typed {
        discipline: Choice,
    }
    let DisciplineWanted { discipline, rate, buffer, packet_bytes, seed } = wanted;
    let bad = |error: &dyn std::fmt::Display| PlayError(error.to_string());
    let text = match discipline.trim_start().starts_with('{') {
        true => format!("discipline = {discipline}"),
        false => format!("discipline = {}", json!(discipline)),
    };
    let (Typed { discipline }, _) = read_document("discipline", &text).map_err(|error| bad(&error))?;
    let site = Site {
        rate: rate.parse::<Rate>().map_err(|error| bad(&error))?,
        buffer: buffer.parse::<Amount>().map_err(|error| bad(&error))?,
        packet_bytes: *packet_bytes,
        seed: Seed(*seed),
        stream: "page",
    };
    let parameters = discipline.parameters().cloned().unwrap_or_else(Parameters::default);
    let mut built = catalogue::build(discipline.name(), &parameters, &site).map_err(|error| bad(&error))?;
    match built.reads_acknowledgements() {
        true => Err(PlayError(
            "`ack_filter` needs headers of TCP, and packets have none here; allowed: off".into(),
        )),
        false => Ok(built),
    }
}

fn link(wanted: LinkWanted) -> Result<Object, PlayError> {
    let LinkWanted { rate, delay, queue, buffer, mtu, loss, jitter, duplicate, seed } = wanted;
    let packet_bytes = mtu.unwrap_or(DEFAULT_MTU);
    let made =
        built(&DisciplineWanted { discipline: queue, rate: rate.clone(), buffer, packet_bytes, seed })?;
    let mut builder: LinkBuilder<u32, std::time::Duration> =
        Link::new(rate.as_str(), delay.as_str()).seed(seed).discipline(made);
    builder = mtu.into_iter().fold(builder, LinkBuilder::mtu);
    builder = loss.into_iter().fold(builder, |builder, loss| builder.loss(loss));
    builder = jitter.iter().fold(builder, |builder, jitter| builder.jitter(jitter.as_str()));
    builder = duplicate.into_iter().fold(builder, LinkBuilder::duplicate);
    let link = builder.build().map_err(|error| PlayError(error.to_string()))?;
    Ok(Object::Link(Box::new(link)))
}

fn next_ns(link: &Link<u32, std::time::Duration>) -> Option<u64> {
    link.next_timeout().map(|next| next.as_nanos() as u64)
}

#[derive(Default)]
struct Signalled {
    dropped: Vec<Value>,
    marked: Vec<Value>,
}

impl Signalled {
    fn shown(self, discipline: &dyn Discipline, packets: Vec<Value>) -> Value {
        let next_ns = discipline.ready_at().map(|at| at.since(Time::ZERO)).map(Duration::ns);
        let Signalled { dropped, marked } = self;
        json!({ "packets": packets, "dropped": dropped, "marked": marked, "next_ns": next_ns })
    }
}

impl Signals for Signalled {
    fn dropped(&mut self, packet: Packet, cause: Cause) {
        self.dropped.push(json!({ "id": packet.frame, "cause": cause.name() }));
    }

    fn marked(&mut self, packet: &Packet, cause: Cause) {
        self.marked.push(json!({ "id": packet.frame, "cause": cause.name() }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(objects: &mut Objects, name: &str, input: &Value) -> Result<Value, String> {
        let answer = objects.answer(name, input.to_string().as_bytes()).expect("a message of an object");
        answer.map_err(|PlayError(why)| why)
    }

    #[test]
    fn a_discipline_returns_packets_and_reports_its_drops() {
        let mut objects = Objects::default();
        let wanted = json!({ "discipline": "{ faba = {} }", "rate": "8 Mbit/s", "buffer": "4 packets" });
        let made = call(&mut objects, "discipline", &wanted).unwrap();
        let packets: Vec<Value> = (0..6).map(|id| json!({ "id": id, "flow": 1, "bytes": 1000 })).collect();
        let sent =
            call(&mut objects, "send", &json!({ "object": made["object"], "packets": packets })).unwrap();
        let dropped = sent["dropped"].as_array().unwrap().len();
        assert!(dropped >= 2, "{sent}");
        let taken = call(&mut objects, "take", &json!({ "object": made["object"], "most": 10 })).unwrap();
        assert_eq!(taken["packets"].as_array().unwrap().len(), 6 - dropped);
        assert_eq!(taken["packets"][0], json!({ "id": 0, "ecn": 0 }));
        assert_eq!(call(&mut objects, "look", &made).unwrap()["backlog_packets"], 0);
        assert_eq!(call(&mut objects, "free", &made).unwrap(), json!(true));
        assert_eq!(call(&mut objects, "look", &made).unwrap_err(), "there is no object 1");
    }

    #[test]
    fn a_packet_arrives_after_its_transmission_and_the_delay_of_the_link() {
        let mut objects = Objects::default();
        let made = call(&mut objects, "link", &json!({ "rate": "8 Mbit/s", "delay": "5 ms" })).unwrap();
        let packets = json!([{ "id": 7, "flow": 1, "bytes": 1000, "ecn": 2 }]);
        let sent =
            call(&mut objects, "send", &json!({ "object": made["object"], "packets": packets })).unwrap();
        assert_eq!(sent["refused"], json!([]));
        let taken =
            call(&mut objects, "take", &json!({ "object": made["object"], "now_ns": 10_000_000 })).unwrap();
        assert_eq!(taken["packets"], json!([{ "id": 7, "ecn": 2, "arrived_ns": 6_000_000 }]));
    }

    #[test]
    fn nonsense_is_refused_with_a_reason_and_changes_nothing() {
        let mut objects = Objects::default();
        for (name, input, why) in [
            (
                "discipline",
                json!({ "discipline": "fabba", "rate": "1 Mbit/s", "buffer": "9 packets" }),
                "faba",
            ),
            ("discipline", json!({ "discipline": "faba", "rate": "fast", "buffer": "9 packets" }), "fast"),
            ("link", json!({ "rate": "1 Mbit/s", "delay": "soon" }), "soon"),
            ("link", json!({ "rate": "1 Mbit/s", "delay": "1 ms", "loss": 2.0 }), "loss"),
            ("link", json!({ "rate": "1 Mbit/s", "delay": "1 ms", "los": 0.1 }), "los"),
            ("take", json!({ "object": 5 }), "there is no object 5"),
        ] {
            let refusal = call(&mut objects, name, &input).unwrap_err();
            assert!(refusal.contains(why), "{name} {input}: {refusal}");
        }
        let made = call(&mut objects, "link", &json!({ "rate": "1 Mbit/s", "delay": "1 ms" })).unwrap();
        let packets = json!([{ "id": 1, "flow": 1, "bytes": 100 }, { "id": 2, "flow": 1, "bytes": 0 }]);
        let refusal =
            call(&mut objects, "send", &json!({ "object": made["object"], "packets": packets })).unwrap_err();
        assert!(refusal.contains("packet 2") && refusal.contains("no packet was taken"), "{refusal}");
        assert_eq!(call(&mut objects, "look", &made).unwrap()["flows"], json!([]));
        assert!(objects.answer("unknown", b"{}").is_none());
    }
}
