//! One direction of a telephone call.

use super::at::{About, At, MIN_GAP, NoOffer, Offer, SourceSpec, bytes};
use super::codepoint::Marking;
use crate::law::LawSpec;
use fairwire_core::units::Size;
use fairwire_core::{Duration, Ecn};
use fairwire_parameters::{Quantity, parameters};
use fairwire_sim::app::{Talk, Traffic, Voip};

pub(super) const ABOUT: About =
    About { header_bytes: HEADER_OF_RTP, ..About::datagrams("One direction of a telephone call.") };

/// The size of IPv4, UDP and RTP headers, bytes (RFC 791, RFC 768, RFC 3550).
const HEADER_OF_RTP: u32 = 40;

/// One direction of a telephone call.
#[parameters(name = "voip", checked = Checked)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VoipSpec {
    /// Time between packets of a talk spurt.
    #[parameter(default = "20 ms")]
    pub frame: Option<Quantity<Duration>>,
    /// Bytes of speech per packet. Headers are added: 40 B, unless the group has a `header`.
    #[parameter(default = "160 B", source = "G.711: RFC 3551, section 4.5.14.")]
    pub payload: Option<Quantity<Size>>,
    /// Whether packets are sent without silences; if so, `spurt` and `silence` are refused.
    #[parameter(default = false)]
    pub continuous: Option<bool>,
    /// The duration of a talk spurt.
    #[parameter(unset = "exponential, 1.004 s", unit = "law of times", source = "ITU-T P.59, 1993.")]
    pub spurt: Option<LawSpec<Duration>>,
    /// The duration of a silence.
    #[parameter(unset = "exponential, 1.587 s", unit = "law of times", source = "ITU-T P.59, 1993.")]
    pub silence: Option<LawSpec<Duration>>,
    /// The ECN codepoint.
    #[parameter(flatten)]
    pub marking: Marking,
}

impl SourceSpec for VoipSpec {
    fn offers(&self, at: At<'_>) -> Result<Offer, NoOffer> {
        let Checked { frame, payload, continuous } = self.checked()?;
        let frame = at.gap("frame", frame)?;
        let payload_bytes = bytes(payload);
        let usual = Talk::default();
        for (key, is_given) in [("spurt", self.spurt.is_some()), ("silence", self.silence.is_some())] {
            if continuous && is_given {
                let why = "there are no silences with `continuous`";
                let allowed = format!("`{key}` or `continuous = true`, not both");
                return Err(at.refuse(key, "given", why, allowed));
            }
        }
        let talk = Talk {
            spurt: at.law("spurt", self.spurt.as_ref(), usual.spurt)?,
            silence: at.law("silence", self.silence.as_ref(), usual.silence)?,
        };
        let about = |law: &Option<LawSpec<Duration>>| law.as_ref().map_or(1.0, LawSpec::about);
        if about(&self.spurt) + about(&self.silence) < MIN_GAP.secs() {
            let why = format!("`spurt` and `silence` together are below {MIN_GAP}, so a run would take days");
            return Err(at.invalid("spurt", why, format!("{MIN_GAP} or more together")));
        }
        let packet_bytes = payload_bytes.saturating_add(at.header);
        at.carried("frame", f64::from(packet_bytes) * 8.0 / frame.secs())?;
        let plan = Voip { frame, payload_bytes, talk: (!continuous).then_some(talk) };
        Ok(Offer::Datagrams { traffic: Traffic::Voip(plan), packet_bytes })
    }

    fn ecn(&self) -> Ecn {
        self.marking.ecn()
    }
}
