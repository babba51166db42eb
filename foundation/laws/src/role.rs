//! Roles, by which a gateway or an outer discipline finds the parameters of any discipline. A field
//! declares its role, such as `#[parameter(is = role::BUFFER)]`.

use crate::spec::{EcnChoice, Measure, Quantity, Share, TreeClass, Weights};
use alloc::vec::Vec;
use fairwire_core::Duration;
use fairwire_core::units::{Amount, Level};
use fairwire_parameters::Role;

/// The size of the buffer; the site's by default.
pub const BUFFER: Role<Quantity<Amount>> = Role::named("buffer");

/// The response to signals; by default that of the outer discipline.
pub const ECN: Role<EcnChoice> = Role::named("ecn");

/// The unit in which flows are counted. On a real link the default is bytes.
pub const MEASURE: Role<Measure> = Role::named("measure");

/// The duration of a round. With few backlogged flows, quanta grow to fill the round.
pub const ROUND: Role<Quantity<Duration>> = Role::named("round");

/// The number of queues.
pub const QUEUES: Role<u32> = Role::named("queues");

/// The maximum number of flows with state.
pub const FLOWS: Role<u32> = Role::named("flows");

/// The backlog below which nothing is dropped.
pub const FREE_BELOW: Role<Quantity<Level>> = Role::named("free below");

/// The weights of classes.
pub const WEIGHTS: Role<Weights> = Role::named("weights");

/// The weights of classes, if each flow has the weight of its class.
pub const FLOW_WEIGHTS: Role<Weights> = Role::named("weights of flows");

/// The unit that has a bucket and a weight: a flow or a class.
pub const SHARE_BETWEEN: Role<Share> = Role::named("share between");

/// A tree of classes by weights.
pub const TREE: Role<Vec<TreeClass>> = Role::named("tree");
