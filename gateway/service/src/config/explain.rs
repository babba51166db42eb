//! The meaning of a configuration, for `fairwire-gateway check`.

use super::backend::BackendKind;
use super::shaping::{Shaping, TYPICAL_FRAME};
use super::spec::{BurstText, DscpChoice};
use super::{ClassSupport, Config, LeafChoice, fair};
use fairwire_core::Rate;
use fairwire_datapath::class_book::ClassKind;
use fairwire_datapath::classify::FlowKind;
use fairwire_datapath::pool::PoolSize;
use fairwire_wire::Way;
use serde::Serialize;

/// The effects of a configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The gateway's name.
    pub name: String,
    /// The back end that carries the frames.
    pub backend: BackendKind,
    /// The interface towards the subscribers.
    pub inside: String,
    /// The interface towards the rest of the world.
    pub outside: String,
    /// Subscribers.
    pub subscribers: usize,
    /// Classes of the configuration, excluding the class of unclaimed packets.
    pub classes: usize,
    /// Download, then upload.
    pub ways: Vec<WayExplanation>,
    /// The memory that the gateway needs.
    pub memory: Memory,
    /// Remarks on valid settings that may surprise.
    pub notes: Vec<String>,
}

/// The effects in one direction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WayExplanation {
    /// `download` or `upload`.
    pub way: &'static str,
    /// The shaping of the direction; absent if it is not shaped.
    pub shaping: Option<ShapingExplanation>,
    /// The tree, parents before children; empty if the discipline shares only between flows.
    pub tree: Vec<ClassExplanation>,
}

/// A link and how it is shared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShapingExplanation {
    /// The link's rate, bit/s.
    pub rate_bps: u64,
    /// The discipline, by its name in the catalogue.
    pub discipline: &'static str,
    /// With `classful`: the discipline of leaves that name no discipline, as written in the
    /// configuration.
    pub leaf: Option<String>,
    /// The definition of a flow.
    pub flows: String,
    /// The treatment of the codepoint (DSCP) of sent packets.
    pub dscp: DscpChoice,
    /// The limit of waiting packets, as written.
    pub buffer: String,
    /// The limit of waiting packets, in full packets.
    pub buffer_packets: f64,
    /// The time in which the link sends a full buffer, seconds.
    pub buffer_s: f64,
    /// The highest rate at which non-IP packets bypass the discipline, bit/s.
    pub not_ip_bps: u64,
    /// The highest rate at which network control packets bypass the discipline, bit/s.
    pub control_bps: u64,
    /// Bytes that a full packet, an Ethernet frame of 1514 B, takes on the link.
    pub packet_bytes: u32,
    /// Frames that may be in the gateway at once.
    pub frames: u32,
}

/// A class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassExplanation {
    /// Its name.
    pub class: String,
    /// The parent class; absent under the root.
    pub parent: Option<String>,
    /// The class's level, 1 under the root.
    pub level: usize,
    /// Is the class a subscriber?
    pub is_subscriber: bool,
    /// The weight among the siblings.
    pub weight: f64,
    /// Its guarantee, bit/s.
    pub guaranteed_bps: Option<u64>,
    /// The rate that the class never exceeds, bit/s.
    pub ceiling_bps: Option<u64>,
    /// The burst beyond the ceiling after a pause, such as `40 Mbit/s for 10 s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<BurstText>,
    /// The rate that no host of the class exceeds, bit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub each_bps: Option<u64>,
    /// With `classful`: the discipline given for the class, or for all leaves below it; absent if
    /// inherited.
    pub leaf: Option<String>,
    /// The class's rate when all classes are busy, bit/s.
    pub busy_bps: f64,
}

/// Memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// The memory of the tables that find a packet's class.
    pub claims_bytes: usize,
    /// The memory of all classes with their counts, in both directions.
    pub classes_bytes: usize,
    /// The memory of the frames in the gateway, in both directions, if all buffers are full.
    pub max_frames_bytes: u64,
}

/// Bytes of a class: its entry and name in the class book, and its counts in both directions.
const CLASS_BYTES: usize = size_of::<fairwire_datapath::class_book::Class>()
    + 32
    + 48
    + 2 * size_of::<fairwire_datapath::account::FlowCount>();

impl Config {
    /// Explains this configuration.
    pub fn explain(&self) -> Explanation {
        let wire = &self.spec.wire;
        let subscribers = self.book.iter().filter(|(_, class)| class.kind == ClassKind::Subscriber).count();
        let pool = |way| PoolSize::with_room(self.frames(way, TYPICAL_FRAME), TYPICAL_FRAME);
        Explanation {
            name: self.spec.name.clone(),
            backend: wire.backend.kind(),
            inside: wire.inside.to_string(),
            outside: wire.outside.clone(),
            subscribers,
            classes: self.book.len() - 1 - subscribers,
            ways: Way::ALL.map(|way| self.explain_way(way)).into(),
            memory: Memory {
                claims_bytes: self.claims.memory(),
                classes_bytes: self.book.numbers() * CLASS_BYTES,
                max_frames_bytes: Way::ALL.iter().map(|way| pool(*way).bytes()).sum(),
            },
            notes: self.notes.clone(),
        }
    }

    fn explain_way(&self, way: Way) -> WayExplanation {
        let Some(shaping) = self.shaping(way) else {
            return WayExplanation { way: way.name(), shaping: None, tree: Vec::new() };
        };
        let site = self.site(shaping, way);
        let explanation = ShapingExplanation {
            rate_bps: shaping.rate.bps(),
            discipline: shaping.discipline,
            leaf: (shaping.sharing == ClassSupport::Queues).then(|| shaping.leaf.to_string()),
            flows: match shaping.within {
                true => format!("{}; and its conversations among themselves", flows(shaping.flows)),
                false => flows(shaping.flows),
            },
            dscp: shaping.dscp,
            buffer: shaping.buffer.to_string(),
            buffer_packets: site.buffer.in_packets(site.packet_bytes, site.rate),
            buffer_s: site.buffer.in_bytes(site.packet_bytes, site.rate) * 8.0 / site.rate.bps() as f64,
            not_ip_bps: shaping.not_ip.bps(),
            control_bps: shaping.control.bps(),
            packet_bytes: site.packet_bytes,
            frames: self.frames(way, TYPICAL_FRAME),
        };
        WayExplanation { way: way.name(), shaping: Some(explanation), tree: self.explain_tree(shaping, way) }
    }

    fn explain_tree(&self, shaping: &Shaping, way: Way) -> Vec<ClassExplanation> {
        if shaping.sharing == ClassSupport::None || self.book.len() == 1 {
            return Vec::new();
        }
        let busy = fair::busy(&self.book, way, shaping.rate.bps() as f64);
        let mut levels: Vec<usize> = Vec::with_capacity(self.book.len());
        for (_, class) in self.book.iter() {
            levels.push(class.parent.map_or(1, |parent| levels[parent as usize] + 1));
        }
        let of_leaves = (shaping.sharing == ClassSupport::Queues).then_some(&self.leaves);
        let explained = |(number, class): (u32, &fairwire_datapath::class_book::Class)| {
            let bounds = class.bounds[way as usize];
            ClassExplanation {
                class: class.name.clone(),
                parent: class
                    .parent
                    .and_then(|parent| self.book.class(parent))
                    .map(|parent| parent.name.clone()),
                level: levels[number as usize],
                is_subscriber: class.kind == ClassKind::Subscriber,
                weight: class.weight.get(),
                guaranteed_bps: bounds.guaranteed.map(|rate| rate.bps()),
                ceiling_bps: bounds.ceiling.map(|rate| rate.bps()),
                burst: bounds.burst.map(BurstText),
                each_bps: bounds.each.map(Rate::bps),
                leaf: of_leaves.and_then(|leaves| leaves.of(number)).map(LeafChoice::to_string),
                busy_bps: busy[number as usize],
            }
        };
        self.book.iter().map(explained).collect()
    }
}

fn flows(kind: FlowKind) -> String {
    match kind {
        FlowKind::FiveTuple => "5-tuple: addresses, ports and protocol".into(),
        FlowKind::Source => "source: the host that sends".into(),
        FlowKind::Destination => "destination: the host that receives".into(),
        FlowKind::Inside => "inside: the host inside".into(),
        FlowKind::Mac => "mac: the host inside, by its Ethernet address".into(),
        FlowKind::Outside => "outside: the host outside".into(),
        FlowKind::Prefix(bits) => format!("prefix: the /{} or /{} of the host inside", bits.ipv4, bits.ipv6),
        FlowKind::Subscriber => "subscriber; where there is none, the host inside".into(),
        FlowKind::Vlan => "VLAN".into(),
        FlowKind::Dscp => "codepoint".into(),
    }
}
