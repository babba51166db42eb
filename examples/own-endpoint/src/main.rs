//! The command `fairwire` with a protocol `steady`, whose sender adapts its rate to the receiver's
//! reports.

use fairwire_core::units::Size;
use fairwire_core::{Duration, Ecn, Time};
use fairwire_parameters::{Quantity, parameters};
use fairwire_scenario::source::{self, About, At, NoOffer, Offer, SourceSpec};
use fairwire_sim::endpoint::{Endpoint, Endpoints, Packet, Start};
use std::process::ExitCode;

const NAME: &str = "steady";
const ABOUT: About = About::endpoints("A paced sender that gets reports of what was lost or marked.");
const REPORT_BYTES: usize = 64;
const FIRST_BPS: f64 = 500e3;
const MORE_BPS: f64 = 100e3; // a report without losses or marks
const LESS: f64 = 0.85; // a report with some

struct Report {
    missing: u64,
    marked: u64,
}

/// The sending end. Only its packets are counted, not the reports.
struct Sender {
    bytes: usize,
    bps: f64,
    number: u64, // of the packet sent last
    next: Option<Time>,
}

impl Endpoint for Sender {
    fn on_packet(&mut self, packet: Packet, _: Time) {
        let Some(Report { missing, marked }) = packet.payload() else { return };
        let is_crowded = missing + marked > 0;
        let bps = if is_crowded { self.bps * LESS } else { self.bps + MORE_BPS };
        self.bps = bps.clamp(FIRST_BPS, 1e9);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        let due = *self.next.get_or_insert(now);
        if due > now {
            return None; // nothing more at this instant
        }
        self.next = Some(now + Duration::from_secs_f64(self.bytes as f64 * 8.0 / self.bps));
        self.number += 1;
        Some(Packet::new(self.bytes).with_ecn(Ecn::Ect0).carrying(self.number))
    }

    fn next_timeout(&mut self) -> Option<Time> {
        self.next
    }
}

/// The receiving end, which sends a report at regular intervals.
struct Receiver {
    every: Duration,
    next: Option<Time>,
    highest: u64,
    missing: u64,
    marked: u64,
}

impl Endpoint for Receiver {
    fn on_packet(&mut self, packet: Packet, now: Time) {
        self.marked += u64::from(packet.ecn == Ecn::Ce);
        let number: u64 = packet.payload().expect("the sender numbers its packets");
        self.missing += number.saturating_sub(self.highest + 1);
        self.highest = number;
        self.next.get_or_insert(now + self.every);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        self.next.take_if(|due| *due <= now)?; // the next packet that arrives starts the clock anew
        let (missing, marked) = (std::mem::take(&mut self.missing), std::mem::take(&mut self.marked));
        Some(Packet::new(REPORT_BYTES).carrying(Report { missing, marked }))
    }

    fn next_timeout(&mut self) -> Option<Time> {
        self.next
    }
}

/// Parameters of `steady`.
#[parameters(checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// Bytes on the wire per packet.
    #[parameter(default = "1000 B", min = "100 B", max = "9000 B")]
    pub packet: Option<Quantity<Size>>,
    /// The time from one report to the next.
    #[parameter(default = "50 ms", min = "1 ms", max = "10 s")]
    pub every: Option<Quantity<Duration>>,
}

impl SourceSpec for Spec {
    fn offers(&self, _: At<'_>) -> Result<Offer, NoOffer> {
        let Checked { packet, every } = self.checked()?;
        let packet_bytes = packet.0 as u32;
        let both = move |mut start: Start| {
            let bps = FIRST_BPS * (1.0 + start.rng.uniform()); // flows that start together do not keep step
            let sender = Sender { bytes: packet_bytes as usize, bps, number: 0, next: None };
            (sender, Receiver { every, next: None, highest: 0, missing: 0, marked: 0 })
        };
        Ok(Offer::Endpoints { endpoints: Endpoints::new(NAME, packet_bytes, both), packet_bytes })
    }
}

fn main() -> ExitCode {
    source::register::<Spec>(ABOUT).expect("no other has its name");
    fairwire_command::main()
}
