//! The ends for tokio, on a paused clock.

use fairwire_link::tokio::{End, pair};
use fairwire_link::{Duplex, Ecn, Link};
use std::time::Duration;
use tokio::time::Instant;

fn ends() -> (End<u32>, End<u32>) {
    pair(Duplex::alike(|| Link::new("8 Mbit/s", "20 ms").queue("drr+lqd").buffer("50 packets")).unwrap())
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[tokio::test(start_paused = true)]
async fn packets_arrive_when_they_are_due_and_paused_time_advances() {
    let (here, there) = ends();
    let start = Instant::now();
    for number in 0..3 {
        here.send(number, 1000, 1, Ecn::NotEct).unwrap();
    }
    for number in 0..3 {
        let got = there.receive().await.expect("it is under way");
        let due = start + ms(21) + ms(1) * number;
        assert_eq!((got.payload, got.sent, got.arrived), (number, start, due));
        assert!(Instant::now() >= due && Instant::now() <= due + ms(1)); // tokio's timers have milliseconds
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_takes_a_round_trip() {
    let (here, there) = ends();
    let start = Instant::now();
    let echo = tokio::spawn(async move {
        while let Some(got) = there.receive().await {
            there.send(got.payload + 100, got.bytes, got.flow, got.ecn).unwrap();
        }
        there.report()
    });
    for number in 0..10 {
        here.send(number, 1000, 1, Ecn::NotEct).unwrap();
        let got = here.receive().await.expect("the other end is open");
        assert_eq!(got.payload, number + 100);
    }
    let took = Instant::now() - start;
    assert!(took >= ms(42) * 10 && took <= ms(44) * 10, "{took:?}");
    drop(here);
    let report = echo.await.unwrap();
    assert_eq!(report.flow(1).map(|flow| (flow.sent, flow.delivered)), Some((10, 10)));
}

#[tokio::test(start_paused = true)]
async fn packets_in_flight_arrive_after_the_sender_is_dropped() {
    let (here, there) = ends();
    let second = here.clone();
    here.send(1, 1000, 1, Ecn::NotEct).unwrap();
    drop(here);
    second.send(2, 1000, 2, Ecn::NotEct).unwrap();
    let waits = tokio::spawn(async move {
        let mut got = Vec::new();
        while let Some(arrival) = there.receive().await {
            got.push(arrival.payload);
        }
        got
    });
    tokio::time::sleep(ms(500)).await;
    assert!(!waits.is_finished(), "one sender is left");
    drop(second);
    assert_eq!(waits.await.unwrap(), [1, 2]);
}

#[tokio::test(start_paused = true)]
async fn a_receive_that_is_cancelled_loses_nothing() {
    let (here, there) = ends();
    here.send(7, 1000, 1, Ecn::NotEct).unwrap();
    assert!(tokio::time::timeout(ms(5), there.receive()).await.is_err());
    assert_eq!(there.receive().await.map(|got| got.payload), Some(7));
}

#[tokio::test(start_paused = true)]
async fn flooding_tasks_share_the_link_reproducibly() {
    let mut reports = Vec::new();
    for _ in 0..2 {
        let (here, there) = ends();
        for (flow, each_us) in [(1, 333), (2, 1000)] {
            let end = here.clone();
            tokio::spawn(async move {
                let mut ticks = tokio::time::interval(Duration::from_micros(each_us));
                for number in 0..2_000_000 / each_us {
                    ticks.tick().await;
                    end.send(number as u32, 1000, flow, Ecn::NotEct).unwrap();
                }
            });
        }
        let (start, mut got) = (Instant::now(), [0u32; 3]);
        while let Ok(Some(arrival)) = tokio::time::timeout_at(start + ms(2000), there.receive()).await {
            got[arrival.flow as usize] += 1;
        }
        assert!(got[1].abs_diff(got[2]) <= 40, "{got:?}"); // equal but for the start: a buffer of 50 packets
        reports.push((got, here.report().flows));
    }
    assert_eq!(reports[0], reports[1]);
}
