//! The paths of packets through a router.

use super::spec::{OnFailure, Spec};
use super::wire::TunnelSpec;
use fairwire_datapath::io::insides::is_pattern;
use fairwire_datapath::io::router::{Failing, Passage};

/// The name of a router's first nftables table. The router's other tables append `/` and more. No
/// name of a gateway or interface contains `/`.
pub(crate) fn table_of(spec: &Spec) -> String {
    format!("fairwire-{}", spec.name)
}

/// The paths: from each inside interface to the outside interface and to each tunnel.
pub(crate) fn passages(spec: &Spec) -> Vec<Passage> {
    let failing = match spec.safety.on_failure {
        OnFailure::Open => Failing::Open,
        OnFailure::Closed => Failing::Closed,
    };
    let of_inside = |(at, inside): (u8, &String)| {
        let table = match at {
            0 if !is_pattern(inside) => table_of(spec),
            _ => format!("{}/{inside}", table_of(spec)),
        };
        let outside = spec.wire.outside.clone();
        let direct =
            Passage { table, inside: inside.clone(), outside, number: 4 * at, added_bytes: 0, failing };
        let through = |(number, tunnel): (u8, &TunnelSpec)| Passage {
            table: format!("{}/{inside}/{number}", table_of(spec)),
            outside: tunnel.interface.clone(),
            number: 4 * at + number,
            added_bytes: tunnel.overhead_bytes,
            ..direct.clone()
        };
        let tunnels: Vec<Passage> = (1..).zip(&spec.wire.tunnels).map(through).collect();
        [vec![direct], tunnels].concat()
    };
    (0..).zip(spec.wire.inside.names()).flat_map(of_inside).collect()
}
