//! What a discipline takes at construction, in slots: so that many of them inside another cannot exhaust the machine.

use crate::catalogue::Parameters;
use crate::scheduler::any::Kind;
use crate::scheduler::hosts::QUEUES;
use crate::scheduler::service::Service;

/// Bytes of a slot of a buffer, with its links and its place in the flow index.
pub(super) const SLOT: u64 = 150;

/// Bytes of a queue with a law of its own, and its place in the round: the most that one of the catalogue takes.
const LAW: u64 = 130;
/// Bytes of the host that there may be for each queue, of the scheduler and of whoever makes room.
const HOST: u64 = 220;
/// Bytes of a queue that flows are given from a bounded table.
const QUEUE: u64 = 64;
/// Bytes of a bucket, and of a sample, with its flow and its place in the index.
const BUCKET: u64 = 48;
/// Flows remembered at least by schedulers that remember those with nothing waiting.
const REMEMBERED: u64 = 1024;

/// Slots that the discipline called `name` takes at a buffer of so many `packets`, its tables counted as the slots that would
/// take as many bytes. An estimate from the sizes in its file; what is smaller than a slot or two is left out.
pub(super) fn slots(name: &str, typed: &Parameters, packets: u64) -> u64 {
    let buffers = if name == "dualpi2" { 2 } else { 1 };
    buffers * packets + (table_bytes(name, typed, packets) + scheduler_bytes(name, typed, packets)) / SLOT
}

fn table_bytes(name: &str, typed: &Parameters, packets: u64) -> u64 {
    let count = |typed: Option<u32>, default: u64| typed.map_or(default, u64::from);
    let of_flows = (4 * packets).max(4096);
    match name {
        "fq-codel" => {
            let spec = typed.fq_codel.as_ref();
            let has_hosts = spec.is_some_and(|spec| spec.hosts == Some(true));
            let (queues, each) = if has_hosts { (QUEUES.into(), LAW + HOST) } else { (1024, LAW) };
            count(spec.and_then(|spec| spec.queues), queues) * each
        }
        "drr" if typed.drr.as_ref().is_some_and(|spec| spec.hosts == Some(true)) => {
            count(typed.drr.as_ref().and_then(|spec| spec.queues), QUEUES.into()) * (LAW + HOST)
        }
        "fq-pie" => count(typed.fq_pie.as_ref().and_then(|spec| spec.queues), 1024) * LAW,
        "cake-like" => count(typed.cake_like.as_ref().and_then(|spec| spec.queues), 1024) * LAW,
        "sfed" => count(typed.sfed.as_ref().and_then(|spec| spec.max_flows), of_flows) * BUCKET,
        "faba" => count(typed.faba.as_ref().and_then(|spec| spec.max_flows), of_flows) * BUCKET,
        "hfaba" => count(typed.hfaba.as_ref().and_then(|spec| spec.max_flows), of_flows) * BUCKET,
        "afd-exact" => count(typed.afd_exact.as_ref().and_then(|spec| spec.max_flows), 4096) * BUCKET,
        "afd-sb" => count(typed.afd_sb.as_ref().and_then(|spec| spec.samples), 1000) * BUCKET,
        "afd-ft" => count(typed.afd_ft.as_ref().and_then(|spec| spec.samples), 1000) * BUCKET,
        "afd-nft" => count(typed.afd_nft.as_ref().and_then(|spec| spec.samples), 1000) * BUCKET,
        _ => 0,
    }
}

/// What the order of service takes, which is an entry's own or the `scheduler` of another.
fn scheduler_bytes(name: &str, typed: &Parameters, packets: u64) -> u64 {
    let entry = match name {
        "drr" => Some((Kind::Drr, typed.drr.as_ref().and_then(|spec| spec.queues))),
        "sfq-start" => Some((Kind::Sfq, typed.sfq_start.as_ref().and_then(|spec| spec.queues))),
        "scfq" => Some((Kind::Scfq, typed.scfq.as_ref().and_then(|spec| spec.queues))),
        "fbfq" => Some((Kind::Fbfq, typed.fbfq.as_ref().and_then(|spec| spec.queues))),
        "wf2q+" => Some((Kind::Wf2qPlus, typed.wf2q_plus.as_ref().and_then(|spec| spec.queues))),
        _ => None,
    };
    let inside = || service(name, typed).map(|service| (service.name, service.queues));
    let Some((kind, queues)) = entry.or_else(inside) else {
        return 0;
    };
    let order = match kind {
        Kind::Fcfs => 0,
        Kind::Drr => 16 * packets,
        Kind::Scfq => 52 * packets,
        Kind::Sfq => 132 * packets.max(REMEMBERED),
        Kind::Fbfq => 172 * packets.max(REMEMBERED),
        Kind::Wf2qPlus => 204 * packets.max(REMEMBERED),
    };
    order + queues.map_or(0, |queues| u64::from(queues) * QUEUE)
}

/// The order of service that was typed for the discipline called `name`.
fn service<'a>(name: &str, typed: &'a Parameters) -> Option<&'a Service> {
    macro_rules! of {
        ($($key:ident: $name:literal),+ $(,)?) => {
            match name {
                $($name => typed.$key.as_ref()?.scheduler.as_ref(),)+
                _ => None,
            }
        };
    }
    of! {
        drop_front: "drop-front", red: "red", rio: "rio", rem: "rem", blue: "blue", avq: "avq", rqm: "rqm",
        codel: "codel", pie: "pie", cobalt: "cobalt", sfed: "sfed", faba: "faba", hfaba: "hfaba", afd_sb: "afd-sb",
        afd_ft: "afd-ft", afd_nft: "afd-nft", afd_exact: "afd-exact", fred: "fred", choke: "choke", sfb: "sfb",
        lqd: "lqd", lqd_binned: "lqd-binned", alqd: "alqd", rnd: "rnd",
    }
}
