//! The interface of congestion controllers: their callbacks, and the feedback that they need.

use core::fmt::Debug;
use fairwire_core::units::Size;
use fairwire_core::{Duration, Ecn, Time};

/// The description of a controller in lists and documentation, and the defaults that go with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// What it does, in one line.
    pub what: &'static str,
    /// The paper or RFC.
    pub source: &'static str,
    /// Does it work with selective acknowledgements alone?
    pub needs_sack: bool,
    /// The codepoint that its packets have; [`Ecn::NotEct`] leaves that to others.
    pub ecn: Ecn,
}

impl About {
    /// Of a controller that needs neither SACK nor ECN.
    pub const fn new(what: &'static str, source: &'static str) -> Self {
        About { what, source, needs_sack: false, ecn: Ecn::NotEct }
    }
}

/// The constants of a flow that its controller may need at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// Initial window, segments.
    pub initial_window: u32,
    /// Payload of a full segment.
    pub segment: Size,
    /// Are windows that are reduced counted in whole segments, as in Linux?
    pub whole_segments: bool,
    /// Does Reno's window grow by the segments acknowledged, rather than by acknowledgements?
    pub counts_segments: bool,
    /// Is a window that Reno halves rounded to whole segments?
    pub halves_to_whole: bool,
    /// Is loss found by time, as in Linux?
    pub is_timely: bool,
}

impl Start {
    /// A window of `initial_window` segments of 1448 B, all counted as the RFCs do.
    pub fn of(initial_window: u32) -> Self {
        let (segment, whole_segments) = (Size(1448), false);
        Start {
            initial_window,
            segment,
            whole_segments,
            counts_segments: false,
            halves_to_whole: false,
            is_timely: false,
        }
    }
}

/// The content of an acknowledgement of new data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Acked {
    /// When it came.
    pub now: Time,
    /// Segments that it newly acknowledges, cumulatively or selectively; at least 1.
    pub newly: u32,
    /// How many of those the window may grow by: those of this acknowledgement. What arrived while
    /// a loss was repaired or a mark was echoed is reported late, and is no reason to grow
    /// (RFC 5681, section 3.2; RFC 3168, section 6.1.2).
    pub growth: u32,
    /// How many of those had met a mark, as the receiver counted them.
    pub marked: u32,
    /// Segments that are newly taken for lost with it, as selective acknowledgements show;
    /// retransmissions too.
    pub lost: u32,
    /// Segments in flight before it came.
    pub in_flight: u32,
    /// A round-trip time that it measures, exact; absent where it acknowledges only what was sent
    /// twice.
    pub rtt: Option<Duration>,
    /// Does a round trip end with it: was what it acknowledges sent after the previous round had
    /// ended?
    pub ends_round: bool,
    /// How fast data is delivered; only for a controller that requests it ([`Feedback::rate`]).
    pub rate: Option<RateSample>,
    /// Was the window what held the sender back? One that is not used says nothing about the path
    /// (RFC 7661).
    pub is_window_used: bool,
    /// The window does not grow past this number of segments: more could not be used.
    pub max_window: f64,
}

/// How fast data was delivered, over about a round trip
/// (draft-cheng-iccrg-delivery-rate-estimation).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Segments per second.
    pub per_second: f64,
    /// Had the application less to send than the window allowed? Then the path may carry more.
    pub is_limited_by_application: bool,
    /// Segments that have been delivered so far, wrapping; selectively acknowledged ones are among
    /// them.
    pub delivered: u32,
    /// What that was when the segment was sent which this sample is of.
    pub delivered_before: u32,
}

/// The state of the sender at a sign of congestion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Congested {
    /// When it was seen.
    pub now: Time,
    /// The window in use: the lesser of the congestion window and the receiver's, segments.
    pub in_use: f64,
    /// Segments in flight.
    pub in_flight: u32,
}

/// The measurements that a controller requests from its sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Feedback {
    /// An exact round-trip time with each acknowledgement, as by timestamps.
    pub exact_rtt: bool,
    /// The number of marked segments with each acknowledgement, rather than one echo per window
    /// (RFC 3168).
    pub counted_marks: bool,
    /// The rate of delivery with each acknowledgement.
    pub rate: bool,
}

/// A congestion controller: a window in segments, and where it paces, a rate.
pub trait Control: Debug {
    /// The congestion window, segments.
    fn window(&self) -> f64;

    /// The slow-start threshold, segments; infinite before the first loss, or where there is none.
    fn threshold(&self) -> f64;

    /// Invoked before any data is sent, with the round-trip time of the opening, by a sender that
    /// finds loss by time.
    fn opened(&mut self, _rtt: Duration, _now: Time) {}

    /// Invoked when new data was acknowledged outside of the repair of a loss; within it too, where
    /// [`grows_in_recovery`](Self::grows_in_recovery).
    fn acked(&mut self, acked: &Acked);

    /// Invoked when duplicate or selective acknowledgements show a loss, once per window.
    fn lost(&mut self, congested: &Congested);

    /// Invoked when a mark was echoed, once per window. Not invoked where marks are
    /// [counted](Feedback::counted_marks).
    fn marked(&mut self, congested: &Congested) {
        self.lost(congested);
    }

    /// Invoked when the retransmission timer ran out.
    fn timed_out(&mut self, congested: &Congested);

    /// Invoked when a loss is repaired: everything sent before it was seen is acknowledged.
    fn recovered(&mut self, _now: Time) {}

    /// Invoked when a reduction for a loss or a timeout turns out to have been for none (RFC 4015):
    /// the flow goes on from at least `window` and `threshold` segments, which it had before. A
    /// controller whose window does not follow from losses may ignore it.
    fn undone(&mut self, _window: f64, _threshold: f64) {}

    /// Invoked when a partial acknowledgement in recovery covered `by` segments more than were
    /// known to have left the network (RFC 6582, section 3.2, step 5). A controller whose window
    /// does not count what is in flight may ignore it.
    fn deflated(&mut self, _by: f64) {}

    /// Invoked when the flow goes on from `window` segments, where it had more. Either nothing was
    /// sent for longer than the retransmission timeout, so the old window says little about the
    /// path (RFC 5681, section 4.1). Or Tahoe starts over after a loss, right after
    /// [`lost`](Self::lost).
    fn restarted(&mut self, _window: f64) {}

    /// Segments per second at which to send; absent where acknowledgements alone clock them out.
    fn pace(&self) -> Option<f64> {
        None
    }

    /// Does [`acked`](Self::acked) rule the window during the repair of a loss too?
    fn grows_in_recovery(&self) -> bool {
        false
    }

    /// The measurements that it requests from its sender.
    fn feedback(&self) -> Feedback {
        Feedback::default()
    }
}
