//! One way through the gateway: its rate, its framing, what a flow is, and which discipline shares it.

use super::discipline::{self, Sharing};
use super::places::Texts;
use super::promises;
use super::spec::{DirectionSpec, DscpChoice, FlowsChoice, FlowsSpec, FramingSpec, Spec};
use super::tree::{Tree, quoted};
use crate::class_book::Way;
use crate::classify::{FlowKind, Framing};
use fairwire_core::units::Amount;
use fairwire_core::{Duration, Rate};
use fairwire_disciplines::{Parameters, catalogue};
use fairwire_document::DocumentError;
use fairwire_wire::flow_key::NetworkBits;

/// One way, checked.
#[derive(Clone, Debug)]
pub struct Shaping {
    /// The name in the catalogue of what shares the link.
    pub discipline: &'static str,
    /// The link's rate.
    pub rate: Rate,
    /// How much may wait.
    pub buffer: Amount,
    /// What a flow is.
    pub flows: FlowKind,
    /// Is the codepoint of what is sent on cleared?
    pub washes_dscp: bool,
    /// What a frame counts as.
    pub framing: Framing,
    /// For labs: constant delay after the link.
    pub delay: Duration,
    /// For labs: the probability that a frame is lost after the link.
    pub loss: f64,
    /// For labs: the seed of losses and of the discipline.
    pub seed: Option<u64>,
    /// What was typed for disciplines, for both ways.
    pub parameters: Parameters,
    /// How the discipline shares between classes.
    pub sharing: Sharing,
    /// With `classful`: the discipline of leaves that have no other.
    pub leaf: &'static str,
}

/// How much may wait, unless it is said. The queue of a home router at a few Mbit/s holds more, that of a fast link less.
const BUFFER: Duration = Duration::from_ms(50);
/// The most that may be added to or taken from a frame.
const MOST_OVERHEAD: i32 = 1024;
/// The longest delay of a lab.
const MOST_DELAY: Duration = Duration::from_secs(60);

impl Shaping {
    /// Bytes on the link of a typical long packet, where frames have at most `frame_bytes`.
    pub fn packet_bytes(&self, frame_bytes: u32) -> u32 {
        self.framing.wire_bytes(frame_bytes.min(TYPICAL_FRAME) as usize, Default::default())
    }
}

/// A full frame of Ethernet, without check sequence.
pub const TYPICAL_FRAME: u32 = 1514;

/// Checks one way.
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
    let discipline = match &typed.discipline {
        Some(name) => named(name, &format!("{path}.discipline"), texts)?,
        None if has_bounds.is_some() => "classful",
        None if tree.book.len() > 1 => "hfaba",
        None => "faba",
    };
    if let Some((origin, key)) = has_bounds.filter(|_| discipline != "classful") {
        let key = format!("{path}.{key}");
        let why = format!("`{discipline}` knows no guarantees and no ceilings");
        return Err(texts.refuse_of(
            origin,
            &key,
            "there",
            why,
            format!("with the discipline `classful` for [{path}]"),
        ));
    }
    let (delay, loss) = lab(typed, path, texts)?;
    if let Some(leaf) = typed.leaf.as_deref().filter(|_| discipline != "classful") {
        let why = format!("`{discipline}` has no leaves");
        return Err(texts.refuse(
            &format!("{path}.leaf"),
            quoted(leaf),
            why,
            "with the discipline `classful`",
        ));
    }
    let leaf = match &typed.leaf {
        Some(leaf) => discipline::leaf(leaf, &format!("{path}.leaf"), texts)?,
        None => "fq-codel",
    };
    Ok(Some(Shaping {
        discipline,
        rate: typed.rate.0,
        buffer: typed.buffer.map_or(Amount::Time(BUFFER), |buffer| buffer.0),
        flows: flows(spec, typed, discipline, path, texts)?,
        washes_dscp: typed.dscp == Some(DscpChoice::Wash),
        framing: framing(&typed.framing, path, texts)?,
        delay,
        loss,
        seed: typed.seed,
        parameters: spec.discipline.clone(),
        sharing: discipline::sharing(spec, discipline, way, tree, texts)?,
        leaf,
    }))
}

/// Delay and loss after the link.
fn lab(typed: &DirectionSpec, path: &str, texts: &Texts<'_>) -> Result<(Duration, f64), DocumentError> {
    let loss = typed.loss.unwrap_or(0.0);
    if !(0.0..=1.0).contains(&loss) {
        return Err(texts.refuse(
            &format!("{path}.loss"),
            loss,
            "that is no probability",
            "a number from 0 to 1",
        ));
    }
    let delay = typed.delay.map_or(Duration::ZERO, |delay| delay.0);
    if delay > MOST_DELAY {
        let allowed = format_args!("at most {MOST_DELAY}");
        return Err(texts.refuse(&format!("{path}.delay"), delay, "every frame is held so long", allowed));
    }
    Ok((delay, loss))
}

/// The catalogue's name of the discipline called `name`.
pub(super) fn named(name: &str, path: &str, texts: &Texts<'_>) -> Result<&'static str, DocumentError> {
    catalogue::find(name).map(|entry| entry.name).map_err(|_| {
        let every = catalogue::all().iter();
        let names = every.flat_map(|entry| [entry.name].into_iter().chain(entry.aliases.iter().copied()));
        texts.unknown(
            super::places::Origin::Unclaimed,
            path,
            "discipline",
            name,
            names.map(Into::into).collect(),
        )
    })
}

fn framing(typed: &FramingSpec, path: &str, texts: &Texts<'_>) -> Result<Framing, DocumentError> {
    let overhead_bytes = typed.overhead_bytes.unwrap_or(Framing::ETHERNET.overhead_bytes);
    if overhead_bytes.abs() > MOST_OVERHEAD {
        let allowed = format_args!("a whole number from -{MOST_OVERHEAD} to {MOST_OVERHEAD}");
        let path = format!("{path}.framing.overhead_bytes");
        return Err(texts.refuse(&path, overhead_bytes, "no link adds or spares so much", allowed));
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
                "no link does that",
                "from 1 B to 65535 B",
            ))
        }
    }
}

fn flows(
    spec: &Spec,
    typed: &DirectionSpec,
    discipline: &str,
    path: &str,
    texts: &Texts<'_>,
) -> Result<FlowKind, DocumentError> {
    let path = format!("{path}.flows");
    Ok(match typed.flows {
        None if spec.subscribers.is_some() && discipline != "classful" => FlowKind::Subscriber,
        None => FlowKind::FiveTuple,
        Some(FlowsSpec::Prefix { ipv4, ipv6 }) => {
            if !(1..=32).contains(&ipv4) || !(1..=128).contains(&ipv6) {
                let given = format_args!("{{ ipv4 = {ipv4}, ipv6 = {ipv6} }}");
                let allowed = "`ipv4` from 1 to 32 and `ipv6` from 1 to 128";
                return Err(texts.refuse(&path, given, "these are no lengths of prefixes", allowed));
            }
            FlowKind::Prefix(NetworkBits { ipv4, ipv6 })
        }
        Some(FlowsSpec::Named(choice)) => match choice {
            FlowsChoice::FiveTuple => FlowKind::FiveTuple,
            FlowsChoice::Source => FlowKind::Source,
            FlowsChoice::Destination => FlowKind::Destination,
            FlowsChoice::Inside => FlowKind::Inside,
            FlowsChoice::Outside => FlowKind::Outside,
            FlowsChoice::Vlan => FlowKind::Vlan,
            FlowsChoice::Dscp => FlowKind::Dscp,
            FlowsChoice::Subscriber if spec.subscribers.is_none() => {
                let allowed = "`inside` for each host, or a table [subscribers]";
                return Err(texts.refuse(&path, "`subscriber`", "there are no subscribers", allowed));
            }
            FlowsChoice::Subscriber => FlowKind::Subscriber,
        },
    })
}
