//! Finds exclusive resources that several gateways of one process use.

use super::error::ServiceError;
use super::place;
use crate::config::user::User;
use crate::config::{Config, user};
use crate::sites;
use fairwire_datapath::io::insides::overlap;
use fairwire_document::{DocumentError, Problem};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

/// A resource that one gateway uses exclusively.
#[derive(Debug, PartialEq, Eq)]
enum Claim {
    Name(String),
    Interface(String),
    Socket(PathBuf),
    History(PathBuf),
    /// A TCP address on which the gateway listens.
    Stream(SocketAddr),
    /// A UDP address on which the gateway listens.
    Datagram(SocketAddr),
}

impl Claim {
    fn excludes(&self, other: &Claim) -> bool {
        match (self, other) {
            (Claim::Stream(one), Claim::Stream(two)) | (Claim::Datagram(one), Claim::Datagram(two)) => {
                let is_any = one.ip().is_unspecified() || two.ip().is_unspecified();
                one.port() == two.port() && one.port() != 0 && (is_any || one.ip() == two.ip())
            }
            (Claim::Interface(one), Claim::Interface(two)) => overlap(one, two),
            _ => self == other,
        }
    }

    fn given(&self) -> String {
        match self {
            Claim::Name(name) | Claim::Interface(name) => name.clone(),
            Claim::Socket(path) | Claim::History(path) => path.display().to_string(),
            Claim::Stream(address) | Claim::Datagram(address) => address.to_string(),
        }
    }

    fn allowed(&self) -> &'static str {
        match self {
            Claim::Name(_) => "a name for each gateway, and each file once",
            Claim::Interface(_) => "each interface in one file",
            Claim::Socket(_) => "a socket for each gateway",
            Claim::History(_) => "a history for each gateway",
            Claim::Stream(_) | Claim::Datagram(_) => "an address, or a port, for each gateway",
        }
    }
}

fn claims(config: &Config) -> Vec<(&'static str, Claim)> {
    let spec = config.spec();
    let telemetry = &spec.telemetry;
    // The configuration was checked, so every address parses.
    let address = |text: &String| text.parse::<SocketAddr>().ok();
    let page = telemetry.page.as_ref();
    let socket = place::socket_path(&spec.name, telemetry.socket.as_deref());
    let mut claims = vec![
        ("name", Claim::Name(spec.name.clone())),
        ("wire.outside", Claim::Interface(spec.wire.outside.clone())),
        ("telemetry.socket", Claim::Socket(socket)),
    ];
    claims
        .extend(spec.wire.inside.names().iter().map(|name| ("wire.inside", Claim::Interface(name.clone()))));
    let streams = [
        ("telemetry.metrics", telemetry.metrics.as_ref()),
        ("telemetry.page.address", page.map(|page| &page.address)),
    ];
    let stream = |(key, text): (_, Option<&String>)| Some((key, Claim::Stream(address(text?)?)));
    claims.extend(streams.into_iter().filter_map(stream));
    let listens = spec.ingress.as_ref().and_then(|ingress| address(&ingress.listen));
    claims.extend(listens.map(|address| ("ingress.listen", Claim::Datagram(address))));
    let history = sites::history_of(config);
    claims.extend(history.map(|path| ("telemetry.page.history", Claim::History(path))));
    claims
}

pub(super) fn check(configs: &[Arc<Config>]) -> Result<(), DocumentError> {
    for (number, config) in configs.iter().enumerate() {
        for (key, claim) in claims(config) {
            for other in &configs[..number] {
                let all = claims(other);
                if let Some((theirs, _)) = all.iter().find(|(_, theirs)| claim.excludes(theirs)) {
                    let place = place_of(other, theirs);
                    let why = format!("{place} (`{theirs}`) has it already in this process");
                    return Err(refusal(config, key, &claim, why));
                }
            }
        }
    }
    Ok(())
}

/// The user that the process becomes. All configurations must name the same user.
pub(super) fn user(configs: &[Arc<Config>]) -> Result<Option<User>, ServiceError> {
    const KEY: &str = "safety.user";
    let Some((first, others)) = configs.split_first() else { return Ok(None) };
    let common = user::of(first)?;
    let named = |user: &Option<User>| user.as_ref().map_or("root".to_owned(), |user| user.name.clone());
    for config in others {
        let own = user::of(config)?;
        if own != common {
            let why = format!(
                "that of {} is `{}`, and one process has one user",
                place_of(first, KEY),
                named(&common)
            );
            let given = format!("`{}`", named(&own));
            let allowed = format!("`{}` in all files, or a process for each", named(&common));
            return Err(config.refuse(KEY, Problem::Refused { key: KEY.into(), given, why, allowed }).into());
        }
    }
    Ok(common)
}

fn refusal(config: &Config, key: &str, claim: &Claim, why: String) -> DocumentError {
    let (given, allowed) = (format!("`{}`", claim.given()), claim.allowed().to_owned());
    config.refuse(key, Problem::Refused { key: key.into(), given, why, allowed })
}

/// The position of the value at `key`, or of the table that lacks it.
fn place_of(config: &Config, key: &str) -> String {
    let problem = Problem::Refused {
        key: key.into(),
        given: String::new(),
        why: String::new(),
        allowed: String::new(),
    };
    let place = config.refuse(key, problem).location;
    place.map_or_else(
        || format!("the gateway `{}`", config.name()),
        |place| format!("{}:{}:{}", place.source, place.line, place.column),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(file: &str, name: &str, [inside, outside]: [&str; 2], rest: &str) -> Arc<Config> {
        let text = format!(
            "format = 2\nname = \"{name}\"\n[wire]\ninside = \"{inside}\"\noutside = \"{outside}\"\n{rest}\n\
             [download]\nrate = \"1 Gbit/s\"\n"
        );
        Arc::new(Config::parse(file, &text, None).expect("a configuration"))
    }

    fn refused(second: Arc<Config>) -> Option<String> {
        let rest =
            "[telemetry]\nmetrics = \"127.0.0.1:9820\"\n[telemetry.page]\naddress = \"127.0.0.1:9821\"";
        let first = config("a.toml", "a", ["a0", "a1"], rest);
        let error = check(&[first, second]).err()?;
        let place = error.location.as_ref().map(|place| format!("{}:{}", place.source, place.line));
        Some(format!("{}: {}", place.unwrap_or_default(), error.problem))
    }

    #[test]
    fn gateways_that_share_nothing_run_together() {
        let rest =
            "[telemetry]\nmetrics = \"127.0.0.1:9822\"\n[telemetry.page]\naddress = \"127.0.0.2:9821\"";
        assert_eq!(refused(config("b.toml", "b", ["b0", "b1"], rest)), None);
    }

    #[test]
    fn a_resource_of_two_gateways_is_refused_with_both_locations() {
        let of = |name, wire, rest| refused(config("b.toml", name, wire, rest)).expect("it is refused");
        let name = of("a", ["b0", "b1"], "");
        assert!(name.starts_with("b.toml:2: `name` is `a`, but a.toml:2:"), "{name}");
        let interface = of("b", ["b0", "a0"], "");
        assert!(interface.starts_with("b.toml:5: `wire.outside` is `a0`, but a.toml:4:"), "{interface}");
        assert!(interface.contains("(`wire.inside`)"), "{interface}");
        let metrics = of("b", ["b0", "b1"], "[telemetry]\nmetrics = \"127.0.0.1:9821\"");
        assert!(
            metrics.contains("b.toml:7: ") && metrics.contains("(`telemetry.page.address`)"),
            "{metrics}"
        );
        let socket = place::socket_path("a", None);
        let socket = of("b", ["b0", "b1"], &format!("[telemetry]\nsocket = \"{}\"", socket.display()));
        assert!(socket.contains("`telemetry.socket`"), "{socket}");
    }

    #[test]
    fn a_pattern_conflicts_with_each_interface_that_it_covers() {
        let of = |text: &str| Claim::Interface(text.to_owned());
        assert!(of("ppp*").excludes(&of("ppp0")) && of("ppp0").excludes(&of("ppp*")));
        assert!(of("ppp*").excludes(&of("pp*")) && !of("ppp*").excludes(&of("tun*")));
    }

    #[test]
    fn a_wildcard_address_conflicts_with_every_address_of_its_port() {
        let at = |text: &str| Claim::Stream(text.parse().expect("an address"));
        assert!(at("0.0.0.0:80").excludes(&at("127.0.0.1:80")));
        assert!(!at("0.0.0.0:80").excludes(&at("127.0.0.1:81")));
        // For port 0, the system assigns a different port to each listener.
        assert!(!at("127.0.0.1:0").excludes(&at("127.0.0.1:0")));
        let datagram = Claim::Datagram("127.0.0.1:80".parse().expect("an address"));
        assert!(!at("127.0.0.1:80").excludes(&datagram));
    }
}
