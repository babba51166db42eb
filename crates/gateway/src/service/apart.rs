//! Whether several gateways can be in one process: each has its own name, interfaces and socket,
//! and all have one user.

use super::{Loaded, ServiceError, place};
use crate::config::Config;
use fairwire_document::Problem;

/// Refuses what two of `gateways` have and one at most may have, and users that differ.
pub(super) fn check(gateways: &[Loaded]) -> Result<(), ServiceError> {
    for (number, this) in gateways.iter().enumerate() {
        for other in &gateways[..number] {
            apart(this, other)?;
        }
    }
    Ok(())
}

fn apart(this: &Loaded, other: &Loaded) -> Result<(), ServiceError> {
    let refuse = |key: &str, given: &str, why: &str, allowed: &str| {
        let (given, file) = (format!("`{given}`"), other.path.display());
        let (key, why) = (key.to_owned(), format!("{why} {file}"));
        let problem = Problem::Refused { key: key.clone(), given, why, allowed: allowed.to_owned() };
        Err(this.config.refuse(&key, problem).into())
    };
    let (spec, others) = (this.config.spec(), other.config.spec());
    if spec.name == others.name {
        return refuse("name", &spec.name, "that is the name in", "another name for each gateway");
    }
    for (key, own) in [("wire.inside", &spec.wire.inside), ("wire.outside", &spec.wire.outside)] {
        if [&others.wire.inside, &others.wire.outside].contains(&own) {
            return refuse(key, own, "that is an interface in", "two interfaces for each gateway");
        }
    }
    let socket_of = |config: &Config| {
        let spec = config.spec();
        place::socket_path(&spec.name, spec.telemetry.socket.as_deref())
    };
    let socket = socket_of(&this.config);
    if socket == socket_of(&other.config) {
        let why = "that is the socket in";
        return refuse("telemetry.socket", &socket.display().to_string(), why, "another for each gateway");
    }
    if spec.safety.user != others.safety.user {
        let given = spec.safety.user.as_deref().unwrap_or("no user");
        return refuse(
            "safety.user",
            given,
            "a process has one user, which is another in",
            "one for all files",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(path: &str, name: &str, wire: [&str; 2], rest: &str) -> Loaded {
        let text = format!(
            "format = 2\nname = \"{name}\"\n[wire]\ninside = \"{}\"\noutside = \"{}\"\n{rest}",
            wire[0], wire[1]
        );
        Loaded { config: Config::parse(path, &text, None).expect("it makes sense"), path: path.into() }
    }

    #[test]
    fn what_two_have_is_refused_with_both_places() {
        let first = || loaded("a.toml", "a", ["a0", "a1"], "");
        let refused = |second| check(&[first(), second]).expect_err("it is refused").to_string();
        let second = |name, wire, rest| loaded("b.toml", name, wire, rest);
        assert!(check(&[first(), second("b", ["b0", "b1"], "")]).is_ok());
        for (second, place, what) in [
            (second("a", ["b0", "b1"], ""), "b.toml:2:8", "`a`"),
            (second("b", ["b0", "a0"], ""), "b.toml:5:11", "`a0`"),
            (second("b", ["a1", "b1"], ""), "b.toml:4:10", "`a1`"),
        ] {
            let said = refused(second);
            assert!(said.contains(place) && said.contains(what) && said.contains("a.toml"), "{said}");
        }
        let user = second("b", ["b0", "b1"], "[safety]\nuser = \"nobody\"\n");
        assert!(refused(user).contains("`nobody`"));
    }
}
