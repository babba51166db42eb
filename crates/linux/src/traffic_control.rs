//! Traffic control through netlink (tc(8)): the few messages that are needed to redirect frames
//! from one interface to another, to delay and drop frames, and to read the counts of a queue.

use crate::netlink::Netlink;
use crate::request::{CREATE, HEADER_BYTES, Request, attribute};
use fairwire_core::Duration;
use std::io;

/// How redirected frames appear at the other interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redirected {
    /// They leave by it (`TCA_EGRESS_REDIR`).
    Leaves = 1,
    /// They arrive at it (`TCA_INGRESS_REDIR`).
    Arrives = 3,
}

/// Redirects all frames that arrive at the interface `from` to the interface `to`. Both are indexes
/// in this thread's network namespace. Replaces the `clsact` qdisc of `from` with all its filters.
pub fn redirect(from: u32, to: u32, way: Redirected) -> io::Result<()> {
    let netlink = Netlink::open()?;
    // Fails where there is none. One may be left that redirects to an interface that was removed.
    let _ = netlink.execute(classifying(libc::RTM_DELQDISC, 0, from));
    netlink.execute(classifying(libc::RTM_NEWQDISC, CREATE, from))?;
    netlink.execute(redirecting(from, to, way))
}

/// Delay and loss of the frames that an interface sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impairment {
    /// The delay of each, rounded down to 64 ns, at most 274 s.
    pub delay: Duration,
    /// The probability that one is lost, 0 to 1, independent of the others.
    pub loss: f64,
    /// The maximum number that is delayed at one time; further ones are dropped.
    pub most_packets: u32,
}

/// Delays and drops what the interface `index` sends (tc-netem(8)). Replaces its root qdisc.
/// Refused by a kernel without `sch_netem`.
pub fn impair(netlink: &Netlink, index: u32, impairment: Impairment) -> io::Result<()> {
    netlink.execute(impairing(index, impairment))
}

fn impairing(index: u32, impairment: Impairment) -> Request {
    let mut request = Request::new(libc::RTM_NEWQDISC, libc::NLM_F_CREATE | libc::NLM_F_REPLACE);
    tcmsg(&mut request, [index, 0, ROOT, 0]);
    request.text(libc::TCA_KIND, "netem");
    // struct tc_netem_qopt: latency, limit, loss, gap, duplicates, jitter.
    let latency = u32::try_from(impairment.delay.ns() / TICK_NS).unwrap_or(u32::MAX);
    let loss = (impairment.loss.clamp(0.0, 1.0) * f64::from(u32::MAX)).round() as u32;
    let words = [latency, impairment.most_packets, loss, 0, 0, 0];
    let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_ne_bytes).collect();
    request.attribute(libc::TCA_OPTIONS, &bytes);
    request
}

/// What the kernel counts of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// Packets that wait.
    pub packets: u32,
    /// Their bytes, as the queue's link counts them.
    pub bytes: u32,
    /// Packets that were dropped since it was made, modulo 2^32.
    pub dropped: u32,
}

/// What the kernel counts of the queue `handle` of the interface `index`.
pub fn counted(netlink: &Netlink, index: u32, handle: u32) -> io::Result<QueueCounts> {
    // Without the echo the kernel reports the queue to listeners, and not to the sender.
    let mut request = Request::new(libc::RTM_GETQDISC, libc::NLM_F_ECHO);
    tcmsg(&mut request, [index, handle, 0, 0]);
    queue_counts(&netlink.read(request)?)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the kernel counts nothing of this queue"))
}

/// The counts in a message about a queue: struct nlmsghdr, struct tcmsg, attributes. `None` where
/// they are missing or cut.
fn queue_counts(message: &[u8]) -> Option<QueueCounts> {
    let all = attribute(message.get(HEADER_BYTES + TCMSG_BYTES..)?, STATISTICS)?;
    // struct gnet_stats_queue: length, backlog, drops, requeues, overlimits.
    let queue = attribute(all, STATISTICS_QUEUE)?;
    let number = |at: usize| Some(u32::from_ne_bytes(*queue.get(4 * at..)?.first_chunk()?));
    Some(QueueCounts { packets: number(0)?, bytes: number(1)?, dropped: number(2)? })
}

/// Makes or deletes, by the message type `kind`, the `clsact` qdisc of the interface `index`: it
/// holds filters and no packets (tc-bpf(8)).
fn classifying(kind: u16, flags: i32, index: u32) -> Request {
    let mut request = Request::new(kind, flags);
    tcmsg(&mut request, [index, CLSACT_HANDLE, CLSACT, 0]);
    request.text(libc::TCA_KIND, "clsact");
    request
}

/// A filter that all frames that arrive at `from` match, with the action of redirecting them to
/// `to`.
fn redirecting(from: u32, to: u32, way: Redirected) -> Request {
    let mut request = Request::new(libc::RTM_NEWTFILTER, CREATE);
    let all = u32::from((libc::ETH_P_ALL as u16).to_be());
    // `tcm_info` of a filter: its priority, 1, in the upper 16 bits, and its protocol in the lower.
    tcmsg(&mut request, [from, 0, CLSACT_INGRESS, 1 << 16 | all]);
    request.text(libc::TCA_KIND, "u32");
    request.nested(libc::TCA_OPTIONS, |request| {
        // struct tc_u32_sel (16 bytes: flags, a shift, the number of keys, …), and one key of 16
        // bytes whose mask of zero matches everything.
        let mut selector = [0; 32];
        (selector[0], selector[2]) = (TERMINAL, 1);
        request.attribute(U32_SELECTOR, &selector);
        request.nested(U32_ACTION, |request| {
            // The first action of a list.
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

/// Appends struct tcmsg: the family (any), and as `words` the interface, the handle, the parent and
/// `tcm_info`, whose meaning depends on the message.
fn tcmsg(request: &mut Request, words: [u32; 4]) {
    request.raw(&[0; 4]);
    words.iter().for_each(|word| request.raw(&word.to_ne_bytes()));
}

/// Bytes of struct tcmsg.
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
    fn what_is_counted_of_a_queue_is_read_and_cut_answers_are_none() {
        // What Linux 6 answers for a `pfifo` in which 7 packets of 1000 bytes wait, and 258 were
        // dropped.
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
    #[cfg(target_endian = "little")]
    fn an_impairment_is_encoded_as_tc_encodes_it() {
        let impairment = Impairment { delay: Duration::from_ms(20), loss: 0.1, most_packets: 100_000 };
        let bytes = impairing(1, impairment).finish();
        // `tc qdisc add dev lo root netem limit 100000 delay 20ms loss 10%` of iproute2 6.1, from
        // its first attribute on.
        let mut expected = b"\x0a\x00\x01\x00netem\0\0\0\x1c\x00\x02\x00".to_vec();
        expected.extend(b"\xb4\xc4\x04\x00\xa0\x86\x01\x00\x9a\x99\x99\x19");
        expected.extend([0; 12]);
        assert_eq!((bytes.len(), &bytes[36..]), (76, expected.as_slice()));
    }
}
