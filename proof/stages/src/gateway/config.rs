//! Generates a gateway's configuration from a plan.

use super::CONFIG;
use fairwire_catalogue::{Parameters, with_part};
use fairwire_core::Duration;
use fairwire_datapath::classify::ETHERNET_HEADER_BYTES;
use fairwire_experiment::contest::ContestPlan;
use fairwire_experiment::{CannotRun, Plan};
use fairwire_laws::spec::Quantity;
use fairwire_service::config::backend::Backend;
use fairwire_service::config::spec::{
    DefaultsChoice, DirectionSpec, FlowsChoice, FlowsSpec, FramingSpec, SafetySpec, Spec, TelemetrySpec,
};
use fairwire_service::config::wire::WireSpec;
use fairwire_service::config::{ClassSupport, Config};
use fairwire_testbed::bed::Side;
use std::path::Path;

const FORMAT: u32 = 2;
/// The interval between samples of the totals. The start and the end of a measurement may each be
/// wrong by this time.
pub(super) const INTERVAL: Duration = Duration::from_ms(5);
/// The number of flows for packets that the kernels themselves send, in addition to the contest's
/// flows.
const OTHER_FLOWS: u32 = 64;

pub(super) fn check(plan: &Plan<'_>, contest: &ContestPlan) -> Result<(), CannotRun> {
    let choice = plan.choice();
    let nothing = Parameters::default();
    let parameters = choice.parameters().unwrap_or(&nothing);
    let classes = with_part(choice.name(), parameters, |part| part.classes());
    if matches!(classes, Ok(ClassSupport::Queues)) {
        let given = format!("the classes of `{}`", plan.label());
        return Err(CannotRun::new(
            given,
            "a discipline without a tree of queues: a gateway has that of its own `[[class]]`",
        ));
    }
    let text = text(plan, contest, Path::new("gateway.sock"));
    match Config::parse(CONFIG, &text, None) {
        Ok(_) => Ok(()),
        Err(error) => {
            let given = format!("a gateway refuses the configuration of `{}`: {error}", plan.label());
            Err(CannotRun::new(given, "what a gateway can be configured for"))
        }
    }
}

pub(super) fn text(plan: &Plan<'_>, contest: &ContestPlan, socket: &Path) -> String {
    let flows = contest.senders.len() as u32 + OTHER_FLOWS;
    let upload = DirectionSpec {
        rate: Quantity(contest.rate),
        autorate: None,
        // The gateway counts IP packets without Ethernet headers, as the simulator does.
        framing: FramingSpec { overhead_bytes: Some(-ETHERNET_HEADER_BYTES), ..FramingSpec::default() },
        discipline: Some(plan.choice()),
        defaults: Some(DefaultsChoice::Reference),
        leaf: None,
        buffer: Some(Quantity(contest.buffer)),
        not_ip: None,
        control: None,
        flows: Some(FlowsSpec::Named(FlowsChoice::FiveTuple)),
        dscp: None,
    };
    let spec = Spec {
        format: FORMAT,
        name: "stage".into(),
        wire: WireSpec {
            backend: Backend::default(),
            inside: Side::Left.name().into(),
            outside: Side::Right.name().into(),
            tunnels: Vec::new(),
            coalesce: Some(Quantity(Duration::ZERO)),
        },
        download: None,
        upload: Some(upload),
        discipline: Parameters::default(),
        class: Vec::new(),
        subscribers: None,
        ingress: None,
        egress: None,
        telemetry: TelemetrySpec {
            socket: Some(socket.to_owned()),
            interval: Some(Quantity(INTERVAL)),
            flows: Some(flows),
            captured: Some(0),
            ..TelemetrySpec::default()
        },
        // The process must remain root. After a change of user, the kernel would not kill it when
        // its parent ends.
        safety: SafetySpec { user: Some("root".into()), ..SafetySpec::default() },
    };
    toml::to_string(&spec).expect("a configuration is plain data")
}
