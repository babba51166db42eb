//! RADIUS: session reports of access servers, and changes by a billing system. This module opens no
//! socket.
//!
//! Sources: RFC 2866 (accounting), RFC 5176 (changes of authorization, CoA), RFC 2869, section 5.14
//! (Message-Authenticator), RFC 3162, RFC 4818 and RFC 6911 (addresses of IPv6).
//!
//! The packets are parsed here, since no library was found that reads both types of request, is
//! maintained, and needs no runtime. The packets are protected only by MD5, so they should stay in
//! a separate network.

mod plan;
mod sessions;

pub use plan::{Plan, Refused};
pub use sessions::{Batch, Network, Outcome, Sessions};

use crate::held::{is_plausible, written};
use fairwire_datapath::classify::Prefix;

use hmac::{Hmac, KeyInit as _, Mac as _};
use md5::{Digest as _, Md5};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The longest packet (RFC 2865, section 3).
pub const MAX_BYTES: usize = 4096;
/// The largest difference between a request's time and ours, in seconds (RFC 5176, section 3.3).
const MAX_AGE_S: u64 = 300;
/// Bytes before the attributes: code, identifier, length, authenticator.
const HEAD: usize = 20;
const AUTHENTICATOR: std::ops::Range<usize> = 4..HEAD;

mod code {
    pub(super) const ACCOUNTING_REQUEST: u8 = 4;
    pub(super) const ACCOUNTING_RESPONSE: u8 = 5;
    pub(super) const DISCONNECT_REQUEST: u8 = 40;
    pub(super) const DISCONNECT_ACK: u8 = 41;
    pub(super) const COA_REQUEST: u8 = 43;
    pub(super) const COA_ACK: u8 = 44;
}

mod kind {
    pub(super) const USER_NAME: u8 = 1;
    pub(super) const NAS_IP_ADDRESS: u8 = 4;
    pub(super) const NAS_PORT: u8 = 5;
    pub(super) const FRAMED_IP_ADDRESS: u8 = 8;
    pub(super) const FRAMED_IP_NETMASK: u8 = 9;
    pub(super) const FILTER_ID: u8 = 11;
    pub(super) const FRAMED_ROUTE: u8 = 22;
    pub(super) const CLASS: u8 = 25;
    pub(super) const VENDOR_SPECIFIC: u8 = 26;
    pub(super) const CALLED_STATION_ID: u8 = 30;
    pub(super) const CALLING_STATION_ID: u8 = 31;
    pub(super) const NAS_IDENTIFIER: u8 = 32;
    pub(super) const PROXY_STATE: u8 = 33;
    pub(super) const ACCT_STATUS_TYPE: u8 = 40;
    pub(super) const ACCT_SESSION_ID: u8 = 44;
    pub(super) const ACCT_MULTI_SESSION_ID: u8 = 50;
    pub(super) const EVENT_TIMESTAMP: u8 = 55;
    pub(super) const NAS_PORT_TYPE: u8 = 61;
    pub(super) const MESSAGE_AUTHENTICATOR: u8 = 80;
    pub(super) const NAS_PORT_ID: u8 = 87;
    pub(super) const CHARGEABLE_USER_IDENTITY: u8 = 89;
    pub(super) const NAS_IPV6_ADDRESS: u8 = 95;
    pub(super) const FRAMED_INTERFACE_ID: u8 = 96;
    pub(super) const FRAMED_IPV6_PREFIX: u8 = 97;
    pub(super) const FRAMED_IPV6_ROUTE: u8 = 99;
    pub(super) const ERROR_CAUSE: u8 = 101;
    pub(super) const DELEGATED_IPV6_PREFIX: u8 = 123;
    pub(super) const FRAMED_IPV6_ADDRESS: u8 = 168;

    /// Attributes that identify the session to change. Other attributes describe the change.
    pub(super) const IDENTIFIES: [u8; 24] = [
        USER_NAME,
        NAS_IP_ADDRESS,
        NAS_PORT,
        FRAMED_IP_ADDRESS,
        FRAMED_IP_NETMASK,
        FRAMED_ROUTE,
        CLASS,
        CALLED_STATION_ID,
        CALLING_STATION_ID,
        NAS_IDENTIFIER,
        PROXY_STATE,
        ACCT_SESSION_ID,
        ACCT_MULTI_SESSION_ID,
        EVENT_TIMESTAMP,
        NAS_PORT_TYPE,
        MESSAGE_AUTHENTICATOR,
        NAS_PORT_ID,
        CHARGEABLE_USER_IDENTITY,
        NAS_IPV6_ADDRESS,
        FRAMED_INTERFACE_ID,
        FRAMED_IPV6_PREFIX,
        FRAMED_IPV6_ROUTE,
        DELEGATED_IPV6_PREFIX,
        FRAMED_IPV6_ADDRESS,
    ];
}

/// Why a datagram is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Discarded {
    /// A length in the datagram is invalid.
    #[error("is no whole RADIUS packet")]
    Malformed,
    /// The packet is of another type.
    #[error("is neither Accounting-Request, CoA-Request nor Disconnect-Request")]
    NotARequest,
    /// The sender does not know the secret.
    #[error("has another secret")]
    WrongSecret,
    /// The Event-Timestamp is too far from the present.
    #[error("has an Event-Timestamp more than {MAX_AGE_S} s from now")]
    Old,
}

/// The purpose of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A session with these addresses began or continues.
    Began,
    /// A session ended.
    Ended,
    /// The access server starts or stops, so all its sessions have ended.
    AllEnded,
    /// Another report, which is answered but changes nothing.
    Noted,
    /// The session must get this plan (CoA); `Err` if the plan is refused.
    Change(Result<Plan, Refused>),
    /// The session must end.
    Disconnect,
}

/// Why a CoA- or Disconnect-Request is refused: an Error-Cause (RFC 5176, section 3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorCause {
    /// An attribute that the gateway cannot change.
    UnsupportedAttribute = 401,
    /// No attribute with a change.
    MissingAttribute = 402,
    /// An unknown class, or invalid bandwidths.
    InvalidValue = 407,
    /// No matching subscriber.
    NoSession = 503,
    /// The file could not be written, or the gateway refused it.
    ResourcesUnavailable = 506,
}

/// A request whose sender knows the secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its purpose.
    pub purpose: Purpose,
    /// User-Name.
    pub user: Option<String>,
    /// The Ethernet address in Calling-Station-Id or User-Name, if any.
    pub mac: Option<[u8; 6]>,
    /// The NAS-Identifier of the access server, or else its address.
    pub server: String,
    /// Acct-Session-Id.
    pub session: Option<String>,
    /// The addresses and networks of the session.
    pub addresses: Vec<Prefix>,
    /// Reported addresses that no subscriber can have.
    pub implausible: Vec<String>,
    code: u8,
    identifier: u8,
    authenticator: [u8; 16],
    has_message_authenticator: bool,
    proxy_states: Vec<Vec<u8>>,
}

/// Reads a datagram that arrived at `now_s`, in seconds since 1970.
///
/// # Errors
/// If it must be silently discarded.
pub fn read(datagram: &[u8], secret: &[u8], now_s: u64) -> Result<Request, Discarded> {
    let &[code, identifier, high, low, ..] = datagram else { return Err(Discarded::Malformed) };
    let length = usize::from(u16::from_be_bytes([high, low]));
    if !(HEAD..=MAX_BYTES).contains(&length) || datagram.len() < length {
        return Err(Discarded::Malformed);
    }
    // Bytes beyond the length are padding (RFC 2865, section 3).
    let packet = &datagram[..length];
    if !matches!(code, code::ACCOUNTING_REQUEST | code::COA_REQUEST | code::DISCONNECT_REQUEST) {
        return Err(Discarded::NotARequest);
    }
    let attributes = attributes(packet)?;
    if !is_authentic(packet, &attributes, secret) {
        return Err(Discarded::WrongSecret);
    }
    let of =
        |wanted: u8| attributes.iter().find(|(kind, _)| *kind == wanted).map(|(_, at)| &packet[at.clone()]);
    if let Some(time) = of(kind::EVENT_TIMESTAMP) {
        let time = u32::from_be_bytes(time.try_into().map_err(|_| Discarded::Malformed)?);
        if u64::from(time).abs_diff(now_s) > MAX_AGE_S {
            return Err(Discarded::Old);
        }
    }
    let all = attributes.iter().map(|(kind, at)| (*kind, &packet[at.clone()]));
    let user = of(kind::USER_NAME).map(text);
    let mac = of(kind::CALLING_STATION_ID).map(text).or_else(|| user.clone()).and_then(|text| mac(&text));
    let server = of(kind::NAS_IDENTIFIER).map(text).or_else(|| of(kind::NAS_IP_ADDRESS).and_then(ipv4));
    let purpose = match code {
        code::ACCOUNTING_REQUEST => match of(kind::ACCT_STATUS_TYPE) {
            Some([0, 0, 0, 1 | 3]) => Purpose::Began,
            Some([0, 0, 0, 2]) => Purpose::Ended,
            Some([0, 0, 0, 7 | 8]) => Purpose::AllEnded,
            _ => Purpose::Noted,
        },
        code::COA_REQUEST => Purpose::Change(plan::plan(all.clone())),
        _ => Purpose::Disconnect,
    };
    let (addresses, implausible) = addresses(all.clone());
    Ok(Request {
        purpose,
        user,
        mac,
        server: server.unwrap_or_default(),
        session: of(kind::ACCT_SESSION_ID).map(text),
        addresses,
        implausible,
        code,
        identifier,
        authenticator: head(packet),
        has_message_authenticator: of(kind::MESSAGE_AUTHENTICATOR).is_some(),
        proxy_states: all.filter(|(kind, _)| *kind == kind::PROXY_STATE).map(|(_, at)| at.to_vec()).collect(),
    })
}

/// An attribute's type, and the byte range of its value.
type Attribute = (u8, std::ops::Range<usize>);

fn attributes(packet: &[u8]) -> Result<Vec<Attribute>, Discarded> {
    let mut all = Vec::new();
    let mut at = HEAD;
    while at < packet.len() {
        let &[kind, length] = packet[at..].first_chunk().ok_or(Discarded::Malformed)?;
        let end = at + usize::from(length);
        if length < 2 || end > packet.len() {
            return Err(Discarded::Malformed);
        }
        all.push((kind, at + 2..end));
        at = end;
    }
    Ok(all)
}

fn head(packet: &[u8]) -> [u8; 16] {
    let mut authenticator = [0; 16];
    authenticator.copy_from_slice(&packet[AUTHENTICATOR]);
    authenticator
}

/// Was the packet signed with the secret (RFC 2866, section 3; RFC 5176, section 2.3)?
fn is_authentic(packet: &[u8], attributes: &[Attribute], secret: &[u8]) -> bool {
    let mut bare = packet.to_vec();
    bare[AUTHENTICATOR].fill(0);
    if !is_same(&digest(&[&bare, secret]), &packet[AUTHENTICATOR]) {
        return false;
    }
    let Some((_, at)) = attributes.iter().find(|(kind, _)| *kind == kind::MESSAGE_AUTHENTICATOR) else {
        return true;
    };
    bare[at.clone()].fill(0);
    is_same(&keyed(&bare, secret), &packet[at.clone()])
}

fn digest(parts: &[&[u8]]) -> [u8; 16] {
    let mut digest = Md5::new();
    parts.iter().for_each(|part| digest.update(part));
    digest.finalize().into()
}

fn keyed(bytes: &[u8], secret: &[u8]) -> [u8; 16] {
    let mut code = Hmac::<Md5>::new_from_slice(secret).expect("a key may have any length");
    code.update(bytes);
    code.finalize().into_bytes().into()
}

/// Are `ours` and `given` equal? Runs in constant time.
fn is_same(ours: &[u8; 16], given: &[u8]) -> bool {
    given.len() == ours.len() && ours.iter().zip(given).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value).into_owned()
}

fn mac(text: &str) -> Option<[u8; 6]> {
    let digits: Vec<u8> = text
        .bytes()
        .filter(|byte| !b":-.".contains(byte))
        .map(|byte| char::from(byte).to_digit(16).map(|digit| digit as u8))
        .collect::<Option<_>>()?;
    let mut mac = [0; 6];
    if digits.len() != 12 {
        return None;
    }
    mac.iter_mut().zip(digits.chunks(2)).for_each(|(byte, pair)| *byte = pair[0] << 4 | pair[1]);
    Some(mac)
}

fn ipv4(value: &[u8]) -> Option<String> {
    Some(Ipv4Addr::from(<[u8; 4]>::try_from(value).ok()?).to_string())
}

/// Returns a session's addresses and networks. Those that one subscriber cannot have, such as
/// `127.0.0.1` or `::/0`, are returned separately, as text.
fn addresses<'a>(attributes: impl Iterator<Item = (u8, &'a [u8])> + Clone) -> (Vec<Prefix>, Vec<String>) {
    let mask = attributes.clone().find(|(kind, _)| *kind == kind::FRAMED_IP_NETMASK);
    let mask = mask.and_then(|(_, value)| Some(u32::from_be_bytes(value.try_into().ok()?)));
    let (mut all, mut implausible) = (Vec::new(), Vec::new());
    for prefix in attributes.filter_map(|(kind, value)| address(kind, value, mask)) {
        match is_plausible(&prefix) {
            true if all.contains(&prefix) => {}
            true => all.push(prefix),
            false => implausible.push(written(&prefix)),
        }
    }
    (all, implausible)
}

fn address(kind: u8, value: &[u8], mask: Option<u32>) -> Option<Prefix> {
    let one = |address: IpAddr| Prefix::containing(address, 128);
    match kind {
        // The values 255.255.255.255 and 255.255.255.254 let the user or the server choose (RFC
        // 2865, section 5.8).
        kind::FRAMED_IP_ADDRESS if value.starts_with(&[255, 255, 255]) => None,
        kind::FRAMED_IP_ADDRESS => {
            let address = Ipv4Addr::from(<[u8; 4]>::try_from(value).ok()?);
            // If the address is its network's first, this network is behind the customer's router.
            // Otherwise the network may have many customers, so only the address counts.
            let network = mask.filter(|mask| mask.leading_ones() == mask.count_ones());
            let network = network.map(|mask| Prefix::containing(address.into(), mask.leading_ones() as u8));
            Some(network.filter(|network| network.address() == address).unwrap_or(one(address.into())))
        }
        kind::FRAMED_ROUTE | kind::FRAMED_IPV6_ROUTE => route(&text(value)),
        kind::FRAMED_IPV6_ADDRESS => Some(one(Ipv6Addr::from(<[u8; 16]>::try_from(value).ok()?).into())),
        kind::FRAMED_IPV6_PREFIX | kind::DELEGATED_IPV6_PREFIX => {
            let (&[_, bits @ 0..=128], prefix) = value.split_first_chunk()? else { return None };
            let mut bytes = [0; 16];
            bytes.get_mut(..prefix.len())?.copy_from_slice(prefix);
            Some(Prefix::containing(Ipv6Addr::from(bytes).into(), bits))
        }
        _ => None,
    }
}

/// The network in a route such as `203.0.113.8/29 0.0.0.0 1`: network, gateway and metrics (RFC
/// 2865, section 5.22; RFC 3162, section 2.5).
fn route(text: &str) -> Option<Prefix> {
    let network = text.split_whitespace().next()?;
    let (address, bits) = match network.split_once('/') {
        Some((address, bits)) => (address.parse().ok()?, bits.parse().ok()?),
        None => (network.parse().ok()?, 128),
    };
    let bits = match (address, network.contains('/')) {
        // Without a prefix length, the address class (A, B or C) determines it.
        (IpAddr::V4(v4), false) => match v4.octets()[0] {
            0..=127 => 8,
            128..=191 => 16,
            _ => 24,
        },
        _ => bits,
    };
    Some(Prefix::containing(address, bits))
}

impl Request {
    /// The answer that reports the result `done`. `None` for a failed accounting request, which the
    /// access server then repeats.
    pub fn answer(&self, done: Result<(), ErrorCause>, secret: &[u8]) -> Option<Vec<u8>> {
        let code = match (self.code, done) {
            (code::ACCOUNTING_REQUEST, Ok(())) => code::ACCOUNTING_RESPONSE,
            (code::ACCOUNTING_REQUEST, Err(_)) => return None,
            (code::COA_REQUEST, Ok(())) => code::COA_ACK,
            (code::COA_REQUEST, Err(_)) => code::COA_ACK + 1,
            (_, Ok(())) => code::DISCONNECT_ACK,
            (_, Err(_)) => code::DISCONNECT_ACK + 1,
        };
        let mut packet = vec![code, self.identifier, 0, 0];
        packet.extend(self.authenticator);
        let mut put = |kind: u8, value: &[u8]| {
            // A received attribute has at most 253 bytes, so the length fits in a byte.
            packet.extend([kind, value.len() as u8 + 2]);
            packet.extend(value);
        };
        if self.has_message_authenticator {
            put(kind::MESSAGE_AUTHENTICATOR, &[0; 16]);
        }
        if let Err(cause) = done {
            put(kind::ERROR_CAUSE, &(cause as u32).to_be_bytes());
        }
        self.proxy_states.iter().for_each(|state| put(kind::PROXY_STATE, state));
        let length = (packet.len() as u16).to_be_bytes();
        packet[2..4].copy_from_slice(&length);
        if self.has_message_authenticator {
            let code = keyed(&packet, secret);
            packet[HEAD + 2..HEAD + 18].copy_from_slice(&code);
        }
        let authenticator = digest(&[&packet, secret]);
        packet[AUTHENTICATOR].copy_from_slice(&authenticator);
        Some(packet)
    }

    /// A key that a request shares only with its repetitions.
    pub fn key(&self) -> (u8, u8, [u8; 16]) {
        (self.code, self.identifier, self.authenticator)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(crate) const SECRET: &[u8] = b"testing123";

    pub(crate) fn packet(code: u8, attributes: &[(u8, &[u8])], secret: &[u8]) -> Vec<u8> {
        let mut packet = vec![code, 7, 0, 0];
        packet.extend([0; 16]);
        for (kind, value) in attributes {
            packet.extend([*kind, value.len() as u8 + 2]);
            packet.extend(*value);
        }
        let length = (packet.len() as u16).to_be_bytes();
        packet[2..4].copy_from_slice(&length);
        let authenticator = digest(&[&packet, secret]);
        packet[AUTHENTICATOR].copy_from_slice(&authenticator);
        packet
    }

    const START: (u8, &[u8]) = (kind::ACCT_STATUS_TYPE, &[0, 0, 0, 1]);
    const ANN: (u8, &[u8]) = (kind::USER_NAME, b"ann");

    #[test]
    fn an_accounting_request_has_its_user_port_and_addresses() {
        let delegated = [0, 56, 0x20, 0x01, 0x0d, 0xb8, 0, 1, 0x0f, 0xff];
        let attributes: [(u8, &[u8]); 11] = [
            START,
            ANN,
            (kind::CALLING_STATION_ID, b"0200.5E00.5301"),
            (kind::NAS_IDENTIFIER, b"bras1"),
            (kind::ACCT_SESSION_ID, b"s1"),
            (kind::FRAMED_IP_ADDRESS, &[10, 0, 0, 7]),
            (kind::DELEGATED_IPV6_PREFIX, &delegated),
            (kind::FRAMED_IP_ADDRESS, &[255, 255, 255, 254]),
            (kind::FRAMED_ROUTE, b"203.0.113.8/29 0.0.0.0 1"),
            (kind::FRAMED_IPV6_ROUTE, b"2001:db8:2::/48 :: 1"),
            (kind::FRAMED_IPV6_PREFIX, &[0, 0]),
        ];
        let request = read(&packet(4, &attributes, SECRET), SECRET, 0).unwrap();
        assert_eq!(request.purpose, Purpose::Began);
        assert_eq!((request.user.as_deref(), request.server.as_str()), (Some("ann"), "bras1"));
        assert_eq!((request.mac, request.session.as_deref()), (Some([2, 0, 0x5e, 0, 0x53, 1]), Some("s1")));
        let expected = ["10.0.0.7", "2001:db8:1:f00::/56", "203.0.113.8/29", "2001:db8:2::/48"];
        assert_eq!(shown(&request), expected);
        assert_eq!(request.implausible, ["::/0"]);
    }

    fn shown(request: &Request) -> Vec<String> {
        request.addresses.iter().map(written).collect()
    }

    #[test]
    fn a_mask_counts_only_with_the_first_address_of_a_network() {
        let with = |address: &[u8], mask: &[u8]| {
            let all = [START, ANN, (kind::FRAMED_IP_ADDRESS, address), (kind::FRAMED_IP_NETMASK, mask)];
            shown(&read(&packet(4, &all, SECRET), SECRET, 0).unwrap())
        };
        assert_eq!(with(&[198, 51, 100, 16], &[255, 255, 255, 248]), ["198.51.100.16/29"]);
        assert_eq!(with(&[198, 51, 100, 17], &[255, 255, 255, 0]), ["198.51.100.17"]);
        assert_eq!(with(&[198, 51, 100, 16], &[255, 255, 255, 255]), ["198.51.100.16"]);
        assert_eq!(with(&[198, 51, 100, 16], &[255, 0, 255, 0]), ["198.51.100.16"]);
        assert!(with(&[0, 0, 0, 0], &[0, 0, 0, 0]).is_empty());
        assert_eq!(route("203.0.113.9/29"), Some("203.0.113.8/29".parse().unwrap()));
        assert_eq!(route("192.0.2.0 0.0.0.0"), Some("192.0.2.0/24".parse().unwrap()));
        assert_eq!(route("what"), None);
    }

    #[test]
    fn a_wrong_secret_time_or_code_is_discarded() {
        let packet_at = |time: u32| {
            let time = time.to_be_bytes();
            packet(4, &[START, ANN, (kind::EVENT_TIMESTAMP, &time)], SECRET)
        };
        assert_eq!(read(&packet_at(1000), b"testing124", 1000), Err(Discarded::WrongSecret));
        assert_eq!(read(&packet_at(1000), SECRET, 1301), Err(Discarded::Old));
        assert!(read(&packet_at(1000), SECRET, 1300).is_ok());
        assert_eq!(read(&packet(1, &[ANN], SECRET), SECRET, 0), Err(Discarded::NotARequest));
        let mut changed = packet_at(1000);
        let last = changed.len() - 1;
        changed[last] ^= 1;
        assert_eq!(read(&changed, SECRET, 1000), Err(Discarded::WrongSecret));
        let wrong: (u8, &[u8]) = (kind::MESSAGE_AUTHENTICATOR, &[0; 16]);
        assert_eq!(read(&packet(4, &[START, wrong], SECRET), SECRET, 0), Err(Discarded::WrongSecret));
    }

    #[test]
    fn a_change_is_a_plan_or_names_its_unsupported_attribute() {
        let change = |attributes: &[(u8, &[u8])]| {
            read(&packet(43, attributes, SECRET), SECRET, 0).map(|request| request.purpose)
        };
        let gold = Plan { filter: Some("gold".into()), ..Plan::default() };
        assert_eq!(change(&[ANN, (kind::FILTER_ID, b"gold")]), Ok(Purpose::Change(Ok(gold))));
        let why = "attribute 27 cannot be changed".to_owned();
        let refused = Refused { cause: ErrorCause::UnsupportedAttribute, why };
        assert_eq!(change(&[ANN, (27, &[0, 0, 0, 9])]), Ok(Purpose::Change(Err(refused))));
        let request = read(&packet(40, &[ANN], SECRET), SECRET, 0).unwrap();
        assert_eq!(request.purpose, Purpose::Disconnect);
    }

    #[test]
    fn an_answer_is_authentic_and_brings_the_proxys_state_back() {
        let sent = packet(43, &[ANN, (kind::PROXY_STATE, b"p1"), (kind::PROXY_STATE, b"p2")], SECRET);
        let request = read(&sent, SECRET, 0).unwrap();
        let answer = request.answer(Err(ErrorCause::NoSession), SECRET).unwrap();
        assert_eq!((answer[0], answer[1], answer.len()), (45, 7, 20 + 6 + 4 + 4));
        assert_eq!(&answer[20..26], &[101, 6, 0, 0, 1, 0xf7]); // 503
        assert_eq!(&answer[26..], b"\x21\x04p1\x21\x04p2");
        let mut bare = answer.clone();
        bare[AUTHENTICATOR].copy_from_slice(&sent[AUTHENTICATOR]);
        assert_eq!(answer[AUTHENTICATOR], digest(&[&bare, SECRET]));
        let report = read(&packet(4, &[START], SECRET), SECRET, 0).unwrap();
        assert_eq!(report.answer(Ok(()), SECRET).map(|answer| answer[0]), Some(5));
        assert_eq!(report.answer(Err(ErrorCause::ResourcesUnavailable), SECRET), None);
    }

    proptest! {
        #[test]
        fn no_datagram_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200), code in 0_u8..50) {
            let _ = read(&bytes, SECRET, 0);
            // `read` parses the attributes only if the authenticator is valid.
            let mut signed = vec![code, 0, 0, 0];
            signed.extend([0; 16]);
            signed.extend(&bytes);
            let length = (signed.len() as u16).to_be_bytes();
            signed[2..4].copy_from_slice(&length);
            let authenticator = digest(&[&signed, SECRET]);
            signed[AUTHENTICATOR].copy_from_slice(&authenticator);
            if let Ok(request) = read(&signed, SECRET, 0) {
                let answer = request.answer(Ok(()), SECRET).unwrap();
                prop_assert!(answer.len() <= MAX_BYTES);
            }
        }
    }
}
