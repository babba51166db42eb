//! The order of service, as given and checked.

use crate::error::{BadParameter, Of as _, Parameter};
use crate::role;
use crate::scheduler::Fcfs;
use crate::scheduler::{kind::Kind, terms::Terms};
use crate::site::Site;
use crate::spec::{EcnChoice, Quantity, WeightOf, Weights};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use fairwire_core::units::Size;
use fairwire_core::{Discipline, Dropper, Limit, Queue, Queues, Rate, Seed};
#[cfg(feature = "text")]
use fairwire_parameters::text::{FromValue, Refusal, Value};
use fairwire_parameters::{Role, parameters, word};

/// The order of service, in disciplines that every scheduler can serve.
pub const SCHEDULER: Role<Service> = Role::named("scheduler");

/// The unit that has a queue and a weight.
pub const PER: Role<Per> = Role::named("per");

/// The order of service: a scheduler and its parameters. Written as `"drr"` or `{ drr = { quantum =
/// "300 B" } }`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Service {
    /// The scheduler. Default: `fcfs`.
    pub name: Kind,
    /// The scheduler's parameters.
    pub terms: ServiceTerms,
}

/// The parameters of a scheduler.
#[parameters(gated, name = "scheduler", checked = CheckedTerms)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServiceTerms {
    /// The queues.
    #[parameter(flatten)]
    pub queue: QueueTerms,
    /// The amount that a flow of weight 1 may send per round, for schedulers with rounds.
    #[parameter(
        unset = "1514 B, or the typical packet if that is longer",
        min = "1 B",
        max = "1 MiB",
        unit = "size"
    )]
    pub quantum: Option<Quantity<Size>>,
}

/// The queues served, and their weights.
#[parameters(gated, group, checked = CheckedQueueTerms)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueTerms {
    /// The weights of classes: a flow's share is in proportion to the weight of its class.
    #[parameter(is = role::WEIGHTS, unset = "1 for each", unit = "1 by class")]
    pub weights: Option<Weights>,
    /// Whether each flow or each class has a queue.
    #[parameter(is = PER, default = Per::Flow)]
    pub per: Option<Per>,
    /// The maximum number of queues.
    #[parameter(unset = "as many as flows", min = 1, max = 65_536, unit = "queues")]
    pub queues: Option<u32>,
    /// The treatment of more flows than `queues`.
    #[parameter(default = Sharing::Hash, source = "Suter et al. 1998, figure 10.")]
    pub sharing: Option<Sharing>,
}

/// The unit that has a separate queue.
#[word(gated)]
pub enum Per {
    /// Each flow.
    #[default]
    Flow,
    /// Each class: a host or a subscriber, as the classifier decides.
    Class,
}

/// The method by which flows share a bounded number of queues.
#[word(gated)]
pub enum Sharing {
    /// A hash of the flow picks the queue.
    #[default]
    Hash,
    /// A hash picks a set of eight queues. Within the set, the flow takes an empty queue if
    /// possible.
    SetAssociative,
    /// A new flow takes over the queue of the flow that was idle longest. Suter et al. 1998, figure
    /// 10.
    LeastRecentlyUsed,
    /// A new flow takes over a random queue. Suter et al. 1998, figure 10.
    RandomReplacement,
}

/// A checked [`Service`].
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedService {
    /// The scheduler.
    pub kind: Kind,
    /// The weights of classes.
    pub weights: WeightOf,
    quantum: u32,
    rate: Rate,
    per: Per,
    queues: Option<u32>,
    sharing: Sharing,
    seed: Seed,
    stream: String,
}

impl Service {
    /// Checks `typed`, or the default order of service, for `discipline`.
    pub fn check(
        typed: &Option<Service>,
        discipline: &'static str,
        site: &Site<'_>,
    ) -> Result<CheckedService, BadParameter> {
        let default = Service::default();
        let typed = typed.as_ref().unwrap_or(&default);
        Service::check_given(typed, discipline, site).map_err(|bad| typed.placed(bad))
    }

    fn check_given(
        typed: &Service,
        discipline: &'static str,
        site: &Site<'_>,
    ) -> Result<CheckedService, BadParameter> {
        let parameter = |name| Parameter { discipline, name };
        // `checked` allows a quantum of at most 1 MiB: above one jumbo packet, a larger quantum
        // only makes service burstier.
        let CheckedTerms { quantum } = typed.terms.checked().of_table(parameter("scheduler"))?;
        if let Some(quantum) = quantum.filter(|_| !typed.name.has_rounds()) {
            let allowed = format_args!(
                "no `quantum` with `{}`; only `drr` and `fbfq` use a quantum",
                typed.name.name()
            );
            return Err(parameter("scheduler.quantum").refuse(quantum, allowed));
        }
        let quantum = quantum.map_or(site.packet_bytes.max(1514).into(), |typed| typed.0);
        let given = &typed.terms.queue;
        let CheckedQueueTerms { per, queues, sharing } = given.checked().of_table(parameter("scheduler"))?;
        let weights = match &given.weights {
            Some(weights) => weights.check(parameter("scheduler.weights"))?,
            None => WeightOf::equal(),
        };
        if typed.name == Kind::Drr {
            refuse_slivers(&weights, quantum, parameter("scheduler.weights"))?;
        }
        given.check_queues(parameter)?;
        Ok(CheckedService {
            kind: typed.name,
            weights,
            quantum: quantum as u32,
            rate: site.rate,
            per,
            queues,
            sharing,
            seed: site.seed,
            stream: format!("{}/queues", site.stream),
        })
    }
}

impl Service {
    /// Does the scheduler have queues to which weights can apply?
    pub fn has_queues(&self) -> bool {
        self.name != Kind::Fcfs
    }

    /// Adds this scheduler's name to the parameter's path in `bad`, as in `scheduler.drr.quantum`.
    pub fn placed(&self, bad: BadParameter) -> BadParameter {
        match bad.parameter.strip_prefix("scheduler.") {
            Some(term) => {
                BadParameter { parameter: format!("scheduler.{}.{term}", self.name.name()).into(), ..bad }
            }
            None => bad,
        }
    }
}

#[cfg(feature = "text")]
impl FromValue for Service {
    fn from_value(value: &Value) -> Result<Self, Refusal> {
        let named = |name: &str| Kind::from_value(&Value::Text(name.into()));
        match value {
            Value::Text(name) => Ok(Service { name: named(name)?, ..Service::default() }),
            Value::Table(table) if table.entries().count() == 1 => {
                let (name, _, terms) = table.entries().next().expect("there is one");
                Ok(Service { name: named(name)?, terms: FromValue::from_value(terms)? })
            }
            _ => Err(value
                .instead_of("a scheduler's name, or a table such as `{ drr = { quantum = \"300 B\" } }`")),
        }
    }
}

impl QueueTerms {
    fn check_queues(&self, parameter: impl Fn(&'static str) -> Parameter) -> Result<(), BadParameter> {
        if self.per == Some(Per::Class) {
            let of_class = "nothing with per = \"class\", where each class has a queue";
            if let Some(queues) = self.queues {
                return Err(parameter("scheduler.queues").refuse(queues, of_class));
            }
            if let Some(sharing) = self.sharing {
                return Err(parameter("scheduler.sharing").refuse(format_args!("{sharing:?}"), of_class));
            }
        }
        let Some(queues) = self.queues else {
            return Ok(());
        };
        if self.sharing == Some(Sharing::SetAssociative) && queues > WAYS && !queues.is_multiple_of(WAYS) {
            let allowed = format_args!("up to {WAYS}, or a multiple of it, in sets of {WAYS}");
            return Err(parameter("scheduler.queues").refuse(queues, allowed));
        }
        Ok(())
    }
}

/// The minimum bytes per round, accurate to 1/64: deficit round robin counts in 2^-16 B.
pub(super) const MIN_PER_ROUND: f64 = 1.0 / 1024.0;

/// Queues per set.
const WAYS: u32 = 8;

fn refuse_slivers(weights: &WeightOf, quantum: u64, parameter: Parameter) -> Result<(), BadParameter> {
    let least = weights.distinct()[0];
    if least * quantum as f64 >= MIN_PER_ROUND {
        return Ok(());
    }
    let given = format_args!("{least} with a quantum of {}", Size(quantum));
    Err(parameter.refuse(given, "weights whose product with the quantum is at least 1/1024 B"))
}

impl CheckedService {
    pub(crate) fn queue<D: Dropper + 'static>(
        &self,
        limit: Limit,
        ecn: EcnChoice,
        dropper: D,
    ) -> Box<dyn Discipline> {
        let queues = self.queues();
        match self.kind {
            Kind::Fcfs => Box::new(Queue::with_queues(limit, queues, Fcfs, dropper).with_ecn(ecn.into())),
            kind => {
                let scheduler = kind.scheduler(&self.terms(limit));
                Box::new(Queue::with_queues(limit, queues, scheduler, dropper).with_ecn(ecn.into()))
            }
        }
    }

    /// The bytes that a flow of weight 1 may send per round.
    pub fn quantum(&self) -> u32 {
        self.quantum
    }

    /// The scheduler's terms.
    pub fn terms(&self, limit: Limit) -> Terms {
        let weights = self.weights.clone();
        Terms { rate_bps: self.rate.bps(), quantum: self.quantum, weights, limit }
    }

    pub(crate) fn queues(&self) -> Queues {
        let mut rng = self.seed.stream(&self.stream);
        match (self.per, self.queues, self.sharing) {
            (Per::Class, _, _) => Queues::PerClass,
            (Per::Flow, None, _) => Queues::PerFlow,
            (Per::Flow, Some(count), Sharing::Hash) => Queues::hashed(count, rng.next_u64()),
            (Per::Flow, Some(count), Sharing::SetAssociative) => {
                let ways = count.min(WAYS);
                Queues::set_associative(count / ways, ways, rng.next_u64())
            }
            (Per::Flow, Some(count), Sharing::LeastRecentlyUsed) => Queues::least_recently_used(count),
            (Per::Flow, Some(count), Sharing::RandomReplacement) => Queues::random_replacement(count, rng),
        }
    }
}
