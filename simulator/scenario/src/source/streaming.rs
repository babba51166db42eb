//! A video over TCP.

use super::at::{About, At, NoOffer, Offer, SourceSpec};
use fairwire_core::{Duration, Rate};
use fairwire_parameters::{Quantity, parameters};
use fairwire_sim::app::{Load, STREAMING_KINDS, Streaming};

pub(super) const ABOUT: About = About {
    timed: STREAMING_KINDS,
    ..About::tcp("Video in chunks, at a bitrate that the viewer's buffer chooses (BBA-0).")
};

/// Video in chunks, at a bitrate chosen by the viewer's buffer (BBA-0).
#[parameters(name = "streaming", checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamingSpec {
    /// Playing time of a chunk.
    #[parameter(
        default = "4 s",
        min = "100 ms",
        max = "1 min",
        source = "Huang and others 2014, section 2."
    )]
    pub chunk: Option<Quantity<Duration>>,
    /// The bitrates of the video's payload, lowest first.
    #[parameter(
        unset = "0.3, 0.75, 1.2, 1.85, 2.85 and 4.3 Mbit/s",
        unit = "list of rates",
        source = "Mao and others 2017, section 5.1."
    )]
    pub rates: Option<Vec<Quantity<Rate>>>,
    /// Maximum buffered playing time.
    #[parameter(default = "240 s", min = "1 s", max = "24 h", source = "Huang and others 2014, section 4.")]
    pub buffer: Option<Quantity<Duration>>,
    /// Buffered time needed to start playing, at first and after a stall.
    #[parameter(default = "4 s", min = "1 ms", max = "1 h")]
    pub start: Option<Quantity<Duration>>,
    /// Up to this buffered time, the lowest bitrate is used.
    #[parameter(
        unset = "three eighths of `buffer`",
        source = "Huang and others 2014, section 4: 90 of 240 s."
    )]
    pub reservoir: Option<Quantity<Duration>>,
    /// The range of buffered time above `reservoir` in which the bitrate rises to the highest.
    #[parameter(
        unset = "up to nine tenths of `buffer`",
        source = "Huang and others 2014, section 4: up to 216 of 240 s."
    )]
    pub cushion: Option<Quantity<Duration>>,
}

impl SourceSpec for StreamingSpec {
    fn offers(&self, at: At<'_>) -> Result<Offer, NoOffer> {
        let Checked { chunk, buffer, start } = self.checked()?;
        let rates_bps = self.rates(at)?;
        let part = |of: f64| Duration::from_secs_f64(buffer.secs() * of);
        let reservoir = self.reservoir.map_or(part(0.375), |reservoir| reservoir.0);
        if reservoir >= buffer {
            let why = format!("the buffer holds {buffer}, so the bitrate would never rise");
            let allowed = format!("less than {buffer}");
            return Err(at.refuse("reservoir", reservoir, why, allowed));
        }
        let rest = buffer - reservoir;
        let cushion = match self.cushion {
            Some(cushion) => cushion.0,
            None => rest.min(part(0.9).max(reservoir + Duration::from_ns(1)) - reservoir),
        };
        if cushion.is_zero() || cushion > rest {
            let why = if cushion.is_zero() {
                "the bitrate needs room to rise".to_owned()
            } else {
                format!("the buffer holds {buffer}, and the reservoir is {reservoir} of it")
            };
            let allowed = format!("more than 0 s and at most {rest}");
            return Err(at.refuse("cushion", cushion, why, allowed));
        }
        let video = Streaming { chunk, rates_bps, buffer, start, reservoir, cushion };
        let needed = video.needed_to_start();
        if needed > buffer {
            let why = format!("playback starts only with {needed}: `start` in whole chunks of {chunk}");
            return Err(at.refuse("buffer", buffer, why, format!("{needed} or more")));
        }
        Ok(Offer::Tcp(Load::Streaming(Box::new(video))))
    }
}

impl StreamingSpec {
    /// The bitrates, bit/s.
    fn rates(&self, at: At<'_>) -> Result<Vec<f64>, NoOffer> {
        let Some(rates) = &self.rates else { return Ok(Streaming::default().rates_bps) };
        let allowed = "rates that rise, such as [\"500 kbit/s\", \"2 Mbit/s\"]";
        if rates.is_empty() {
            return Err(at.invalid(
                "rates",
                "an empty list is given, but a video has at least one bitrate",
                allowed,
            ));
        }
        if let Some(pair) = rates.windows(2).find(|pair| pair[1].0 <= pair[0].0) {
            let why = format!("`{}` after `{}` is not higher", pair[1], pair[0]);
            return Err(at.invalid("rates", why, allowed));
        }
        Ok(rates.iter().map(|rate| rate.0.bps() as f64).collect())
    }
}
