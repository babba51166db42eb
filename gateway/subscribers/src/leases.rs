//! Leases of DHCP servers: the IP addresses of each Ethernet address, from the files of dnsmasq and
//! Kea.
//!
//! A line of dnsmasq has a lease's end in seconds since 1970 (0: never), the Ethernet address, the
//! IP address, a name and an identifier (dnsmasq(8), `--dhcp-leasefile`). The lines after a `duid`
//! line are DHCPv6 leases. Their last word is the client's DUID.
//!
//! In Kea's CSV file, only the last line of an address counts. State 0 is a lease in use, and type
//! 2 is a delegated prefix (Kea Administrator Reference Manual, memfile).

use crate::held::{is_plausible, written};
use fairwire_datapath::classify::{Prefix, parse_mac};
use fairwire_document::shortened;
use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;

/// The networks of each Ethernet address. Each network has the file and the line of its lease.
pub type Leases = BTreeMap<[u8; 6], BTreeMap<Prefix, String>>;

/// A line that is not a lease.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is `{given}`; allowed: {allowed}")]
pub struct BadLine {
    /// The line's number, from 1.
    pub line: usize,
    /// The line's text.
    pub given: String,
    /// The allowed forms of a line.
    pub allowed: &'static str,
}

/// The contents of a lease file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeaseText {
    /// Leases in use: Ethernet address, network and line number, from 1.
    leases: Vec<([u8; 6], Prefix, usize)>,
    /// Lines that are skipped because they are no leases.
    pub bad: Vec<BadLine>,
    /// The number of leases in use by devices whose Ethernet address is unknown.
    pub nameless: usize,
}

/// The leases in `text` that are in use at `now_s`, in seconds since 1970.
///
/// # Errors
/// If `text` is no lease file: no line has dnsmasq's form, or one of Kea's columns is missing.
pub fn read(text: &str, now_s: u64) -> Result<LeaseText, BadLine> {
    match text.lines().next() {
        Some(head) if head.starts_with("address,") => of_kea(text, now_s),
        _ => of_dnsmasq(text, now_s),
    }
}

/// Merges the leases of all `files`. Leaves out each address that is leased to several devices, and
/// returns a line about the address.
pub fn joined(files: &[(String, LeaseText)]) -> (Leases, Vec<String>) {
    let mut holders: BTreeMap<Prefix, BTreeMap<[u8; 6], String>> = BTreeMap::new();
    for (name, file) in files {
        for (mac, prefix, line) in &file.leases {
            holders.entry(*prefix).or_default().insert(*mac, format!("{name}:{line}"));
        }
    }
    let (mut leases, mut contradictions) = (Leases::new(), Vec::new());
    for (prefix, macs) in holders {
        if macs.len() > 1 {
            let of: Vec<String> =
                macs.iter().map(|(mac, place)| format!("{} ({place})", Mac(*mac))).collect();
            contradictions.push(format!("{} is leased to {}", written(&prefix), of.join(" and ")));
            continue;
        }
        for (mac, place) in macs {
            leases.entry(mac).or_default().insert(prefix, place);
        }
    }
    (leases, contradictions)
}

struct Mac([u8; 6]);

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let octets = self.0.map(|octet| format!("{octet:02x}"));
        f.write_str(&octets.join(":"))
    }
}

fn bad(line: usize, given: &str, allowed: &'static str) -> BadLine {
    BadLine { line, given: shortened(given), allowed }
}

/// The Ethernet address at the end of a DUID-LLT or DUID-LL of hardware type 1 (RFC 8415, section
/// 11). A DUID is hexadecimal, with colons.
fn mac_of_duid(duid: &str) -> Option<[u8; 6]> {
    let duid = duid.to_ascii_lowercase();
    match duid.split_at_checked("00:0X:00:01:".len())? {
        ("00:01:00:01:", rest) => parse_mac(rest.get("tt:tt:tt:tt:".len()..)?),
        ("00:03:00:01:", rest) => parse_mac(rest),
        _ => None,
    }
}

const NOT_ONE: &str = "an address that one subscriber can have";

impl LeaseText {
    fn add(&mut self, mac: Option<[u8; 6]>, prefix: Prefix, line: usize) {
        match mac {
            _ if !is_plausible(&prefix) => self.bad.push(bad(line, &written(&prefix), NOT_ONE)),
            Some(mac) => self.leases.push((mac, prefix, line)),
            None => self.nameless += 1,
        }
    }
}

fn of_dnsmasq(text: &str, now_s: u64) -> Result<LeaseText, BadLine> {
    const ALLOWED: &str =
        "TIME MAC ADDRESS NAME ID, as dnsmasq writes it, or a file of Kea's with a line of column names";
    let mut read = LeaseText::default();
    let (mut is_of_v6, mut is_of_leases) = (false, false);
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.is_empty()) {
        if line.starts_with("duid ") {
            (is_of_v6, is_of_leases) = (true, true);
            continue;
        }
        let words: Vec<&str> = line.split(' ').collect();
        let lease = match words[..] {
            [ends, mac, address, _, id] => ends.parse::<u64>().ok().zip(address.parse().ok()).map(
                // If the hardware is not Ethernet, `mac` begins with a type number, so `parse_mac`
                // refuses it.
                |(ends, address)| (ends, address, if is_of_v6 { mac_of_duid(id) } else { parse_mac(mac) }),
            ),
            _ => None,
        };
        let Some((ends, address, mac)) = lease else {
            read.bad.push(bad(number, line, ALLOWED));
            continue;
        };
        is_of_leases = true;
        if ends == 0 || ends > now_s {
            read.add(mac, Prefix::containing(address, 128), number);
        }
    }
    match read.bad.first() {
        Some(bad) if !is_of_leases => Err(bad.clone()),
        _ => Ok(read),
    }
}

fn of_kea(text: &str, now_s: u64) -> Result<LeaseText, BadLine> {
    let mut lines = (1..).zip(text.lines());
    let head = lines.next().map_or("", |(_, head)| head);
    let names: Vec<&str> = head.split(',').collect();
    let column = |name| names.iter().position(|known| *known == name);
    let (Some(address), Some(hwaddr), Some(expire), Some(state)) =
        (column("address"), column("hwaddr"), column("expire"), column("state"))
    else {
        return Err(bad(1, head, "columns `address`, `hwaddr`, `expire` and `state`, as Kea writes them"));
    };
    let (duid, kind, bits) = (column("duid"), column("lease_type"), column("prefix_len"));
    let mut read = LeaseText::default();
    let mut last = BTreeMap::new();
    for (number, line) in lines.filter(|(_, line)| !line.is_empty()) {
        let values: Vec<&str> = line.split(',').collect();
        let value = |column: Option<usize>| column.and_then(|column| values.get(column)).copied();
        let lease = || {
            let ip: IpAddr = value(Some(address))?.parse().ok()?;
            let ends: u64 = value(Some(expire))?.parse().ok()?;
            let bits = match value(kind) {
                Some("2") => value(bits)?.parse().ok()?,
                _ => 128,
            };
            let mac = || value(duid).and_then(mac_of_duid);
            let mac = parse_mac(value(Some(hwaddr))?).or_else(mac);
            let is_used = value(Some(state))? == "0" && ends > now_s;
            Some((Prefix::containing(ip, bits), (mac, number, is_used)))
        };
        match lease().filter(|_| values.len() >= names.len()) {
            Some((prefix, lease)) => {
                last.insert(prefix, lease);
            }
            None => read.bad.push(bad(number, line, "a value for each column of the first line")),
        }
    }
    for (prefix, (mac, number, _)) in last.into_iter().filter(|(_, (_, _, is_used))| *is_used) {
        read.add(mac, prefix, number);
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const ANN: [u8; 6] = [2, 0, 0, 0, 0, 1];
    const BOB: [u8; 6] = [2, 0, 0, 0, 0, 2];

    fn addresses(text: &LeaseText, mac: [u8; 6]) -> Vec<String> {
        let (leases, contradictions) = joined(&[("a".to_owned(), text.clone())]);
        assert!(contradictions.is_empty(), "{contradictions:?}");
        leases.get(&mac).into_iter().flat_map(BTreeMap::keys).map(written).collect()
    }

    #[test]
    fn leases_of_dnsmasq_count_until_they_end() {
        let text = "2000 02:00:00:00:00:01 10.0.0.7 ann 01:02:00:00:00:00:01\n\
                    1000 02:00:00:00:00:02 10.0.0.8 * *\n\
                    0 02:00:00:00:00:02 10.0.0.9 * *\n\
                    duid 00:01:00:01\n\
                    2000 33 fd00::7 ann 00:01:00:01:2a:03:51:f4:02:00:00:00:00:01\n\
                    2000 34 fd00::8 * 00:04:11:22:33:44:55:66:77:88:99:aa:bb:cc:dd:ee:ff:00\n";
        let leases = read(text, 1500).unwrap();
        assert_eq!(addresses(&leases, ANN), ["10.0.0.7", "fd00::7"]);
        assert_eq!(addresses(&leases, BOB), ["10.0.0.9"]);
        assert_eq!(leases.nameless, 1, "a DUID-UUID has no Ethernet address");
        assert!(addresses(&read(text, 3000).unwrap(), ANN).is_empty());
        assert_eq!(read("", 1), Ok(LeaseText::default()));
    }

    #[test]
    fn the_last_line_of_kea_for_an_address_counts() {
        let head = "address,hwaddr,client_id,valid_lifetime,expire,subnet_id,fqdn_fwd,fqdn_rev,hostname,state,user_context,pool_id\n";
        let line = |address, mac, ends, state| format!("{address},{mac},,3600,{ends},1,0,0,,{state},,0\n");
        let text = [
            head.to_owned(),
            line("10.0.0.7", "02:00:00:00:00:01", 2000, 0),
            line("10.0.0.8", "02:00:00:00:00:01", 2000, 0),
            line("10.0.0.7", "02:00:00:00:00:02", 2000, 0),
            line("10.0.0.9", "02:00:00:00:00:02", 2000, 2),
        ]
        .concat();
        let leases = read(&text, 1500).unwrap();
        assert_eq!(addresses(&leases, ANN), ["10.0.0.8"]);
        assert_eq!(addresses(&leases, BOB), ["10.0.0.7"]);
        assert!(read(&text, 2000).unwrap().leases.is_empty(), "all have ended");
    }

    #[test]
    fn delegated_prefixes_of_kea_are_read_and_duids_give_ethernet_addresses() {
        let head = "address,duid,valid_lifetime,expire,subnet_id,pref_lifetime,lease_type,iaid,prefix_len,fqdn_fwd,fqdn_rev,hostname,hwaddr,state,user_context,hwtype,hwaddr_source,pool_id\n";
        let line = |address, duid, kind, bits, mac| {
            format!("{address},{duid},86400,4102444800,1,43200,{kind},1,{bits},0,0,,{mac},0,,1,2,0\n")
        };
        let ll = "00:03:00:01:02:00:00:00:00:01";
        let llt = "00:01:00:01:2A:03:51:F4:02:00:00:00:00:02";
        let text = [
            head.to_owned(),
            line("2001:db8:0:53::101", ll, 0, 128, "02:00:00:00:00:01"),
            line("2001:db8:aa00::", ll, 2, 56, ""),
            line("2001:db8:bb00::", llt, 2, 56, ""),
        ]
        .concat();
        let leases = read(&text, 1).unwrap();
        assert_eq!(addresses(&leases, ANN), ["2001:db8:0:53::101", "2001:db8:aa00::/56"]);
        assert_eq!(addresses(&leases, BOB), ["2001:db8:bb00::/56"]);
    }

    #[test]
    fn a_bad_line_is_skipped_and_a_file_without_good_ones_is_refused() {
        let good = "2000 02:00:00:00:00:01 10.0.0.7 ann *\n";
        let text = read(&format!("{good}2000 02:00:00:00:00:01 0.0.0.0 ann *\n2000 02:00:0"), 1).unwrap();
        assert_eq!(addresses(&text, ANN), ["10.0.0.7"]);
        let lines: Vec<String> = text.bad.iter().map(ToString::to_string).collect();
        assert!(lines[0].starts_with("line 2 is `0.0.0.0`; allowed: an address that"), "{lines:?}");
        assert!(lines[1].starts_with("line 3 is `2000 02:00:0`"), "{lines:?}");
        let head = "address,hwaddr,expire,state,lease_type,prefix_len\n";
        let text = format!(
            "{head}::,02:00:00:00:00:01,9,0,2,0\n10.0.0.7,02:00:00:00:00:01,9,0,0,128\n10.0.0.7,02:00"
        );
        let text = read(&text, 1).unwrap();
        assert_eq!(addresses(&text, ANN), ["10.0.0.7"]);
        let lines: BTreeSet<usize> = text.bad.iter().map(|bad| bad.line).collect();
        assert_eq!(lines, BTreeSet::from([2, 4]));
        assert_eq!(read("address,hwaddr\n", 1).unwrap_err().line, 1);
        assert!(read("[section]\n", 1).is_err());
    }

    #[test]
    fn only_an_address_of_two_devices_is_left_out_and_named() {
        let of = |text: &str| read(text, 1).unwrap();
        let files = [
            ("a".to_owned(), of("0 02:00:00:00:00:01 10.0.0.7 x *\n0 02:00:00:00:00:01 10.0.0.9 x *\n")),
            ("b".to_owned(), of("0 02:00:00:00:00:01 10.0.0.9 x *\n0 02:00:00:00:00:02 10.0.0.7 x *\n")),
        ];
        let (leases, contradictions) = joined(&files);
        assert_eq!(
            contradictions,
            ["10.0.0.7 is leased to 02:00:00:00:00:01 (a:1) and 02:00:00:00:00:02 (b:2)"]
        );
        let left: Vec<String> = leases[&ANN].keys().map(written).collect();
        assert_eq!((left.as_slice(), leases.len()), (&["10.0.0.9".to_owned()][..], 1));
    }
}
