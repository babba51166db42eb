//! Tables of the kernel's packet filter (`linux/netfilter/nf_tables.h`), for the gateway's router
//! mode and the NAT of tests.

use crate::request::{CREATE, HEADER_BYTES, Request, attribute, first_message, type_of};
use rustix::io::{Errno, write};
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, netlink, recv, socket_with};
use std::io;
use std::os::fd::OwnedFd;

/// A socket of the packet filter. When it is closed, its tables are deleted or remain, according to
/// their [`Persistence`].
#[derive(Debug)]
pub struct Nftables(OwnedFd);

/// A table's family, which decides which packets the table receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// IPv4 and IPv6.
    Inet = 1,
    /// Only IPv4.
    Ipv4 = 2,
    /// All frames of an interface.
    Netdev = 5,
}

/// A chain's hook and type.
#[derive(Clone, Copy, Debug)]
pub struct Hook<'a> {
    /// The chain's name.
    pub chain: &'a str,
    /// `filter` or `nat`.
    pub kind: &'a str,
    /// The hook's number in the family.
    pub number: u32,
    /// The priority; lower values run earlier.
    pub priority: i32,
    /// The interface, for the family `netdev`.
    pub device: Option<&'a str>,
}

/// The fate of a table when its owner's socket is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persistence {
    /// The table is deleted. Until then, no other process can change it.
    Goes,
    /// The table remains. Until the socket is closed, no other process can change it.
    Stays,
    /// The table remains, and every process may change it: for kernels before 6.9.
    StaysOpenToAll,
}

/// `NFT_TABLE_F_OWNER` and `NFT_TABLE_F_PERSIST`.
const OWNER: u32 = 2;
const PERSIST: u32 = 4;

impl Persistence {
    fn flags(self) -> u32 {
        match self {
            Persistence::Goes => OWNER,
            Persistence::Stays => OWNER | PERSIST,
            Persistence::StaysOpenToAll => 0,
        }
    }
}

impl Nftables {
    /// Opens a socket in this thread's network namespace.
    pub fn open() -> io::Result<Self> {
        let protocol = Some(netlink::NETFILTER);
        Ok(Nftables(socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, protocol)?))
    }

    /// Applies all of `batch`, or none of it.
    pub fn commit(&self, batch: Batch) -> io::Result<()> {
        self.exchange(&batch.finish())
    }

    /// Does a table of this name exist?
    pub fn has_table(&self, family: Family, name: &str) -> io::Result<bool> {
        let mut request = message(GET_TABLE, 0, family as u8, 0);
        request.text(TABLE_NAME, name);
        match self.exchange(&request.finish()) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The names of the tables of this family.
    pub fn tables(&self, family: Family) -> io::Result<Vec<String>> {
        write(&self.0, &message(GET_TABLE, libc::NLM_F_DUMP, family as u8, 0).finish())?;
        let (mut answer, mut names) = ([0; 8192], Vec::new());
        loop {
            let count = recv(&self.0, &mut answer[..], RecvFlags::empty())?.1;
            let mut rest = &answer[..count.min(8192)];
            errors(rest)?;
            while let Some((message, after)) = first_message(rest) {
                if i32::from(type_of(message)) == libc::NLMSG_DONE {
                    return Ok(names);
                }
                // Attributes follow struct nlmsghdr and struct nfgenmsg.
                let name = attribute(message.get(HEADER_BYTES + 4..).unwrap_or_default(), TABLE_NAME);
                let name = name.and_then(|name| name.strip_suffix(b"\0"));
                names.extend(name.map(|name| String::from_utf8_lossy(name).into_owned()));
                rest = after;
            }
        }
    }

    /// True if the packet filter has a flowtable, whose flows skip all hooks but the first. False
    /// on a kernel without flowtables.
    pub fn has_flowtable(&self) -> io::Result<bool> {
        let any = 0;
        write(&self.0, &message(GET_FLOWTABLE, libc::NLM_F_DUMP, any, 0).finish())?;
        let mut answer = [0; 8192];
        let count = recv(&self.0, &mut answer[..], RecvFlags::empty())?.1;
        let kind = answer[..count.min(8192)].get(4..6).map(|kind| u16::from_ne_bytes([kind[0], kind[1]]));
        Ok(kind == Some(NFTABLES << 8 | NEW_FLOWTABLE))
    }

    /// Sends `bytes` and reads all answers, which are available at once. Returns their first error.
    fn exchange(&self, bytes: &[u8]) -> io::Result<()> {
        write(&self.0, bytes)?;
        let mut answer = [0; 8192];
        let mut outcome = Ok(());
        loop {
            match recv(&self.0, &mut answer[..], RecvFlags::DONTWAIT) {
                Ok((_, count)) => outcome = outcome.and_then(|()| errors(&answer[..count.min(8192)])),
                Err(Errno::AGAIN) => return outcome,
                Err(Errno::INTR) => {}
                Err(error) => return outcome.and(Err(error.into())),
            }
        }
    }
}

fn errors(mut answer: &[u8]) -> io::Result<()> {
    while let Some((message, after)) = first_message(answer) {
        let code = message.get(HEADER_BYTES..).and_then(|rest| rest.first_chunk()).copied();
        let code =
            code.filter(|_| i32::from(type_of(message)) == libc::NLMSG_ERROR).map_or(0, u32::from_ne_bytes);
        if code != 0 {
            return Err(io::Error::from_raw_os_error(code.cast_signed().wrapping_neg()));
        }
        answer = after;
    }
    Ok(())
}

/// Changes to apply together.
pub struct Batch {
    bytes: Vec<u8>,
    family: Family,
    table: String,
}

impl Batch {
    /// Changes to `table`.
    pub fn of(family: Family, table: &str) -> Self {
        let bytes = message(libc::NFNL_MSG_BATCH_BEGIN as u16, 0, 0, NFTABLES).finish();
        Batch { bytes, family, table: table.to_owned() }
    }

    /// Creates the table anew, without its earlier contents.
    #[must_use]
    pub fn renew(self, fate: Persistence) -> Self {
        // Only an existing table can be deleted.
        self.add_table(0).delete().add_table(fate.flags())
    }

    fn add_table(self, flags: u32) -> Self {
        self.with(NEW_TABLE, libc::NLM_F_CREATE, TABLE_NAME, |request| request.number_be(TABLE_FLAGS, flags))
    }

    /// Deletes the table and its contents.
    #[must_use]
    pub fn delete(self) -> Self {
        self.with(DELETE_TABLE, 0, TABLE_NAME, |_| {})
    }

    /// Adds a chain at a hook.
    #[must_use]
    pub fn chain(self, hook: Hook<'_>) -> Self {
        self.with(NEW_CHAIN, CREATE, CHAIN_TABLE, |request| {
            request.text(CHAIN_NAME, hook.chain);
            request.nested(CHAIN_HOOK, |request| {
                request.number_be(HOOK_NUMBER, hook.number);
                request.number_be(HOOK_PRIORITY, hook.priority as u32);
                if let Some(device) = hook.device {
                    request.text(HOOK_DEVICE, device);
                }
            });
            request.text(CHAIN_TYPE, hook.kind);
        })
    }

    /// Appends a rule to a chain.
    #[must_use]
    pub fn rule(self, chain: &str, expressions: &[Expression<'_>]) -> Self {
        self.with(NEW_RULE, libc::NLM_F_CREATE | libc::NLM_F_APPEND, RULE_TABLE, |request| {
            request.text(RULE_CHAIN, chain);
            request.nested(RULE_EXPRESSIONS, |request| {
                for expression in expressions {
                    request.nested(LIST_ELEMENT, |request| expression.put(request));
                }
            });
        })
    }

    fn with(mut self, kind: u16, flags: i32, table: u16, rest: impl FnOnce(&mut Request)) -> Self {
        let mut request = message(kind, flags, self.family as u8, 0);
        request.text(table, &self.table);
        rest(&mut request);
        self.bytes.extend(request.finish());
        self
    }

    fn finish(mut self) -> Vec<u8> {
        self.bytes.extend(message(libc::NFNL_MSG_BATCH_END as u16, 0, 0, NFTABLES).finish());
        self.bytes
    }
}

/// A step of a rule. Steps share one register.
#[derive(Clone, Copy, Debug)]
pub enum Expression<'a> {
    /// Loads the packet's metadata with this key.
    Meta(u32),
    /// Copies the register into the packet's metadata with this key.
    SetMeta(u32),
    /// Loads the first four bytes of the Ethernet destination.
    DestinationStart,
    /// Loads the four bytes after the first EtherType: in a VLAN frame, the tag control information
    /// and the inner EtherType.
    InTag,
    /// Loads the source address of the IPv4 header.
    Ipv4Source,
    /// Loads the result with this number from the route lookup for the destination.
    RouteOfDestination(u32),
    /// Sets the register to `(register & mask) ^ xor`.
    Bits {
        /// The bits that are kept.
        mask: u32,
        /// The bits that are then inverted.
        xor: u32,
    },
    /// Continues if the register equals these bytes.
    Is(&'a [u8]),
    /// Continues if the register differs from these bytes.
    IsNot(&'a [u8]),
    /// Loads this number.
    Number(u32),
    /// Loads a port number, in network order.
    Port(u16),
    /// Sends the packet through the interface whose number is in the register.
    Send,
    /// Accepts it.
    Accept,
    /// Drops it.
    Drop,
    /// Masquerades the packet with the address of its output interface.
    Masquerade,
    /// Redirects the packet to this host, to the port in the register.
    Redirect,
}

impl Expression<'_> {
    fn put(self, request: &mut Request) {
        let name = match self {
            Expression::Meta(_) | Expression::SetMeta(_) => "meta",
            Expression::DestinationStart | Expression::InTag | Expression::Ipv4Source => "payload",
            Expression::RouteOfDestination(_) => "fib",
            Expression::Bits { .. } => "bitwise",
            Expression::Is(_) | Expression::IsNot(_) => "cmp",
            Expression::Send => "fwd",
            Expression::Number(_) | Expression::Port(_) | Expression::Accept | Expression::Drop => {
                "immediate"
            }
            Expression::Masquerade => "masq",
            Expression::Redirect => "redir",
        };
        request.text(EXPRESSION_NAME, name);
        request.nested(EXPRESSION_DATA, |request| self.put_data(request));
    }

    fn put_data(self, request: &mut Request) {
        let value = |request: &mut Request, kind: u16, bytes: &[u8]| {
            request.nested(kind, |request| request.attribute(DATA_VALUE, bytes));
        };
        match self {
            Expression::Meta(key) => numbers(request, &[(1, REGISTER), (2, key)]),
            Expression::SetMeta(key) => numbers(request, &[(2, key), (3, REGISTER)]),
            // These are the first four bytes of the link-layer header.
            Expression::DestinationStart => numbers(request, &[(1, REGISTER), (2, 0), (3, 0), (4, 4)]),
            Expression::InTag => numbers(request, &[(1, REGISTER), (2, 0), (3, 14), (4, 4)]),
            // These are four bytes of the network header, from offset 12.
            Expression::Ipv4Source => numbers(request, &[(1, REGISTER), (2, 1), (3, 12), (4, 4)]),
            Expression::RouteOfDestination(result) => {
                numbers(request, &[(1, REGISTER), (2, result), (3, FIB_DESTINATION)]);
            }
            Expression::Bits { mask, xor } => {
                numbers(request, &[(1, REGISTER), (2, REGISTER), (3, 4)]);
                value(request, 4, &mask.to_ne_bytes());
                value(request, 5, &xor.to_ne_bytes());
            }
            Expression::Is(bytes) => {
                numbers(request, &[(1, REGISTER), (2, 0)]);
                value(request, 3, bytes);
            }
            Expression::IsNot(bytes) => {
                numbers(request, &[(1, REGISTER), (2, 1)]);
                value(request, 3, bytes);
            }
            Expression::Number(number) => {
                numbers(request, &[(1, REGISTER)]);
                value(request, 2, &number.to_ne_bytes());
            }
            Expression::Port(port) => {
                numbers(request, &[(1, REGISTER)]);
                value(request, 2, &port.to_be_bytes());
            }
            Expression::Send | Expression::Redirect => numbers(request, &[(1, REGISTER)]),
            Expression::Accept | Expression::Drop => {
                let verdict = if matches!(self, Expression::Accept) { NF_ACCEPT } else { NF_DROP };
                numbers(request, &[(1, VERDICT)]);
                request.nested(2, |request| {
                    request.nested(DATA_VERDICT, |request| request.number_be(1, verdict));
                });
            }
            Expression::Masquerade => {}
        }
    }
}

fn numbers(request: &mut Request, all: &[(u16, u32)]) {
    all.iter().for_each(|(kind, value)| request.number_be(*kind, *value));
}

/// An interface's name in the 16 bytes that the kernel compares.
pub fn interface_name(name: &str) -> [u8; 16] {
    let mut padded = [0; 16];
    let len = name.len().min(15);
    padded[..len].copy_from_slice(&name.as_bytes()[..len]);
    padded
}

fn message(kind: u16, flags: i32, family: u8, resource: u16) -> Request {
    let subsystem = if resource == NFTABLES { 0 } else { NFTABLES << 8 };
    let mut request = Request::new(subsystem | kind, flags);
    request.raw(&[family, 0]);
    request.raw(&resource.to_be_bytes());
    request
}

/// `NFNL_SUBSYS_NFTABLES`.
const NFTABLES: u16 = 10;

// Numbers of `linux/netfilter/nf_tables.h`.
const NEW_TABLE: u16 = 0;
const GET_TABLE: u16 = 1;
const DELETE_TABLE: u16 = 2;
const NEW_FLOWTABLE: u16 = 22;
const GET_FLOWTABLE: u16 = 23;
const NEW_CHAIN: u16 = 3;
const NEW_RULE: u16 = 6;
const TABLE_NAME: u16 = 1;
const TABLE_FLAGS: u16 = 2;
const CHAIN_TABLE: u16 = 1;
const CHAIN_NAME: u16 = 3;
const CHAIN_HOOK: u16 = 4;
const CHAIN_TYPE: u16 = 7;
const HOOK_NUMBER: u16 = 1;
const HOOK_PRIORITY: u16 = 2;
const HOOK_DEVICE: u16 = 3;
const RULE_TABLE: u16 = 1;
const RULE_CHAIN: u16 = 2;
const RULE_EXPRESSIONS: u16 = 4;
const LIST_ELEMENT: u16 = 1;
const EXPRESSION_NAME: u16 = 1;
const EXPRESSION_DATA: u16 = 2;
const DATA_VALUE: u16 = 1;
const DATA_VERDICT: u16 = 2;
const VERDICT: u32 = 0;
const REGISTER: u32 = 1;
const FIB_DESTINATION: u32 = 2;
const NF_DROP: u32 = 0;
const NF_ACCEPT: u32 = 1;

/// Keys of [`Expression::Meta`].
pub mod meta {
    /// The EtherType after the first VLAN tag.
    pub const TYPE: u32 = 1;
    /// The packet's mark.
    pub const MARK: u32 = 3;
    /// The name of the input interface.
    pub const INPUT: u32 = 6;
    /// The name of the output interface.
    pub const OUTPUT: u32 = 7;
    /// The protocol in the IP packet, as one byte.
    pub const PROTOCOL: u32 = 16;
    /// The type of receiver that the Ethernet destination denotes, such as this host or a multicast
    /// group.
    pub const PACKET_TYPE: u32 = 19;
}

/// Results of [`Expression::RouteOfDestination`].
pub mod route {
    /// The name of the route's output interface.
    pub const OUTPUT: u32 = 2;
    /// The type of the route.
    pub const KIND: u32 = 3;
}

/// Numbers of hooks (`linux/netfilter.h`).
pub mod hook {
    /// Arriving packets before routing.
    pub const INET_PREROUTING: u32 = 0;
    /// Forwarded packets.
    pub const INET_FORWARD: u32 = 2;
    /// Leaving packets, once their interface is known.
    pub const INET_POSTROUTING: u32 = 4;
    /// Packets arriving at an interface.
    pub const NETDEV_INGRESS: u32 = 0;
    /// Packets leaving through an interface.
    pub const NETDEV_EGRESS: u32 = 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(error: i32) -> Vec<u8> {
        let mut bytes = 20_u32.to_ne_bytes().to_vec();
        bytes.extend((libc::NLMSG_ERROR as u16).to_ne_bytes());
        bytes.extend([0; 10]);
        bytes.extend(error.to_ne_bytes());
        bytes
    }

    #[test]
    fn the_first_error_of_several_answers_is_returned() {
        assert!(errors(&[answer(0), answer(0)].concat()).is_ok());
        let error = errors(&[answer(0), answer(-libc::EPERM), answer(-libc::ENOENT)].concat()).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EPERM));
    }

    #[test]
    fn the_reader_of_answers_survives_any_bytes() {
        for len in 0..64 {
            for fill in [0, 1, 16, 0xff] {
                let _ = errors(&vec![fill; len]);
            }
        }
    }

    #[test]
    fn a_batch_is_framed_and_its_messages_address_the_packet_filter() {
        let hook = Hook { chain: "c", kind: "filter", number: 2, priority: -1, device: Some("lan0") };
        let batch = Batch::of(Family::Netdev, "t")
            .renew(Persistence::Goes)
            .chain(hook)
            .rule("c", &[Expression::Accept]);
        let bytes = batch.finish();
        let (mut at, mut kinds) = (0, Vec::new());
        while at < bytes.len() {
            let len = u32::from_ne_bytes(*bytes[at..].first_chunk().unwrap()) as usize;
            assert_eq!(len % 4, 0);
            kinds.push(u16::from_ne_bytes([bytes[at + 4], bytes[at + 5]]));
            at += len;
        }
        assert_eq!(kinds, [16, 0xa00, 0xa02, 0xa00, 0xa03, 0xa06, 17]);
        assert_eq!(&interface_name("lan0")[..5], b"lan0\0");
    }
}
