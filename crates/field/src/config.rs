//! Configuration files for the gateway under test, and the class tree that they and the oracle share.

use crate::world::{INSIDE, OUTSIDE};
use std::fmt::Write;

/// The name of the file with subscribers, beside the configuration.
pub const SUBSCRIBERS: &str = "subscribers.csv";

/// One way of a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The rate, Mbit/s.
    pub mbps: u64,
    /// The discipline's name in the catalogue; empty for the gateway's default.
    pub discipline: &'static str,
    /// How much may wait, as typed.
    pub buffer: &'static str,
    /// One-way delay after the link, milliseconds.
    pub delay_ms: u64,
}

/// A class of the tree. Subscribers of class `k` have the addresses 10.k.0.0/16 and 2001:db8:1:k::/64; class 99 is nobody's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Branch {
    /// Its name.
    pub name: &'static str,
    /// The class above it.
    pub parent: Option<&'static str>,
    /// Its weight among its siblings.
    pub weight: f64,
    /// The second byte of its subscribers' addresses; none where it has classes below it.
    pub subscribers: Option<u8>,
}

/// What a configuration says.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// From outside to inside.
    pub download: Option<Link>,
    /// From inside to outside.
    pub upload: Option<Link>,
    /// The tree of classes, parents first.
    pub classes: Vec<Branch>,
    /// What a flow is, as typed; the gateway's default without.
    pub flows: Option<&'static str>,
    /// Parameters of disciplines and whatever else belongs in the file.
    pub more: String,
    /// Lines of the table `safety`.
    pub safety: String,
    /// The text of the file with subscribers.
    pub subscribers: Option<String>,
    /// Does it shape what a router forwards, rather than being a wire?
    pub is_router: bool,
    /// The interface towards the outside, where it is another than [`OUTSIDE`].
    pub outside: &'static str,
}

impl Document {
    /// The file, for a gateway that listens at `socket`.
    pub fn text(&self, socket: &str) -> String {
        let mut text = String::new();
        let mut say = |line: String| {
            text.push_str(&line);
            text.push('\n');
        };
        say("format = 2\nname = \"field\"\n".into());
        let outside = if self.outside.is_empty() { OUTSIDE.name } else { self.outside };
        let backend = if self.is_router { "backend = \"router\"\n" } else { "" };
        say(format!("[wire]\n{backend}outside = \"{outside}\"\ninside = \"{}\"\n", INSIDE.name));
        say(format!("[telemetry]\nsocket = \"{socket}\"\ninterval = \"10 ms\"\n"));
        if !self.safety.is_empty() {
            say(format!("[safety]\n{}\n", self.safety));
        }
        for (way, link) in [("download", self.download), ("upload", self.upload)] {
            if let Some(link) = link {
                say(self.direction(way, link));
            }
        }
        if self.subscribers.is_some() {
            say(format!("[subscribers]\nfile = \"{SUBSCRIBERS}\"\n"));
        }
        for branch in &self.classes {
            say(class(branch));
        }
        say(self.more.clone());
        text
    }

    fn direction(&self, way: &str, link: Link) -> String {
        let Link { mbps, discipline, buffer, delay_ms } = link;
        let mut text = format!("[{way}]\nrate = \"{mbps} Mbit/s\"\nbuffer = \"{buffer}\"\nseed = 1\n");
        if !discipline.is_empty() {
            let _ = writeln!(text, "discipline = \"{discipline}\"");
        }
        if let Some(flows) = self.flows {
            let _ = match flows.starts_with('[') {
                true => writeln!(text, "flows = {flows}"),
                false => writeln!(text, "flows = \"{flows}\""),
            };
        }
        if delay_ms > 0 {
            let _ = writeln!(text, "delay = \"{delay_ms} ms\"");
        }
        text
    }
}

fn class(branch: &Branch) -> String {
    let mut text = format!("[[class]]\nname = \"{}\"\nweight = {:?}\n", branch.name, branch.weight);
    if let Some(parent) = branch.parent {
        let _ = writeln!(text, "parent = \"{parent}\"");
    }
    if let Some(k) = branch.subscribers {
        let _ = writeln!(text, "match.inside = [\"10.{k}.0.0/16\", \"2001:db8:1:{k:x}::/64\"]");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_catalogue::Choice;
    use fairwire_gateway::config::spec::Spec;
    use fairwire_laws::dropper::hfaba;

    #[test]
    fn a_document_is_one_that_the_gateway_reads() {
        let link = Link { mbps: 20, discipline: "hfaba", buffer: "50 ms", delay_ms: 5 };
        let branch = |name, parent, subscribers| Branch { name, parent, weight: 2.0, subscribers };
        let document = Document {
            download: Some(link),
            upload: Some(Link { discipline: "drr", delay_ms: 0, ..link }),
            classes: vec![branch("top", None, None), branch("leaf", Some("top"), Some(3))],
            flows: Some("5-tuple"),
            more: "[discipline.hfaba]\ncap = false\n".into(),
            safety: "on_failure = \"open\"".into(),
            subscribers: Some("name,addresses\n".into()),
            ..Document::default()
        };
        let spec: Spec =
            toml::from_str(&document.text("/run/field.sock")).expect("it is TOML and has no unknown keys");
        assert_eq!(spec.class.len(), 2);
        assert_eq!(spec.class[1].matches.inside, ["10.3.0.0/16", "2001:db8:1:3::/64"]);
        assert_eq!(spec.download.and_then(|way| way.discipline).as_ref().map(Choice::name), Some("hfaba"));
        assert_eq!(spec.discipline.spec::<hfaba::Spec>().and_then(|hfaba| hfaba.cap), Some(false));
    }
}
