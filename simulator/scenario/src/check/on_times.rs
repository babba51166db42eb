//! Checks when flows are on.

use super::{Check, Checked};
use crate::fault::refused;
use crate::source::Sends;
use crate::spec::{FlowSpec, Times};
use fairwire_core::Duration;
use fairwire_sim::Source;
use fairwire_sim::app::{Replay, Traffic};

/// The maximum number of on-times, because each needs as much memory as a flow.
const MAX_ON_TIMES: u64 = 1000;

impl Check<'_> {
    pub(super) fn on_times(&self, path: &str, flow: &FlowSpec) -> Checked {
        if let Some(stop) = flow.stop
            && stop.0 <= flow.starts().latest
        {
            let (starts, key) = (flow.starts().latest, format!("{path}.stop"));
            return Err(refused(key, stop, format!("it starts at {starts}"), format!("after {starts}")));
        }
        let Some(on) = &flow.on else { return Ok(()) };
        let path = format!("{path}.on");
        let given = [("start", flow.start.is_some()), ("stop", flow.stop.is_some())];
        if let Some((key, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
            let why = format!("`{key}` is given, too");
            return Err(refused(path, "given", why, "either `on`, or `start` and `stop`"));
        }
        if on.is_empty() {
            let allowed = "one time or more, such as `[[\"0 s\", \"10 s\"], [\"20 s\", \"30 s\"]]`";
            return Err(refused(path, "empty", "it would never send", allowed));
        }
        self.within(&path, on.len() as u64, 1..=MAX_ON_TIMES)?;
        let mut before = Duration::ZERO;
        for (at, Times([from, until])) in on.iter().enumerate() {
            let path = |end: u8| format!("{path}.{at}.{end}");
            if from.0 < before {
                let why = format!("the time before it ends at {before}");
                return Err(refused(
                    path(0),
                    from,
                    why,
                    format!("{before} or later: in order, none within another"),
                ));
            }
            if from.0 >= self.spec.duration.0 {
                let allowed = format!("before {}", self.spec.duration);
                return Err(refused(path(0), from, "the run is over by then", allowed));
            }
            if until.0 <= from.0 {
                let why = format!("this time begins at {from}");
                return Err(refused(path(1), until, why, format!("after {from}")));
            }
            before = until.0;
        }
        Ok(())
    }

    /// Checks that no on-time is longer than the flow's capture, unless the capture repeats.
    pub(super) fn lasts(&self, path: &str, flow: &FlowSpec, sends: &Sends) -> Checked {
        let Source::Datagrams { traffic: Traffic::Replay(Replay { packets, speed, repeats: false }), .. } =
            &sends.source
        else {
            return Ok(());
        };
        let takes = packets.last().map_or(0.0, |last| last.at.secs() / speed);
        let takes = Duration::from_secs_f64(takes);
        for (at, on) in flow.on_times().iter().enumerate() {
            let until = on.until.min(self.spec.duration.0);
            if until > on.from + takes {
                let key = if flow.stop.is_some() { "stop".to_owned() } else { format!("on.{at}.1") };
                let why = format!("its capture ends by itself {takes} after it begins");
                let allowed = format!("at most {}, or `repeats = true` of its `replay`", on.from + takes);
                return Err(refused(format!("{path}.{key}"), on.until, why, allowed));
            }
        }
        Ok(())
    }
}
