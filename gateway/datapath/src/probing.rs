//! Removal from hash tables with open addressing and linear probing.

/// The slot whose entry moves to the empty slot `free`, to keep probe chains whole (Knuth, The Art
/// of Computer Programming, volume 3, section 6.4, algorithm R). `None` if the chain ends first.
///
/// `last` is the last of 2^n slots, at least one of which is empty. `first` returns the slot where
/// the search for a slot's entry begins; `None` for an empty slot.
pub(crate) fn next_to_move(
    free: usize,
    last: usize,
    first: impl Fn(usize) -> Option<usize>,
) -> Option<usize> {
    let mut slot = free;
    loop {
        slot = (slot + 1) & last;
        // The entry moves if its search passes `free` before it reaches `slot`.
        if slot.wrapping_sub(first(slot)?) & last >= slot.wrapping_sub(free) & last {
            return Some(slot);
        }
    }
}
