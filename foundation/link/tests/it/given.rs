//! Accepted and refused input.

use fairwire_core::{Discipline, Duration as Span, Limit, Queue, Rate, Time, scheduler::Fcfs};
use fairwire_laws::dropper::tail_drop::TailDrop;
use fairwire_link::{BadLink, Duplex, Ecn, GilbertElliott, Link, LinkBuilder};
use std::time::{Duration, Instant};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn link() -> LinkBuilder<u32> {
    Link::new("8 Mbit/s", "10 ms") // 1000 bytes take a millisecond
}

fn methods(bad: &BadLink) -> Vec<&str> {
    bad.mistakes.iter().map(|mistake| mistake.method.as_str()).collect()
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let bad = Link::<u32>::new("0 Mbit/s", "10")
        .queue("drr+lqdd")
        .buffer("many")
        .mtu(0)
        .loss(f64::NAN)
        .jitter("-1 ms")
        .reorder(2.0, "1 parsec")
        .duplicate(-0.5)
        .steps([("2 s", "1 Mbit/s"), ("1 s", "2 Mbit/s")])
        .outages([("2 s", "1 s"), ("2500 ms", "1 s")])
        .outages([("2 s", "0 s")])
        .outages([("-2 s", "1 s")])
        .trace("5\n4\n")
        .pattern([("1 Mbit/s", "0 s")])
        .scale_to("0 Mbit/s")
        .delays("0,40\n1,-2\n")
        .delays_back("1,40\n0,50\n")
        .normal_jitter("9 ms", "1 ms", 1.0)
        .build()
        .expect_err("nothing is right");
    let expected = ["rate", "delay", "buffer", "mtu", "loss", "jitter", "reorder", "reorder", "duplicate"];
    assert_eq!(
        methods(&bad),
        [
            &expected[..],
            &["steps", "outages", "outages", "outages", "trace", "pattern", "scale_to"],
            &["delays", "delays_back", "normal_jitter", "queue"]
        ]
        .concat()
    );
    let text = bad.to_string();
    for part in [
        "`0 Mbit/s` is zero; allowed: a rate above zero",
        "`10` has no unit; allowed: a time such as \"5 ms\"",
        "did you mean `drr+lqd`?",
        "NaN is no probability; allowed: 0 to 1",
        "one at 2500 ms before the last is over at 3 s; allowed: times that ascend",
        "one of 0 ns at 2 s; allowed: a time above 0",
        "`-2 s` is",
        "a step at 1 s after one at 2 s; allowed: times that ascend",
        "line 2 (`4`) of the trace is before the line above it",
        "0 bytes; allowed: 1 to 1048576",
        "a part of it lasts no time; allowed: times above 0",
        "line 2 (`1,-2`) of the delays has no round trip from 0 to 7200000 ms; -1 and 0 are an outage",
        "line 2 (`0,50`) of the delays is before the line above it",
        "a correlation of 1; allowed: 0 to below 1",
    ] {
        assert!(text.contains(part), "{part} in:\n{text}");
    }
}

#[test]
fn textual_parameters_are_checked() {
    let built = link().queue("{ red = { gentle = true, min_threshold = '20 packets' } }").build();
    assert!(built.is_ok(), "{built:?}");
    let refused = |text: &str| link().queue(text).build().expect_err(text).to_string();
    assert!(
        refused("{ red = { gentel = true } }").contains("gentel"),
        "{}",
        refused("{ red = { gentel = true } }")
    );
    assert!(refused("{ red = { weight = 7.0 } }").contains("`weight` of `red` is 7"));
    assert!(refused("{ cake-like = { ack_filter = 'on' } }").contains("`ack_filter` needs headers of TCP"));
    assert!(refused("{ rde = {} }").contains("rde"));
    assert!(refused("{ red = ").contains("`{ red =`"));
    assert!(refused("{ red = {} }\nagain = 'codel'").contains("goes on after its table"));
    assert!(refused("{}").starts_with("`queue` of the link"));
    assert!(refused("").contains("there is no discipline ``"));
}

#[test]
fn a_buffer_without_room_for_a_packet_is_refused() {
    let bad = link().buffer("1000 B").build().expect_err("no room for 1500 B");
    assert!(bad.to_string().contains("room for one typical packet"), "{bad}");
    assert_eq!(methods(&bad), ["buffer"]);
    let bad = Link::<u32>::new("8 Mbit/s", "0 s").buffer("1 bdp").build().expect_err("no delay");
    assert!(bad.to_string().contains("1 bdp of a round trip of 0 ns is nothing"), "{bad}");
    let bad = Link::<u32>::new("8 Mbit/s", "10 ms").buffer("0.00000000001 bdp").build().expect_err("no time");
    assert!(bad.to_string().contains("of a round trip of 20 ms is nothing"), "{bad}");
    assert!(link().buffer("1000 B").mtu(1000).build().is_ok());
}

fn kept(mut link: Link<u32>) -> u32 {
    for n in 0..1000 {
        link.send(n, 1000, 1, Ecn::NotEct, ms(0)).expect("1000 bytes");
    }
    link.backlog().packets
}

#[test]
fn a_buffer_is_packets_bytes_time_or_a_multiple_of_the_round_trip() {
    assert_eq!(kept(link().build().unwrap()), 100);
    assert_eq!(kept(link().buffer("7 packets").build().unwrap()), 7);
    assert_eq!(kept(link().buffer("64 kB").build().unwrap()), 64);
    assert_eq!(kept(link().buffer("50 ms").build().unwrap()), 50);
    assert_eq!(kept(link().buffer("1.5 bdp").build().unwrap()), 30);
    let far = Duplex::new(link().buffer("1 bdp"), Link::new("1 Mbit/s", "90 ms")).unwrap();
    assert_eq!(kept(far.forward), 100); // 10 ms forward and 90 ms back
}

#[test]
fn a_device_holds_packets_behind_the_queue() {
    assert_eq!(kept(link().buffer("7 packets").device(30).build().unwrap()), 37);
    let bad = link().device(0).device(65_537).build().expect_err("none that is");
    assert_eq!(methods(&bad), ["device", "device"]);
    assert!(bad.to_string().contains("65537 packets; allowed: 1 to 65536"), "{bad}");
}

#[test]
fn mistakes_of_a_duplex_name_their_direction() {
    let bad = Duplex::new(link().loss(3.0), link().queue("nothing")).expect_err("both are wrong");
    assert_eq!(methods(&bad), ["forward.loss", "back.queue"]);
}

#[test]
fn a_message_without_bytes_or_above_the_mtu_is_returned() {
    let mut link = link().mtu(1200).build().unwrap();
    for bytes in [0, 1201, usize::MAX] {
        let refused = link.send(42, bytes, 1, Ecn::NotEct, ms(0)).expect_err("not 1 to 1200");
        assert_eq!((refused.payload, refused.bytes, refused.mtu), (42, bytes, 1200));
        assert!(refused.to_string().contains("allowed: 1 to 1200 bytes"));
    }
    assert_eq!(link.report().flows, []);
    assert_eq!(link.next_timeout(), None);
    assert!(link.send(42, 1200, 1, Ecn::NotEct, ms(0)).is_ok());
}

#[test]
fn a_decreasing_time_is_replaced_by_the_latest_and_counted() {
    let mut link = link().build().unwrap();
    link.send(1, 1000, 1, Ecn::NotEct, ms(100)).unwrap();
    link.send(2, 1000, 1, Ecn::NotEct, ms(50)).unwrap();
    assert!(link.receive(ms(0)).is_none());
    let first = link.receive(ms(200)).expect("it has arrived");
    let second = link.receive(ms(150)).expect("200 ms have been seen");
    assert_eq!((first.sent, first.arrived), (ms(100), ms(111)));
    assert_eq!((second.sent, second.arrived), (ms(100), ms(112)));
    assert_eq!(link.report().backward_calls, 3);
}

#[test]
fn a_time_before_the_start_of_the_link_counts_as_decreasing() {
    #[expect(clippy::disallowed_methods, reason = "any instant: what follows is differences")]
    let start = Instant::now() + ms(100);
    let mut link = Link::<u32, Instant>::new("8 Mbit/s", "10 ms").build().unwrap();
    link.send(1, 1000, 1, Ecn::NotEct, start).unwrap();
    link.send(2, 1000, 1, Ecn::NotEct, start - ms(5)).unwrap();
    assert_eq!(link.report().backward_calls, 1);
    let early = Link::<u32, Instant>::new("8 Mbit/s", "10 ms").starts_at(start);
    let mut early = early.build().unwrap();
    early.send(1, 1000, 1, Ecn::NotEct, start - ms(5)).unwrap();
    assert_eq!(early.next_timeout(), Some(start + ms(11)));
    assert_eq!(early.report().backward_calls, 1);
}

#[test]
fn extreme_times_cause_no_failure() {
    let mut slow = Link::<u32>::new("1 bit/s", "1 h").mtu(1 << 20).build().unwrap();
    slow.send(1, 1 << 20, 1, Ecn::NotEct, Duration::MAX).unwrap();
    slow.send(2, 1 << 20, 1, Ecn::NotEct, Duration::MAX).unwrap();
    assert_eq!(slow.next_timeout(), None); // never, in 584 years
    let _ = slow.receive(Duration::MAX);
    let mut fast = Link::<u32>::new("8000000 Tbit/s", "0 s").build().unwrap();
    for n in 0..50 {
        fast.send(n, 1, 1, Ecn::NotEct, ms(1)).unwrap();
    }
    assert_eq!(std::iter::from_fn(|| fast.receive(ms(2))).count(), 50);
    let _ = fast.report();
}

#[test]
fn disciplines_mark_by_default_as_in_linux_and_others_on_request() {
    let run = |link: LinkBuilder<u32>, queue: &str| {
        let mut link = link.queue(queue).buffer("200 packets").build().unwrap();
        let mut ce = 0;
        for n in 0..3000 {
            let now = ms(n) / 2; // twice the rate
            link.send(0, 1000, 1, Ecn::Ect0, now).unwrap();
            ce += std::iter::from_fn(|| link.receive(now)).filter(|got| got.ecn == Ecn::Ce).count() as u64;
        }
        let flow = link.report().flows.remove(0);
        (ce, flow.marked, flow.dropped)
    };
    let red = r#"{ red = { min_threshold = "5 packets", max_threshold = "150 packets", weight = 0.1 } }"#;
    let marks = [run(link(), "codel"), run(link().mark_ecn(), red)];
    assert!(marks.iter().all(|(ce, marked, _)| *ce > 0 && marked >= ce), "{marks:?}");
    let drops = [run(link(), red), run(link().mark_ecn(), "{ codel = { ecn = \"drop\" } }")];
    assert!(drops.iter().all(|(ce, marked, dropped)| ce + marked == 0 && *dropped > 0), "{drops:?}");
}

#[test]
fn a_given_discipline_keeps_its_own_buffer() {
    let made: Box<dyn Discipline> = Box::new(Queue::new(Limit::packets(3), Fcfs, TailDrop));
    assert_eq!(kept(link().discipline(made).build().unwrap()), 3);
}

#[test]
fn a_rate_changes_in_steps_and_by_a_trace() {
    let arrivals = |link: LinkBuilder<u32>, bytes| {
        let mut link = link.build().unwrap();
        for n in 0..4 {
            link.send(n, bytes, 1, Ecn::NotEct, ms(0)).unwrap();
        }
        let got: Vec<Duration> =
            std::iter::from_fn(|| link.receive(ms(1000))).map(|got| got.arrived).collect();
        got
    };
    // When the rate changes, half of packet 2 has been sent.
    let steps = link().steps([(Duration::from_micros(2500), "2 Mbit/s")]);
    assert_eq!(
        arrivals(steps, 1000),
        [ms(11), ms(12), Duration::from_micros(14_500), Duration::from_micros(18_500)]
    );
    assert_eq!(arrivals(link().trace("3\n3\n10\n"), 1500), [ms(13), ms(13), ms(20), ms(23)]);
}

#[test]
fn a_pattern_repeats_forever_without_loss_of_precision() {
    let pattern = [("12 Mbit/s", "1 s"), ("24 Mbit/s", "1 s")];
    let link = Link::<u64>::new("18 Mbit/s", "10 ms").pattern(pattern).buffer("2000 packets");
    let mut link = link.build().unwrap();
    let mut arrived = Vec::new();
    for packet in 0..900_000 {
        // The packets of the first 100 ms come at once, and later packets at the mean rate, so the
        // queue is never empty.
        let now = Duration::from_micros(packet * 2_000 / 3).saturating_sub(ms(100));
        link.send(packet, 1500, 1, Ecn::NotEct, now).unwrap();
        arrived.extend(std::iter::from_fn(|| link.receive(now)).map(|got| got.arrived));
    }
    arrived.extend(std::iter::from_fn(|| link.receive(ms(900_000))).map(|got| got.arrived));
    // Sending a packet takes 1 ms in odd seconds and 0.5 ms in even seconds. The packet arrives 10
    // ms later.
    assert_eq!(arrived.len(), 900_000);
    assert_eq!((arrived[999], arrived[2_999]), (ms(1_010), ms(2_010)));
    assert_eq!((arrived[897_999], arrived[899_999]), (ms(599_010), ms(600_010)));
}

#[test]
fn a_trace_of_two_columns_is_taken_and_scaled() {
    let text = "0.00\t3.10\n0.52\t2.75\n1.01\t0.40\n2.00\t5.20\n";
    let sent = |link: LinkBuilder<u32>| {
        let mut link = link.buffer("5000 packets").build().unwrap();
        (0..4_000).for_each(|n| link.send(n, 125, 1, Ecn::NotEct, ms(0)).unwrap());
        std::iter::from_fn(|| link.receive(ms(2_010))).count()
    };
    // In 2 s, a mean of 1.67775 Mbit/s carries 3355.5 packets of 1000 bits.
    assert_eq!(sent(link().trace(text)), 3_355);
    assert_eq!(sent(link().trace(text).scale_to("1 Mbit/s")), 2_000);
    let bad = link().scale_to("1 Mbit/s").build().expect_err("no trace");
    assert!(bad.to_string().contains("allowed: after a `trace`"), "{bad}");
}

#[test]
fn a_ping_takes_the_round_trips_of_the_file_and_is_lost_in_its_outages() {
    let round_trip = |row: u64| match row % 500 {
        0..4 => None,
        at => Some(30.0 + 20.0 * ((row * 7919 % 97) as f64 / 97.0) + if at < 100 { 40.0 } else { 0.0 }),
    };
    let rows = (0..30_000_u64).map(|row| {
        let trip = round_trip(row).map_or("-1".into(), |ms: f64| ms.to_string());
        format!("{:.2},{trip}\n", row as f64 / 100.0)
    });
    let text: String = std::iter::once("seconds,rtt\n".into()).chain(rows).collect();
    let way = || Link::<u64>::new("100 Mbit/s", "25 ms");
    let mut line = Duplex::new(way().delays(&text), way().delays_back(&text)).unwrap();
    let mut answers: Vec<Option<f64>> = vec![None; 30_000];
    let mut last = Duration::ZERO;
    let mut next_ping = 0;
    loop {
        let ping = (next_ping < 30_000).then(|| ms(10 * next_ping));
        let Some(now) = line.next_timeout().into_iter().chain(ping).min() else { break };
        if ping == Some(now) {
            line.forward.send(next_ping, 64, 1, Ecn::NotEct, now).unwrap();
            next_ping += 1;
        }
        while let Some(got) = line.forward.receive(now) {
            line.back.send(got.payload, 64, 1, Ecn::NotEct, got.arrived).unwrap();
        }
        while let Some(got) = line.back.receive(now) {
            assert!(got.arrived >= last, "the order is kept");
            last = got.arrived;
            answers[got.payload as usize] = Some((got.arrived - ms(10 * got.payload)).as_secs_f64() * 1e3);
        }
    }
    let mut in_order = 0.0_f64;
    for (row, answer) in (0..).zip(answers) {
        let trip = round_trip(row);
        assert_eq!(answer.is_some(), trip.is_some(), "row {row}: {answer:?} of {trip:?}");
        let (Some(answer), Some(trip)) = (answer, trip) else { continue };
        // A packet that would overtake its predecessor arrives together with it.
        in_order = in_order.max(10.0 * row as f64 + trip);
        let expected = in_order - 10.0 * row as f64;
        assert!((answer - expected).abs() < 0.5, "row {row}: {answer} ms, not {expected} ms");
    }
}

#[test]
fn normal_jitter_has_its_mean_its_deviation_and_its_correlation() {
    let mut link =
        Link::<u32>::new("1 Gbit/s", "0 s").normal_jitter("300 ms", "15 ms", 0.25).seed(1).build().unwrap();
    let takes: Vec<f64> = (0..100_000_u32)
        .map(|n| {
            // Each packet is alone on the wire.
            let sent = ms(u64::from(n) * 1_000);
            link.send(n, 125, 1, Ecn::NotEct, sent).unwrap();
            let got = link.receive(sent + ms(999)).expect("it is there");
            (got.arrived - sent).as_secs_f64() * 1e3
        })
        .collect();
    let n = takes.len() as f64;
    let mean = takes.iter().sum::<f64>() / n;
    let variance = takes.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
    let lag_1 = takes.windows(2).map(|two| (two[0] - mean) * (two[1] - mean)).sum::<f64>() / n / variance;
    // Bounds are 7 standard deviations or more.
    assert!((mean - 300.0).abs() < 0.5 && (variance.sqrt() - 15.0).abs() < 0.3, "{mean} {variance}");
    assert!((lag_1 - 0.25).abs() < 0.03, "{lag_1}");
}

#[test]
fn the_first_instant_given_starts_the_clock() {
    #[expect(clippy::disallowed_methods, reason = "any instant: what follows is differences")]
    let start = Instant::now();
    let mut link = Link::<u32, Instant>::new("8 Mbit/s", "10 ms").build().unwrap();
    link.send(1, 1000, 1, Ecn::NotEct, start + ms(7)).unwrap();
    let next = link.next_timeout().expect("one is under way");
    assert_eq!(next, start + ms(18));
    let got = link.receive(next).expect("it is there at that time");
    assert_eq!((got.sent, got.arrived), (start + ms(7), start + ms(18)));
    assert_eq!(link.report().time, ms(11));

    let mut early = Link::<u32, Instant>::new("8 Mbit/s", "10 ms")
        .starts_at(start)
        .steps([("5 ms", "4 Mbit/s")])
        .build()
        .unwrap();
    early.send(1, 1000, 1, Ecn::NotEct, start + ms(7)).unwrap();
    assert_eq!(early.next_timeout(), Some(start + ms(19)));
    let mut own = Link::<u32, Time>::new("8 Mbit/s", "10 ms").build().unwrap();
    own.send(1, 1000, 1, Ecn::NotEct, Time::ZERO + Span::from_ms(7)).unwrap();
    assert_eq!(own.next_timeout(), Some(Time::ZERO + Span::from_ms(18)));
}

#[test]
fn quantities_may_be_typed_values() {
    let rate: Rate = "8 Mbit/s".parse().unwrap();
    let mut link = Link::<u32>::new(rate, ms(10)).jitter(Span::ZERO).build().unwrap();
    link.send(1, 1000, 1, Ecn::NotEct, ms(0)).unwrap();
    assert_eq!(link.next_timeout(), Some(ms(11)));
}

#[test]
fn a_report_lists_the_counts_of_two_flows() {
    let mut link = link().queue("drr+lqd").buffer("20 packets").build().unwrap();
    for n in 0..2000 {
        let now = ms(n);
        link.send(0, 1000, 1, Ecn::NotEct, now).unwrap(); // the link's rate
        link.send(0, 500, 2, Ecn::NotEct, now).unwrap(); // half of it
        while link.receive(now).is_some() {}
        if n == 999 {
            link.restart_report(now);
        }
    }
    let report = link.report();
    assert_eq!(report.time, ms(1000));
    for flow in [1, 2] {
        let rate = report.flow(flow).unwrap().rate_bps;
        assert!((rate - 4e6).abs() < 20e3, "flow {flow}: {rate}"); // 2.5 packets of 8000 bits
    }
    assert!(report.jain > 0.9999 && report.utilization == 1.0, "{report}");
    let one = report.flow(1).unwrap();
    assert_eq!((one.sent, one.lost, one.marked, one.duplicated), (1000, 0, 0, 0));
    assert!(
        one.delay.min <= one.delay.p50 && one.delay.p50 <= one.delay.p99 && one.delay.p99 <= one.delay.max
    );
    assert!(report.to_string().lines().count() == 4, "{report}");
    assert_eq!(report.flow(3), None);
}

#[test]
fn the_utilization_of_a_link_is_the_part_of_the_time_it_sends() {
    let mut link = link().build().unwrap();
    link.send(0, 1000, 1, Ecn::NotEct, ms(1)).unwrap();
    link.advance_to(ms(4));
    assert_eq!(link.report().utilization, 0.25); // 1 ms of 4
    link.send(0, 1500, 1, Ecn::NotEct, ms(4)).unwrap();
    link.restart_report(ms(5)); // half a millisecond of it remains
    link.advance_to(ms(6));
    assert_eq!(link.report().utilization, 0.5);
}

#[test]
fn an_outage_loses_packets_while_the_queue_continues_to_send() {
    let mut link = link().outages([("2 ms", "3 ms")]).build().expect("a link");
    for number in 0..8 {
        link.send(number, 1000, 1, Ecn::NotEct, ms(0)).expect("it fits");
    }
    // The transmission of packet n ends at (n + 1) ms. The outage lasts from 2 ms to 5 ms.
    let arrived: Vec<u32> = std::iter::from_fn(|| link.receive(ms(100))).map(|got| got.payload).collect();
    assert_eq!(arrived, [0, 4, 5, 6, 7]);
    let flow = link.report().flows.remove(0);
    assert_eq!((flow.lost, flow.dropped), (3, 0));
}

#[test]
fn the_report_counts_losses_reordering_and_duplicates_of_the_wire() {
    let model = GilbertElliott { to_bad: 0.02, to_good: 0.3, loss_when_good: 0.001, loss_when_bad: 0.8 };
    let mut link = link()
        .loss(model)
        .jitter("3 ms")
        .reorder(0.1, "20 ms")
        .duplicate(0.05)
        .buffer("10000 packets")
        .build()
        .unwrap();
    for n in 0..5000 {
        link.send(n, 1000, 1, Ecn::NotEct, ms(2 * u64::from(n))).unwrap();
    }
    let end = ms(20_000);
    let got: Vec<u32> = std::iter::from_fn(|| link.receive(end)).map(|got| got.payload).collect();
    let flow = link.report().flows.remove(0);
    let twice = got.windows(2).filter(|two| two[0] == two[1]).count() as u64;
    assert_eq!((flow.delivered, flow.sent), (got.len() as u64, 5000));
    assert_eq!(flow.sent + flow.duplicated, flow.delivered + flow.lost);
    assert!(flow.lost > 0 && twice > 0 && twice <= flow.duplicated, "{flow:?}");
    assert!(!got.is_sorted(), "some overtake");
}
