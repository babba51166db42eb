//! Traffic control through netlink (tc(8)): redirects, delays and drops frames, and reads a queue's
//! counts.

use crate::netlink::Netlink;
use crate::request::{CREATE, HEADER_BYTES, Request, attribute};
use fairwire_core::{Duration, GilbertElliott, Loss};
use std::io;

/// The direction of redirected frames at their new interface: out or in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redirected {
    /// Redirected frames leave through the interface (`TCA_EGRESS_REDIR`).
    Leaves = 1,
    /// Redirected frames arrive at the interface (`TCA_INGRESS_REDIR`).
    Arrives = 3,
}

/// Redirects all frames arriving at the interface `from` to the interface `to`. Both are indexes in
/// this thread's network namespace. Replaces the `clsact` qdisc of `from` and all its filters.
pub fn redirect(from: u32, to: u32, way: Redirected) -> io::Result<()> {
    let netlink = Netlink::open()?;
    // Deletes an old qdisc, which may redirect to a removed interface. Fails without an old qdisc.
    let _ = netlink.execute(classifying(libc::RTM_DELQDISC, 0, from));
    netlink.execute(classifying(libc::RTM_NEWQDISC, CREATE, from))?;
    netlink.execute(redirecting(from, to, way))
}

/// Faults of the frames that an interface sends. The default has none, but permits 0 frames in
/// transit: a caller must set `most_packets`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Impairment {
    /// The delay of each frame; `jitter` is added to it.
    pub delay: Duration,
    /// The possible extra delays of a frame, all equally probable and at most 2 s. Frames with less
    /// delay overtake others.
    pub jitter: Vec<Duration>,
    /// The losses.
    pub loss: Option<Loss>,
    /// The fraction of frames that is delayed; `None` delays all.
    pub delayed: Option<f64>,
    /// The probability that a frame is sent twice.
    pub duplicate: f64,
    /// The maximum number of frames delayed at a time; further frames are dropped.
    pub most_packets: u32,
}

/// Delays and drops the frames that the interface `index` sends (tc-netem(8)). Replaces its root
/// qdisc. A kernel without `sch_netem` refuses.
pub fn impair(netlink: &Netlink, index: u32, impairment: &Impairment) -> io::Result<()> {
    netlink.execute(impairing(index, impairment))
}

fn impairing(index: u32, impairment: &Impairment) -> Request {
    let mut request = Request::new(libc::RTM_NEWQDISC, libc::NLM_F_CREATE | libc::NLM_F_REPLACE);
    tcmsg(&mut request, [index, 0, ROOT, 0]);
    request.text(libc::TCA_KIND, "netem");
    let Impairment { delay, jitter, loss, delayed, duplicate, most_packets } = impairment;
    let (bursts, single) = match loss {
        None => (None, 0.0),
        Some(Loss::Bernoulli(part)) => (None, *part),
        Some(Loss::GilbertElliott(model)) => (Some(model), 0.0),
    };
    let spread = Spread::of(*delay, jitter);
    let ticks = u32::try_from(spread.mean_ns / TICK_NS).unwrap_or(u32::MAX);
    // struct tc_netem_qopt: latency, limit, loss, gap, duplicates, jitter. With a gap of 1, any
    // frame may be sent without delay.
    let gap = u32::from(delayed.is_some());
    let words = [ticks, *most_packets, probability(single), gap, probability(*duplicate), 0];
    request.nested(libc::TCA_OPTIONS, |request| {
        request.raw(&bytes_of(&words));
        if let Some(part) = delayed {
            request.attribute(NETEM_REORDER, &bytes_of(&[probability(1.0 - part), 0]));
        }
        if let Some(GilbertElliott { to_bad, to_good, loss_when_good, loss_when_bad }) = bursts {
            // struct tc_netem_gemodel: the probabilities of becoming bad, of becoming good, of no
            // loss when bad, and of a loss when good.
            let model = [*to_bad, *to_good, 1.0 - loss_when_bad, *loss_when_good].map(probability);
            request.nested(NETEM_LOSS, |request| request.attribute(NETEM_LOSS_GE, &bytes_of(&model)));
        }
        if !spread.table.is_empty() {
            request.attribute(NETEM_LATENCY64, &spread.mean_ns.to_ne_bytes());
            request.attribute(NETEM_JITTER64, &spread.unit_ns.to_ne_bytes());
            let table: Vec<u8> = spread.table.iter().flat_map(|entry| entry.to_ne_bytes()).collect();
            request.attribute(NETEM_DISTRIBUTION, &table);
        }
    });
    request
}

/// Delays, as a mean and a table of differences from the mean.
struct Spread {
    mean_ns: u64,
    /// The difference from the mean that an entry of 8192 represents.
    unit_ns: u64,
    table: Vec<i16>,
}

impl Spread {
    /// The distribution of `delay` plus an entry of `jitter`. If `jitter` has more entries than the
    /// kernel's table (16384), every n-th sorted entry is used.
    fn of(delay: Duration, jitter: &[Duration]) -> Self {
        let mut sorted: Vec<u64> = jitter.iter().map(|it| it.ns()).collect();
        sorted.sort_unstable();
        let step = sorted.len().div_ceil(MAX_DISTRIBUTION).max(1);
        let picked: Vec<u64> = sorted.into_iter().skip(step / 2).step_by(step).collect();
        let mean = picked.iter().sum::<u64>() as f64 / picked.len().max(1) as f64;
        let farthest = picked.iter().map(|ns| (*ns as f64 - mean).abs()).fold(1.0, f64::max);
        // With this unit, the largest difference fits into 16 bits.
        let unit = (farthest * DISTRIBUTION_SCALE / f64::from(i16::MAX)).ceil().max(1.0);
        let entry = |ns: u64| ((ns as f64 - mean) / unit * DISTRIBUTION_SCALE).round() as i16;
        Spread {
            mean_ns: delay.ns() + mean.round() as u64,
            unit_ns: unit as u64,
            table: picked.into_iter().map(entry).collect(),
        }
    }
}

/// A probability as a fraction of 2^32.
fn probability(part: f64) -> u32 {
    (part.clamp(0.0, 1.0) * f64::from(u32::MAX)).round() as u32
}

fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// The kernel's counts of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// Packets in the queue.
    pub packets: u32,
    /// The bytes of the queued packets, as the queue's link counts them.
    pub bytes: u32,
    /// The number of packets dropped since the queue's creation, modulo 2^32.
    pub dropped: u32,
}

/// The kernel's counts of the queue `handle` of the interface `index`.
pub fn counted(netlink: &Netlink, index: u32, handle: u32) -> io::Result<QueueCounts> {
    // Without the echo, the kernel reports the queue to listeners but not to the sender.
    let mut request = Request::new(libc::RTM_GETQDISC, libc::NLM_F_ECHO);
    tcmsg(&mut request, [index, handle, 0, 0]);
    queue_counts(&netlink.read(request)?)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the kernel counts nothing of this queue"))
}

/// The counts in `message`: struct nlmsghdr, struct tcmsg, attributes. `None` if missing or
/// truncated.
fn queue_counts(message: &[u8]) -> Option<QueueCounts> {
    let all = attribute(message.get(HEADER_BYTES + TCMSG_BYTES..)?, STATISTICS)?;
    // struct gnet_stats_queue: length, backlog, drops, requeues, overlimits.
    let queue = attribute(all, STATISTICS_QUEUE)?;
    let number = |at: usize| Some(u32::from_ne_bytes(*queue.get(4 * at..)?.first_chunk()?));
    Some(QueueCounts { packets: number(0)?, bytes: number(1)?, dropped: number(2)? })
}

/// A request about the `clsact` qdisc, which holds filters but no packets (tc-bpf(8)).
fn classifying(kind: u16, flags: i32, index: u32) -> Request {
    let mut request = Request::new(kind, flags);
    tcmsg(&mut request, [index, CLSACT_HANDLE, CLSACT, 0]);
    request.text(libc::TCA_KIND, "clsact");
    request
}

fn redirecting(from: u32, to: u32, way: Redirected) -> Request {
    let mut request = Request::new(libc::RTM_NEWTFILTER, CREATE);
    let all = u32::from((libc::ETH_P_ALL as u16).to_be());
    // `tcm_info` of a filter has the priority (1) in the upper 16 bits, and the protocol in the
    // lower 16.
    tcmsg(&mut request, [from, 0, CLSACT_INGRESS, 1 << 16 | all]);
    request.text(libc::TCA_KIND, "u32");
    request.nested(libc::TCA_OPTIONS, |request| {
        // struct tc_u32_sel (16 bytes: flags, shift, number of keys, ...), and one key of 16 bytes,
        // whose zero mask matches everything.
        let mut selector = [0; 32];
        (selector[0], selector[2]) = (TERMINAL, 1);
        request.attribute(U32_SELECTOR, &selector);
        request.nested(U32_ACTION, |request| {
            // Attribute 1 is the first action.
            request.nested(1, |request| {
                request.text(ACTION_KIND, "mirred");
                request.nested(ACTION_OPTIONS, |request| {
                    // struct tc_mirred: index, capab, action, refcnt, bindcnt, eaction, ifindex.
                    let words = [0, 0, STOLEN, 0, 0, way as i32, to.cast_signed()];
                    let bytes: Vec<u8> = words.into_iter().flat_map(i32::to_ne_bytes).collect();
                    request.attribute(MIRRED_PARAMETERS, &bytes);
                });
            });
        });
    });
    request
}

/// Appends struct tcmsg: the family (any), the interface, the handle, the parent and `tcm_info`,
/// whose meaning depends on the message.
fn tcmsg(request: &mut Request, words: [u32; 4]) {
    request.raw(&[0; 4]);
    words.iter().for_each(|word| request.raw(&word.to_ne_bytes()));
}

const TCMSG_BYTES: usize = 20;
// `TCA_STATS2` of `linux/rtnetlink.h` and `TCA_STATS_QUEUE` of `linux/gen_stats.h`.
const STATISTICS: u16 = 7;
const STATISTICS_QUEUE: u16 = 3;
// Numbers of `linux/pkt_sched.h`, `linux/pkt_cls.h` and `linux/tc_act/tc_mirred.h`: `TC_H_ROOT`,
// `TC_H_CLSACT`, `TC_H_MIN_INGRESS`, `TCA_U32_SEL`, `TCA_U32_ACT`, `TC_U32_TERMINAL`,
// `TCA_ACT_KIND`, `TCA_ACT_OPTIONS`, `TCA_MIRRED_PARMS` and `TC_ACT_STOLEN`.
const ROOT: u32 = 0xffff_ffff;
/// The unit of latencies (`PSCHED_SHIFT` of `net/pkt_sched.h`).
const TICK_NS: u64 = 64;
// Numbers of `linux/pkt_sched.h`: `TCA_NETEM_DELAY_DIST`, `TCA_NETEM_REORDER`, `TCA_NETEM_LOSS`,
// `TCA_NETEM_LATENCY64`, `TCA_NETEM_JITTER64`, `NETEM_LOSS_GE`, `NETEM_DIST_SCALE`,
// `NETEM_DIST_MAX`.
const NETEM_DISTRIBUTION: u16 = 2;
const NETEM_REORDER: u16 = 3;
const NETEM_LOSS: u16 = 5;
const NETEM_LATENCY64: u16 = 10;
const NETEM_JITTER64: u16 = 11;
const NETEM_LOSS_GE: u16 = 2;
const DISTRIBUTION_SCALE: f64 = 8192.0;
const MAX_DISTRIBUTION: usize = 16_384;
const CLSACT: u32 = 0xffff_fff1;
const CLSACT_HANDLE: u32 = 0xffff_0000;
const CLSACT_INGRESS: u32 = 0xffff_fff2;
const U32_SELECTOR: u16 = 5;
const U32_ACTION: u16 = 7;
const TERMINAL: u8 = 1;
const ACTION_KIND: u16 = 1;
const ACTION_OPTIONS: u16 = 2;
const MIRRED_PARAMETERS: u16 = 2;
const STOLEN: i32 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_endian = "little")]
    fn counts_of_a_queue_are_read_and_truncated_answers_are_rejected() {
        // The answer of Linux 6 for a `pfifo`.
        let mut message = vec![0; HEADER_BYTES + TCMSG_BYTES];
        message.extend(
            b"\x0a\0\x01\0pfifo\0\0\0\x08\0\x02\0\x0a\0\0\0\x05\0\x0c\0\0\0\0\0\x30\0\x07\0\x14\0\x01\0",
        );
        message.extend([0; 16]);
        message.extend(b"\x18\0\x03\0\x07\0\0\0\x58\x1b\0\0\x02\x01\0\0");
        message.extend([0; 8]);
        assert_eq!(queue_counts(&message), Some(QueueCounts { packets: 7, bytes: 7000, dropped: 258 }));
        for end in 0..message.len() {
            assert_eq!(queue_counts(&message[..end]), None, "{end}");
        }
    }

    #[test]
    fn a_table_of_delays_keeps_the_mean_and_bounds_of_its_samples() {
        let jitter: Vec<Duration> = (0..40_000).map(|us| Duration::from_us(40_000 - us)).collect();
        let spread = Spread::of(Duration::from_ms(1), &jitter);
        assert_eq!(spread.table.len(), 40_000 / 3);
        let delay = |entry: i16| {
            spread.mean_ns as f64 + f64::from(entry) * spread.unit_ns as f64 / DISTRIBUTION_SCALE
        };
        let delays: Vec<f64> = spread.table.iter().map(|entry| delay(*entry)).collect();
        assert!(delays.is_sorted());
        let mean = delays.iter().sum::<f64>() / delays.len() as f64;
        // The table has every third sample, rounded to steps of 40 ms / 65 536 = 0.6 us.
        assert!((mean - 21e6).abs() < 2e3, "{mean}");
        assert!((delays[0] - 1e6).abs() < 4e3 && (delays[delays.len() - 1] - 41e6).abs() < 4e3, "{delays:?}");
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn an_impairment_is_encoded_as_tc_encodes_it() {
        let impairment = Impairment {
            delay: Duration::from_ms(20),
            loss: Some(0.1.into()),
            most_packets: 100_000,
            ..Impairment::default()
        };
        let bytes = impairing(1, &impairment).finish();
        // For `tc qdisc add dev lo root netem limit 100000 delay 20ms loss 10%`, iproute2 6.1 sends
        // these attributes.
        let mut expected = b"\x0a\x00\x01\x00netem\0\0\0\x1c\x00\x02\x00".to_vec();
        expected.extend(b"\xb4\xc4\x04\x00\xa0\x86\x01\x00\x9a\x99\x99\x19");
        expected.extend([0; 12]);
        assert_eq!((bytes.len(), &bytes[36..]), (76, expected.as_slice()));
    }
}
