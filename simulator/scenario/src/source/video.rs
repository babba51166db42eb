//! A stream of video frames.

use super::at::{About, At, NoOffer, Offer, SourceSpec, bytes};
use super::codepoint::Marking;
use crate::law::LawSpec;
use fairwire_core::units::Size;
use fairwire_core::{Duration, Ecn};
use fairwire_parameters::{Quantity, parameters};
use fairwire_sim::app::{Traffic, Video};

pub(super) const ABOUT: About = About::datagrams("A stream of video frames.");

/// The approximate default mean size of an I-frame, bytes.
const I_FRAME: f64 = 45_455.0;
const P_FRAME: f64 = 11_364.0;

/// A stream of video frames.
#[parameters(name = "video", checked = Checked)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VideoSpec {
    /// Time between frames.
    #[parameter(unset = "a thirtieth of a second")]
    pub frame: Option<Quantity<Duration>>,
    /// Frames from one I-frame to the next.
    #[parameter(default = 30, unit = "frames")]
    pub group: Option<u32>,
    /// Bytes of an I-frame, without packet headers.
    #[parameter(unset = "lognormal, mean 45 455 B, deviation 30 % of it", unit = "law of sizes")]
    pub i_frame: Option<LawSpec<Size>>,
    /// Bytes of other frames, without packet headers.
    #[parameter(unset = "lognormal, mean 11 364 B, deviation 30 % of it", unit = "law of sizes")]
    pub p_frame: Option<LawSpec<Size>>,
    /// Bytes on the wire of a full packet.
    #[parameter(default = "1200 B")]
    pub packet: Option<Quantity<Size>>,
    /// Whether the packets of a frame are spread evenly until the next frame. If not, they are sent
    /// back to back.
    #[parameter(default = false)]
    pub paced: Option<bool>,
    /// The ECN codepoint.
    #[parameter(flatten)]
    pub marking: Marking,
}

impl SourceSpec for VideoSpec {
    fn offers(&self, at: At<'_>) -> Result<Offer, NoOffer> {
        let default = Video::default();
        let Checked { group, packet, paced } = self.checked()?;
        let plan = Video {
            frame: at.gap("frame", self.frame.map_or(default.frame, |frame| frame.0))?,
            group,
            i_bytes: at.law("i_frame", self.i_frame.as_ref(), default.i_bytes)?,
            p_bytes: at.law("p_frame", self.p_frame.as_ref(), default.p_bytes)?,
            packet_bytes: bytes(packet),
            is_paced: paced,
        };
        let about = |given: &Option<LawSpec<Size>>, usual: f64| given.as_ref().map_or(usual, LawSpec::about);
        let [i, p] = [about(&self.i_frame, I_FRAME), about(&self.p_frame, P_FRAME)];
        let group = f64::from(plan.group.max(1));
        at.carried("frame", (i + (group - 1.0) * p) / group * 8.0 / plan.frame.secs())?;
        let packet_bytes = plan.packet_bytes;
        Ok(Offer::Datagrams { traffic: Traffic::Video(plan), packet_bytes })
    }

    fn ecn(&self) -> Ecn {
        self.marking.ecn()
    }
}
