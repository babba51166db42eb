//! The back end that carries the frames: a name, or a table with the name and its parameters.

use fairwire_datapath::classify::LinkKind;
use fairwire_parameters::{Choice, OutOfRange, choice_schema, deserialize_choice, parameters};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::MapAccess;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// The back end that carries the frames.
#[derive(Clone, Debug, PartialEq)]
pub enum Backend {
    /// Packet sockets on two existing interfaces, on every Linux. The gateway carries frames
    /// between them in user space.
    AfPacket(AfPacketSpec),
    /// Two TUN devices that the gateway creates. The operator routes traffic through them.
    Tun(TunSpec),
    /// A router, with or without NAT: the kernel forwards traffic between two existing interfaces,
    /// and the gateway identifies traffic by inside addresses.
    Router(RouterSpec),
}

/// Parameters of `af-packet`.
#[parameters(name = "af-packet", checked = AfPacketChecked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AfPacketSpec {
    /// Start even if this machine's kernel forwards between the two interfaces. Forwarded packets
    /// bypass the gateway.
    #[parameter(default = false)]
    pub allow_forwarding: Option<bool>,
    /// The number of threads that send; one of them also chooses the packets. Use several for links
    /// too fast for one processor.
    #[parameter(default = 1, min = 1, max = 16, unit = "threads")]
    pub threads: Option<u32>,
}

/// Parameters of `tun`.
#[parameters(name = "tun", checked = TunChecked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TunSpec {
    /// The MTU of the devices. Other back ends take it from the interfaces.
    ///
    /// The minimum is the packet size that every IPv4 host accepts (RFC 791).
    #[parameter(default = 1500, min = 576, max = 65_535, unit = "bytes")]
    pub mtu: Option<u32>,
}

/// Parameters of `router`: none.
#[parameters(name = "router")]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RouterSpec {}

/// A [`Backend`], without its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BackendKind {
    /// Packet sockets.
    AfPacket,
    /// TUN devices.
    Tun,
    /// Traffic that the kernel forwards.
    Router,
}

impl Default for Backend {
    fn default() -> Self {
        Backend::AfPacket(AfPacketSpec::default())
    }
}

impl Backend {
    /// Its kind.
    pub fn kind(&self) -> BackendKind {
        match self {
            Backend::AfPacket(_) => BackendKind::AfPacket,
            Backend::Tun(_) => BackendKind::Tun,
            Backend::Router(_) => BackendKind::Router,
        }
    }

    /// The header at the beginning of the back end's frames.
    pub fn link_kind(&self) -> LinkKind {
        match self {
            Backend::AfPacket(_) => LinkKind::Ethernet,
            Backend::Router(_) => LinkKind::Routed,
            Backend::Tun(_) => LinkKind::Ip,
        }
    }

    /// Does the gateway attach to interfaces that exist without it?
    pub(crate) fn attaches(&self) -> bool {
        self.kind() != BackendKind::Tun
    }

    pub(super) fn check(&self) -> Result<(), OutOfRange> {
        match self {
            Backend::AfPacket(spec) => spec.checked().map(drop),
            Backend::Tun(spec) => spec.checked().map(drop),
            Backend::Router(_) => Ok(()),
        }
    }

    /// The MTU of TUN devices, bytes; `None` if existing interfaces determine it.
    pub fn mtu(&self) -> Option<u32> {
        match self {
            Backend::Tun(spec) => Some(spec.checked().expect("it was checked when it was read").mtu),
            Backend::AfPacket(_) | Backend::Router(_) => None,
        }
    }

    /// True if this machine's kernel may forward between the interfaces, past the gateway.
    pub(super) fn allows_forwarding(&self) -> bool {
        matches!(self, Backend::AfPacket(AfPacketSpec { allow_forwarding: Some(true), .. }))
    }

    /// The number of threads that send. If 1, only the deciding thread sends.
    pub fn threads(&self) -> u32 {
        match self {
            Backend::AfPacket(spec) => spec.checked().expect("it was checked when it was read").threads,
            Backend::Tun(_) | Backend::Router(_) => 1,
        }
    }
}

/// The table form.
#[derive(JsonSchema)]
#[schemars(rename = "BackendTable", rename_all = "kebab-case")]
#[expect(dead_code, reason = "its schema is what it is for")]
enum Table {
    AfPacket(AfPacketSpec),
    Tun(TunSpec),
    Router(RouterSpec),
}

const NAMES: [&str; 3] = ["af-packet", "tun", "router"];

impl Choice for Backend {
    const WHAT: &'static str = "back end";
    const EXAMPLE: &'static str = "{ tun = { mtu = 1400 } }";

    fn names() -> &'static [&'static str] {
        &NAMES
    }

    fn named(at: usize) -> Self {
        match at {
            0 => Backend::AfPacket(Default::default()),
            1 => Backend::Tun(Default::default()),
            _ => Backend::Router(Default::default()),
        }
    }

    fn read<'de, A: MapAccess<'de>>(at: usize, table: &mut A) -> Result<Self, A::Error> {
        Ok(match at {
            0 => Backend::AfPacket(table.next_value()?),
            1 => Backend::Tun(table.next_value()?),
            _ => Backend::Router(table.next_value()?),
        })
    }
}

impl<'de> Deserialize<'de> for Backend {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_choice(deserializer)
    }
}

impl Serialize for Backend {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let name = NAMES[self.kind() as usize];
        if *self == Backend::named(self.kind() as usize) {
            return serializer.serialize_str(name);
        }
        let mut table = serializer.serialize_map(Some(1))?;
        match self {
            Backend::AfPacket(spec) => table.serialize_entry(name, spec)?,
            Backend::Tun(spec) => table.serialize_entry(name, spec)?,
            Backend::Router(spec) => table.serialize_entry(name, spec)?,
        }
        table.end()
    }
}

impl JsonSchema for Backend {
    fn schema_name() -> Cow<'static, str> {
        "Backend".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        choice_schema::<Backend, Table>(generator)
    }
}
