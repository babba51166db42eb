//! Computes the flow of a packet.

use crate::types::{fw_packet, fw_tuple};
use core::net::{Ipv4Addr, Ipv6Addr};
use fairwire_wire::flow_key::Tuple;
use fairwire_wire::headers::Ports;
use fairwire_wire::{FlowHasher, FlowKey, parse};

/// The hash of a 5-tuple under a secret key; `None` if the version is neither 4 nor 6.
pub fn of_tuple(key: [u8; 16], tuple: &fw_tuple) -> Option<u64> {
    let &fw_tuple { version, protocol, source_port, destination_port, source, destination } = tuple;
    let has_ports = source_port != 0 || destination_port != 0;
    let ports = has_ports.then_some(Ports { source: source_port, destination: destination_port });
    let first = |[a, b, c, d, ..]: [u8; 16]| Ipv4Addr::new(a, b, c, d);
    let flow = match version {
        4 => {
            let (source, destination) = (first(source), first(destination));
            FlowKey::Ipv4(Tuple { source, destination, protocol, ports })
        }
        6 => {
            let (source, destination) = (Ipv6Addr::from(source), Ipv6Addr::from(destination));
            FlowKey::Ipv6(Tuple { source, destination, protocol, ports })
        }
        _ => return None,
    };
    Some(FlowHasher::new(key).hash(&flow).0)
}

/// The packet that the headers of an Ethernet frame describe: its flow, size, ECN and DSCP.
pub fn of_frame(key: [u8; 16], frame: &[u8]) -> fw_packet {
    let headers = parse(frame);
    let flow = FlowHasher::new(key).hash(&headers.flow_key(frame)).0;
    let (ecn, dscp) = (headers.ecn() as u8, headers.dscp());
    fw_packet { flow, len: frame.len() as u64, ecn, dscp, ..fw_packet::default() }
}
