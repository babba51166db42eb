//! The codes that functions return: zero or a count for success, below zero for an error.

use core::ffi::CStr;

/// Done.
pub const FW_OK: i32 = 0;
/// A pointer is null where that is not allowed.
pub const FW_ERROR_NULL: i32 = -1;
/// The library and the header have different versions of this interface.
pub const FW_ERROR_ABI: i32 = -2;
/// No law has the name.
pub const FW_ERROR_NAME: i32 = -3;
/// The parameters cannot be read, or a text is not UTF-8.
pub const FW_ERROR_TEXT: i32 = -4;
/// A parameter or the site is out of range.
pub const FW_ERROR_PARAMETER: i32 = -5;
/// The time is before that of an earlier call, or above INT64_MAX.
pub const FW_ERROR_TIME: i32 = -6;
/// A packet's size is 0 or above UINT32_MAX, or a field is invalid.
pub const FW_ERROR_PACKET: i32 = -7;
/// A batch is larger than FW_BATCH.
pub const FW_ERROR_BATCH: i32 = -8;
/// The output does not fit; nothing was done.
pub const FW_ERROR_ROOM: i32 = -9;
/// Too many drops wait for delivery to a list; the packet stays with the caller.
pub const FW_ERROR_EVENTS: i32 = -10;
/// Another call for the queue is in progress.
pub const FW_ERROR_BUSY: i32 = -11;
/// The class has no weight that can be set, or the new weight is not allowed.
pub const FW_ERROR_WEIGHT: i32 = -12;
/// A fault of the library, or of a discipline in C; the queue can only be freed.
pub const FW_ERROR_FAULT: i32 = -13;

/// The meaning of a code.
pub fn text(code: i32) -> &'static CStr {
    match code {
        0.. => c"done",
        FW_ERROR_NULL => c"a pointer is null where that is not allowed",
        FW_ERROR_ABI => c"the library has another version of the interface than the header",
        FW_ERROR_NAME => c"no law has this name",
        FW_ERROR_TEXT => c"the parameters cannot be read, or a text is not UTF-8",
        FW_ERROR_PARAMETER => c"a parameter or the site is outside of what is allowed",
        FW_ERROR_TIME => c"the time is before that of an earlier call, or above INT64_MAX",
        FW_ERROR_PACKET => c"a packet has a size of 0 or above UINT32_MAX, or a field without such a value",
        FW_ERROR_BATCH => c"a batch has more than FW_BATCH packets",
        FW_ERROR_ROOM => c"what would be written does not fit into the room given",
        FW_ERROR_EVENTS => c"too many drops were not yet taken",
        FW_ERROR_BUSY => c"the queue is inside of another call",
        FW_ERROR_WEIGHT => c"the class has no weight that could be set, or not to this",
        FW_ERROR_FAULT => c"a fault of the library or of a discipline in C; the queue can only be freed",
        _ => c"there is no such code",
    }
}
