//! One direction through the gateway.

use super::leaves::LeafChoice;
use super::notes::FEW_PACKETS;
use super::offered::{self, with_leaves};
use super::places::Texts;
use super::spec::{DefaultsChoice, DirectionSpec, DscpChoice, FlowsChoice, FlowsSpec, FramingSpec, Spec};
use super::tree::{Tree, quoted};
use super::{discipline, promises};
use fairwire_catalogue::{self as catalogue, Choice, Parameters};
use fairwire_core::class_tree::MAX_CLASSES;
use fairwire_core::units::Amount;
use fairwire_core::{Duration, Rate};
use fairwire_datapath::classify::{FlowKind, Framing};
use fairwire_datapath::{control, not_ip};
use fairwire_document::DocumentError;
use fairwire_laws::autorate;
use fairwire_laws::part::ClassSupport;
use fairwire_laws::spec::Quantity;
use fairwire_wire::Way;
use fairwire_wire::flow_key::NetworkBits;

/// One direction, checked.
#[derive(Clone, Debug)]
pub struct Shaping {
    /// The discipline's name in the catalogue.
    pub discipline: &'static str,
    /// The link's rate.
    pub rate: Rate,
    /// The settings by which the rate follows the outside line, if any.
    pub autorate: Option<autorate::Config>,
    /// The limit of waiting packets.
    pub buffer: Amount,
    /// The definition of a flow in counters and reports.
    pub flows: FlowKind,
    /// Do hosts share first, and then each host's conversations?
    pub within: bool,
    /// The treatment of the codepoint of sent packets.
    pub dscp: DscpChoice,
    /// The framing, which determines the number of bytes that a frame counts as.
    pub framing: Framing,
    /// The highest rate at which non-IP packets bypass the discipline.
    pub not_ip: Rate,
    /// The highest rate at which network control packets bypass the discipline.
    pub control: Rate,
    /// Were parameters given with the discipline's name?
    pub has_own: bool,
    /// The discipline's parameters for both directions, overridden by those for this direction.
    pub parameters: Parameters,
    /// The source of parameters that were not given.
    pub defaults: DefaultsChoice,
    /// The discipline's support for classes.
    pub sharing: ClassSupport,
    /// With `classful`: the discipline of leaves that name no discipline.
    pub leaf: LeafChoice,
}

/// The default limit of waiting packets: less than a home router's queue at a few Mbit/s, and more
/// than a fast link's queue.
const BUFFER: Duration = Duration::from_ms(50);
/// The most bytes that may be added to or taken from a frame.
const MAX_OVERHEAD: i32 = 1024;

/// The default buffer of a link: [`BUFFER`], but at least [`FEW_PACKETS`], which fair shares and
/// TCP need.
fn default_buffer(rate: Rate) -> Amount {
    let few = Amount::Packets(FEW_PACKETS as u32);
    let packet_bytes = TYPICAL_FRAME + 24;
    match Amount::Time(BUFFER).in_packets(packet_bytes, rate) < FEW_PACKETS {
        true => few,
        false => Amount::Time(BUFFER),
    }
}

impl Shaping {
    /// The bytes that a typical long packet takes on the link, if frames have at most `frame_bytes`
    /// bytes.
    pub fn packet_bytes(&self, frame_bytes: u32) -> u32 {
        self.framing.wire_bytes(frame_bytes.min(TYPICAL_FRAME) as usize, Default::default())
    }
}

/// Bytes of a full Ethernet frame, without check sequence.
pub(super) const TYPICAL_FRAME: u32 = 1514;

pub(super) fn check(
    spec: &Spec,
    way: Way,
    tree: &Tree,
    texts: &Texts<'_>,
) -> Result<Option<Shaping>, DocumentError> {
    let typed = match way {
        Way::Download => &spec.download,
        Way::Upload => &spec.upload,
    };
    promises::check(tree, way, typed.as_ref().map(|typed| typed.rate.0), texts)?;
    let Some(typed) = typed else { return Ok(None) };
    let path = way.name();
    let has_bounds = promises::first(tree, way);
    let has_classes = tree.book.len() > 1;
    let wants_levels = matches!(typed.flows, None | Some(FlowsSpec::Levels(_)));
    let discipline = match &typed.discipline {
        Some(choice) => named(choice.name(), &format!("{path}.discipline"), texts)?,
        None if has_bounds.is_some() => offered::WITH_BOUNDS,
        None if has_classes => offered::WITH_CLASSES,
        None if wants_levels => offered::WITH_HOSTS,
        None => offered::PLAIN,
    };
    let (parameters, has_own) = parameters(spec, typed);
    let chosen = Chosen { discipline, parameters: &parameters, is_own: has_own };
    let has_leaves = chosen.classes() == ClassSupport::Queues;
    if let Some((origin, key)) = has_bounds.filter(|_| !has_leaves) {
        let key = format!("{path}.{key}");
        let why = format!("`{discipline}` supports neither guarantees nor ceilings");
        return Err(texts.refuse_of(origin, &key, "given", why, format!("{} for [{path}]", with_leaves())));
    }
    if let Some(leaf) = typed.leaf.as_ref().filter(|_| !has_leaves) {
        let why = format!("`{discipline}` has no leaves");
        return Err(texts.refuse(&format!("{path}.leaf"), quoted(leaf.name()), why, with_leaves()));
    }
    let leaf = match &typed.leaf {
        Some(leaf) => discipline::leaf(leaf, &format!("{path}.leaf"), texts)?,
        None => LeafChoice::unset(&format!("{path}.leaf")),
    };
    let sharing = discipline::sharing(&chosen, way, tree, texts)?;
    let Flows { kind, within } = flows(spec, typed, &chosen, &leaf, (way, tree), texts)?;
    let has_no_hosts = !within && matches!(kind, FlowKind::FiveTuple | FlowKind::Dscp);
    each_is_of_hosts(way, tree, has_no_hosts, texts)?;
    Ok(Some(Shaping {
        discipline,
        rate: typed.rate.0,
        autorate: followed(typed, path, texts)?,
        buffer: typed.buffer.map_or_else(|| default_buffer(typed.rate.0), |buffer| buffer.0),
        flows: kind,
        within,
        dscp: typed.dscp.unwrap_or_default(),
        framing: framing(&typed.framing, path, texts)?,
        not_ip: not_ip(typed, path, texts)?,
        control: control(typed, path, texts)?,
        has_own,
        defaults: typed.defaults.unwrap_or_default(),
        sharing,
        parameters,
        leaf,
    }))
}

fn each_is_of_hosts(
    way: Way,
    tree: &Tree,
    has_no_hosts: bool,
    texts: &Texts<'_>,
) -> Result<(), DocumentError> {
    for (number, class) in tree.book.iter() {
        let Some(each) = class.bounds[way as usize].each else { continue };
        let (why, allowed) = match tree.book.is_leaf(number) {
            false => (
                "classes or subscribers are below that class",
                "`each` in a class with neither below it".into(),
            ),
            true if has_no_hosts => {
                let path = way.name();
                ("flows here have no hosts", format!("`flows = \"inside\"` or two levels in [{path}]"))
            }
            true => continue,
        };
        let key = format!("{}.each", way.name());
        return Err(texts.refuse_of(tree.origins[number as usize], &key, each, why, allowed));
    }
    Ok(())
}

/// Numbers reserved for new subscribers: one for each 16 classes, but at least 64.
const VACANT: (usize, usize) = (16, 64);

/// Leaf numbers to reserve for new subscribers; 0 if a new subscriber requires rebuilding all
/// leaves.
pub(super) fn vacant(spec: &Spec, shaping: &[Option<Shaping>; 2], classes: usize) -> usize {
    let room = (MAX_CLASSES as usize).saturating_sub(classes);
    let wanted = (classes / VACANT.0).max(VACANT.1).min(room);
    if spec.subscribers.is_some() && has_leaves_alone(spec, shaping) { wanted } else { 0 }
}

/// Does each subscriber have an independent leaf, with a number that nothing else uses?
pub(super) fn has_leaves_alone(spec: &Spec, shaping: &[Option<Shaping>; 2]) -> bool {
    let is_leaf_alone =
        |shaping: &Shaping| shaping.sharing == ClassSupport::Queues && shaping.flows != FlowKind::Subscriber;
    let is_edge = spec.ingress.is_some() || spec.egress.is_some();
    !is_edge && shaping.iter().any(Option::is_some) && shaping.iter().flatten().all(is_leaf_alone)
}

fn parameters(spec: &Spec, typed: &DirectionSpec) -> (Parameters, bool) {
    match typed.discipline.as_ref().and_then(Choice::parameters) {
        Some(own) => (spec.discipline.with(own), true),
        None => (spec.discipline.clone(), false),
    }
}

pub(super) struct Chosen<'a> {
    /// The discipline's name in the catalogue.
    pub discipline: &'static str,
    /// The parameters for both directions, combined with those for this direction.
    pub parameters: &'a Parameters,
    /// Were parameters given with the discipline's name?
    pub is_own: bool,
}

impl Chosen<'_> {
    pub(super) fn classes(&self) -> ClassSupport {
        catalogue::with_part(self.discipline, self.parameters, |part| part.classes())
            .expect("it is in the catalogue")
    }

    pub(super) fn table(&self, way: Way) -> String {
        let key = discipline::key(self.discipline);
        if self.is_own { format!("{}.discipline.{key}", way.name()) } else { format!("discipline.{key}") }
    }
}

pub(super) fn named(name: &str, path: &str, texts: &Texts<'_>) -> Result<&'static str, DocumentError> {
    catalogue::find(name).map(|entry| entry.name).map_err(|unknown| {
        if let Some(why) = unknown.why {
            let allowed = "a scheduler and a dropper, such as `drr+faba`; or a discipline alone";
            return texts.refuse(path, quoted(&unknown.given), why, allowed);
        }
        texts.unknown(
            super::places::Origin::Unclaimed,
            path,
            "discipline",
            name,
            catalogue::allowed(name).into_iter().map(Into::into).collect(),
        )
    })
}

fn followed(
    typed: &DirectionSpec,
    path: &str,
    texts: &Texts<'_>,
) -> Result<Option<autorate::Config>, DocumentError> {
    let Some(spec) = &typed.autorate else { return Ok(None) };
    let config = spec.check(typed.rate.0).map_err(|bad| {
        let path = format!("{path}.autorate.{}", bad.parameter);
        texts.refuse(&path, bad.given, "that is out of range", bad.allowed)
    })?;
    Ok(Some(config))
}

fn not_ip(typed: &DirectionSpec, path: &str, texts: &Texts<'_>) -> Result<Rate, DocumentError> {
    let why = "that exceeds the link, and non-IP frames bypass the queue";
    let rate = part_of_link(typed, typed.not_ip, &format!("{path}.not_ip"), why, texts)?;
    Ok(rate.unwrap_or(not_ip::default_rate(typed.rate.0)))
}

fn control(typed: &DirectionSpec, path: &str, texts: &Texts<'_>) -> Result<Rate, DocumentError> {
    let why = "that exceeds the link, and control packets bypass the queue";
    let rate = part_of_link(typed, typed.control, &format!("{path}.control"), why, texts)?;
    Ok(rate.unwrap_or(control::default_rate(typed.rate.0)))
}

fn part_of_link(
    typed: &DirectionSpec,
    part: Option<Quantity<Rate>>,
    path: &str,
    why: &str,
    texts: &Texts<'_>,
) -> Result<Option<Rate>, DocumentError> {
    let (rate, of_link) = (part.map(|part| part.0), typed.rate.0);
    match rate.filter(|rate| rate.bps() > of_link.bps()) {
        Some(rate) => {
            let way = path.split('.').next().unwrap_or(path);
            let allowed = format_args!("at most the rate of [{way}], {of_link}");
            Err(texts.refuse(path, rate, why, allowed))
        }
        None => Ok(rate),
    }
}

fn framing(typed: &FramingSpec, path: &str, texts: &Texts<'_>) -> Result<Framing, DocumentError> {
    let overhead_bytes = typed.overhead_bytes.unwrap_or(Framing::ETHERNET.overhead_bytes);
    if overhead_bytes.abs() > MAX_OVERHEAD {
        let allowed = format_args!("a whole number from -{MAX_OVERHEAD} to {MAX_OVERHEAD}");
        let path = format!("{path}.framing.overhead_bytes");
        return Err(texts.refuse(&path, overhead_bytes, "that is out of range", allowed));
    }
    let least = match typed.minimum {
        Some(size) => size.0.0,
        None if typed.overhead_bytes.is_none() => Framing::ETHERNET.minimum_bytes.into(),
        None => 1,
    };
    match u32::try_from(least).ok().filter(|bytes| (1..=65_535).contains(bytes)) {
        Some(minimum_bytes) => Ok(Framing { overhead_bytes, minimum_bytes, is_atm: typed.atm }),
        None => {
            let given = fairwire_core::units::Size(least);
            Err(texts.refuse(
                &format!("{path}.framing.minimum"),
                given,
                "that is out of range",
                "from 1 B to 65535 B",
            ))
        }
    }
}

/// The definition of a flow, and whether each flow's share is divided equally among its
/// conversations.
struct Flows {
    kind: FlowKind,
    within: bool,
}

fn flows(
    spec: &Spec,
    typed: &DirectionSpec,
    chosen: &Chosen<'_>,
    leaf: &LeafChoice,
    (way, tree): (Way, &Tree),
    texts: &Texts<'_>,
) -> Result<Flows, DocumentError> {
    let path = format!("{}.flows", way.name());
    let has_classes = tree.book.len() > 1;
    let discipline = chosen.discipline;
    let has_leaves = chosen.classes() == ClassSupport::Queues;
    let (name, mut parameters) = match has_leaves {
        true => (leaf.name(), leaf.parameters(chosen.parameters)),
        false => (discipline, chosen.parameters.clone()),
    };
    let knows_hosts = discipline::share_between_hosts(name, &mut parameters) && (has_leaves || !has_classes);
    let one = |kind| Ok(Flows { kind, within: false });
    let has_each = tree.book.iter().any(|(_, class)| class.bounds[way as usize].each.is_some());
    match &typed.flows {
        None if has_leaves && spec.subscribers.is_some() && !has_each => one(FlowKind::FiveTuple),
        None if knows_hosts => Ok(Flows { kind: FlowKind::Inside, within: true }),
        None if has_leaves => one(if has_each { FlowKind::Inside } else { FlowKind::FiveTuple }),
        None if spec.subscribers.is_some() => one(FlowKind::Subscriber),
        None => one(FlowKind::Inside),
        Some(FlowsSpec::Levels(levels)) => {
            let given = levels_as_typed(levels);
            let [hosts, FlowsSpec::Named(FlowsChoice::FiveTuple)] = levels.as_slice() else {
                let why = "a list has two levels, a host and then `5-tuple`";
                return Err(texts.refuse(&path, given, why, TWO_LEVELS));
            };
            let kind = flow_kind(spec, hosts, &path, texts)?;
            if matches!(kind, FlowKind::FiveTuple | FlowKind::Dscp | FlowKind::Subscriber) {
                return Err(texts.refuse(&path, given, "the first level is not a host", TWO_LEVELS));
            }
            if has_classes && !has_leaves {
                let why = format!("`{discipline}` with classes has only one level of flows");
                let allowed = "one level, such as `inside`; or the discipline `classful`";
                return Err(texts.refuse(&path, given, why, allowed));
            }
            if !knows_hosts {
                let why = format!("`{name}` with these parameters has one level");
                let place = if has_leaves { "leaf" } else { "discipline" };
                let allowed = format_args!(
                    "`fq-codel`, `drr` or `cake-like` as the {place}; or one level, such as `inside`"
                );
                return Err(texts.refuse(&path, given, why, allowed));
            }
            Ok(Flows { kind, within: true })
        }
        Some(typed) => one(flow_kind(spec, typed, &path, texts)?),
    }
}

const TWO_LEVELS: &str = "`inside`, `mac`, `outside`, `source`, `destination`, `vlan` or a prefix, and then `5-tuple`, as in [\"inside\", \"5-tuple\"]";

fn levels_as_typed(levels: &[FlowsSpec]) -> String {
    serde_json::to_string(levels).expect("what was read can be written")
}

fn flow_kind(
    spec: &Spec,
    typed: &FlowsSpec,
    path: &str,
    texts: &Texts<'_>,
) -> Result<FlowKind, DocumentError> {
    Ok(match typed {
        FlowsSpec::Prefix { ipv4, ipv6 } => {
            if !(1..=32).contains(ipv4) || !(1..=128).contains(ipv6) {
                let given = format_args!("{{ ipv4 = {ipv4}, ipv6 = {ipv6} }}");
                let allowed = "`ipv4` from 1 to 32 and `ipv6` from 1 to 128";
                return Err(texts.refuse(path, given, "a prefix has no such length", allowed));
            }
            FlowKind::Prefix(NetworkBits { ipv4: *ipv4, ipv6: *ipv6 })
        }
        FlowsSpec::Levels(levels) => {
            let given = levels_as_typed(levels);
            let (path, why) = (format!("{path}.0"), "a level is a word or a prefix, not a list");
            return Err(texts.refuse(&path, given, why, TWO_LEVELS));
        }
        FlowsSpec::Named(choice) => match choice {
            FlowsChoice::FiveTuple => FlowKind::FiveTuple,
            FlowsChoice::Source => FlowKind::Source,
            FlowsChoice::Destination => FlowKind::Destination,
            FlowsChoice::Inside => FlowKind::Inside,
            FlowsChoice::Mac if !spec.wire.backend.link_kind().has_ethernet() => {
                let why = "the packets of this back end have no Ethernet header";
                return Err(texts.refuse(path, "`mac`", why, "`inside` for each address"));
            }
            FlowsChoice::Mac => FlowKind::Mac,
            FlowsChoice::Outside => FlowKind::Outside,
            FlowsChoice::Vlan => FlowKind::Vlan,
            FlowsChoice::Dscp => FlowKind::Dscp,
            FlowsChoice::Subscriber if spec.subscribers.is_none() => {
                let allowed = "`inside` for each host, or a table [subscribers]";
                return Err(texts.refuse(path, "`subscriber`", "there are no subscribers", allowed));
            }
            FlowsChoice::Subscriber => FlowKind::Subscriber,
        },
    })
}
