//! Gauges for dashboards and traces.

/// Receives the gauges of a discipline.
pub trait Probe {
    /// Invoked for each gauge. Names are lower case with underscores and carry no unit.
    fn gauge(&mut self, name: &'static str, unit: Unit, value: f64);

    /// Are gauges of parts wanted? There may be thousands of parts.
    fn wants_parts(&self) -> bool {
        true
    }

    /// Invoked before the gauges of a part, such as `class 7`; [`leave`](Probe::leave) follows
    /// them.
    fn enter(&mut self, _part: &str) {}

    /// Invoked after the gauges of a part.
    fn leave(&mut self) {}
}

/// The unit of a gauge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// A number or a probability.
    One,
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
    /// Flows.
    Flows,
    /// Tokens: one per packet in packet mode, one per byte in byte mode.
    Tokens,
    /// Seconds.
    Seconds,
    /// Bits per second.
    BitsPerSecond,
}

impl Unit {
    /// The unit as printed.
    pub const fn symbol(self) -> &'static str {
        match self {
            Unit::One => "1",
            Unit::Packets => "packets",
            Unit::Bytes => "B",
            Unit::Flows => "flows",
            Unit::Tokens => "tokens",
            Unit::Seconds => "s",
            Unit::BitsPerSecond => "bit/s",
        }
    }
}

impl<F: FnMut(&'static str, Unit, f64)> Probe for F {
    fn gauge(&mut self, name: &'static str, unit: Unit, value: f64) {
        self(name, unit, value);
    }
}
