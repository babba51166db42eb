//! Only `fw_build` allocates memory, and only `fw_free` releases it.
#![allow(unsafe_code, reason = "the functions are called as C calls them")]

use core::ptr::{null, null_mut};
use fairwire_c::border::*;
use fairwire_c::code::FW_OK;
use fairwire_c::types::*;
use fairwire_laws::named;
use fairwire_testing::CountingAllocator;
use std::ffi::CString;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

fn main() {
    let both = ["drr+faba", "wf2q++red", "sfq+codel"];
    let names: Vec<&str> = named::ALL.iter().map(|law| law.name).chain(both).collect();
    for name in &names {
        let live = ALLOCATOR.live_bytes();
        one(name);
        assert_eq!(ALLOCATOR.live_bytes(), live, "{name} keeps memory after it was freed");
    }
    println!("test result: ok. {} passed; 0 failed; 0 ignored", names.len());
}

fn one(name: &str) {
    let law = CString::new(name).expect("no zero");
    let (rate_bps, buffer, seed) = (10_000_000, c"50 packets".as_ptr(), 7);
    let site = fw_site { rate_bps, buffer, seed, packet_bytes: 1514, reserved: 0 };
    let mut queue = null_mut();
    let mut list = [fw_event::default(); 4];
    let mut events = fw_events { list: list.as_mut_ptr(), room: 4, count: 0, kept: 0 };
    let mut out = [fw_packet::default(); 64];
    // SAFETY: all pointers are to values here, the texts end with a zero, and the queue is freed once.
    unsafe {
        let parameters = null();
        assert_eq!(
            fw_build(FW_ABI_VERSION, law.as_ptr(), parameters, &site, &raw mut queue, null_mut(), 0),
            FW_OK
        );
        let allocations = ALLOCATOR.allocations();
        let mut drops = 0;
        for step in 0..20_000u64 {
            let now = step * 100_000;
            let packet = fw_packet {
                cookie: step,
                flow: step % 7,
                len: 60 + step % 1400,
                ecn: 2,
                ..fw_packet::default()
            };
            assert_eq!(fw_enqueue(queue, &packet, now, &raw mut events), 1, "{name}, step {step}");
            drops += events.count;
            if step % 4 == 0 {
                fw_dequeue_batch(queue, now, out.as_mut_ptr(), 3, &raw mut events);
            }
            if step % 5000 == 0 {
                fw_drain(queue, out.as_mut_ptr(), 64);
                fw_inspect(queue, null_mut(), 0);
            }
        }
        assert!(drops > 0, "{name} was never full");
        assert_eq!(ALLOCATOR.allocations(), allocations, "{name} allocates after it was built");
        fw_free(queue);
    }
}
