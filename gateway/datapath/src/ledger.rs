//! The fate of every packet: totals that must balance.

use fairwire_core::Cause;

/// The reason why the gateway, and not its discipline, lost a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Loss {
    /// An invalid super-packet or partial checksum.
    Malformed,
    /// The packet is longer than the gateway's buffers.
    TooLong,
    /// Every buffer of the gateway was in use.
    NoBuffer,
    /// The outgoing interface is down, or its queue is full.
    Refused,
    /// The packet is not IP, and exceeded the rate for bypassing the discipline.
    NotIp,
    /// The packet is longer than the outgoing interface accepts.
    OverMtu,
    /// The packet came back by the interface by which it had left, like many packets before it.
    Looped,
    /// The packet's subscriber is suspended.
    Suspended,
    /// The Ethernet address, PPPoE session or VLAN tags of an upload do not match its subscriber's.
    Spoofed,
}

impl Loss {
    /// All variants, in numerical order.
    pub const ALL: [Loss; 9] = [
        Loss::Malformed,
        Loss::TooLong,
        Loss::NoBuffer,
        Loss::Refused,
        Loss::NotIp,
        Loss::OverMtu,
        Loss::Looped,
        Loss::Suspended,
        Loss::Spoofed,
    ];

    /// The name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Loss::Malformed => "malformed",
            Loss::TooLong => "too-long",
            Loss::NoBuffer => "no-buffer",
            Loss::Refused => "refused",
            Loss::NotIp => "not-ip",
            Loss::OverMtu => "over-mtu",
            Loss::Looped => "looped",
            Loss::Suspended => "suspended",
            Loss::Spoofed => "spoofed",
        }
    }
}

/// Totals of one direction since the start. Each segment of a super-packet counts as a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Frames received; a super-packet counts once.
    pub frames_received: u64,
    /// Packets that arrived.
    pub packets_in: u64,
    /// Bytes of packets that arrived, as counted on the shaped link.
    pub bytes_in: u64,
    /// Packets sent on.
    pub packets_out: u64,
    /// Bytes that began to be sent, as counted on the shaped link.
    pub bytes_out: u64,
    /// Packets sent on without the discipline: ARP and similar packets, or all packets if nothing
    /// is shaped.
    pub unshaped: u64,
    /// Arrived packets whose codepoint was cleared.
    pub washed: u64,
    /// Drops by the discipline, in the order of [`Cause::ALL`].
    pub dropped: [u64; Cause::ALL.len()],
    /// Marks by the discipline, in the order of [`Cause::ALL`].
    pub marked: [u64; Cause::ALL.len()],
    /// Losses in the gateway, in the order of [`Loss::ALL`].
    pub lost: [u64; Loss::ALL.len()],
    /// Packets handed over to a process that took over.
    pub handed_over: u64,
}

impl Totals {
    /// Is every packet that arrived accounted for, if `inside` packets are still in the gateway?
    pub fn is_balanced(&self, inside: usize) -> bool {
        self.packets_in == self.packets_out + self.packets_gone() + self.handed_over + inside as u64
    }

    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &Totals) {
        self.frames_received += other.frames_received;
        self.packets_in += other.packets_in;
        self.bytes_in += other.bytes_in;
        self.packets_out += other.packets_out;
        self.bytes_out += other.bytes_out;
        self.unshaped += other.unshaped;
        self.washed += other.washed;
        self.handed_over += other.handed_over;
        let add =
            |sums: &mut [u64], counts: &[u64]| sums.iter_mut().zip(counts).for_each(|(sum, n)| *sum += n);
        add(&mut self.dropped, &other.dropped);
        add(&mut self.marked, &other.marked);
        add(&mut self.lost, &other.lost);
    }

    /// Packets dropped or lost.
    pub fn packets_gone(&self) -> u64 {
        self.dropped.iter().sum::<u64>() + self.lost.iter().sum::<u64>()
    }
}
