use super::*;
use fairwire_core::Seed;

/// Runs a call of a minute over a link with an unlimited queue. Returns the listener, and the
/// sending rate in the last 40 s.
fn call(plan: Call, link_bps: f64, is_lost: impl Fn(u64) -> bool) -> (Listener, f64) {
    let (mut speaker, mut listener) = (Speaker::new(plan, Seed(1).stream("call")), Listener::new(plan));
    let mut there: VecDeque<(Time, Packet)> = VecDeque::new();
    let mut back: VecDeque<(Time, Packet)> = VecDeque::new();
    let (mut now, mut free, mut sent, mut bits) = (Time::ZERO, Time::ZERO, 0, 0.0);
    let way = Duration::from_ms(20);
    while now < END {
        while there.front().is_some_and(|(at, _)| *at <= now) {
            listener.on_packet(there.pop_front().expect("it is there").1, now);
        }
        while back.front().is_some_and(|(at, _)| *at <= now) {
            speaker.on_packet(back.pop_front().expect("it is there").1, now);
        }
        while let Some(packet) = speaker.poll_transmit(now) {
            bits += if now.secs() > 20.0 { f64::from(packet.bytes) * 8.0 } else { 0.0 };
            free = free.max(now) + Duration::from_secs_f64(f64::from(packet.bytes) * 8.0 / link_bps);
            if !is_lost(sent) {
                there.push_back((free + way, packet));
            }
            sent += 1;
        }
        while let Some(packet) = listener.poll_transmit(now) {
            back.push_back((now + way, packet));
        }
        let events = [there.front().map(|(at, _)| *at), back.front().map(|(at, _)| *at)];
        let timeouts = [speaker.next_timeout(), listener.next_timeout()];
        now = events.into_iter().chain(timeouts).flatten().min().expect("a frame comes next");
    }
    (listener, bits / 40.0)
}

const END: Time = Time::from_ns(60_000_000_000);

fn took(listener: &Listener, sought: Kind) -> Vec<f64> {
    let lasted = listener.lasted(END).into_iter().filter(|one| one.kind == sought);
    lasted.map(|one| one.until.since(one.since).secs()).collect()
}

/// The median time that the frames of the last 40 s took.
fn median_frame(listener: &Listener) -> f64 {
    let mut frames = took(listener, Kind::Frame).split_off(600);
    frames.sort_by(f64::total_cmp);
    frames[frames.len() / 2]
}

#[test]
fn on_a_wide_link_it_has_its_full_rate_and_frames_arrive_in_time() {
    let (listener, bps) = call(Call::default(), 100e6, |_| false);
    // The coder's rate is 5 % below NADA's rate while the sender's buffer holds half a frame or
    // more. The mean size of 1200 frames has a relative standard error of 0.06/35.
    assert!((0.94..1.0).contains(&(bps / 1.5e6)), "{bps}");
    assert!((1817..=1819).contains(&took(&listener, Kind::Frame).len())); // 60 s of 33 ms, except frames in flight
    // A frame's packets are paced over a frame's time. Each packet then takes 20 ms to arrive.
    let median = median_frame(&listener);
    assert!((0.020 + 0.020..0.020 + 0.036).contains(&median), "{median}");
    let others = [Kind::LateFrame, Kind::LostFrame, Kind::Freeze].map(|kind| took(&listener, kind).len());
    assert_eq!(others, [0, 0, 0]);
}

#[test]
fn alone_it_fills_a_narrow_link_with_the_queue_of_nada() {
    for link_bps in [500e3, 1000e3] {
        let (listener, bps) = call(Call::default(), link_bps, |_| false);
        assert!((bps / link_bps - 1.0).abs() < 0.02, "{bps} of {link_bps}"); // a queue does not persist if the rate is 1 % short
        // RFC 8698, equation (5), gives the queueing delay. The delay swings by one packet's time,
        // 10 to 20 ms. The minimum over 15 packets hardly swings.
        let queue_s = 0.010 * 1.5e6 / link_bps;
        let least_s = listener.nada.least_queueing_s();
        assert!((least_s / queue_s - 1.0).abs() < 0.25, "{least_s} s, not {queue_s} s");
    }
}

#[test]
fn a_lost_frame_freezes_the_picture_until_a_key_frame_a_round_trip_later() {
    let (listener, _) = call(Call::default(), 100e6, |n| n == 4000);
    let freezes = took(&listener, Kind::Freeze);
    // The next frame reveals the loss, and the request takes 20 ms. The key frame is three times as
    // large as others, so it takes 99 ms to send, and 20 ms to arrive. Counted from the frame
    // before the lost one, the freeze lasts 200 ms or slightly more.
    assert_eq!(freezes.len(), 1, "{freezes:?}");
    assert!((0.19..0.30).contains(&freezes[0]), "{freezes:?}");
    let lost = took(&listener, Kind::LostFrame).len();
    assert!((2..=5).contains(&lost), "{lost}"); // the lost one, and those coded until the request arrives
}

#[test]
fn key_frames_in_between_cost_no_rate_and_heal_by_themselves() {
    let plan = Call { key_every: Duration::from_secs(1), ..Call::default() };
    let (_, with) = call(plan, 100e6, |_| false);
    let (_, without) = call(Call::default(), 100e6, |_| false);
    // While a key frame waits in the buffer, the coder's rate is up to 5 % lower.
    assert!((with / without - 1.0).abs() < 0.05, "{with} {without}");
}

#[test]
fn losses_lower_its_rate() {
    // A loss of 5 % is a congestion of 25 x 10 ms, which lowers the rate to the minimum, 150
    // kbit/s. The loss ratio of about 20 packets fluctuates, so the rate sometimes rises. Each loss
    // also costs a key frame, so 20 frames have the bytes of 22.
    let (_, bps) = call(Call::default(), 100e6, |n| n % 20 == 0);
    assert!((150e3..225e3).contains(&bps), "{bps}");
}
