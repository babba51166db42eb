//! The interface of congestion controllers: their callbacks, and the feedback that they need.

use core::fmt::Debug;
use fairwire_core::units::Size;
use fairwire_core::{Duration, Ecn, Time};

/// A controller's description in lists and documentation, and its requirements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// The function of the controller, in one line.
    pub what: &'static str,
    /// The paper or RFC.
    pub source: &'static str,
    /// Does the controller require selective acknowledgements?
    pub needs_sack: bool,
    /// The codepoint of the controller's packets; [`Ecn::NotEct`] leaves the choice to the flow's
    /// configuration.
    pub ecn: Ecn,
}

impl About {
    /// A controller that needs neither SACK nor ECN.
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
    /// Are reduced windows counted in full segments, as in Linux?
    pub whole_segments: bool,
    /// Does Reno's window grow per acknowledged segment, instead of per acknowledgement?
    pub counts_segments: bool,
    /// Does Reno round a halved window to an integer?
    pub halves_to_whole: bool,
    /// Is loss detected by time, as in Linux?
    pub is_timely: bool,
}

impl Start {
    /// The constants for an initial window of `initial_window` segments of 1448 B, with all
    /// switches off.
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
    /// Segments newly acknowledged, cumulatively or selectively; at least 1.
    pub newly: u32,
    /// The number of newly acknowledged segments that may grow the window. It excludes segments
    /// that arrived during the repair of a loss or the echo of a mark (RFC 5681, section 3.2; RFC
    /// 3168, section 6.1.2).
    pub growth: u32,
    /// The number of newly acknowledged segments that were marked, as counted by the receiver.
    pub marked: u32,
    /// Segments, including retransmissions, that selective acknowledgements newly show to be lost.
    pub lost: u32,
    /// Segments in flight before the acknowledgement came.
    pub in_flight: u32,
    /// The exact round-trip time of an acknowledged segment; absent, for example, if the segment
    /// was sent twice.
    pub rtt: Option<Duration>,
    /// True if the acknowledgement ends a round trip, because it covers a segment sent after the
    /// previous round ended.
    pub ends_round: bool,
    /// The delivery rate, for a controller that requests it ([`Feedback::rate`]).
    pub rate: Option<RateSample>,
    /// Did the window limit the sender? An unused window says nothing about the path (RFC 7661).
    pub is_window_used: bool,
    /// The window's upper limit, segments.
    pub max_window: f64,
}

/// The delivery rate over about a round trip (draft-cheng-iccrg-delivery-rate-estimation).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Segments per second.
    pub per_second: f64,
    /// True if the application had less data than the window allowed. The path may then carry more.
    pub is_limited_by_application: bool,
    /// Segments delivered so far, including selectively acknowledged segments; wrapping.
    pub delivered: u32,
    /// The value of `delivered` when the sampled segment was sent.
    pub delivered_before: u32,
}

/// The state of the sender at a sign of congestion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Congested {
    /// When the sender detected congestion.
    pub now: Time,
    /// The window in use: the smaller of the congestion window and the receiver's, segments.
    pub in_use: f64,
    /// Segments in flight.
    pub in_flight: u32,
}

/// The measurements that a controller requests from its sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Feedback {
    /// True if each acknowledgement must bring an exact round-trip time, as with timestamps.
    pub exact_rtt: bool,
    /// True if each acknowledgement must bring the number of marks, instead of one echo per window
    /// (RFC 3168).
    pub counted_marks: bool,
    /// True if each acknowledgement must bring the delivery rate.
    pub rate: bool,
}

/// A congestion controller: a window in segments, and a rate if it paces.
pub trait Control: Debug {
    /// The congestion window, segments.
    fn window(&self) -> f64;

    /// The slow-start threshold, segments; infinite before the first loss, or for a controller
    /// without threshold.
    fn threshold(&self) -> f64;

    /// Invoked before any data is sent, with the round-trip time of the connection's opening. Only
    /// a sender that detects loss by time invokes it.
    fn opened(&mut self, _rtt: Duration, _now: Time) {}

    /// Invoked when new data was acknowledged outside of a repair. Also invoked within a repair if
    /// [`grows_in_recovery`](Self::grows_in_recovery) is true.
    fn acked(&mut self, acked: &Acked);

    /// Invoked when duplicate or selective acknowledgements show a loss, once per window.
    fn lost(&mut self, congested: &Congested);

    /// Invoked when a mark was echoed, once per window. Not invoked if marks are
    /// [counted](Feedback::counted_marks).
    fn marked(&mut self, congested: &Congested) {
        self.lost(congested);
    }

    /// Invoked when the retransmission timer ran out.
    fn timed_out(&mut self, congested: &Congested);

    /// Invoked when a loss is repaired: everything sent before its detection is acknowledged.
    fn recovered(&mut self, _now: Time) {}

    /// Invoked when a reduction for a loss or a timeout turns out to be spurious (RFC 4015). The
    /// flow continues from at least its earlier `window` and `threshold`, in segments.
    fn undone(&mut self, _window: f64, _threshold: f64) {}

    /// Invoked when a partial acknowledgement shows that `by` more segments have left the network
    /// (RFC 6582, section 3.2, step 5). A controller whose window does not count segments in flight
    /// may ignore the call.
    fn deflated(&mut self, _by: f64) {}

    /// Invoked when the window falls to `window` segments for one of four reasons:
    /// - Nothing was sent for longer than the retransmission timeout (RFC 5681, section 4.1).
    /// - The SYN was lost (RFC 5681, section 3.1).
    /// - Tahoe starts over after a loss, right after [`lost`](Self::lost).
    /// - The retransmission timer ran out, but the threshold must not fall again.
    fn restarted(&mut self, _window: f64) {}

    /// The sending rate, segments per second; `None` if only acknowledgements clock segments out.
    fn pace(&self) -> Option<f64> {
        None
    }

    /// Does [`acked`](Self::acked) also control the window during the repair of a loss?
    fn grows_in_recovery(&self) -> bool {
        false
    }

    /// The measurements that the controller requests from its sender.
    fn feedback(&self) -> Feedback {
        Feedback::default()
    }
}
