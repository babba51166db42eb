//! Datagram sources. Each follows its own schedule, whatever happens to its packets.

pub(crate) mod cbr;
pub(crate) mod on_off;
pub(crate) mod outside;
mod packet;
pub(crate) mod poisson;
pub(crate) mod replay;
pub(crate) mod video;
pub(crate) mod voip;

pub use packet::Emission;
pub(crate) use packet::gap_problem;

use fairwire_core::{Rng, Time};

macro_rules! sources {
    ($($(#[$doc:meta])* $kind:ident($module:ident::$plan:ident): $name:literal;)+) => {
        /// A datagram source other than constant bit rate.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Traffic {
            $($(#[$doc])* $kind($module::$plan),)+
            /// An external source.
            Outside(outside::OutsideTraffic),
        }

        impl Traffic {
            /// The problem of this source with `header_bytes` of headers per packet, if any.
            /// [`run`](crate::run) refuses a source with a problem.
            pub fn problem(&self, header_bytes: u32) -> Option<String> {
                match self {
                    $(Traffic::$kind(plan) => plan.problem(header_bytes),)+
                    Traffic::Outside(_) => None, // checked by its creator
                }
            }

            pub(crate) fn kind(&self) -> &'static str {
                match self {
                    $(Traffic::$kind(_) => $name,)+
                    Traffic::Outside(plan) => plan.name(),
                }
            }

            /// The usual size of the source's packets, bytes on the wire, for precomputation; 0 if
            /// there is no such size.
            pub fn typical_bytes(&self, header_bytes: u32) -> u32 {
                match self {
                    $(Traffic::$kind(plan) => plan.typical_bytes(header_bytes),)+
                    Traffic::Outside(plan) => plan.typical_bytes(),
                }
            }
        }

        #[derive(Debug)]
        pub(crate) enum Generator {
            Cbr(cbr::Generator),
            $($kind($module::Generator),)+
            Outside(outside::Generator),
        }

        impl Generator {
            /// # Panics
            /// When `traffic` has a [`problem`](Traffic::problem).
            pub(crate) fn new(traffic: &Traffic, header_bytes: u32) -> Self {
                if let Some(problem) = traffic.problem(header_bytes) {
                    panic!("{problem}");
                }
                match traffic {
                    $(Traffic::$kind(plan) => {
                        Generator::$kind($module::Generator::new(plan, header_bytes))
                    })+
                    Traffic::Outside(plan) => {
                        Generator::Outside(outside::Generator::new(plan, header_bytes))
                    }
                }
            }

            #[inline(never)] // separate, so that the most frequent source does not return its value through memory
            fn next_of_others(&mut self, now: Time, rng: &mut Rng) -> Option<Emission> {
                match self {
                    Generator::Cbr(source) => Some(source.next(now, rng)),
                    $(Generator::$kind(source) => source.next(now, rng).into(),)+
                    Generator::Outside(source) => source.next(now, rng),
                }
            }
        }
    };
}

sources! {
    /// Bursts separated by pauses.
    OnOff(on_off::OnOff): "on/off";
    /// Packets at random times.
    Poisson(poisson::Poisson): "poisson";
    /// A telephone call.
    Voip(voip::Voip): "voip";
    /// Frames of moving pictures.
    Video(video::Video): "video";
    /// Packets at the times of a capture.
    Replay(replay::Replay): "replay";
}

impl Generator {
    /// The next packet, or `None` at the source's end. `now` is when the source starts, or when it
    /// has sent the previous packet.
    #[inline]
    pub(crate) fn next(&mut self, now: Time, rng: &mut Rng) -> Option<Emission> {
        match self {
            Generator::Cbr(source) => Some(source.next(now, rng)),
            other => other.next_of_others(now, rng),
        }
    }
}
