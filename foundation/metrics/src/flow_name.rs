//! The name of a flow. There may be a million names, so a short name is stored without an
//! allocation.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

/// The maximum length of a short name, in bytes. With the length and a mark, one byte each, a name
/// takes 24 bytes, like a `String` on 64-bit targets.
const SHORT: usize = 22;

/// The unique name of a flow, such as `tcp.3`. Reads as a `str`.
#[derive(Clone)]
pub struct FlowName(Text);

#[derive(Clone)]
enum Text {
    Short { len: u8, bytes: [u8; SHORT] },
    Long(Box<str>),
}

const _: () = assert!(size_of::<FlowName>() == 24);

impl FlowName {
    /// The group's name, a dot, and the number.
    pub fn numbered(group: &str, number: u32) -> Self {
        let mut bytes = [0; SHORT];
        let mut digits = [0; MAX_DIGITS];
        let digits = decimal(number, &mut digits);
        let len = group.len() + 1 + digits.len();
        let Some((name, rest)) = bytes.split_at_mut_checked(group.len()) else { return long(group, number) };
        if rest.len() < 1 + digits.len() {
            return long(group, number);
        }
        name.copy_from_slice(group.as_bytes());
        rest[0] = b'.';
        rest[1..=digits.len()].copy_from_slice(digits);
        FlowName(Text::Short { len: len as u8, bytes })
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Text::Short { len, bytes } => {
                std::str::from_utf8(&bytes[..usize::from(*len)]).expect("it was a str, and whole")
            }
            Text::Long(text) => text,
        }
    }
}

fn long(group: &str, number: u32) -> FlowName {
    FlowName(Text::Long(format!("{group}.{number}").into()))
}

const MAX_DIGITS: usize = 10;

fn decimal(mut number: u32, room: &mut [u8; MAX_DIGITS]) -> &[u8] {
    let mut at = MAX_DIGITS;
    loop {
        at -= 1;
        room[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &room[at..];
        }
    }
}

impl From<&str> for FlowName {
    fn from(name: &str) -> Self {
        let mut bytes = [0; SHORT];
        match bytes.get_mut(..name.len()) {
            Some(room) => {
                room.copy_from_slice(name.as_bytes());
                FlowName(Text::Short { len: name.len() as u8, bytes })
            }
            None => FlowName(Text::Long(name.into())),
        }
    }
}

impl From<String> for FlowName {
    fn from(name: String) -> Self {
        name.as_str().into()
    }
}

impl Deref for FlowName {
    type Target = str;
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq for FlowName {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl PartialEq<str> for FlowName {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for FlowName {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Display for FlowName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), f)
    }
}

impl fmt::Debug for FlowName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl Serialize for FlowName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for FlowName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<str>::deserialize(deserializer).map(|name| (&*name).into())
    }
}

impl JsonSchema for FlowName {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_any_length_equals_its_text() {
        for len in 0..40 {
            let text: String = "Fließe, tcp_".chars().cycle().take(len).collect();
            let name = FlowName::from(text.as_str());
            assert_eq!(name, *text);
            assert_eq!((name.to_string(), format!("{name:?}")), (text.clone(), format!("{text:?}")));
            for number in [0, 7, 10, 999_999, u32::MAX] {
                assert_eq!(FlowName::numbered(&text, number), format!("{text}.{number}").as_str());
            }
        }
        assert_ne!(FlowName::from("tcp.1"), FlowName::from("tcp.11"));
    }

    #[test]
    fn a_name_has_the_schema_of_a_string() {
        let mut generator = SchemaGenerator::default();
        assert_eq!(FlowName::json_schema(&mut generator), String::json_schema(&mut generator));
        assert!(FlowName::inline_schema() && generator.take_definitions(true).is_empty());
    }
}
