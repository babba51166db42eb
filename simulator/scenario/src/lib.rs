//! Scenario files: parsed, checked, built and run.
//!
//! A scenario names in TOML the link, the flows and the disciplines to compare. [`load`] reads a
//! file. [`run_all`] simulates every discipline under every seed. [`judge`] compares the [`report`]
//! with the scenario's expectations.
//!
//! ```
//! use fairwire_scenario::{Overrides, parse};
//!
//! let text = r#"
//!     format = 2
//!     name = "two"
//!     duration = "2 s"
//!     seeds = 1
//!     disciplines = ["tail-drop"]
//!     [link]
//!     rate = "1 Mbit/s"
//!     delay = "5 ms"
//!     buffer = "20 packets"
//!     [[flow]]
//!     group = "tcp"
//!     count = 2
//!     source = "bulk"
//!     access = { rate = "10 Mbit/s", delay = "1 ms" }
//! "#;
//! let scenario = parse("two.toml", text, &Overrides::default())?;
//! assert_eq!(scenario.spec().flow[0].count(), 2);
//!
//! let typo = text.replace("delay = \"5 ms\"", "dalay = \"5 ms\"");
//! let error = parse("two.toml", &typo, &Overrides::default()).unwrap_err().to_string();
//! assert!(error.starts_with("two.toml:9:5: unknown key `dalay`"), "{error}");
//! assert!(error.contains("did you mean `delay`?"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod aggregate;
mod aggregate_spec;
mod agree;
mod bounds;
mod build;
mod busiest;
mod check;
mod compared;
pub mod control;
mod delays;
pub mod estimate;
mod expect;
mod fault;
mod files;
pub mod generated;
mod graph;
mod hosts;
mod impair;
mod law;
mod lesson;
mod links;
mod live;
mod load;
mod measure;
mod notes;
mod output;
pub mod parts;
mod passing;
mod rates;
mod reach;
mod run;
mod sampled_rows;
mod samples;
mod schema;
pub mod source;
mod spec;
mod tcp;
mod topology;
pub mod traces;
mod values;
mod varying;

pub use aggregate_spec::{AggregateSpec, CadenceSpec, EstimatorSpec};
pub use agree::{AgreeSpec, IntervalsSpec};
pub use compared::{Compared, entries};
pub use control::{ControlSpec, Controller};
pub use delays::Delays;
pub use expect::{Comparison, Judgement, Relation, judge};
/// The error for a rejected scenario, with the location of the problem.
pub use fairwire_document::DocumentError as ScenarioError;
pub use fairwire_sim::{
    AggregateView, Content, FlowView, LinkView, Observer, OnTime, PacketEvent, Rest, Steps, TransferEvent,
    View, Wait, What, Window,
};
/// The SACK blocks of an acknowledgement.
pub use fairwire_tcp::{Block, Sack};
pub use files::NamedFile;
pub use impair::ImpairSpec;
pub use law::{LawSpec, LogNormalSpec, NumberError, Objects, Packets, ParetoSpec, Random};
pub use lesson::LessonSpec;
pub use links::{BackSpec, LinkSpec, Links, NetworkLinkSpec, ReturnSpec};
pub use live::Live;
pub use load::{Overrides, QueueView, Scenario, load, parse, parse_in};
pub use output::{Output, OutputSpec};
pub use run::{
    ENGINE, Observers, Outcome, RunError, RunId, Unobserved, discipline, fairness, network, of_part, report,
    run_all, run_all_observed, run_single, run_some, steps, threads,
};
pub use sampled_rows::SampledRows;
pub use samples::{SampleRow, Subject, rows};
pub use schema::schema;
pub use source::{
    BulkSpec, BurstsSpec, CbrSpec, OnOffSpec, PoissonSpec, ReplaySpec, SequenceSpec, SourceChoice,
    TelnetSpec, TransfersSpec, VideoSpec, VoipSpec, WebSpec,
};
pub use spec::{AccessSpec, DirectionSpec, ExpectSpec, FlowSpec, OtherSpec, Spec, TieRuleSpec};
pub use tcp::{DelayedAckSpec, EcnSpec, ProfileSpec, QuirksSpec, RecoverySpec, TcpSpec};
pub use values::{Seeds, SeedsError, Start, StartError};
pub use varying::{ChangeSpec, PartSpec};
