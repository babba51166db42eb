//! The kinds of events whose durations a source measures.

use crate::record::TransferRecord;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal, $plural:literal;)+) => {
        /// A kind of event whose duration a source measures. A [`TransferRecord`] covers one kind
        /// in one group.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Kind {
            $($(#[$doc])* $kind,)+
        }

        impl Kind {
            /// Every one.
            pub const ALL: &[Kind] = &[$(Kind::$kind),+];

            /// The name in [`TransferRecord::kind`], and in measures such as `stall_mean_s.video`.
            pub const fn name(self) -> &'static str {
                match self { $(Kind::$kind => $name),+ }
            }

            /// The plural, for the number of events, such as `stalls.video`.
            pub const fn plural(self) -> &'static str {
                match self { $(Kind::$kind => $plural),+ }
            }
        }
    };
}

kinds! {
    /// A transfer: from its request to the arrival of its last segment.
    Transfer = "transfer", "transfers";
    /// A page: from its beginning until its last sender knows that everything has arrived.
    Page = "page", "pages";
    /// A displayed frame of a call: from its capture to the arrival of its last packet.
    Frame = "frame", "frames";
    /// A displayed frame that took longer than its deadline.
    LateFrame = "late_frame", "late_frames";
    /// A frame that was never displayed, because one of its packets, or a frame that it needs, was
    /// lost. Timed from its capture until the loss is known.
    LostFrame = "lost_frame", "lost_frames";
    /// A frozen picture: from one displayed frame to the next.
    Freeze = "freeze", "freezes";
    /// The start of a video: from its request until it plays.
    Startup = "startup", "startups";
    /// A stall of a video: from the moment its buffer is empty until it plays again.
    Stall = "stall", "stalls";
    /// The playing of one chunk of a video.
    Play = "play", "plays";
    /// The time from a video's first request at one bitrate to its first request at another.
    Switch = "switch", "switches";
}

impl Kind {
    /// The kind called `name`.
    pub fn of(name: &str) -> Option<Kind> {
        Kind::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// True if the kind belongs to calls or videos, whose groups have a record of the kind even
    /// without events.
    pub fn is_lasting(self) -> bool {
        !matches!(self, Kind::Transfer | Kind::Page)
    }

    /// True for a state. A flow is in one state at a time. Only states have a fraction of time.
    pub fn is_state(self) -> bool {
        matches!(self, Kind::Freeze | Kind::Startup | Kind::Stall | Kind::Play)
    }

    /// The record of the kind in a group.
    pub fn record_of<'a>(self, group: &str, records: &'a [TransferRecord]) -> Option<&'a TransferRecord> {
        records.iter().find(|record| record.kind == self.name() && record.group == group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_a_kind_is_a_prefix_of_another() {
        for (at, kind) in Kind::ALL.iter().enumerate() {
            assert_eq!(Kind::of(kind.name()), Some(*kind));
            for other in &Kind::ALL[at + 1..] {
                assert!(!kind.name().starts_with(other.name()) && !other.name().starts_with(kind.name()));
            }
        }
    }
}
