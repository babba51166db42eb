/* fairwire: queue disciplines that share a link fairly. Licence: MIT or Apache-2.0.
 *
 * cbindgen writes this file from foundation/c/src. How to use it: docs/how-to/embed-in-c.md.
 *
 * Rules for all functions:
 * - A pointer is null only where that is allowed; null elsewhere gives FW_ERROR_NULL. Any other
 *   pointer must point to what its type says, and a text must end with a zero.
 * - Two threads may use different queues at the same time, and one queue one after the other.
 * - A callback must not leave by longjmp or by an exception. Inside of it a call for its own queue
 *   gives FW_ERROR_BUSY, and fw_free of it does nothing.
 * - Memory is taken by fw_build and fw_build_own alone, and given back by fw_free: by malloc and
 *   free of the process. The Rust that this is written in cannot take another allocator for one
 *   queue. Where memory is short, fw_build ends the process.
 * - FW_ERROR_FAULT is a fault of ours or of a discipline in C; what is known of it goes to stderr.
 * - No function reads a clock or starts a thread, and none keeps anything outside of its queue.
 */

#ifndef FAIRWIRE_H
#define FAIRWIRE_H

#include <stddef.h>
#include <stdint.h>

/*
 Done.
 */
#define FW_OK 0

/*
 A pointer is null where that is not allowed.
 */
#define FW_ERROR_NULL -1

/*
 The library and the header have different versions of this interface.
 */
#define FW_ERROR_ABI -2

/*
 No law has the name.
 */
#define FW_ERROR_NAME -3

/*
 The parameters cannot be read, or a text is not UTF-8.
 */
#define FW_ERROR_TEXT -4

/*
 A parameter or the site is out of range.
 */
#define FW_ERROR_PARAMETER -5

/*
 The time is before that of an earlier call, or above INT64_MAX.
 */
#define FW_ERROR_TIME -6

/*
 A packet's size is 0 or above UINT32_MAX, or a field is invalid.
 */
#define FW_ERROR_PACKET -7

/*
 A batch is larger than FW_BATCH.
 */
#define FW_ERROR_BATCH -8

/*
 The output does not fit; nothing was done.
 */
#define FW_ERROR_ROOM -9

/*
 Too many drops wait for delivery to a list; the packet stays with the caller.
 */
#define FW_ERROR_EVENTS -10

/*
 Another call for the queue is in progress.
 */
#define FW_ERROR_BUSY -11

/*
 The class has no weight that can be set, or the new weight is not allowed.
 */
#define FW_ERROR_WEIGHT -12

/*
 A fault of the library, or of a discipline in C; the queue can only be freed.
 */
#define FW_ERROR_FAULT -13

/*
 The version of this interface, for fw_build. Programs must be recompiled for a new version.
 */
#define FW_ABI_VERSION 1

/*
 The maximum number of packets in a batch.
 */
#define FW_BATCH 256

/*
 A packet was dropped: it belongs to the caller again.
 */
#define FW_DROP 1

/*
 A packet was marked CE and stays in the queue.
 */
#define FW_MARK 2

/*
 The buffer was full and the arrival was refused.
 */
#define FW_CAUSE_OVERFLOW 0

/*
 The buffer was full and this waiting packet made room for another.
 */
#define FW_CAUSE_PUSH_OUT 1

/*
 A random early decision, before the buffer was full.
 */
#define FW_CAUSE_EARLY 2

/*
 An early decision that was certain, as when an average is above its upper threshold.
 */
#define FW_CAUSE_FORCED 3

/*
 The flow has no tokens left.
 */
#define FW_CAUSE_NO_TOKENS 4

/*
 The packet does not fit even into an empty buffer.
 */
#define FW_CAUSE_OVERSIZE 5

/*
 A later packet makes the acknowledgement in this waiting packet redundant.
 */
#define FW_CAUSE_SUPERSEDED 6

/*
 A queue, opaque to callers.
 */
typedef struct fw_queue fw_queue;

/*
 The receiver of drops and marks from a discipline in C, valid during one call.
 */
typedef struct fw_signals fw_signals;

/*
 The link, the buffer and the seed of a queue.
 */
typedef struct fw_site {
  /*
   The rate of the link, in bit/s, above 0.
   */
  uint64_t rate_bps;
  /*
   The size of the buffer, unless the parameters set it: "780 packets", "64 KiB" or "100 ms".
   */
  const char *buffer;
  /*
   The seed of the law's random numbers.
   */
  uint64_t seed;
  /*
   The size of a typical packet on the wire, such as 1514.
   */
  uint32_t packet_bytes;
  /*
   Zero.
   */
  uint32_t reserved;
} fw_site;

/*
 A packet. Its bytes stay with the caller. Set unused fields to zero.
 */
typedef struct fw_packet {
  /*
   The caller's value, returned unchanged.
   */
  uint64_t cookie;
  /*
   The flow: see fw_flow_hash.
   */
  uint64_t flow;
  /*
   The time of the enqueue, in nanoseconds, written by the library.
   */
  uint64_t arrived;
  /*
   Bytes on the wire, from 1 to UINT32_MAX.
   */
  uint64_t len;
  /*
   The class; 0 if there is none.
   */
  uint32_t class_id;
  /*
   The ECN codepoint: 0 not capable, 1 ECT(1), 2 ECT(0), 3 CE. A mark makes it 3.
   */
  uint8_t ecn;
  /*
   The differentiated-services codepoint, 0 to 63.
   */
  uint8_t dscp;
  /*
   Drop precedence: 0 green, 1 yellow, 2 red.
   */
  uint8_t color;
  /*
   Zero.
   */
  uint8_t reserved;
} fw_packet;

/*
 A discipline written in C. Only `free` may be null.

 Each packet enters once, and leaves once: by `dequeue`, `drain` or fw_dropped. The discipline
 must not change the packet's `cookie` and `arrived`. One thread at a time calls the functions,
 and `now` never decreases.
 */
typedef struct fw_discipline {
  /*
   FW_ABI_VERSION.
   */
  uint32_t abi;
  /*
   Zero.
   */
  uint32_t reserved;
  /*
   The first argument of the functions.
   */
  void *state;
  /*
   Handles an arrival. If `is_full` is not 0, the backlog must not grow: drop this packet or
   others.
   */
  void (*enqueue)(void *state,
                  const struct fw_packet *packet,
                  int32_t is_full,
                  uint64_t now,
                  struct fw_signals *signals);
  /*
   Writes the packet that leaves next and returns 1, or returns 0 if no packet may leave.
   */
  int32_t (*dequeue)(void *state, struct fw_packet *packet, uint64_t now, struct fw_signals *signals);
  /*
   Writes the earliest time at which a dequeue is useful and returns 1, or returns 0 when
   empty.
   */
  int32_t (*ready_at)(void *state, uint64_t *at);
  /*
   Writes the backlog.
   */
  void (*backlog)(void *state, uint32_t *packets, uint64_t *bytes);
  /*
   Removes any one waiting packet, without reporting a drop. Writes the packet and returns 1,
   or returns 0 when empty.
   */
  int32_t (*drain)(void *state, struct fw_packet *packet);
  /*
   Frees the state; may be null.
   */
  void (*free)(void *state);
} fw_discipline;

/*
 A drop or a mark of a packet during a call.
 */
typedef struct fw_event {
  /*
   The packet.
   */
  struct fw_packet packet;
  /*
   FW_DROP or FW_MARK.
   */
  uint32_t kind;
  /*
   Why: FW_CAUSE_…
   */
  uint32_t cause;
} fw_event;

/*
 The callback for a drop or mark. It runs inside the call that causes the event.
 */
typedef void (*fw_on_event)(void *user, const struct fw_event *event);

/*
 A list into which calls write drops and marks. The queue's callback must not touch the list.
 */
typedef struct fw_events {
  /*
   The caller's array.
   */
  struct fw_event *list;
  /*
   Its length.
   */
  uint32_t room;
  /*
   The number of events that the latest call wrote, from the beginning of the array.
   */
  uint32_t count;
  /*
   The number of drops without room in the array. The next call with a list writes them first.
   Marks without room are lost.
   */
  uint32_t kept;
} fw_events;

/*
 A backlog.
 */
typedef struct fw_backlog_size {
  /*
   Packets.
   */
  uint64_t packets;
  /*
   Bytes.
   */
  uint64_t bytes;
} fw_backlog_size;

/*
 A gauge of a law, for dashboards.
 */
typedef struct fw_gauge {
  /*
   The names of the component and of the gauge, such as "class 7/backlog", cut to fit.
   */
  char name[64];
  /*
   The unit of the gauge, such as "packets", "B" or "1".
   */
  char unit[16];
  /*
   Its value.
   */
  double value;
} fw_gauge;

/*
 A 5-tuple. Addresses are in network byte order, ports in host byte order.
 */
typedef struct fw_tuple {
  /*
   4 or 6.
   */
  uint8_t version;
  /*
   The IP protocol, such as 6 for TCP and 17 for UDP.
   */
  uint8_t protocol;
  /*
   The sender's port; both ports are 0 if the packet has none.
   */
  uint16_t source_port;
  /*
   The receiver's port.
   */
  uint16_t destination_port;
  /*
   The sender's address; an IPv4 address is in the first four bytes.
   */
  uint8_t source[16];
  /*
   The receiver's address; an IPv4 address is in the first four bytes.
   */
  uint8_t destination[16];
} fw_tuple;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Returns the version of this library's interface: FW_ABI_VERSION in the library's header.
 */
uint32_t fw_abi_version(void);

/*
 The version of this library, such as "0.1.0".
 */
const char *fw_version(void);

/*
 The meaning of a code. Never null.
 */
const char *fw_text(int32_t code);

/*
 Writes the name of law `number`, counted from 0, with its terminating zero. Combined names such
 as "drr+faba" are also valid, but have no number.

 Returns 1, or 0 after the last law. Errors: FW_ERROR_NULL; FW_ERROR_ROOM if the name does not
 fit.
 */
int32_t fw_law(uint32_t number, char *name, size_t room);

/*
 Builds a queue with the law called `name` for `site`.

 `abi` is FW_ABI_VERSION. `parameters` is TOML text, as under the law's name in a scenario file;
 null or empty means the defaults. `*queue` receives the queue, or null after an error. If
 `message` is not null, it receives the text of an error: at most `room` bytes, including the
 terminating zero.

 Errors: FW_ERROR_NULL, FW_ERROR_ABI, FW_ERROR_NAME, FW_ERROR_TEXT, FW_ERROR_PARAMETER.
 */
int32_t fw_build(uint32_t abi,
                 const char *name,
                 const char *parameters,
                 const struct fw_site *site,
                 struct fw_queue **queue,
                 char *message,
                 size_t room);

/*
 Builds a queue with a discipline written in C. `capacity`, from 1 to 16777216, is the maximum
 number of waiting packets.

 Errors: FW_ERROR_NULL, FW_ERROR_ABI, FW_ERROR_PARAMETER. If there is no error, fw_free will call
 `discipline->free`.
 */
int32_t fw_build_own(uint32_t abi,
                     const struct fw_discipline *discipline,
                     uint32_t capacity,
                     struct fw_queue **queue);

/*
 Frees a queue, which may be null or broken by a fault. A call from a callback of the queue does
 nothing.

 Waiting packets are lost: call fw_drain first if their cookies own something.
 */
void fw_free(struct fw_queue *queue);

/*
 The latest error code that a call for this queue returned; FW_OK if none.
 */
int32_t fw_last_error(const struct fw_queue *queue);

/*
 Sets the callback that receives drops and marks. With a callback, event lists stay empty. A null
 `function` removes the callback.

 Errors: FW_ERROR_NULL, FW_ERROR_BUSY, FW_ERROR_FAULT.
 */
int32_t fw_set_callback(struct fw_queue *queue, fw_on_event function, void *user);

/*
 Enqueues a packet at `now`, in nanoseconds. `events` lists the drops, of this packet or others,
 and the marks; it may be null. With neither a list nor a callback, drops are forgotten.

 Returns 1. Errors: FW_ERROR_NULL, FW_ERROR_TIME, FW_ERROR_PACKET, FW_ERROR_EVENTS,
 FW_ERROR_BUSY, FW_ERROR_FAULT; the packet then stays with the caller.
 */
int32_t fw_enqueue(struct fw_queue *queue,
                   const struct fw_packet *packet,
                   uint64_t now,
                   struct fw_events *events);

/*
 Enqueues `count` packets, at most FW_BATCH, in order and all at `now`.

 Returns the number of enqueued packets. The first packet that cannot be enqueued, and all
 packets after it, stay with the caller. Errors: FW_ERROR_BATCH, and those of fw_enqueue for the
 first packet.
 */
int32_t fw_enqueue_batch(struct fw_queue *queue,
                         const struct fw_packet *packets,
                         uint32_t count,
                         uint64_t now,
                         struct fw_events *events);

/*
 Dequeues the next packet at `now` into `*packet`. Call this whenever the link becomes free, even
 if no packet waits: some laws must know when the link is idle.

 Returns 1, or 0 if no packet may leave yet: see fw_ready_at. Errors: FW_ERROR_NULL,
 FW_ERROR_TIME, FW_ERROR_BUSY, FW_ERROR_FAULT.
 */
int32_t fw_dequeue(struct fw_queue *queue,
                   uint64_t now,
                   struct fw_packet *packet,
                   struct fw_events *events);

/*
 Dequeues up to `room` packets, at most FW_BATCH, all at `now`.

 Returns the number of packets. Errors: as fw_dequeue, and FW_ERROR_BATCH.
 */
int32_t fw_dequeue_batch(struct fw_queue *queue,
                         uint64_t now,
                         struct fw_packet *packets,
                         uint32_t room,
                         struct fw_events *events);

/*
 Writes to `*at` the earliest time at which a dequeue is useful if no other packet arrives.

 Returns 1. If no packet waits, returns 0 and writes UINT64_MAX. Errors: FW_ERROR_NULL,
 FW_ERROR_BUSY, FW_ERROR_FAULT.
 */
int32_t fw_ready_at(struct fw_queue *queue, uint64_t *at);

/*
 Writes the backlog to `*backlog`. Errors: FW_ERROR_NULL, FW_ERROR_BUSY, FW_ERROR_FAULT.
 */
int32_t fw_backlog(struct fw_queue *queue, struct fw_backlog_size *backlog);

/*
 Writes up to `room` gauges of the law; `gauges` may be null if `room` is 0.

 Returns the law's number of gauges, which may exceed `room`. Errors: FW_ERROR_NULL,
 FW_ERROR_BUSY, FW_ERROR_FAULT.
 */
int32_t fw_inspect(struct fw_queue *queue, struct fw_gauge *gauges, uint32_t room);

/*
 Empties the queue into `packets` without consulting the law. Also writes the drops that the
 library kept because a list was full. The queue remains usable.

 Returns the number of packets. Errors: FW_ERROR_ROOM, without any effect, if there are more than
 `room` packets; FW_ERROR_NULL, FW_ERROR_BUSY, FW_ERROR_FAULT.
 */
int32_t fw_drain(struct fw_queue *queue, struct fw_packet *packets, uint32_t room);

/*
 Sets the weight, 10^-6 to 10^6, of a class that has a weight in the parameters. Writes the
 previous weight to `*before` unless `before` is null.

 Errors: FW_ERROR_WEIGHT, FW_ERROR_NULL, FW_ERROR_BUSY, FW_ERROR_FAULT.
 */
int32_t fw_set_weight(struct fw_queue *queue, uint32_t class_id, double weight, double *before);

/*
 Writes the flow of a 5-tuple to `*flow`: a hash keyed with the 16 bytes at `key`. A random and
 secret key prevents a sender from aiming at another's flow.

 Errors: FW_ERROR_NULL; FW_ERROR_PACKET if the version is neither 4 nor 6.
 */
int32_t fw_flow_hash(const uint8_t *key, const struct fw_tuple *tuple, uint64_t *flow);

/*
 Reads the headers of an Ethernet frame of `len` bytes. Sets `flow`, `len`, `ecn` and `dscp` of
 `*packet`; all other fields become zero.

 The flow is the hash that fw_flow_hash computes. If the headers are unreadable, the flow is a
 hash of the Ethernet addresses and type.

 Errors: FW_ERROR_NULL.
 */
int32_t fw_flow_hash_frame(const uint8_t *key,
                           const uint8_t *frame,
                           size_t len,
                           struct fw_packet *packet);

/*
 Reports a dropped packet, which has left the discipline. An unknown cause counts as
 FW_CAUSE_EARLY. With a null pointer, nothing happens.
 */
void fw_dropped(struct fw_signals *signals, const struct fw_packet *packet, uint32_t cause);

/*
 Reports a marked packet, which stays in the discipline. Set its `ecn` to 3 first. With a null
 pointer, nothing happens.
 */
void fw_marked(struct fw_signals *signals, const struct fw_packet *packet, uint32_t cause);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FAIRWIRE_H */
