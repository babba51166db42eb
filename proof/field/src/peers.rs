//! Compares the gateway with kernel disciplines: HTB under the same traffic on this machine, and
//! `fairwire-oracle`'s results for FQ-CoDel, CAKE and pfifo in User Mode Linux.

use crate::contest::{Case, Delay, Judged};
use crate::fallible::Fallible;
use crate::run::{Middle, Run};
use crate::world::{INSIDE, OUTSIDE, Wiring};
use fairwire_metrics::jain::jain;
use fairwire_service::config::spec::ClassSpec;
use fairwire_testbed::program::command;
use fairwire_wire::Way;
use serde::Serialize;
use std::path::Path;

/// The contests repeated under HTB: IPv4 downloads, with classes or with a single FIFO.
pub const CASES: &[&str] = &[
    "hfaba/tree-udp",
    "hfaba/tree-tcp",
    "classful/tree-udp",
    "classful/tree-tcp",
    "faba/flood-10",
    "drr+lqd/flood-10",
];

/// Checks that the commands to configure the kernel are installed.
pub fn check() -> Fallible<()> {
    for tool in ["tc -V", "ip -V"] {
        command(tool)
            .map_err(|_| format!("the command `{tool}` is missing (Debian: apt install iproute2)"))?;
    }
    Ok(())
}

/// Runs `case` through a kernel bridge with HTB towards the inside.
pub fn through_htb(case: &Case) -> Fallible<Judged> {
    let commands = htb(case);
    let traffic = case.traffic();
    let mut run = Run::begin(Wiring::default(), Middle::Kernel(&commands), traffic)?;
    let seen = run.finish()?;
    let took = run.kernel_s();
    let judged = crate::contest::judge(case, &run.traffic, &seen, took);
    let name = format!("htb/{}", case.name.split('/').nth(1).unwrap_or_default());
    // The case's promises are for the gateway, not for HTB.
    Ok(Judged { case: name, findings: Vec::new(), ..judged })
}

/// Commands for HTB. The kernel already counts the Ethernet header, so `overhead 24 mpu 84` makes
/// HTB count the same bytes as the gateway.
fn htb(case: &Case) -> Vec<String> {
    let device = INSIDE.name;
    let mbps = case.bps(Way::Download) / 1_000_000;
    let mut commands = vec![
        "ip link add bridge0 type bridge forward_delay 0 stp_state 0".to_owned(),
        format!("ip link set {} master bridge0", OUTSIDE.name),
        format!("ip link set {device} master bridge0"),
        "ip link set bridge0 up".to_owned(),
        format!("tc qdisc add dev {device} root handle 1: htb default 99"),
        format!("tc class add dev {device} parent 1: classid 1:1 {}", htb_class(mbps as f64, mbps)),
    ];
    let mut leaf = |number: usize, parent: String, weight: f64, sum: f64, above: f64| -> f64 {
        let rate = above * weight / sum;
        commands.push(format!(
            "tc class add dev {device} parent 1:{parent} classid 1:{number} {}",
            htb_class(rate, mbps)
        ));
        rate
    };
    let weight = |class: &ClassSpec| class.weight.unwrap_or(1.0);
    let sum_under = |parent: Option<&str>| -> f64 {
        let own = case.classes.iter().filter(|class| class.parent.as_deref() == parent);
        own.map(weight).sum::<f64>() + if parent.is_none() { 1.0 } else { 0.0 } // the unclaimed class is under the root
    };
    let mut rates = Vec::new();
    let place = |name: &String| case.classes.iter().position(|other| other.name == *name);
    for (at, class) in case.classes.iter().enumerate() {
        let (parent, above) = match class.parent.as_ref().and_then(place) {
            Some(parent) => ((10 + parent).to_string(), rates[parent]),
            None => ("1".to_owned(), mbps as f64),
        };
        rates.push(leaf(10 + at, parent, weight(class), sum_under(class.parent.as_deref()), above));
    }
    let unclaimed = if case.classes.is_empty() { 1.0 } else { sum_under(None) };
    leaf(99, "1".into(), 1.0, unclaimed, mbps as f64);
    let limit = mbps * 1_000_000 / 8 * 60 / 1000 / 1538; // 60 ms in packets, as the gateway's buffer
    // HTB runs only the IPv4 contests.
    let network =
        |class: &ClassSpec| class.matches.inside.iter().find(|prefix| prefix.contains('.')).cloned();
    let networks = case.classes.iter().enumerate().filter_map(|(at, class)| Some((10 + at, network(class)?)));
    let leaves: Vec<(usize, String)> = networks.collect();
    let parts = leaves.len() as u64 + 1;
    for number in leaves.iter().map(|(number, _)| *number).chain([99]) {
        commands.push(format!(
            "tc qdisc add dev {device} parent 1:{number} handle {}: pfifo limit {}",
            100 + number,
            (limit / parts).max(2)
        ));
    }
    commands.extend(leaves.iter().map(|(number, network)| {
        format!(
            "tc filter add dev {device} parent 1: protocol ip prio 1 u32 match ip dst {network} flowid 1:{number}"
        )
    }));
    commands
}

fn htb_class(rate_mbps: f64, ceiling_mbps: u64) -> String {
    let kbit = (rate_mbps * 1000.0) as u64;
    format!("htb rate {kbit}kbit ceil {ceiling_mbps}mbit overhead 24 mpu 84 quantum 3000")
}

/// The contests that `fairwire-oracle` runs in User Mode Linux.
pub const IN_UML: &[&str] = &["flood-fq-codel", "flood-cake", "flood-pfifo"];
/// The link's rate in the [`IN_UML`] contests, bit/s. Nine flows and a flood of twice this rate
/// share the link.
const UML_LINK_BPS: f64 = 10e6;
const UML_WINDOW_S: f64 = 25.0;

#[derive(serde::Deserialize)]
struct Tally {
    delivered_bytes: Vec<u64>,
    waits_ns: Vec<u64>,
}

/// A contest in User Mode Linux, over all its runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InUml {
    /// Its name.
    pub contest: String,
    /// The number of runs found.
    pub runs: usize,
    /// The delivered payload, as a share of the link.
    pub delivered: f64,
    /// Jain's index over the delivered payload, averaged over the runs.
    pub jain: f64,
    /// The largest deviation of a flow's share from an equal share, percentage points, in the worst
    /// run.
    pub share_error_points: f64,
    /// The queueing delay.
    pub wait: Option<Delay>,
}

/// The results of `contest` that `fairwire-oracle` stored in `folder`, if any.
pub fn in_uml(folder: &Path, contest: &str) -> Fallible<Option<InUml>> {
    let (mut jains, mut errors, mut waits, mut delivered) = (Vec::new(), 0.0_f64, Vec::new(), 0.0);
    for seed in 1.. {
        let Ok(text) = std::fs::read(folder.join(format!("{contest}-{seed}.json"))) else { break };
        let tally: Tally = serde_json::from_slice(&text)?;
        let rates: Vec<f64> = tally.delivered_bytes.iter().map(|bytes| *bytes as f64).collect();
        let sum: f64 = rates.iter().sum();
        let even = 100.0 / rates.len() as f64;
        errors = rates.iter().map(|rate| (rate / sum * 100.0 - even).abs()).fold(errors, f64::max);
        jains.push(jain(&rates));
        delivered += sum * 8.0 / UML_WINDOW_S / UML_LINK_BPS;
        waits.extend(tally.waits_ns);
    }
    let runs = jains.len();
    Ok((runs > 0).then(|| InUml {
        contest: contest.to_owned(),
        runs,
        delivered: delivered / runs as f64,
        jain: jains.iter().sum::<f64>() / runs as f64,
        share_error_points: errors,
        wait: Delay::of(waits),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contest::find;

    #[test]
    fn the_tree_of_htb_has_the_weights_of_the_contest() {
        let commands = htb(&find("hfaba/tree-udp"));
        // The office has 1/7 of 50 Mbit/s, and the homes have 3/7. `plus` has 3/4 of the homes'
        // rate: 16.071 Mbit/s.
        assert!(
            commands.iter().any(|line| line.contains("parent 1:1 classid 1:10 htb rate 7142kbit")),
            "{commands:#?}"
        );
        assert!(
            commands.iter().any(|line| line.contains("parent 1:11 classid 1:13 htb rate 16071kbit")),
            "{commands:#?}"
        );
        for name in CASES {
            find(name); // exists
        }
    }
}
