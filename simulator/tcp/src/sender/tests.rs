use super::*;
use crate::config::{EcnMode, Profile};
use crate::congestion::ControlConfig;
use crate::receiver::Receiver;
use crate::segment::Block;
use fairwire_core::Duration;

#[derive(Default)]
struct Sent(Vec<u64>);

impl Output for Sent {
    fn send(&mut self, segment: Segment) {
        if !segment.is_syn {
            self.0.push(segment.seq);
        }
    }
}

impl Sent {
    fn taken(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.0)
    }
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

/// Returns a sender that sent its initial window at 0 ms.
fn open(initial: u32) -> (Sender, Sent) {
    open_as(Config::new(Profile::Ns2In2002, 512), initial)
}

fn open_as(mut config: Config, initial: u32) -> (Sender, Sent) {
    config.handshake = false;
    config.initial_window = initial;
    let (mut sender, mut sent) = (Sender::new(&Arc::new(config.clone())), Sent::default());
    sender.start(ms(0), &mut sent);
    assert_eq!(sent.taken(), (0..u64::from(initial)).collect::<Vec<_>>());
    (sender, sent)
}

fn ack(sender: &mut Sender, next: u64, at: u64, sent: &mut Sent) -> Vec<u64> {
    sender.on_ack(Ack::of(next), ms(at), sent);
    sent.taken()
}

#[test]
fn slow_start_sends_two_per_acknowledgement() {
    let (mut sender, mut sent) = open(2);
    assert_eq!(ack(&mut sender, 1, 30, &mut sent), [2, 3]);
    assert_eq!(ack(&mut sender, 2, 30, &mut sent), [4, 5]);
    assert_eq!(sender.window(), 4.0);
}

#[test]
fn a_lost_syn_is_sent_again_after_the_initial_timeout() {
    let mut syns = 0;
    struct Count<'a>(&'a mut u32);
    impl Output for Count<'_> {
        fn send(&mut self, segment: Segment) {
            *self.0 += u32::from(segment.is_syn);
        }
    }
    let mut sender = Sender::new(&Arc::new(Config::new(Profile::Ns2In2002, 512)));
    sender.start(ms(0), &mut Count(&mut syns));
    assert_eq!(sender.deadline(), Some(ms(3000)));
    sender.on_timeout(ms(3000), &mut Count(&mut syns));
    assert_eq!(sender.deadline(), Some(ms(9000)));
    assert_eq!(syns, 2);
}

#[test]
fn a_timer_due_while_the_host_queue_is_full_waits_for_room() {
    struct Full(Time, Sent);
    impl Output for Full {
        fn send(&mut self, segment: Segment) {
            self.1.send(segment);
        }
        fn room_from(&self) -> Time {
            self.0
        }
    }
    let (mut sender, sent) = open(4);
    let due = sender.deadline().expect("data is outstanding");
    let mut host = Full(due + Duration::from_ms(5), sent);
    sender.on_timeout(due, &mut host);
    assert_eq!((sender.deadline(), host.1.taken()), (Some(host.0), vec![]));
    sender.on_timeout(host.0, &mut host);
    assert_eq!(host.1.taken(), [0]);
}

#[test]
fn the_first_two_duplicates_let_out_one_new_segment_each() {
    let (mut sender, mut sent) = open(4);
    assert_eq!(ack(&mut sender, 0, 30, &mut sent), [4]);
    assert_eq!(ack(&mut sender, 0, 30, &mut sent), [5]);
}

#[test]
fn the_third_duplicate_retransmits_and_halves() {
    let (mut sender, mut sent) = open(8);
    ack(&mut sender, 0, 30, &mut sent);
    ack(&mut sender, 0, 30, &mut sent);
    assert_eq!(ack(&mut sender, 0, 30, &mut sent), [0]);
    assert!(sender.is_recovering());
    assert_eq!(sender.window(), 4.0);
}

#[test]
fn each_partial_acknowledgement_repairs_one_hole_and_the_full_one_ends_recovery() {
    // Of segments 0 to 7, segments 0, 3 and 5 are lost. Limited transmit sends two more segments.
    let (mut sender, mut sent) = open(8);
    for _ in 0..2 {
        ack(&mut sender, 0, 30, &mut sent);
    }
    assert_eq!(ack(&mut sender, 0, 31, &mut sent), [0]);
    for _ in 0..4 {
        ack(&mut sender, 0, 32, &mut sent);
    }
    assert_eq!(ack(&mut sender, 3, 60, &mut sent)[0], 3);
    assert_eq!(ack(&mut sender, 5, 90, &mut sent)[0], 5);
    assert!(sender.is_recovering());
    ack(&mut sender, 10, 120, &mut sent);
    assert!(!sender.is_recovering());
    assert_eq!(sender.window(), 4.25); // half of 8, opened by 1/4 by the last acknowledgement
}

#[test]
fn segments_received_during_a_repair_do_not_open_the_window_afterwards() {
    for counts_segments in [false, true] {
        let config = Config { counts_segments, ..Config::new(Profile::Ns2In2002, 512) };
        let (mut sender, mut sent) = open_as(config, 8);
        (0..7).for_each(|_| drop(ack(&mut sender, 0, 30, &mut sent)));
        assert!(sender.is_recovering());
        ack(&mut sender, 10, 60, &mut sent);
        assert!(!sender.is_recovering());
        assert_eq!(sender.window(), 4.25, "one segment arrived just now, {counts_segments}");
    }
}

#[test]
fn a_timeout_goes_back_to_the_first_unacknowledged_and_doubles() {
    let (mut sender, mut sent) = open(4);
    assert_eq!(ack(&mut sender, 1, 30, &mut sent), [4, 5]);
    let due = sender.deadline().expect("data is outstanding");
    assert_eq!(due, ms(30) + Duration::from_secs(1)); // the profile's floor
    sender.on_timeout(due, &mut sent);
    assert_eq!(sent.taken(), [1]);
    assert_eq!(sender.window(), 1.0);
    assert_eq!(sender.deadline(), Some(due + Duration::from_secs(2)));
    // Duplicates caused by going back N must not start a fast retransmit.
    for _ in 0..5 {
        ack(&mut sender, 1, 2000, &mut sent);
    }
    assert!(!sender.is_recovering());
}

fn counts(timeouts: u32, repaired: u32, timed_out: u32) -> LossCounts {
    LossCounts { timeouts, repaired, timed_out }
}

fn time_out(sender: &mut Sender, sent: &mut Sent) {
    let due = sender.deadline().expect("data is outstanding");
    sender.on_timeout(due, sent);
    sent.taken();
}

#[test]
fn a_repair_and_its_timeouts_are_one_episode_and_later_losses_another() {
    for recovery in [Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
        let config = Config { recovery, ..Config::new(Profile::Ns2In2002, 512) };
        let (mut sender, mut sent) = open_as(config, 8);
        for len in 1..4 {
            let mut ack = Ack::of(0);
            ack.sack.blocks[0] = Block { offset: 1, len };
            sender.on_ack(ack, ms(30), &mut sent);
        }
        sent.taken();
        assert_eq!(sender.loss_counts(), counts(0, 1, 0), "{recovery:?}");
        let sent_by_then = sender.highest;
        time_out(&mut sender, &mut sent);
        assert_eq!(sender.loss_counts(), counts(1, 0, 1), "the repair was lost, {recovery:?}");
        time_out(&mut sender, &mut sent);
        assert_eq!(sender.loss_counts(), counts(2, 0, 1), "it backs off, {recovery:?}");
        ack(&mut sender, sent_by_then, 9000, &mut sent);
        assert!(sender.highest > sent_by_then, "new data is out");
        time_out(&mut sender, &mut sent);
        assert_eq!(sender.loss_counts(), counts(3, 0, 2), "a later loss, {recovery:?}");
        assert_eq!(sender.loss_counts().episodes(), 2);
    }
}

#[test]
fn timeouts_of_an_opening_are_no_episode_and_counts_restart_on_request() {
    let config = Arc::new(Config::new(Profile::Ns2In2002, 512));
    let (mut sender, mut sent) = (Sender::new(&config), Sent::default());
    sender.start(ms(0), &mut sent);
    time_out(&mut sender, &mut sent);
    time_out(&mut sender, &mut sent);
    assert_eq!(sender.loss_counts(), counts(2, 0, 0));
    let mut next = Sender::new(&config).counting_from(sender.loss_counts());
    next.start(ms(0), &mut sent);
    time_out(&mut next, &mut sent);
    assert_eq!(next.loss_counts(), counts(3, 0, 0));
    next.forget_loss_counts();
    assert_eq!(next.loss_counts(), LossCounts::default());
    assert_eq!(counts(1, 2, 3) + counts(10, 20, 30), counts(11, 22, 33));
}

#[test]
fn duplicates_that_going_back_caused_retransmit_nothing() {
    let (mut sender, mut sent) = open(40);
    let due = sender.deadline().expect("outstanding");
    sender.on_timeout(due, &mut sent);
    let mut receiver = Receiver::new(&Config::new(Profile::Ns2In2002, 512));
    for seq in (0..40).filter(|seq| ![0, 1, 4, 10].contains(seq)) {
        receiver.on_segment(Segment::data(seq), Time::ZERO).expect("at once");
    }
    let mut flight = sent.taken();
    while sender.unacked < 40 {
        let acks: Vec<Ack> = flight
            .iter()
            .map(|&seq| receiver.on_segment(Segment::data(seq), Time::ZERO).expect("at once"))
            .collect();
        for ack in acks {
            sender.on_ack(ack, due, &mut sent);
            assert!(!sender.is_recovering(), "a false fast retransmit of {}", sender.unacked);
        }
        flight = sent.taken();
    }
}

#[test]
fn the_answer_to_a_syn_is_timed_once_and_never_a_duplicate() {
    let mut sender = Sender::new(&Arc::new(Config::new(Profile::Ns2In2002, 512)));
    let mut sent = Sent::default();
    sender.start(ms(0), &mut sent);
    let answer = Ack::of_syn();
    sender.on_ack(answer, ms(300), &mut sent);
    assert_eq!(sender.rtt().smoothed(), Some(Duration::from_ms(300)));
    assert_eq!(sent.taken(), [0, 1]);
    for _ in 0..4 {
        sender.on_ack(answer, ms(310), &mut sent);
    }
    assert!(!sender.is_recovering());
    assert!(sent.taken().is_empty());
}

#[test]
fn a_retransmitted_segment_is_never_timed() {
    let (mut sender, mut sent) = open(1);
    let due = sender.deadline().expect("outstanding");
    sender.on_timeout(due, &mut sent);
    ack(&mut sender, 1, 5000, &mut sent);
    assert_eq!(sender.rtt().smoothed(), None);
}

#[test]
fn the_receiver_window_is_never_overrun() {
    let mut config = Config::new(Profile::Ns2In2002, 512);
    (config.handshake, config.window) = (false, Some(3));
    let (mut sender, mut sent) = (Sender::new(&Arc::new(config.clone())), Sent::default());
    sender.start(ms(0), &mut sent);
    for next in 1..20 {
        ack(&mut sender, next, 10 * next, &mut sent);
        assert!(sender.highest - sender.unacked <= 3);
    }
    for _ in 0..4 {
        assert_eq!(ack(&mut sender, 19, 300, &mut sent).iter().filter(|&&s| s >= 22).count(), 0);
    }
}

#[test]
fn losing_the_first_segment_sent_in_a_repair_is_a_new_loss() {
    let (recovery, control) = (Recovery::Sack, ControlConfig::Reno);
    let config = Config { delayed_ack: None, recovery, control, ..Config::new(Profile::Modern, 512) };
    let mut receiver = Receiver::new(&config);
    let (mut sender, mut sent) = open_as(config, 16);
    let mut flight: Vec<u64> = (1..16).collect();
    let (mut lost, mut repairs, mut windows, mut now) = (None, 0, vec![sender.window()], 0);
    while sender.acked() < 60 {
        now += 40;
        for seq in std::mem::take(&mut flight) {
            let was_recovering = sender.is_recovering();
            if sender.recover == seq && lost.is_none() {
                lost = Some(seq);
                continue;
            }
            let Some(ack) = receiver.on_segment(Segment::data(seq), ms(now)) else { continue };
            sender.on_ack(ack, ms(now), &mut sent);
            flight.extend(sent.taken());
            if sender.is_recovering() && !was_recovering {
                repairs += 1;
                windows.push(sender.window());
            }
        }
        assert!(now < 4000, "stalled at {}", sender.acked());
    }
    assert_eq!((repairs, windows[..2].to_vec()), (2, vec![16.0, 8.0]));
    assert!(windows[2] < windows[1], "the second loss cuts too: {windows:?}");
}

#[test]
fn a_hole_filled_by_the_previous_repair_is_not_filled_twice() {
    // Two segments sent during the repair of segment 0 are lost. The second of these is
    // retransmitted before that repair ends.
    let (recovery, control) = (Recovery::Sack, ControlConfig::Reno);
    let config = Config { delayed_ack: None, recovery, control, ..Config::new(Profile::Modern, 512) };
    for lost in [[17, 18], [16, 18], [16, 17], [18, 20]] {
        let mut receiver = Receiver::new(&config);
        let (mut sender, mut sent) = open_as(config.clone(), 16);
        let (mut flight, mut again, mut now) = ((1..16).collect::<Vec<u64>>(), Vec::<u64>::new(), 0);
        let mut gone = Vec::new();
        while sender.acked() < 80 {
            now += 10;
            for seq in std::mem::take(&mut flight) {
                if lost.contains(&seq) && !gone.contains(&seq) {
                    gone.push(seq);
                    continue;
                }
                let Some(ack) = receiver.on_segment(Segment::data(seq), ms(now)) else { continue };
                let highest = sender.highest;
                sender.on_ack(ack, ms(now), &mut sent);
                let out = sent.taken();
                again.extend(out.iter().filter(|&&seq| seq < highest));
                flight.extend(out);
            }
            assert!(now < 4000, "stalled at {}", sender.acked());
        }
        again.sort_unstable();
        assert_eq!(again, [0, lost[0], lost[1]], "each once");
    }
}

#[test]
fn a_late_paced_segment_is_followed_by_a_shorter_gap_if_configured() {
    for (makes_up_for_late, late_ms, gap_ms) in [(false, 9, 10), (true, 3, 7), (true, 9, 5)] {
        let bbr = ControlConfig::Bbr(crate::congestion::BbrParameters::default());
        let config = Config { makes_up_for_late, control: bbr, ..Config::new(Profile::Modern, 512) };
        let mut sender = Sender::new(&Arc::new(config));
        sender.release_at = ms(100);
        sender.leave_gap(100.0, ms(100 + late_ms));
        assert_eq!(sender.release_at, ms(100 + late_ms + gap_ms));
    }
}

#[test]
fn a_cut_for_a_mark_is_spread_over_the_round_trip_and_ends_with_it() {
    for (spreads_cuts, expected) in
        [(true, [1, 1, 1, 0, 1, 1, 0, 0, 1, 1]), (false, [0, 0, 0, 1, 1, 1, 1, 1, 1, 1])]
    {
        let config = Config { spreads_cuts, ecn: EcnMode::Ect0, ..Config::new(Profile::Modern, 1448) };
        let (mut sender, mut sent) = open_as(config, 10);
        let mut echo = |next: u64, ece: bool| {
            sender.on_ack(Ack { ece, ..Ack::of(next) }, ms(40), &mut sent);
            sent.taken().len()
        };
        let counts: Vec<usize> = (1..=10).map(|next| echo(next, true)).collect();
        assert_eq!(counts, expected, "a window of 7, {spreads_cuts}");
        let at_end = echo(11, false);
        assert!(
            (1..=2).contains(&at_end),
            "one for the segment that left, and one if the window grows: {at_end}"
        );
    }
}

#[test]
fn everything_arrives_over_any_lossy_path() {
    for seed in 0..50 {
        let mut rng = fairwire_core::Seed(seed).stream("loss");
        let (mut sender, mut sent) = open(2);
        let mut receiver = Receiver::new(&Config::new(Profile::Ns2In2002, 512));
        let mut now = 0;
        let mut flight: Vec<u64> = vec![0, 1];
        while receiver.delivered() < 300 {
            now += 30;
            let mut acks = Vec::new();
            for seq in flight.drain(..) {
                if !rng.chance(0.1) {
                    acks.push(receiver.on_segment(Segment::data(seq), Time::ZERO).expect("at once"));
                }
            }
            for ack in acks {
                if !rng.chance(0.1) {
                    sender.on_ack(ack, ms(now), &mut sent);
                }
            }
            if sent.0.is_empty() {
                let due = sender.deadline().expect("a stalled sender has a timer");
                now = now.max(due.ns() / 1_000_000);
                sender.on_timeout(due.max(ms(now)), &mut sent);
            }
            flight = sent.taken();
            assert!(now < 10_000_000, "stalled at {}", receiver.delivered());
        }
    }
}

#[test]
fn a_million_flows_fit_into_memory() {
    use crate::congestion::Reno;
    assert!(
        size_of::<Sender>() + size_of::<Receiver>() <= 304,
        "{} {}",
        size_of::<Sender>(),
        size_of::<Receiver>()
    );
    assert!(size_of::<Controller>() <= size_of::<Reno>());
    assert!(size_of::<Scoreboard>() <= 384 && size_of::<Journal>() <= 152);
}

/// Returns a sender that repairs the loss of its first segment. The other nine of the first ten
/// arrive at 30 ms.
fn repairing(out: &mut impl Output) -> Sender {
    let config = Config {
        delayed_ack: None,
        control: ControlConfig::Reno,
        ecn: EcnMode::Ect0,
        ..Config::new(Profile::Modern, 1448)
    };
    let (mut sender, _) = open_as(config, 10);
    let mut ack = Ack::of(0);
    ack.sack.blocks[0] = Block { offset: 1, len: 9 };
    sender.on_ack(ack, ms(30), out);
    assert!(sender.is_recovering());
    sender
}

#[test]
fn undoing_a_loss_does_not_undo_a_later_reduction_for_a_mark() {
    for is_marked in [false, true] {
        let mut sent = Sent::default();
        let mut sender = repairing(&mut sent);
        let end = sender.highest;
        let ack = Ack { echo: true, ..Ack::of(end) };
        sender.on_ack(ack, ms(60), &mut sent);
        assert!(!sender.is_recovering());
        let next = sender.highest;
        sender.on_ack(Ack { next, ece: is_marked, ..ack }, ms(90), &mut sent);
        let window = sender.window();
        let sack = crate::segment::Sack::NONE.after_duplicate(0, next); // the retransmission was unnecessary
        sender.on_ack(Ack { next, sack, ..ack }, ms(91), &mut sent);
        assert_eq!(sender.window() > window, !is_marked, "{window} and {}", sender.window());
    }
}

#[test]
fn the_first_new_segment_after_any_reduction_carries_cwr() {
    struct Cwr(Vec<bool>);
    impl Output for Cwr {
        fn send(&mut self, segment: Segment) {
            if !segment.is_retransmission {
                self.0.push(segment.cwr);
            }
        }
    }
    let mut sent = Cwr(Vec::new());
    let mut sender = repairing(&mut sent);
    assert!(sent.0[0] && sent.0[1..].iter().all(|cwr| !cwr), "{:?}", sent.0);
    let window = sender.window();
    sender.on_ack(Ack { ece: true, echo: true, ..Ack::of(sender.highest - 1) }, ms(60), &mut sent);
    assert_eq!(sender.window(), window, "the repair answers to the mark");
    sent.0.clear();
    let due = sender.deadline().expect("data is outstanding");
    sender.on_silence(due, &mut sent);
    sender.on_ack(Ack { echo: !sender.epoch, ..Ack::of(sender.highest) }, due, &mut sent);
    assert!(!sent.0[0], "the timeout was for no loss, and is undone: {:?}", sent.0);
}

#[test]
fn an_original_that_was_sent_after_the_retransmission_undoes_no_repair() {
    struct All(Vec<Segment>);
    impl Output for All {
        fn send(&mut self, segment: Segment) {
            self.0.push(segment);
        }
    }
    let mut sent = All(Vec::new());
    let mut sender = repairing(&mut sent);
    let mut receiver = Receiver::new(&sender.config);
    for seq in 1..10 {
        receiver.on_segment(Segment::data(seq), ms(15));
    }
    let acks = sent.0.iter().filter_map(|&segment| receiver.on_segment(segment, ms(45)));
    let acks: Vec<Ack> = acks.skip(1).collect(); // the acknowledgement of the retransmission is lost
    assert!(sent.0[0].is_retransmission && acks[0].next > 10, "{:?}", sent.0);
    sender.on_ack(acks[0], ms(60), &mut sent);
    assert!(sender.window() < 6.0, "{}", sender.window());
}

#[test]
fn a_timeout_is_tested_only_outside_repairs_and_reduces_once_per_segment() {
    let config = Config { control: ControlConfig::Reno, ..Config::new(Profile::Modern, 1448) };
    let phase = |is_testing| Phase::Lost { is_testing, has_moved: false };
    let mut sent = Sent::default();
    let mut sender = repairing(&mut sent);
    time_out(&mut sender, &mut sent);
    assert_eq!(sender.phase, phase(false), "a repair was under way");
    let (mut sender, _) = open_as(config, 16);
    sender.on_ack(Ack::of(2), ms(30), &mut sent);
    sender.timer = Timer::Retransmission;
    time_out(&mut sender, &mut sent);
    let threshold = sender.threshold();
    assert_eq!((sender.phase, threshold), (phase(true), 9.0));
    time_out(&mut sender, &mut sent);
    assert_eq!((sender.phase, sender.threshold()), (phase(true), threshold), "the same segment");
    let now = sender.deadline().expect("outstanding");
    sender.on_ack(Ack { echo: true, ..Ack::of(3) }, now, &mut sent);
    sender.timer = Timer::Retransmission;
    time_out(&mut sender, &mut sent);
    assert_eq!((sender.phase, sender.threshold()), (phase(false), 2.0), "another segment");
}

#[test]
fn the_answered_syn_is_timed_even_if_retransmitted() {
    // SYNs leave at 0, 1 and 3 s. In the last two cases, the answer comes after the next SYN.
    for (syns, answer, at_ms, rtt_ms) in
        [(2, 2, 1_060, 60), (3, 3, 3_060, 60), (2, 1, 1_060, 1_060), (3, 2, 3_060, 2_060)]
    {
        let mut sender = Sender::new(&Arc::new(Config::new(Profile::Modern, 1448)));
        let mut sent = Sent::default();
        sender.start(ms(0), &mut sent);
        (1..syns).for_each(|_| time_out(&mut sender, &mut sent));
        sender.on_ack(Ack { echo: answer % 2 == 0, ..Ack::of_syn() }, ms(at_ms), &mut sent);
        assert_eq!(sender.rtt().smoothed(), Some(Duration::from_ms(rtt_ms)), "{answer} of {syns}");
        let due = sender.rtt.timeout(&sender.config);
        assert!(due <= Duration::from_ms(3 * rtt_ms + 200), "no back-off is left: {due}");
    }
}

#[test]
fn a_late_original_shows_reordering_only_if_it_was_overtaken() {
    for is_overtaken in [false, true] {
        let mut sent = Sent::default();
        let mut sender = repairing(&mut sent);
        let board = sender.board.as_mut().expect("a board");
        board.rack.has_reordering = false;
        if !is_overtaken {
            board.clear();
        }
        sender.on_ack(Ack { echo: !sender.epoch, ..Ack::of(5) }, ms(45), &mut sent);
        assert!(!sender.is_recovering(), "it is undone");
        let has_reordering = sender.board.as_ref().is_some_and(|board| board.rack.has_reordering);
        assert_eq!(has_reordering, is_overtaken);
    }
}
