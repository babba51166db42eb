//! Leases of DHCP servers: which addresses an Ethernet address has, from the files that dnsmasq and
//! Kea keep.
//!
//! dnsmasq has a line for each lease: when it ends, in seconds since 1970 (0: never), the Ethernet
//! address, the IP address, a name and an identifier (dnsmasq(8), `--dhcp-leasefile`). From a line
//! `duid` on there are those of DHCPv6, which have no Ethernet address, and are passed over.
//!
//! Kea has a CSV file with the columns `address`, `hwaddr`, `expire` and `state`. The last line for
//! an address counts, and state 0 is a lease in use (Kea Administrator Reference Manual, memfile).

use fairwire_datapath::classify::parse_mac;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// The addresses of each Ethernet address.
pub type Leases = BTreeMap<[u8; 6], BTreeSet<IpAddr>>;

/// Why a file is none of leases.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is `{given}`; allowed: {allowed}")]
pub struct BadLeases {
    /// Which line, from 1.
    pub line: usize,
    /// What it is.
    pub given: String,
    /// What may be there.
    pub allowed: &'static str,
}

/// The leases in `text` that are in use at `now_s`, seconds since 1970.
///
/// # Errors
/// Where a line is none of dnsmasq's, or a column of Kea's is missing. A line that is cut at the
/// end of the text is one.
pub fn read(text: &str, now_s: u64) -> Result<Leases, BadLeases> {
    match text.lines().next() {
        Some(head) if head.starts_with("address,") => of_kea(text, now_s),
        _ => of_dnsmasq(text, now_s),
    }
}

fn bad(line: usize, given: &str, allowed: &'static str) -> BadLeases {
    BadLeases { line, given: fairwire_document::shortened(given), allowed }
}

fn of_dnsmasq(text: &str, now_s: u64) -> Result<Leases, BadLeases> {
    let mut leases = Leases::new();
    for (number, line) in (1..).zip(text.lines()) {
        let refused = || {
            bad(
                number,
                line,
                "TIME MAC ADDRESS NAME ID, as dnsmasq writes it, or a file of Kea's with a line of column names",
            )
        };
        if line.is_empty() {
            continue;
        }
        if line.starts_with("duid ") {
            break;
        }
        let words: Vec<&str> = line.split(' ').collect();
        let [ends, mac, address, _, _] = words[..] else { return Err(refused()) };
        let ends: u64 = ends.parse().map_err(|_| refused())?;
        let address: IpAddr = address.parse().map_err(|_| refused())?;
        // Before it there may be a number of the kind of network; Ethernet has none.
        let Some(mac) = parse_mac(mac) else { continue };
        if ends == 0 || ends > now_s {
            leases.entry(mac).or_default().insert(address);
        }
    }
    Ok(leases)
}

fn of_kea(text: &str, now_s: u64) -> Result<Leases, BadLeases> {
    let mut lines = (1..).zip(text.lines());
    let head = lines.next().map_or("", |(_, head)| head);
    let names: Vec<&str> = head.split(',').collect();
    let column = |name| names.iter().position(|known| *known == name);
    let (Some(address), Some(hwaddr), Some(expire), Some(state)) =
        (column("address"), column("hwaddr"), column("expire"), column("state"))
    else {
        return Err(bad(1, head, "columns `address`, `hwaddr`, `expire` and `state`, as Kea writes them"));
    };
    // Of each address the last line.
    let mut last: BTreeMap<IpAddr, Option<[u8; 6]>> = BTreeMap::new();
    for (number, line) in lines.filter(|(_, line)| !line.is_empty()) {
        let refused = || bad(number, line, "a value for each column of the first line");
        let values: Vec<&str> = line.split(',').collect();
        if values.len() < names.len() {
            return Err(refused());
        }
        let ip: IpAddr = values[address].parse().map_err(|_| refused())?;
        let ends: u64 = values[expire].parse().map_err(|_| refused())?;
        let is_used = values[state] == "0" && ends > now_s;
        last.insert(ip, parse_mac(values[hwaddr]).filter(|_| is_used));
    }
    let mut leases = Leases::new();
    for (address, mac) in last {
        if let Some(mac) = mac {
            leases.entry(mac).or_default().insert(address);
        }
    }
    Ok(leases)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANN: [u8; 6] = [2, 0, 0, 0, 0, 1];
    const BOB: [u8; 6] = [2, 0, 0, 0, 0, 2];

    fn addresses(leases: &Leases, mac: [u8; 6]) -> Vec<String> {
        leases.get(&mac).into_iter().flatten().map(ToString::to_string).collect()
    }

    #[test]
    fn leases_of_dnsmasq_count_until_they_end() {
        let text = "2000 02:00:00:00:00:01 10.0.0.7 ann 01:02:00:00:00:00:01\n\
                    1000 02:00:00:00:00:02 10.0.0.8 * *\n\
                    0 02:00:00:00:00:02 10.0.0.9 * *\n\
                    duid 00:01:00:01\n1 33 fd00::7 ann 00:01\n";
        let leases = read(text, 1500).unwrap();
        assert_eq!(addresses(&leases, ANN), ["10.0.0.7"]);
        assert_eq!(addresses(&leases, BOB), ["10.0.0.9"]);
        assert_eq!(read(text, 3000).unwrap().len(), 1, "one never ends");
        assert_eq!(read("", 1).unwrap().len(), 0);
    }

    #[test]
    fn of_an_address_the_last_line_of_kea_counts() {
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
        assert_eq!(read(&text, 2000).unwrap().len(), 0, "all have ended");
    }

    #[test]
    fn a_line_that_is_cut_and_another_file_are_refused_with_their_line() {
        let cut = read("2000 02:00:00:00:00:01 10.0.0.7 ann *\n2000 02:00:0", 1).unwrap_err();
        assert_eq!(cut.line, 2);
        assert_eq!(read("address,hwaddr\n", 1).unwrap_err().line, 1);
        let cut = read("address,hwaddr,expire,state\n10.0.0.7,02:00", 1).unwrap_err();
        assert_eq!((cut.line, cut.given.as_str()), (2, "10.0.0.7,02:00"));
        assert!(read("[section]\n", 1).is_err());
    }
}
