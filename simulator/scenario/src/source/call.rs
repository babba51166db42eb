//! One direction of a video call.

use super::at::{About, At, NoOffer, Offer, SourceSpec};
use fairwire_core::units::Size;
use fairwire_core::{Duration, Rate};
use fairwire_parameters::{Quantity, parameters};
use fairwire_sim::app::{CALL_KINDS, Call, CallRates};

pub(super) const ABOUT: About = About {
    header_bytes: HEADER_OF_RTP,
    timed: CALL_KINDS,
    ..About::endpoints("A call with pictures, whose rate follows the path (NADA).")
};

/// The size of IPv4, UDP and RTP headers, bytes (RFC 791, RFC 768, RFC 3550).
const HEADER_OF_RTP: u32 = 40;

/// One direction of a video call with congestion control (NADA).
#[parameters(name = "call", checked = Checked)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CallSpec {
    /// The lowest rate, with headers.
    #[parameter(
        default = "150 kbit/s",
        min = "1 kbit/s",
        max = "1 Gbit/s",
        source = "RFC 8698, figure 3, RMIN."
    )]
    pub least: Option<Quantity<Rate>>,
    /// The highest rate, with headers; at least `least`.
    #[parameter(
        default = "1.5 Mbit/s",
        min = "1 kbit/s",
        max = "1 Gbit/s",
        source = "RFC 8698, figure 3, RMAX."
    )]
    pub most: Option<Quantity<Rate>>,
    /// The weight relative to other calls. Calls share a link in proportion to `priority` times
    /// `most`.
    #[parameter(default = 1.0, min = 0.01, max = 100.0, unit = "1", source = "RFC 8698, figure 3, PRIO.")]
    pub priority: Option<f64>,
    /// Time between frames.
    #[parameter(
        default = "33 ms",
        min = "1 ms",
        max = "10 s",
        source = "RFC 8698, figure 5, FPS: 30 frames per second."
    )]
    pub frame: Option<Quantity<Duration>>,
    /// The maximum random deviation of a frame's size, relative to the size at the allowed rate.
    #[parameter(default = 0.1, min = 0.0, max = 0.9, unit = "1")]
    pub variation: Option<f64>,
    /// The size of a key frame relative to other frames. The first frame is a key frame, and so is
    /// the next frame after a loss.
    #[parameter(default = 3.0, min = 1.0, max = 100.0, unit = "1")]
    pub key_size: Option<f64>,
    /// The time between periodic key frames. Requested key frames are sent in addition.
    #[parameter(unset = "none")]
    pub key_every: Option<Quantity<Duration>>,
    /// The maximum time from a frame's capture to its last packet. A frame that takes longer is
    /// late.
    #[parameter(
        default = "400 ms",
        min = "1 ms",
        max = "1 min",
        source = "ITU-T G.114: more is not acceptable."
    )]
    pub deadline: Option<Quantity<Duration>>,
    /// Bytes on the wire of a full packet.
    #[parameter(default = "1200 B", min = "100 B", max = "65535 B")]
    pub packet: Option<Quantity<Size>>,
    /// Whether packets are ECN-capable. If so, marks count as delay.
    #[parameter(default = false, source = "RFC 8698, section 4.2.")]
    pub ecn: Option<bool>,
}

impl SourceSpec for CallSpec {
    fn offers(&self, at: At<'_>) -> Result<Offer, NoOffer> {
        let checked = self.checked()?;
        let Checked { least, most, priority, frame, variation, key_size, deadline, packet, ecn } = checked;
        if most < least {
            return Err(match self.most {
                Some(_) => at.refuse(
                    "most",
                    most,
                    format!("it is below `least`, {least}"),
                    format!("{least} or more"),
                ),
                None => {
                    let why = format!("it is above `most`, by default {most}");
                    at.refuse("least", least, why, format!("{most} or less, or a higher `most`"))
                }
            });
        }
        at.carried("most", most.bps() as f64)?;
        let packet_bytes = at.packet(packet)?;
        let headers = (f64::from(at.header + 1) * 8.0 / frame.secs()).ceil() as u64;
        if least.bps() < headers {
            let why = format!("a frame every {frame}, with headers of {} B, needs more", at.header);
            return Err(at.refuse("least", least, why, format!("{headers} bit/s or more")));
        }
        let key_every = self.key_every.map_or(Duration::ZERO, |every| every.0);
        if self.key_every.is_some() && key_every <= frame {
            let why = format!("frames are {frame} apart");
            let allowed = format!("longer than {frame}, or leave `key_every` out");
            return Err(at.refuse("key_every", key_every, why, allowed));
        }
        let rates = CallRates { least_bps: least.bps() as f64, most_bps: most.bps() as f64, priority };
        let header_bytes = at.header;
        let call =
            Call { rates, frame, variation, key_size, key_every, deadline, packet_bytes, header_bytes, ecn };
        Ok(Offer::Endpoints { endpoints: call.endpoints().at_most(most), packet_bytes })
    }
}
