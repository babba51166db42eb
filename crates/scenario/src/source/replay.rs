//! A capture, played again.

use super::at::{About, At, Offer, Source};
use crate::fault::Fault;
use fairwire_sim::app::{Replay, Traffic};
use schemars::JsonSchema;
use serde::Deserialize;

/// What is told of it.
pub(super) const ABOUT: About = About::datagrams("Captured packets.");

/// A capture, played again.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplaySpec {
    /// A pcap or pcapng file; its path is from the scenario's folder.
    pub file: String,
    /// How many times faster than captured. Default: 1.
    pub speed: Option<f64>,
    /// Does it begin again at the end? Default: no.
    #[serde(default)]
    pub repeats: bool,
}

impl Source for ReplaySpec {
    fn offers(&self, at: At<'_>) -> Result<Offer, Fault> {
        let (packets, speed) = ((at.capture)(&self.file), self.speed.unwrap_or(1.0));
        let total: u64 = packets.iter().map(|packet| u64::from(packet.bytes)).sum();
        let seconds = packets.last().map_or(0.0, |last| last.at.secs());
        let bps = total as f64 * 8.0 / seconds * speed;
        if self.repeats && bps.is_finite() {
            at.carried("speed", bps)?;
        }
        let mean = total / (packets.len() as u64).max(1);
        Ok(Offer::Datagrams {
            traffic: Traffic::Replay(Replay { packets, speed, repeats: self.repeats }),
            packet_bytes: mean as u32,
        })
    }
}
