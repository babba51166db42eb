use super::*;
use proptest::prelude::*;

#[derive(Clone, Copy)]
struct Writer {
    is_big: bool,
}

const WRITERS: [Writer; 2] = [Writer { is_big: true }, Writer { is_big: false }];

impl Writer {
    fn u16(self, value: u16) -> [u8; 2] {
        if self.is_big { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    fn u32(self, value: u32) -> [u8; 4] {
        if self.is_big { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    fn u64(self, value: u64) -> [u8; 8] {
        if self.is_big { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    fn classic_header(self, magic: u32) -> Vec<u8> {
        let mut file = self.u32(magic).to_vec();
        file.extend(self.u16(2));
        file.extend(self.u16(4));
        for word in [0, 0, 65_535, 1] {
            file.extend(self.u32(word));
        }
        file
    }

    fn classic_record(self, stamp: (u32, u32), data: &[u8], bytes: u32) -> Vec<u8> {
        let words = [stamp.0, stamp.1, data.len() as u32, bytes];
        let mut record: Vec<u8> = words.into_iter().flat_map(|word| self.u32(word)).collect();
        record.extend(data);
        record
    }

    fn block(self, kind: u32, body: &[u8]) -> Vec<u8> {
        let padded = body.len().next_multiple_of(4);
        let len = self.u32((padded + 12) as u32);
        let mut block = [self.u32(kind), len].concat();
        block.extend(body);
        block.resize(8 + padded, 0);
        block.extend(len);
        block
    }

    fn section(self) -> Vec<u8> {
        let body = [&self.u32(0x1a2b_3c4d)[..], &self.u16(1), &self.u16(0), &self.u64(u64::MAX)].concat();
        self.block(blocks::SECTION, &body)
    }

    fn interface(self, link_type: u16, options: &[(u16, &[u8])]) -> Vec<u8> {
        let mut body = [&self.u16(link_type)[..], &self.u16(0), &self.u32(0)].concat();
        for (code, value) in options {
            body.extend(self.u16(*code));
            body.extend(self.u16(value.len() as u16));
            body.extend(*value);
            body.resize(body.len().next_multiple_of(4), 0);
        }
        self.block(1, &body)
    }

    fn enhanced(self, interface: u32, units: u64, data: &[u8], bytes: u32) -> Vec<u8> {
        let words = [interface, (units >> 32) as u32, units as u32, data.len() as u32, bytes];
        let mut body: Vec<u8> = words.into_iter().flat_map(|word| self.u32(word)).collect();
        body.extend(data);
        body.resize(body.len().next_multiple_of(4), 0);
        body.extend(self.u16(1)); // a comment
        body.extend(self.u16(2));
        body.extend(b"hi\0\0");
        self.block(6, &body)
    }
}

fn read(file: &[u8]) -> Result<Vec<Record<'_>>, CaptureError> {
    records(file)?.collect()
}

fn frame(port: u16) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00];
    frame.extend([0x45, 0x02, 0, 28, 0, 1, 0x40, 0, 64, 17, 0x26, 0xcc, 10, 0, 0, 1, 10, 0, 0, 2]);
    frame.extend(port.to_be_bytes());
    frame.extend([0, 53, 0, 8, 0, 0]);
    frame
}

fn with_tos(mut frame: Vec<u8>, tos: u8) -> Vec<u8> {
    frame[15] = tos;
    frame
}

#[test]
fn a_pcap_file_is_read_in_either_byte_order_and_resolution() {
    for writer in WRITERS {
        for (magic, unit_ns) in [(0xa1b2_c3d4, 1_000), (0xa1b2_3c4d, 1)] {
            let file = [
                writer.classic_header(magic),
                writer.classic_record((7, 250), &[1, 2, 3], 1500),
                writer.classic_record((8, 999_999), &[], 60),
            ]
            .concat();
            let expected = [
                Record {
                    time_ns: 7_000_000_000 + 250 * unit_ns,
                    bytes: 1500,
                    link_type: 1,
                    data: &[1, 2, 3],
                    traced_at: None,
                },
                Record {
                    time_ns: 8_000_000_000 + 999_999 * unit_ns,
                    bytes: 60,
                    link_type: 1,
                    data: &[],
                    traced_at: None,
                },
            ];
            assert_eq!(read(&file).expect("a capture"), expected);
        }
    }
}

#[test]
fn a_pcapng_file_is_read_with_its_interfaces_and_options() {
    for writer in WRITERS {
        let offset = writer.u64(100);
        let file = [
            writer.section(),
            writer.interface(1, &[(2, b"eth0"), (9, &[9]), (0, &[])]),
            writer.interface(101, &[(14, &offset)]),
            writer.interface(1, &[(9, &[0x80 | 10])]),
            writer.block(5, &[0; 20]), // statistics
            writer.enhanced(0, 5_000_000_123, &[1, 2, 3, 4, 5], 1514),
            writer.enhanced(1, 2_000_001, &[9], 1),
            writer.enhanced(2, 1024 + 512, &[], 60),
        ]
        .concat();
        let expected = [
            Record {
                time_ns: 5_000_000_123,
                bytes: 1514,
                link_type: 1,
                data: &[1, 2, 3, 4, 5],
                traced_at: None,
            },
            Record { time_ns: 102_000_001_000, bytes: 1, link_type: 101, data: &[9], traced_at: None },
            Record { time_ns: 1_500_000_000, bytes: 60, link_type: 1, data: &[], traced_at: None },
        ];
        assert_eq!(read(&file).expect("a capture"), expected);
    }
}

#[test]
fn every_section_has_its_own_byte_order_and_interfaces() {
    let sections = WRITERS
        .map(|writer| [writer.section(), writer.interface(1, &[]), writer.enhanced(0, 3, &[7], 64)].concat());
    let file = sections.concat();
    assert_eq!(read(&file).expect("a capture").len(), 2);
    let writer = WRITERS[0];
    let without = [sections[0].clone(), writer.section(), writer.enhanced(0, 3, &[7], 64)].concat();
    let at = sections[0].len() + writer.section().len();
    assert_eq!(read(&without), Err(CaptureError::Interface { at, given: 0 }));
}

#[test]
fn obsolete_packet_blocks_are_read() {
    let writer = WRITERS[1];
    let words = [0, 4_000_000, 4, 90].into_iter().flat_map(|word| writer.u32(word));
    let mut body = [writer.u16(0), writer.u16(3)].concat();
    body.extend(words);
    body.extend([1, 2, 3, 4]);
    let file = [writer.section(), writer.interface(1, &[]), writer.block(2, &body)].concat();
    let expected =
        Record { time_ns: 4_000_000_000, bytes: 90, link_type: 1, data: &[1, 2, 3, 4], traced_at: None };
    assert_eq!(read(&file), Ok(vec![expected]));
}

#[test]
fn bad_and_truncated_captures_are_errors_with_an_offset() {
    let writer = WRITERS[0];
    assert_eq!(read(b"GIF8").map(drop), Err(CaptureError::NoCapture { given: b"GIF8".to_vec() }));
    assert_eq!(read(&[]).map(drop), Err(CaptureError::NoCapture { given: Vec::new() }));
    let header = writer.classic_header(0xa1b2_c3d4);
    assert_eq!(read(&header[..23]).map(drop), Err(CaptureError::Truncated { at: 0 }));
    let record = writer.classic_record((1, 0), &[0; 40], 40);
    let short = [&header[..], &record, &record[..55]].concat();
    assert_eq!(read(&short).map(drop), Err(CaptureError::Truncated { at: 24 + 56 }));
    let mut long = [&header[..], &record].concat();
    long[24 + 8] = 0xff;
    assert_eq!(read(&long).map(drop), Err(CaptureError::Length { at: 24, given: 0xff00_0028 }));
    let mut other = header.clone();
    other[5] = 3;
    assert_eq!(read(&other).map(drop), Err(CaptureError::Version { at: 4, given: 3, allowed: 2 }));
}

#[test]
fn blocks_that_contradict_themselves_are_errors() {
    let writer = WRITERS[0];
    let (section, interface) = (writer.section(), writer.interface(1, &[]));
    let at = section.len();
    let with = |block: Vec<u8>| read(&[section.clone(), block].concat()).map(drop);
    let changed = |at: usize, value: u8| {
        let mut block = interface.clone();
        block[at] = value;
        block
    };
    assert_eq!(with(changed(7, 8)), Err(CaptureError::Length { at, given: 8 }));
    assert_eq!(with(changed(7, 21)), Err(CaptureError::Length { at, given: 21 }));
    assert_eq!(with(changed(7, 24)), Err(CaptureError::Truncated { at }));
    assert_eq!(with(changed(19, 24)), Err(CaptureError::Length { at, given: 20 }));
    assert_eq!(with(writer.block(3, &[0; 8])), Err(CaptureError::NoTime { at }));
    assert_eq!(with(writer.block(6, &[0; 8])), Err(CaptureError::Short { at }));
    assert_eq!(with(writer.block(1, &[0, 1, 0, 0])), Err(CaptureError::Short { at })); // no longest capture
    // Half an offset.
    assert_eq!(with(writer.interface(1, &[(14, &[0; 4])])), Err(CaptureError::Short { at }));
    let mut captured = writer.enhanced(0, 0, &[], 60);
    captured[8 + 15] = 200;
    let at = at + interface.len();
    assert_eq!(with([interface.clone(), captured].concat()), Err(CaptureError::Length { at, given: 200 }));
    let mut section = section.clone();
    section[8] = 0;
    assert_eq!(read(&section).map(drop), Err(CaptureError::ByteOrder { at: 0 }));
}

#[test]
fn offered_load_is_in_order_of_time_and_separates_flows() {
    let writer = WRITERS[1];
    let file = [
        writer.classic_header(0xa1b2_c3d4),
        writer.classic_record((10, 500), &frame(4000), 1500),
        writer.classic_record((10, 300), &with_tos(frame(4001), 1), 60),
        writer.classic_record((10, 900), &frame(4000), 1200),
        writer.classic_record((10, 950), &[], 0),
        writer.classic_record((11, 300), &[1], 700),
    ]
    .concat();
    let of = |us, bytes, flow, ecn| Offered { at: Duration::from_us(us), bytes, flow, ecn };
    let expected = [
        of(0, 60, 1, Ecn::Ect1),
        of(200, 1500, 0, Ecn::Ect0),
        of(600, 1200, 0, Ecn::Ect0),
        of(1_000_000, 700, 2, Ecn::NotEct),
    ];
    assert_eq!(offered(&file).expect("a capture"), expected);
}

#[test]
fn a_packet_of_our_trace_counts_once_at_its_first_interface() {
    let writer = WRITERS[1];
    let path = |port, us| {
        (0..3)
            .map(move |place| writer.enhanced(place, us + u64::from(place), &frame(port), 1000))
            .collect::<Vec<_>>()
    };
    // One packet passes all three interfaces. One is lost after the first interface. One enters at
    // the second.
    let lost = writer.enhanced(0, 20, &frame(4000), 500);
    let packets = [path(4000, 10), vec![lost], path(4001, 30)[1..].to_vec()].concat().concat();
    let of = |program: &[u8]| {
        let start =
            [&writer.u32(0x1a2b_3c4d)[..], &writer.u16(1), &writer.u16(0), &writer.u64(u64::MAX)].concat();
        let options = [(3, &b"any"[..]), (4, program), (0, &[])].map(|(code, value)| {
            let mut option = [writer.u16(code), writer.u16(value.len() as u16)].concat();
            option.extend(value);
            option.resize(option.len().next_multiple_of(4), 0);
            option
        });
        let section = writer.block(blocks::SECTION, &[start, options.concat()].concat());
        let file = [section, writer.interface(1, &[]).repeat(3), packets.clone()].concat();
        offered(&file)
            .expect("a capture")
            .iter()
            .map(|packet| (packet.flow, packet.bytes))
            .collect::<Vec<_>>()
    };
    assert_eq!(of(b"fairwire 0.1.0"), [(0, 1000), (0, 500), (1, 1000)]);
    assert_eq!(of(b"dumpcap").len(), 6);
}

#[test]
fn unreadable_frames_are_counted_and_unknown_link_types_are_refused() {
    let writer = WRITERS[0];
    let file = |link_type, data: &[u8]| {
        [writer.section(), writer.interface(link_type, &[]), writer.enhanced(0, 1, data, 100)].concat()
    };
    let mut encrypted = vec![0x08, 0x41];
    encrypted.resize(60, 0);
    for (data, count) in [(&encrypted[..], 1), (&[0x80, 0], 1), (&[0xd4], 1)] {
        let notes = notes(&file(105, data)).expect("a capture");
        assert!(notes.len() == 1 && notes[0].starts_with(&format!("{count} of its packets")), "{notes:?}");
    }
    assert_eq!(notes(&file(1, &frame(1))), Ok(Vec::new()));
    let error = seen(&file(189, &frame(1))).expect_err("USB").to_string();
    assert!(error.contains("link type 189 (USB of Linux)") && error.contains("Ethernet (1)"), "{error}");
    assert!(error.contains("IPv4 and IPv6 (228, 229)"), "{error}");
    assert_eq!(seen(&file(9999, &[])), Err(CaptureError::LinkType { given: 9999 }));
}

#[test]
fn a_truncated_capture_has_its_complete_packets_and_a_note() {
    for writer in WRITERS {
        let classic: Vec<Vec<u8>> =
            (1..4).map(|n| writer.classic_record((n, 0), &frame(n as u16), 90)).collect();
        let blocks: Vec<Vec<u8>> = (1..4).map(|n| writer.enhanced(0, n, &frame(n as u16), 90)).collect();
        let heads =
            [writer.classic_header(0xa1b2_c3d4), [writer.section(), writer.interface(1, &[])].concat()];
        for (head, records) in heads.into_iter().zip([classic, blocks]) {
            let file = [&head[..], &records.concat()].concat();
            let whole = seen(&file).expect("a capture");
            assert_eq!(notes(&file), Ok(Vec::new()));
            let (third, first) = (file.len() - records[2].len(), head.len() + records[0].len());
            for cut in [third + 1, third + 8, file.len() - 1] {
                assert_eq!(seen(&file[..cut]).as_deref(), Ok(&whole[..2]), "cut at {cut}");
                let note = format!(
                    "it ends in the record or block at byte {third}; packets before it, which are taken: 2"
                );
                assert_eq!(notes(&file[..cut]), Ok(vec![note]));
            }
            let none = CaptureError::Truncated { at: head.len() };
            assert_eq!(seen(&file[..first - 1]), Err(none), "there is no whole packet");
        }
    }
}

proptest! {
    #[test]
    fn it_survives_any_bytes_after_any_header(
        link_type in 0u16..300,
        bytes in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        let _ = link::seen(link_type, &bytes);
    }

    #[test]
    fn it_survives_arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for writer in WRITERS {
            let _ = offered(&bytes);
            let _ = offered(&[writer.classic_header(0xa1b2_c3d4), bytes.clone()].concat());
            let _ = offered(&[writer.section(), writer.interface(1, &[]), bytes.clone()].concat());
            let _ = offered(&[writer.section(), writer.block(1, &bytes), writer.block(6, &bytes)].concat());
        }
    }

    #[test]
    fn a_damaged_file_is_read_or_refused(at in 0usize..400, value: u8, cut in 0usize..400) {
        for writer in WRITERS {
            let resolution: &[u8] = &[3];
            let mut file = [
                writer.section(),
                writer.interface(1, &[(9, resolution), (14, &writer.u64(u64::MAX / 2))]),
                writer.enhanced(0, u64::MAX, &frame(1), 90),
                writer.enhanced(0, 7, &frame(2), 90),
            ]
            .concat();
            if let Some(byte) = file.get_mut(at) {
                *byte = value;
            }
            let cut = cut.min(file.len());
            for packet in offered(&file[..cut]).unwrap_or_default() {
                prop_assert!((1..=MAX_BYTES).contains(&packet.bytes));
            }
        }
    }
}
