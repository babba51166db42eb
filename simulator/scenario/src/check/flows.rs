//! Checks the groups of flows, and their packets.

use super::{Check, Checked, FASTEST, MAX_DELAY, bps};
use crate::fault::{Fault, refused};
use crate::files::Files;
use crate::reach::Reach;
use crate::source::{self, Sends};
use crate::spec::FlowSpec;
use crate::tcp::TcpSpec;
use fairwire_core::Duration;
use fairwire_core::class_tree::MAX_CLASSES;
use fairwire_core::units::Size;
use fairwire_laws::spec::Quantity;
use fairwire_parameters::OutOfRange;
use fairwire_tcp::{Config, Processing, Recovery};
use std::ops::RangeInclusive;

/// The maximum number of flows. Each takes about 2 kB in the simulator, so a million take 2 GB.
const MAX_FLOWS: u64 = 1_000_000;
/// The largest IP packet (RFC 791, section 3.1).
const MAX_PACKET: u64 = 65_535;

impl Check<'_> {
    pub(super) fn flows(&self, files: &Files) -> Result<Vec<Sends>, Fault> {
        if self.spec.flow.is_empty() {
            return Err(refused("flow", "empty", "a run needs at least one flow", "at least one `[[flow]]`"));
        }
        let mut all = Vec::with_capacity(self.spec.flow.len());
        for (at, flow) in self.spec.flow.iter().enumerate() {
            self.flow(&format!("flow.{at}"), flow)?;
            if self.spec.flow[..at].iter().any(|other| other.group == flow.group) {
                let (given, why) = (format!("`{}`", flow.group), "another group has the same name");
                let allowed = "a different name for each group";
                return Err(refused(format!("flow.{at}.group"), given, why, allowed));
            }
            let sends = source::sends(&format!("flow.{at}"), flow, files)?;
            self.lasts(&format!("flow.{at}"), flow, &sends)?;
            all.push(sends);
        }
        self.totals(&all)?;
        Ok(all)
    }

    fn totals(&self, sends: &[Sends]) -> Checked {
        let flows = self.spec.flow.iter().zip(sends);
        let flows: u64 = flows.map(|(flow, sends)| flow.each() * sends.connections()).sum();
        if flows > MAX_FLOWS {
            let given = format!("{flows} flows and connections in all");
            let why = "they would take more than 2 GB of memory";
            return Err(refused("flow", given, why, format!("at most {MAX_FLOWS} in all")));
        }
        Ok(())
    }

    fn flow(&self, path: &str, flow: &FlowSpec) -> Checked {
        self.name(&format!("{path}.group"), &flow.group)?;
        let count = u64::from(flow.count());
        if flow.pattern.is_some() && count > MAX_FLOWS {
            let allowed = format!("1 to {MAX_FLOWS}; the default is one for each pair of hosts in `pattern`");
            return Err(refused(format!("{path}.count"), count, "that is above the maximum", allowed));
        }
        self.within(&format!("{path}.count"), count, 1..=MAX_FLOWS)?;
        self.within(&format!("{path}.access.rate"), flow.access.rate.0, bps(1)..=bps(FASTEST))?;
        let (key, longest) = match flow.reach(path)? {
            Reach::Access(delay) => ("access.delay", delay.longest()),
            Reach::RoundTrip(rtt) => ("rtt", rtt.longest()),
        };
        self.within(&format!("{path}.{key}"), longest, Duration::ZERO..=MAX_DELAY)?;
        self.within(&format!("{path}.class"), flow.class.unwrap_or(0), 0..=MAX_CLASSES - 1)?;
        self.within(&format!("{path}.dscp"), flow.dscp.unwrap_or(0), 0..=63)?;
        if flow.starts().latest >= self.spec.duration.0 {
            let allowed = format!("before {}", self.spec.duration);
            return Err(refused(
                format!("{path}.start"),
                flow.starts().latest,
                "the run is over by then",
                allowed,
            ));
        }
        self.on_times(path, flow)?;
        source::check_keys(path, flow)?;
        self.size(&format!("{path}.header"), flow.header, 0..=MAX_PACKET - 1)?;
        flow.tcp.as_ref().map_or(Ok(()), |tcp| self.tcp(&format!("{path}.tcp"), tcp))
    }

    fn tcp(&self, path: &str, tcp: &TcpSpec) -> Checked {
        let config = tcp.config();
        let (tick, hour) = (Duration::from_ns(1), Duration::from_secs(3600));
        self.has_sack_where_needed(path, tcp, &config)?;
        if config.recovery == Recovery::Rack && config.quirks.sack_counts_acks {
            let profile = tcp.effective_profile().word();
            let why = format!("the profile \"{profile}\" counts by acknowledgements what is in flight");
            let allowed = "it with `profile = \"modern\"` or `quirks = { sack_counts_acks = false }`; `sack`";
            return Err(refused(format!("{path}.recovery"), "`rack`", why, allowed));
        }
        let switches = [("limited_transmit", tcp.limited_transmit), ("exact_rtt", tcp.exact_rtt)];
        let without = switches.into_iter().find(|(_, given)| *given == Some(false));
        if let Some((key, _)) = without.filter(|_| config.recovery == Recovery::Rack) {
            let why = "`recovery` is \"rack\", which sends by what is in flight and times each segment";
            let allowed = "`true`; it with `recovery = \"sack\"`";
            return Err(refused(format!("{path}.{key}"), "`false`", why, allowed));
        }
        if let Processing::UpTo(most) = config.processing {
            self.within(&format!("{path}.processing"), most, tick..=Duration::from_secs(1))?;
        }
        self.within(
            &format!("{path}.host_queue"),
            config.host_queue.unwrap_or_default(),
            Duration::ZERO..=hour,
        )?;
        let header = u64::from(config.header_bytes);
        self.size(&format!("{path}.header"), tcp.header, 1..=MAX_PACKET - 1)?;
        self.size(&format!("{path}.ack"), tcp.ack, 1..=MAX_PACKET - 1)?;
        self.size(&format!("{path}.segment"), tcp.segment, 1..=MAX_PACKET - header)?;
        // Sequence numbers count segments in 32 bits, so the number in flight must be far below
        // 2^32.
        let most = 1 << 30;
        self.within(&format!("{path}.window"), tcp.window.unwrap_or(1), 1..=most)?;
        self.within(&format!("{path}.initial_window"), config.initial_window, 1..=most)?;
        self.within(&format!("{path}.tick"), config.tick, Duration::ZERO..=hour)?;
        self.within(&format!("{path}.min_rto"), config.min_rto, tick..=hour)?;
        self.within(&format!("{path}.max_rto"), config.max_rto, config.min_rto..=hour)?;
        self.within(&format!("{path}.initial_rto"), config.initial_rto, tick..=config.max_rto)?;
        self.within(&format!("{path}.restart_window"), config.restart_window.unwrap_or(1), 1..=most)?;
        if let Some(delayed) = tcp.delayed_ack {
            let path = format!("{path}.delayed_ack");
            self.within(&format!("{path}.segments"), delayed.segments.unwrap_or(1), 1..=most)?;
            let timeout = delayed.timeout.map_or(tick, |timeout| timeout.0);
            self.within(&format!("{path}.timeout"), timeout, tick..=hour)?;
            self.within(&format!("{path}.quick_acks"), delayed.quick_acks.unwrap_or(0), 0..=255)?;
        }
        let Some(control) = &tcp.control else { return Ok(()) };
        control.config().map(drop).map_err(|OutOfRange { name, given, allowed }| {
            let path = format!("{path}.control.{}.{name}", control.name());
            refused(path, given, "that is out of range", allowed)
        })
    }

    fn has_sack_where_needed(&self, path: &str, tcp: &TcpSpec, config: &Config) -> Checked {
        let needing = tcp.control.as_ref().filter(|control| control.about().needs_sack);
        let Some(control) = needing.filter(|_| !matches!(config.recovery, Recovery::Sack | Recovery::Rack))
        else {
            return Ok(());
        };
        let given = format!("`{}`", control.name());
        let measures = format!("selective acknowledgements, by which {given} measures the path");
        let (why, profile) = match tcp.recovery {
            Some(_) => (format!("`recovery` is not \"sack\" or \"rack\", so there are no {measures}"), ""),
            None => {
                let profile = tcp.effective_profile().word();
                (format!("the profile \"{profile}\" has no {measures}"), "`profile = \"modern\"`, ")
            }
        };
        let allowed = format!(
            "{given} with {profile}`recovery = \"rack\"` or `recovery = \"sack\"`, or another `control`"
        );
        Err(refused(format!("{path}.control"), given, why, allowed))
    }

    fn size(&self, path: &str, size: Option<Quantity<Size>>, bytes: RangeInclusive<u64>) -> Checked {
        let size_of = Size;
        match size {
            Some(size) => self.within(path, size.0, size_of(*bytes.start())..=size_of(*bytes.end())),
            None => Ok(()),
        }
    }
}
