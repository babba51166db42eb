//! The ECN codepoint of a source's datagrams.

use fairwire_core::Ecn;
use fairwire_parameters::{parameters, word};

/// The parameter that all sources of generated datagrams have.
#[parameters(group)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Marking {
    /// The ECN codepoint of the packets.
    ///
    /// The source does not slow down for marks.
    #[parameter(default = Codepoint::None, source = "RFC 3168, section 5; RFC 9331 for `ect1`.")]
    pub ecn: Option<Codepoint>,
}

/// An ECN codepoint.
#[word]
pub enum Codepoint {
    /// Not capable: congestion is signalled by drops.
    #[default]
    None,
    /// ECT(0): capable.
    Ect0,
    /// ECT(1): capable, for L4S.
    Ect1,
    /// Congestion experienced: packets were marked before they arrived.
    Ce,
}

impl Marking {
    pub(super) fn ecn(self) -> Ecn {
        match self.ecn.unwrap_or_default() {
            Codepoint::None => Ecn::NotEct,
            Codepoint::Ect0 => Ecn::Ect0,
            Codepoint::Ect1 => Ecn::Ect1,
            Codepoint::Ce => Ecn::Ce,
        }
    }
}
