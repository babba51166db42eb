//! Configurations for the gateway under test.

use crate::world::{INSIDE, OUTSIDE};
use fairwire_catalogue::Parameters;
use fairwire_service::config::backend::Backend;
use fairwire_service::config::spec::{
    ClassSpec, DirectionSpec, FlowsChoice, FlowsSpec, SafetySpec, Spec, SubscribersSpec, TelemetrySpec,
};
use fairwire_service::config::wire::WireSpec;
use std::path::Path;

/// The name of the subscriber file, next to the configuration.
pub const SUBSCRIBERS: &str = "subscribers.csv";

const FORMAT: u32 = 2;

/// A gateway's configuration and its subscriber file.
#[derive(Clone, Debug)]
pub struct Document {
    /// The configuration, without the socket.
    pub spec: Spec,
    subscribers: Option<String>,
}

impl Document {
    /// A gateway that shapes the given directions. A direction that is `None` is not shaped.
    pub fn new(download: Option<DirectionSpec>, upload: Option<DirectionSpec>) -> Document {
        let spec = Spec {
            format: FORMAT,
            name: "field".into(),
            wire: WireSpec {
                backend: Backend::default(),
                inside: INSIDE.name.into(),
                outside: OUTSIDE.name.into(),
                tunnels: Vec::new(),
                coalesce: None,
            },
            download,
            upload,
            discipline: Parameters::default(),
            class: Vec::new(),
            subscribers: None,
            ingress: None,
            egress: None,
            telemetry: TelemetrySpec::default(),
            safety: SafetySpec::default(),
        };
        Document { spec, subscribers: None }
    }

    /// A gateway that shapes both directions equally.
    pub fn both_ways(direction: DirectionSpec) -> Document {
        Document::new(Some(direction.clone()), Some(direction))
    }

    /// The same configuration with the subscribers in `csv`.
    #[must_use]
    pub fn with_subscribers(mut self, csv: String) -> Document {
        self.spec.subscribers = Some(SubscribersSpec { file: SUBSCRIBERS.into(), bind: None });
        Document { subscribers: Some(csv), ..self }
    }

    /// The text of the subscriber file, if any.
    pub fn subscribers(&self) -> Option<&str> {
        self.subscribers.as_deref()
    }

    /// The configuration file of a gateway that listens at `socket`.
    pub fn text(&self, socket: &Path) -> String {
        let mut spec = self.spec.clone();
        spec.telemetry.socket = Some(socket.into());
        toml::to_string(&spec).expect("a configuration is plain data")
    }
}

/// One direction of a gateway, with the default buffer of 50 ms; `mbps` is its rate in Mbit/s.
pub fn direction(mbps: u64, discipline: &str, flows: Option<FlowsChoice>) -> DirectionSpec {
    let text = format!("rate = \"{mbps} Mbit/s\"\ndiscipline = \"{discipline}\"\n");
    let direction = toml::from_str(&text).expect("it is a way of a gateway");
    DirectionSpec { flows: flows.map(FlowsSpec::Named), ..direction }
}

/// A class under the root.
pub fn class(name: String, weight: f64) -> ClassSpec {
    ClassSpec {
        name,
        parent: None,
        weight: Some(weight),
        leaf: None,
        download: Default::default(),
        upload: Default::default(),
        matches: Default::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_service::config::Config;

    #[test]
    fn the_gateway_reads_the_document() {
        let mut document = Document::both_ways(direction(20, "hfaba", None));
        document.spec.class = vec![class("top".into(), 2.0)];
        let document = document.with_subscribers("name,addresses,class\ns,10.0.0.1/32,top\n".into());
        let text = document.text(Path::new("/run/field.sock"));
        let csv = document.subscribers().map(|csv| (SUBSCRIBERS, csv));
        let config = Config::parse("gateway.toml", &text, csv).expect("it makes sense");
        assert_eq!(config.spec().class.len(), 1);
    }
}
