//! Builds a discipline from the tree of classes: with a class list, with weights, or with a leaf
//! for each class.

use super::leaves::{ClassLeaves, LeafChoice};
use super::offered::{listed, of_trees, with_classes};
use super::places::Texts;
use super::shaping::{self, Chosen, Shaping};
use super::spec::DefaultsChoice;
use super::tree::{Tree, quoted};
use fairwire_catalogue::compose::classful;
pub(super) use fairwire_catalogue::key;
use fairwire_catalogue::{self as catalogue, BuildError, Choice, Parameters, Site};
use fairwire_core::units::{Amount, Size};
use fairwire_core::{Discipline, Duration, Rate, Seed, Weight};
use fairwire_datapath::class_book::{Class, ClassBook, UNCLAIMED};
use fairwire_document::DocumentError;
use fairwire_laws::compose::classful::{Classful, Contents, Inner, Maker, Pool};
use fairwire_laws::part::{ClassSupport, Part};
use fairwire_laws::role;
use fairwire_laws::spec::{ClassNumber, EcnChoice, Measure, Quantity, Weights};
use fairwire_wire::Way;
use std::any::Any;
use std::iter::repeat_n;

pub(super) fn sharing(
    chosen: &Chosen<'_>,
    way: Way,
    tree: &Tree,
    texts: &Texts<'_>,
) -> Result<ClassSupport, DocumentError> {
    let (book, discipline) = (&tree.book, chosen.discipline);
    let classes = chosen.classes();
    if book.len() == 1 {
        return Ok(if classes == ClassSupport::Queues { classes } else { ClassSupport::None });
    }
    refuse_typed_classes(chosen, way, classes, texts)?;
    let path = format!("{}.discipline", way.name());
    let is_nested = book.iter().any(|(_, class)| class.parent.is_some());
    let is_weighted = book.iter().any(|(_, class)| class.weight != Weight::ONE);
    match classes {
        ClassSupport::None | ClassSupport::Weights if is_nested => {
            let why = "classes below others need a discipline with a tree";
            Err(texts.refuse(&path, quoted(discipline), why, listed(&of_trees(), " or ")))
        }
        ClassSupport::None if is_weighted => {
            let why = "it has no classes, and a class or subscriber has a weight other than 1";
            let with = "or one with a `scheduler` in its table, such as `lqd` with `scheduler = \"drr\"`";
            let names = with_classes(|classes| classes != ClassSupport::None);
            Err(texts.refuse(&path, quoted(discipline), why, format!("{}, {with}", listed(&names, ", "))))
        }
        classes => Ok(classes),
    }
}

/// Refuses classes in a discipline's parameters, since `[[class]]` and `[subscribers]` declare the
/// classes.
fn refuse_typed_classes(
    chosen: &Chosen<'_>,
    way: Way,
    classes: ClassSupport,
    texts: &Texts<'_>,
) -> Result<(), DocumentError> {
    let key = match classes {
        ClassSupport::None => None,
        _ => catalogue::with_part(chosen.discipline, chosen.parameters, |part| part.typed_classes())
            .expect("it is in the catalogue"),
    };
    match key {
        None => Ok(()),
        Some(key) => {
            let path = format!("{}.{key}", chosen.table(way));
            let why = "the discipline takes its classes from `[[class]]` and `[subscribers]`";
            Err(texts.refuse(&path, "given", why, "leave it out"))
        }
    }
}

/// Makes the discipline `name` share between hosts first, then between each host's flows. Returns
/// whether the discipline supports this with the parameters `typed`.
pub(super) fn share_between_hosts(name: &str, typed: &mut Parameters) -> bool {
    part_of(name, typed).set_hosts()
}

fn part_of<'a>(name: &str, typed: &'a mut Parameters) -> &'a mut dyn Part {
    catalogue::part_mut(name, typed).expect("it is in the catalogue")
}

/// The least link rate at which a flow's packets are served in trains while few flows are busy.
/// Serving packets singly costs a fast link half of its rate.
const TRAINS_FROM_BPS: u64 = 100_000_000;
/// The duration of a round, in which each busy flow sends one train.
const ROUND: Duration = Duration::from_ms(1);

fn serve_trains(name: &str, parameters: &mut Parameters, rate: Rate) {
    if rate.bps() >= TRAINS_FROM_BPS {
        part_of(name, parameters).set_default(role::ROUND, Quantity(ROUND));
    }
}

pub(super) fn leaf(choice: &Choice, path: &str, texts: &Texts<'_>) -> Result<LeafChoice, DocumentError> {
    let name = shaping::named(choice.name(), path, texts)?;
    if of_trees().contains(&name) {
        let why = "a leaf has no classes of its own";
        let allowed = "a discipline without a tree, such as `fq-codel` or `faba`";
        return Err(texts.refuse(path, quoted(name), why, allowed));
    }
    Ok(LeafChoice::new(name, choice, path))
}

pub(super) struct DisciplinePlan<'a> {
    pub shaping: &'a Shaping,
    pub book: &'a ClassBook,
    /// The leaf discipline of each class that names one.
    pub leaves: &'a ClassLeaves,
    pub way: Way,
    pub frame_bytes: u32,
    /// The most frames that the discipline may hold.
    pub frames: u32,
    pub seed: Seed,
    /// If set, only this class, the classes above it and the class of unclaimed traffic are built,
    /// each as in the entire tree.
    pub only: Option<u32>,
}

pub(super) struct DisciplineFault<'a> {
    pub error: BuildError,
    /// The leaf discipline at fault; `None` if the direction's discipline is at fault.
    pub leaf: Option<&'a LeafChoice>,
}

impl<E: Into<BuildError>> From<E> for DisciplineFault<'_> {
    fn from(error: E) -> Self {
        DisciplineFault { error: error.into(), leaf: None }
    }
}

impl<'a> DisciplinePlan<'a> {
    pub(super) fn site(&self) -> Site<'static> {
        let Shaping { rate, buffer, .. } = *self.shaping;
        let packet_bytes = self.shaping.packet_bytes(self.frame_bytes);
        Site { rate, buffer, packet_bytes, seed: self.seed, stream: self.way.name() }
    }

    /// Checks the discipline without allocating memory for it.
    pub(super) fn check(&self) -> Result<(), DisciplineFault<'a>> {
        match self.shaping.sharing {
            ClassSupport::Queues => self.leaves().map(drop),
            _ => Ok(catalogue::check(self.shaping.discipline, &self.parameters(), &self.site())?),
        }
    }

    pub(super) fn build(&self) -> Result<Box<dyn Discipline>, BuildError> {
        match self.shaping.sharing {
            ClassSupport::Queues => Ok(Box::new(self.classful()?)),
            _ => catalogue::build(self.shaping.discipline, &self.parameters(), &self.site()),
        }
    }

    fn parameters(&self) -> Parameters {
        let mut parameters = self.shaping.parameters.clone();
        let name = self.shaping.discipline;
        if self.shaping.defaults == DefaultsChoice::Link {
            let free_below = free_below(&self.site());
            as_on_a_link(name, &mut parameters, free_below);
            serve_trains(name, &mut parameters, self.shaping.rate);
        }
        if self.shaping.within {
            share_between_hosts(name, &mut parameters); // with a tree, the leaves do
        }
        match self.shaping.sharing {
            ClassSupport::Tree => part_of(name, &mut parameters).set_tree(&self.book.terms(self.way)),
            ClassSupport::Weights => {
                let weights =
                    self.book.iter().map(|(number, class)| (ClassNumber(number), class.weight.get()));
                part_of(name, &mut parameters).set_weights(Weights(weights.collect()));
            }
            ClassSupport::None | ClassSupport::Queues => {}
        }
        if matches!(self.shaping.sharing, ClassSupport::Tree | ClassSupport::Weights)
            && let Some(flows) = self.flows_for_classes()
        {
            part_of(name, &mut parameters).set_default(role::FLOWS, flows);
        }
        parameters
    }

    /// The number of flows that the discipline should allow for, if the classes need more than the
    /// default.
    fn flows_for_classes(&self) -> Option<u32> {
        let (site, classes) = (self.site(), self.book.len() as f64);
        let default = 4.0 * site.buffer.in_packets(site.packet_bytes, site.rate);
        (classes + 4096.0 > default.max(4096.0)).then_some(classes as u32 + 4096)
    }

    /// Builds the tree. If there are thousands of leaves, each is built when its first packet
    /// arrives.
    fn classful(&self) -> Result<Classful, BuildError> {
        let (config, leaves) = self.leaves().map_err(|fault| fault.error)?;
        let is_later = match self.only {
            Some(_) if self.book.leaf_count() <= MADE_AT_ONCE => {
                let all = DisciplinePlan { only: None, ..*self };
                all.leaves().map_err(|fault| fault.error)?.1.are_made_later()
            }
            Some(_) => true,
            None => leaves.are_made_later(),
        };
        let (pool, listed) = (leaves.pool, self.listed());
        let contents = (0..config.tree.len()).map(|place| {
            let class = listed.get(config.tree.given()[place]).and_then(|(_, class)| *class);
            let label = class.map_or(String::new(), |class| class.name.clone());
            let inner = leaves.plans[place].map(|_| match is_later || class.is_none() {
                true => Inner::Later,
                false => Inner::Made(leaves.make(place)),
            });
            Contents { label, inner }
        });
        let contents = contents.collect();
        let classful = Classful::new(config, contents).with_pool(pool);
        let classful = self.with_hosts().fold(classful, Classful::by_host);
        if !is_later {
            return Ok(classful);
        }
        Ok(classful.with_maker(Box::new(leaves)).keeping(KEPT_LEAVES))
    }

    fn each(&self, class: u32) -> Option<Rate> {
        self.book.class(class)?.bounds[self.way as usize].each
    }

    fn with_hosts(&self) -> impl Iterator<Item = u32> {
        self.book.iter().map(|(number, _)| number).filter(|number| self.each(*number).is_some())
    }

    /// The class numbers of the tree to build. A vacant number has no class.
    fn listed(&self) -> Vec<(u32, Option<&'a Class>)> {
        let mut numbers: Vec<u32> = match self.only {
            None => (0..self.book.numbers() as u32).collect(),
            Some(only) => {
                let up = |number: &u32| self.book.class(*number)?.parent;
                std::iter::successors(Some(only), up).chain([UNCLAIMED]).collect()
            }
        };
        numbers.sort_unstable();
        numbers.dedup();
        numbers.into_iter().map(|number| (number, self.book.class(number))).collect()
    }

    /// The description of a tree of the classes `listed`. Each entry of `hosts` adds a leaf for
    /// hosts below the class with this number.
    fn spec(&self, listed: &[(u32, Option<&Class>)], hosts: &[u32]) -> classful::Spec {
        let typed = self.shaping.parameters.spec::<classful::Spec>().cloned().unwrap_or_default();
        let class = |&(id, class): &(u32, Option<&Class>)| {
            let bounds = class.map(|class| class.bounds[self.way as usize]).unwrap_or_default();
            let has_hosts = bounds.each.is_some() && !hosts.is_empty();
            classful::Class {
                id: Some(id),
                parent: class.and_then(|class| class.parent),
                rate: bounds.guaranteed.map(Quantity),
                ceiling: bounds.ceiling.map(Quantity),
                peak: bounds.burst.map(|burst| Quantity(burst.rate)),
                burst: bounds
                    .burst
                    .zip(bounds.ceiling)
                    .map(|(burst, ceiling)| Quantity(Size(burst.bytes(ceiling)))),
                weight: Some(class.map_or(Weight::ONE, |class| class.weight).get()),
                buffer: (self.book.is_leaf(id) && !has_hosts).then_some(ONE),
                ..classful::Class::default()
            }
        };
        let host = |(id, class): (u32, &u32)| classful::Class {
            id: Some(id),
            parent: Some(*class),
            ceiling: self.each(*class).map(Quantity),
            buffer: Some(ONE),
            ..classful::Class::default()
        };
        // Leaves for hosts are numbered after all classes.
        let first = self.book.numbers() as u32;
        let classes = listed.iter().map(class).chain((first..).zip(hosts).map(host)).collect();
        let of_unclaimed = (first..).zip(hosts).find(|(_, class)| **class == UNCLAIMED);
        let default = of_unclaimed.map_or(UNCLAIMED, |(host, _)| host);
        classful::Spec { class: Some(classes), default: Some(default), ..typed }
    }

    /// The checked tree, and the plans of its leaves. A plan is a few numbers, so thousands of
    /// plans fit in memory.
    fn leaves(&self) -> Result<(fairwire_laws::compose::classful::Config, Leaves), DisciplineFault<'a>> {
        let (site, listed) = (self.site(), self.listed());
        let with_hosts = self.with_hosts().filter(|_| self.only.is_none());
        let hosts: Vec<u32> = with_hosts.flat_map(|class| repeat_n(class, HOSTS)).collect();
        let spec = self.spec(&listed, &hosts);
        let config = spec.check(&site)?;
        let (is_leaf, count) =
            (config.tree.leaves(), self.book.leaf_count() + self.with_hosts().count() * HOSTS);
        let whole = spec.buffer.map_or(site.buffer, |buffer| buffer.0);
        let prepared = |choice: &LeafChoice| {
            let mut parameters = choice.parameters(&self.shaping.parameters);
            if let Some(ecn) = spec.ecn {
                part_of(choice.name(), &mut parameters).set_default(role::ECN, ecn);
            }
            fit_leaf(choice.name(), &mut parameters, count);
            if self.shaping.within {
                share_between_hosts(choice.name(), &mut parameters);
            }
            if self.shaping.defaults == DefaultsChoice::Link {
                as_on_a_link(choice.name(), &mut parameters, Amount::Time(LITTLE));
                serve_trains(choice.name(), &mut parameters, site.rate);
            }
            Prepared { name: choice.name(), parameters }
        };
        let (shaping, of_classes) = (self.shaping, self.leaves);
        let choices: Vec<&LeafChoice> = [&shaping.leaf].into_iter().chain(of_classes.choices()).collect();
        let prepared = choices.iter().copied().map(prepared).collect();
        let plan = |place: usize| {
            let given = config.tree.given()[place];
            let (number, class, each) = match listed.get(given) {
                Some((number, _)) => (*number, *number, None),
                None => {
                    let at = given - listed.len();
                    ((self.book.numbers() + at) as u32, hosts[at], self.each(hosts[at]))
                }
            };
            is_leaf[place].then(|| {
                let most = spec.rate.map(|rate| rate.0).into_iter().chain(each).reduce(Rate::min);
                let rate = self.leaf_rate(class, most);
                let buffer = leaf_buffer(whole, &Site { rate, ..site });
                Leaf { number, prepared: self.prepared(class), rate, buffer }
            })
        };
        let plans = (0..config.tree.len()).map(plan).collect();
        let pool = pool(whole, self.frames, &site);
        let leaves = Leaves { plans, prepared, site, pool, have_hosts: !hosts.is_empty() };
        match leaves.check() {
            Ok(()) => Ok((config, leaves)),
            Err((at, error)) => Err(DisciplineFault { error, leaf: Some(choices[at]) }),
        }
    }

    /// The index in [`Leaves::prepared`] of the leaf's discipline. From the leaf upwards, the first
    /// class that names a discipline decides. If none does, the direction's discipline (index 0)
    /// applies.
    fn prepared(&self, number: u32) -> usize {
        let up = |number: &u32| self.book.class(*number)?.parent;
        let mut upwards = std::iter::successors(Some(number), up);
        upwards.find_map(|number| self.leaves.place(number)).map_or(0, |place| place + 1)
    }

    fn leaf_rate(&self, number: u32, whole: Option<Rate>) -> Rate {
        let up = |number: &u32| self.book.class(*number)?.parent;
        let upwards = std::iter::successors(Some(number), up);
        let most = upwards.filter_map(|number| self.book.class(number)?.bounds[self.way as usize].most());
        most.chain(whole).fold(self.shaping.rate, Rate::min)
    }
}

/// The number of leaves for hosts in a class with a ceiling per host. The work per packet grows
/// with the number of backlogged leaves.
const HOSTS: usize = 256;
/// A placeholder for a leaf's buffer when the tree is checked. Equal shares for thousands of leaves
/// would be refused as too small.
const ONE: Quantity<Amount> = Quantity(Amount::Packets(1));
/// If there are at most this many leaves, all are built before the first packet, so that nothing is
/// allocated later. Otherwise each leaf is built by its first packet, since few are busy at a time.
const MADE_AT_ONCE: usize = 1024;
/// The maximum total room, in packets, of leaves that are built before the first packet. Once used,
/// this room takes 16 MB.
const ROOM_AT_ONCE: u64 = 1 << 18;
/// If leaves are built when their first packets arrive, at most this many empty leaves are kept.
/// With `fq-codel` these leaves take 3 MB.
const KEPT_LEAVES: usize = 1024;

#[derive(Clone, Copy)]
struct Leaf {
    number: u32,
    prepared: usize,
    rate: Rate,
    buffer: Amount,
}

/// A leaf discipline with parameters, shared by several leaves.
struct Prepared {
    name: &'static str,
    parameters: Parameters,
}

/// The leaves of a tree, by position.
struct Leaves {
    plans: Box<[Option<Leaf>]>,
    prepared: Box<[Prepared]>,
    site: Site<'static>,
    pool: Pool,
    /// True if the tree has leaves for hosts, few of which are busy at a time.
    have_hosts: bool,
}

impl Leaves {
    fn are_made_later(&self) -> bool {
        let plans = || self.plans.iter().flatten();
        let room = plans().map(|leaf| u64::from(leaf.buffer.limit(leaf.rate).max_packets()));
        self.have_hosts || plans().count() > MADE_AT_ONCE || room.sum::<u64>() > ROOM_AT_ONCE
    }

    /// Checks every leaf's discipline. An error includes the index in `prepared` of the faulty
    /// discipline.
    fn check(&self) -> Result<(), (usize, BuildError)> {
        let check = |leaf: &Leaf| {
            let site = Site { rate: leaf.rate, buffer: leaf.buffer, ..self.site };
            let Prepared { name, parameters } = &self.prepared[leaf.prepared];
            catalogue::check(name, parameters, &site).map_err(|error| (leaf.prepared, error))
        };
        self.plans.iter().flatten().try_for_each(check)
    }
}

impl Maker for Leaves {
    fn make(&self, place: usize) -> Box<dyn Discipline> {
        let Leaf { number, prepared, rate, buffer } = self.plans[place].expect("a leaf");
        let Prepared { name, parameters } = &self.prepared[prepared];
        let stream = format!("{}/{number}", self.site.stream);
        let site = Site { rate, buffer, stream: &stream, ..self.site };
        catalogue::build(name, parameters, &site).expect("it was checked")
    }

    /// Replaces the plan of leaf `place` by the plan of leaf `from` in `fresh`. Both trees have the
    /// same leaf disciplines, so indexes into `prepared` stay valid.
    fn adopt(&mut self, place: usize, fresh: &dyn Maker, from: usize) -> bool {
        let Some(fresh) = (fresh as &dyn Any).downcast_ref::<Leaves>() else { return false };
        self.plans[place] = fresh.plans[from];
        true
    }
}

/// The least room of a leaf, in packets, while the pool has room: a super-packet of 64 KiB (45 full
/// packets) and some others.
const MIN_ROOM: f64 = 64.0;
/// The least size of the pool of all leaves, in bytes: four super-packets, of which one leaf may
/// hold two.
const MIN_POOL: u64 = 4 << 16;

/// The buffer of a leaf, in packets. If the link's buffer is a time, the leaf's buffer is what the
/// leaf sends in that time. The [pool] limits the total.
fn leaf_buffer(whole: Amount, own: &Site<'_>) -> Amount {
    let needed = whole.in_packets(own.packet_bytes, own.rate);
    Amount::Packets(needed.max(MIN_ROOM).ceil() as u32)
}

/// The pool of all leaves, with room for `frames` packets and twice the bytes of the link's buffer.
/// A leaf may hold at most as much as the pool has free, so a leaf that is busy alone may hold half
/// of the pool.
fn pool(whole: Amount, frames: u32, link: &Site<'_>) -> Pool {
    let bytes = (2.0 * whole.in_bytes(link.packet_bytes, link.rate)) as u64;
    Pool { bytes: bytes.max(MIN_POOL), packets: frames }
}

/// The default number of queues of all leaves together: about 12 MB, at 90 bytes each.
const QUEUES: usize = 1 << 17;

/// Gives the discipline `name` defaults for a real link.
///
/// Fair droppers count bytes. If packets were counted, an upload's acknowledgements would use up a
/// subscriber's share of the download.
///
/// The default disciplines mark ECN-capable packets, as RFC 7567, section 4.2.1, and RFC 8087
/// recommend. A flow that ignores marks still loses packets when it has no tokens or fills its
/// queue.
fn as_on_a_link(name: &str, parameters: &mut Parameters, free_below: Amount) {
    let part = part_of(name, parameters);
    part.set_default(role::MEASURE, Measure::Bytes);
    part.set_default(role::FREE_BELOW, Quantity::from(free_below));
    if part.marks_on_a_link() {
        part.set_default(role::ECN, EcnChoice::Mark);
    }
}

/// The backlog below which a leaf drops nothing: a shorter wait is no standing queue (CoDel's
/// target, RFC 8289, section 4.3). The backlog is a time, since leaves with equal parameters have
/// different buffers.
const LITTLE: Duration = Duration::from_ms(5);

/// The backlog below which a link drops nothing under `faba`: a quarter of the buffer. With 5 ms, a
/// bursty flood harmed an honest TCP flow on a link that was not full, in two of three runs (`make
/// field ARGS="faults spoofed"`, docs/gateway/measured.md).
fn free_below(site: &Site<'_>) -> Amount {
    Amount::Bytes(site.buffer.in_bytes(site.packet_bytes, site.rate) as u64 / 4)
}

fn fit_leaf(name: &str, parameters: &mut Parameters, leaves: usize) {
    let queues = (QUEUES / leaves.max(1)).next_power_of_two().clamp(4, 1024) as u32;
    let part = part_of(name, parameters);
    part.set_default(role::QUEUES, queues);
    if leaves > 1 {
        part.set_default(role::FLOWS, (4 * queues).max(64));
    }
}
