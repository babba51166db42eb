//! The sending and receiving hosts of a generated network.

use fairwire_core::Seed;
use fairwire_parameters::{Choice, OutOfRange, deserialize_choice, parameters, tables_schema};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess};
use std::borrow::Cow;

/// Each host sends to the host whose number is higher by `by`. The first host follows the last
/// host.
#[parameters(name = "stride", checked = Checked)]
#[derive(Clone, Copy, Debug, Default)]
pub struct StrideSpec {
    /// The number of positions between sender and receiver.
    #[parameter(
        unset = "half of the hosts",
        min = 1,
        unit = "1",
        source = "Stride(i) of Al-Fares et al. 2008, section 6."
    )]
    pub by: Option<u32>,
}

/// Each host sends to every other host. The pairs are in this order: first each host and its next
/// host, then each host and the host after that, and so on.
#[parameters(name = "all-to-all")]
#[derive(Clone, Copy, Debug, Default)]
pub struct AllToAllSpec {}

/// Each host sends to one other host, and receives from one other host. The pairs are drawn at
/// random.
#[parameters(name = "permutation", checked = CheckedPermutation)]
#[derive(Clone, Copy, Debug, Default)]
pub struct PermutationSpec {
    /// The number of the permutation. A number gives the same permutation under every seed.
    #[parameter(default = 1, unit = "number")]
    pub number: Option<u32>,
}

/// Many to one: consecutive hosts send to one host, which is skipped as a sender.
#[parameters(name = "incast", checked = CheckedIncast)]
#[derive(Clone, Copy, Debug, Default)]
pub struct IncastSpec {
    /// The number of the receiving host: 1 is `h1`.
    #[parameter(default = 1, min = 1, unit = "host")]
    pub to: Option<u32>,
    /// The number of the first sending host.
    ///
    /// There are as many senders as flows, but at most all hosts except `to`. The senders are this
    /// host and the hosts that follow it, without `to`; `h1` follows the last host.
    #[parameter(unset = "the one after `to`", min = 1, unit = "host")]
    pub from: Option<u32>,
}

/// A pattern of traffic: `"stride"`, or `{ stride = { by = 3 } }`.
#[derive(Clone, Copy, Debug)]
pub enum PatternChoice {
    /// See [`StrideSpec`].
    Stride(StrideSpec),
    /// See [`AllToAllSpec`].
    AllToAll(AllToAllSpec),
    /// See [`PermutationSpec`].
    Permutation(PermutationSpec),
    /// See [`IncastSpec`].
    Incast(IncastSpec),
}

const NAMES: &[&str] = &["stride", "all-to-all", "permutation", "incast"];

fn all() -> impl Iterator<Item = (&'static str, &'static str, fairwire_parameters::SchemaOf)> {
    let schemas: [(&str, fairwire_parameters::SchemaOf); 4] = [
        (
            "Each host sends to the one a fixed number of places on.",
            SchemaGenerator::subschema_for::<StrideSpec>,
        ),
        ("Each host sends to each other one.", SchemaGenerator::subschema_for::<AllToAllSpec>),
        ("Each host sends to one other, drawn at random.", SchemaGenerator::subschema_for::<PermutationSpec>),
        ("Many hosts send to one.", SchemaGenerator::subschema_for::<IncastSpec>),
    ];
    NAMES.iter().zip(schemas).map(|(name, (what, schema))| (*name, what, schema))
}

impl PatternChoice {
    /// The pattern's name, as entered in scenarios.
    pub fn name(&self) -> &'static str {
        match self {
            PatternChoice::Stride(_) => NAMES[0],
            PatternChoice::AllToAll(_) => NAMES[1],
            PatternChoice::Permutation(_) => NAMES[2],
            PatternChoice::Incast(_) => NAMES[3],
        }
    }

    pub(crate) fn count(&self, hosts: u32) -> u64 {
        match self {
            PatternChoice::Stride(_) | PatternChoice::Permutation(_) => hosts.into(),
            PatternChoice::AllToAll(_) => u64::from(hosts) * u64::from(hosts.saturating_sub(1)),
            PatternChoice::Incast(_) => hosts.saturating_sub(1).into(),
        }
    }

    pub(crate) fn pairs(&self, hosts: u32, most: u32) -> Result<Vec<(u32, u32)>, OutOfRange> {
        let most = u64::from(most).min(self.count(hosts)) as u32;
        let on = |from: u32, by: u32| (from, ((u64::from(from) + u64::from(by)) % u64::from(hosts)) as u32);
        match self {
            PatternChoice::Stride(spec) => {
                let by = spec.checked()?.by.unwrap_or(hosts / 2);
                if by >= hosts {
                    let allowed = format!("1 to {}: there are {hosts} hosts", hosts - 1);
                    return Err(OutOfRange { name: "by", given: by.to_string(), allowed });
                }
                Ok((0..most).map(|from| on(from, by)).collect())
            }
            PatternChoice::AllToAll(_) => {
                Ok((0..most).map(|pair| on(pair % hosts, pair / hosts + 1)).collect())
            }
            PatternChoice::Permutation(spec) => {
                let CheckedPermutation { number } = spec.checked()?;
                Ok((0..).zip(permutation(hosts, number)).take(most as usize).collect())
            }
            PatternChoice::Incast(spec) => {
                let CheckedIncast { to, from } = spec.checked()?;
                let from = from.unwrap_or(to % hosts + 1);
                let host = |name, number: u32| match number <= hosts {
                    true => Ok(number - 1),
                    false => {
                        let allowed = format!("1 to {hosts}: there are {hosts} hosts");
                        Err(OutOfRange { name, given: number.to_string(), allowed })
                    }
                };
                let (to, from) = (host("to", to)?, host("from", from)?);
                if from == to {
                    let (given, allowed) = ((from + 1).to_string(), "another host than `to`");
                    return Err(OutOfRange { name: "from", given, allowed: allowed.into() });
                }
                let senders = (0..hosts).map(|by| on(from, by).1).filter(|sender| *sender != to);
                Ok(senders.take(most as usize).map(|sender| (sender, to)).collect())
            }
        }
    }
}

/// The receiver of each host. The permutation has a single cycle, so no host sends to itself (S.
/// Sattolo, Information Processing Letters 22(6), 1986).
fn permutation(hosts: u32, number: u32) -> Vec<u32> {
    let mut rng = Seed(number.into()).stream("permutation of hosts");
    let mut to: Vec<u32> = (0..hosts).collect();
    for last in (1..hosts).rev() {
        to.swap(last as usize, rng.below(last) as usize);
    }
    to
}

impl<'de> Deserialize<'de> for PatternChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_choice(deserializer)
    }
}

impl Choice for PatternChoice {
    const WHAT: &'static str = "pattern";
    const EXAMPLE: &'static str = "{ stride = { by = 3 } }";

    fn names() -> &'static [&'static str] {
        NAMES
    }

    fn named(at: usize) -> Self {
        match at {
            0 => PatternChoice::Stride(StrideSpec::default()),
            1 => PatternChoice::AllToAll(AllToAllSpec::default()),
            2 => PatternChoice::Permutation(PermutationSpec::default()),
            _ => PatternChoice::Incast(IncastSpec::default()),
        }
    }

    fn read<'de, A: MapAccess<'de>>(at: usize, table: &mut A) -> Result<Self, A::Error> {
        match at {
            0 => table.next_value().map(PatternChoice::Stride),
            1 => table.next_value().map(PatternChoice::AllToAll),
            2 => table.next_value().map(PatternChoice::Permutation),
            _ => table.next_value().map(PatternChoice::Incast),
        }
    }
}

impl JsonSchema for PatternChoice {
    fn schema_name() -> Cow<'static, str> {
        "Pattern".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let tables = tables_schema(all(), generator);
        json_schema!({
            "description": "Who sends to whom: the name of a pattern, or a table of one name with its parameters.",
            "anyOf": [{ "enum": NAMES }, tables],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn pairs(at: usize, hosts: u32, most: u32) -> Vec<(u32, u32)> {
        PatternChoice::named(at).pairs(hosts, most).expect("the defaults make sense")
    }

    #[test]
    fn a_stride_is_half_of_the_hosts_unless_it_is_given() {
        assert_eq!(pairs(0, 4, 9), [(0, 2), (1, 3), (2, 0), (3, 1)]);
        let one = PatternChoice::Stride(StrideSpec { by: Some(1) });
        assert_eq!(one.pairs(3, 9), Ok(vec![(0, 1), (1, 2), (2, 0)]));
        assert_eq!(one.pairs(3, 2).map(|pairs| pairs.len()), Ok(2));
        let far = PatternChoice::Stride(StrideSpec { by: Some(4) });
        assert_eq!(far.pairs(4, 9).map_err(|bad| bad.allowed), Err("1 to 3: there are 4 hosts".into()));
    }

    #[test]
    fn all_to_all_comes_in_rounds_of_strides() {
        assert_eq!(pairs(1, 3, 99), [(0, 1), (1, 2), (2, 0), (0, 2), (1, 0), (2, 1)]);
        assert_eq!(PatternChoice::named(1).count(9826), 96_540_450);
    }

    #[test]
    fn in_a_permutation_each_host_receives_from_one_other() {
        for hosts in [2, 3, 17, 1000] {
            let pairs = pairs(2, hosts, u32::MAX);
            assert!(pairs.iter().all(|(from, to)| from != to));
            let to: HashSet<u32> = pairs.iter().map(|pair| pair.1).collect();
            assert_eq!((to.len(), pairs.len()), (hosts as usize, hosts as usize));
        }
        let other = PatternChoice::Permutation(PermutationSpec { number: Some(2) });
        assert_eq!(pairs(2, 17, 17), pairs(2, 17, 17));
        assert_ne!(Ok(pairs(2, 17, 17)), other.pairs(17, 17), "another number is another permutation");
    }

    #[test]
    fn an_incast_is_from_the_following_hosts_to_one() {
        assert_eq!(pairs(3, 4, 9), [(1, 0), (2, 0), (3, 0)]);
        let incast = |to, from| PatternChoice::Incast(IncastSpec { to, from });
        assert_eq!(incast(Some(3), None).pairs(4, 9), Ok(vec![(3, 2), (0, 2), (1, 2)]));
        assert_eq!(incast(None, Some(3)).pairs(4, 2), Ok(vec![(2, 0), (3, 0)]));
        assert_eq!(incast(Some(2), Some(4)).pairs(4, 9), Ok(vec![(3, 1), (0, 1), (2, 1)]));
        let refused =
            |to, from| incast(to, from).pairs(4, 9).map_err(|bad| (bad.name, bad.given, bad.allowed));
        let bounds = "1 to 4: there are 4 hosts".to_owned();
        assert_eq!(refused(Some(5), None), Err(("to", "5".into(), bounds.clone())));
        assert_eq!(refused(None, Some(9)), Err(("from", "9".into(), bounds)));
        assert_eq!(refused(Some(2), Some(2)), Err(("from", "2".into(), "another host than `to`".into())));
    }
}
