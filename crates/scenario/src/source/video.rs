//! A stream of video frames.

use super::at::{About, At, Offer, Source, bytes};
use crate::fault::Fault;
use crate::law::LawSpec;
use fairwire_core::Duration;
use fairwire_core::units::Size;
use fairwire_laws::spec::Quantity;
use fairwire_sim::app::{Traffic, Video};
use schemars::JsonSchema;
use serde::Deserialize;

/// What is told of it.
pub(super) const ABOUT: About = About::datagrams("A stream of video frames.");

/// About the mean bytes of the frames of a video whose sizes are not given.
const I_FRAME: f64 = 45_455.0;
const P_FRAME: f64 = 11_364.0;

/// A stream of video frames.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VideoSpec {
    /// Time between frames. Default: a thirtieth of a second.
    pub frame: Option<Quantity<Duration>>,
    /// Frames from one I-frame to the next. Default: 30.
    pub group: Option<u32>,
    /// Bytes of an I-frame, without packet headers. Default: lognormal, mean 45 455 bytes, deviation 30 % of it.
    pub i_frame: Option<LawSpec<Size>>,
    /// Bytes of another frame, likewise. Default: lognormal, mean 11 364 bytes, deviation 30 % of it.
    pub p_frame: Option<LawSpec<Size>>,
    /// Bytes on the wire of a full packet. Default: "1200 B".
    pub packet: Option<Quantity<Size>>,
    /// Are the packets of a frame spread evenly until the next, rather than sent back to back? Default: no.
    #[serde(default)]
    pub paced: bool,
}

impl Source for VideoSpec {
    fn offers(&self, at: At<'_>) -> Result<Offer, Fault> {
        let default = Video::default();
        let plan = Video {
            frame: at.gap("frame", self.frame, default.frame)?,
            group: self.group.unwrap_or(default.group),
            i_bytes: at.law("i_frame", self.i_frame.as_ref(), default.i_bytes)?,
            p_bytes: at.law("p_frame", self.p_frame.as_ref(), default.p_bytes)?,
            packet_bytes: bytes(self.packet, default.packet_bytes),
            is_paced: self.paced,
        };
        let about = |given: &Option<LawSpec<Size>>, usual: f64| given.as_ref().map_or(usual, LawSpec::about);
        let [i, p] = [about(&self.i_frame, I_FRAME), about(&self.p_frame, P_FRAME)];
        let group = f64::from(plan.group.max(1));
        at.carried("frame", (i + (group - 1.0) * p) / group * 8.0 / plan.frame.secs())?;
        let packet_bytes = plan.packet_bytes;
        Ok(Offer::Datagrams { traffic: Traffic::Video(plan), packet_bytes })
    }
}
