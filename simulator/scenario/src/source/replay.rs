//! A replayed capture.

use super::at::{About, At, NoOffer, Offer, SourceSpec};
use fairwire_parameters::parameters;
use fairwire_sim::app::{Replay, Traffic};

pub(super) const ABOUT: About =
    About { example: "file = \"calls.pcap\"", ..About::datagrams("Captured packets.") };

/// A replayed capture.
#[parameters(name = "replay", checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplaySpec {
    /// A pcap or pcapng file, as a path from the scenario's folder.
    #[parameter(required, unit = "path")]
    pub file: Option<String>,
    /// The factor by which packets are sent faster than they were captured.
    #[parameter(default = 1.0, unit = "1")]
    pub speed: Option<f64>,
    /// Whether the capture restarts at its end.
    #[parameter(default = false)]
    pub repeats: Option<bool>,
}

impl SourceSpec for ReplaySpec {
    fn offers(&self, at: At<'_>) -> Result<Offer, NoOffer> {
        let Checked { file, speed, repeats } = self.checked()?;
        let mut packets = (at.capture)(&file);
        if packets.iter().any(|packet| packet.bytes < at.header) {
            packets = packets.iter().filter(|packet| packet.bytes >= at.header).copied().collect();
        }
        let total: u64 = packets.iter().map(|packet| u64::from(packet.bytes)).sum();
        let seconds = packets.last().map_or(0.0, |last| last.at.secs());
        let bps = total as f64 * 8.0 / seconds * speed;
        if repeats && bps.is_finite() {
            at.carried("speed", bps)?;
        }
        let mean = total / (packets.len() as u64).max(1);
        Ok(Offer::Datagrams {
            traffic: Traffic::Replay(Replay { packets, speed, repeats }),
            packet_bytes: mean as u32,
        })
    }
}
