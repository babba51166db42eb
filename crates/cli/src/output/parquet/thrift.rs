//! The few words of Thrift's compact protocol that describe a Parquet file.
//!
//! Source: Apache Thrift, *Thrift Compact protocol encoding* (`thrift-compact-protocol.md`): varints, zigzag, field headers, lists.

/// The type of a field or of a list's elements.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
enum Kind {
    True = 1,
    False = 2,
    Byte = 3,
    I32 = 5,
    I64 = 6,
    Binary = 8,
    List = 9,
    Struct = 12,
}

/// A struct that is being written: fields go in the order of their numbers.
#[derive(Debug)]
pub(super) struct Struct<'a> {
    out: &'a mut Vec<u8>,
    last: u8,
}

impl<'a> Struct<'a> {
    /// Appends to `out` the struct that `fill` writes.
    pub(super) fn write(out: &'a mut Vec<u8>, fill: impl FnOnce(&mut Struct<'_>)) {
        let mut made = Struct { out, last: 0 };
        fill(&mut made);
        made.out.push(0);
    }

    /// The number of a field as a step from the one before, and its type.
    fn field(&mut self, number: u8, kind: Kind) {
        debug_assert!((1..=15).contains(&(number - self.last)), "a longer step has another form");
        self.out.push((number - self.last) << 4 | kind as u8);
        self.last = number;
    }

    pub(super) fn byte(&mut self, number: u8, value: u8) {
        self.field(number, Kind::Byte);
        self.out.push(value);
    }

    pub(super) fn truth(&mut self, number: u8, value: bool) {
        self.field(number, if value { Kind::True } else { Kind::False });
    }

    pub(super) fn i32(&mut self, number: u8, value: i32) {
        self.field(number, Kind::I32);
        signed(self.out, value.into());
    }

    pub(super) fn i64(&mut self, number: u8, value: i64) {
        self.field(number, Kind::I64);
        signed(self.out, value);
    }

    pub(super) fn text(&mut self, number: u8, value: &str) {
        self.field(number, Kind::Binary);
        binary(self.out, value);
    }

    pub(super) fn inner(&mut self, number: u8, fill: impl FnOnce(&mut Struct<'_>)) {
        self.field(number, Kind::Struct);
        Struct::write(self.out, fill);
    }

    pub(super) fn i32s(&mut self, number: u8, values: &[i32]) {
        self.list(number, Kind::I32, values, |out, value| signed(out, (*value).into()));
    }

    pub(super) fn texts(&mut self, number: u8, values: &[&str]) {
        self.list(number, Kind::Binary, values, |out, value| binary(out, value));
    }

    pub(super) fn structs<T>(&mut self, number: u8, values: &[T], fill: impl Fn(&mut Struct<'_>, &T)) {
        self.list(number, Kind::Struct, values, |out, value| Struct::write(out, |made| fill(made, value)));
    }

    fn list<T>(&mut self, number: u8, kind: Kind, values: &[T], write: impl Fn(&mut Vec<u8>, &T)) {
        self.field(number, Kind::List);
        match u8::try_from(values.len()) {
            Ok(few @ 0..15) => self.out.push(few << 4 | kind as u8),
            _ => {
                self.out.push(0xf0 | kind as u8);
                varint(self.out, values.len() as u64);
            }
        }
        values.iter().for_each(|value| write(self.out, value));
    }
}

/// Seven bits a byte, the lowest first.
pub(super) fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Zigzag: small numbers of either sign are short.
fn signed(out: &mut Vec<u8>, value: i64) {
    varint(out, (value << 1 ^ value >> 63) as u64);
}

fn binary(out: &mut Vec<u8>, text: &str) {
    varint(out, text.len() as u64);
    out.extend(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_bytes_of_the_specification() {
        let of = |value| {
            let mut out = Vec::new();
            signed(&mut out, value);
            out
        };
        // Zigzag maps 0, -1, 1, -2 to 0, 1, 2, 3; 50399 as a varint is DF 89 03.
        assert_eq!([of(0), of(-1), of(1), of(-2)].concat(), [0, 1, 2, 3]);
        let mut out = Vec::new();
        varint(&mut out, 50_399);
        assert_eq!(out, [0xdf, 0x89, 0x03]);
        assert_eq!(of(i64::MIN), [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
    }

    #[test]
    fn fields_tell_their_step_and_long_lists_their_length() {
        let mut out = Vec::new();
        Struct::write(&mut out, |made| {
            made.i32(1, 1);
            made.truth(3, true);
            made.i32s(4, &[0; 15]);
        });
        let expected = [&[0x15, 2, 0x21, 0x19, 0xf5, 15][..], &[0; 15], &[0]].concat();
        assert_eq!(out, expected);
    }
}
