// Package fairwire has queue disciplines that share a link fairly: a Queue decides which packets wait,
// which are dropped or marked, and which one leaves next. A Qdisc puts one in front of a link, in the
// shape that network stacks such as gVisor's netstack give theirs.
//
// It calls libfairwire, which `make c` builds: pkg-config must find it.
package fairwire

// #cgo pkg-config: fairwire
// #include <stdlib.h>
// #include <fairwire.h>
import "C"

import (
	"errors"
	"runtime"
	"time"
	"unsafe"
)

// Packet describes a packet. Its bytes stay with the caller, who finds them again by the Cookie.
type Packet struct {
	Cookie  uint64        // the caller's own, returned as it was
	Flow    uint64        // packets of one value are one flow: see FlowHash
	Arrived time.Duration // when it was enqueued; what is given is not read
	Len     uint64        // bytes on the wire, from 1 to 2^32 - 1
	Class   uint32        // 0 if there is none
	ECN     uint8         // 0 not capable, 1 ECT(1), 2 ECT(0), 3 CE
	DSCP    uint8         // 0 to 63
	Color   uint8         // drop precedence: 0 green, 1 yellow, 2 red
}

// Kind says what happened to a packet.
type Kind uint32

const (
	Dropped Kind = C.FW_DROP // it is the caller's again
	Marked  Kind = C.FW_MARK // it stays in the queue, with ECN 3
)

// Causes of drops and marks; fairwire.h explains them.
const (
	CauseOverflow   uint32 = C.FW_CAUSE_OVERFLOW
	CausePushOut    uint32 = C.FW_CAUSE_PUSH_OUT
	CauseEarly      uint32 = C.FW_CAUSE_EARLY
	CauseForced     uint32 = C.FW_CAUSE_FORCED
	CauseNoTokens   uint32 = C.FW_CAUSE_NO_TOKENS
	CauseOversize   uint32 = C.FW_CAUSE_OVERSIZE
	CauseSuperseded uint32 = C.FW_CAUSE_SUPERSEDED
	CauseClosed     uint32 = 1<<32 - 1 // of a Qdisc alone: the packet waited at Close
)

// Event is a drop or a mark, with its cause.
type Event struct {
	Packet Packet
	Kind   Kind
	Cause  uint32
}

// Site is where a queue works.
type Site struct {
	Rate        uint64 // of the link, in bit/s
	Buffer      string // "780 packets", "64 KiB" or "100 ms", unless the parameters say it
	PacketBytes uint32 // of a typical packet; 1514 if 0
	Seed        uint64
}

// Batch is the maximum number of packets in one call.
const Batch = C.FW_BATCH

// Error is an error of the library: its code, and a sentence.
type Error struct {
	Code int
	Text string
}

func (e *Error) Error() string { return "fairwire: " + e.Text }

// ErrClosed is returned after Close.
var ErrClosed = errors.New("fairwire: the queue is closed")

// Queue is a discipline. One goroutine at a time may use it.
type Queue struct {
	queue  *C.fw_queue
	memory *memory // of C: nothing that Go moves is seen there
	events []Event
	now    C.uint64_t // of the latest call that was allowed
}

// memory is what calls read and write.
type memory struct {
	events  C.fw_events
	list    [64]C.fw_event
	packets [Batch]C.fw_packet
}

// New builds a queue with the law of this name, such as "faba" or "drr+red". The parameters are TOML,
// a key in each line; empty for the defaults. Close frees it.
func New(law, parameters string, site Site) (*Queue, error) {
	if site.PacketBytes == 0 {
		site.PacketBytes = 1514
	}
	var message [1024]C.char
	texts := [...]*C.char{C.CString(law), C.CString(parameters), C.CString(site.Buffer)}
	place := (*C.fw_site)(C.calloc(1, C.sizeof_fw_site))
	defer func() {
		for _, text := range texts {
			C.free(unsafe.Pointer(text))
		}
		C.free(unsafe.Pointer(place))
	}()
	place.rate_bps, place.buffer, place.seed = C.uint64_t(site.Rate), texts[2], C.uint64_t(site.Seed)
	place.packet_bytes = C.uint32_t(site.PacketBytes)
	var built *C.fw_queue
	code := C.fw_build(C.FW_ABI_VERSION, texts[0], texts[1], place, &built, &message[0], C.size_t(len(message)))
	if code < 0 {
		return nil, &Error{int(code), C.GoString(&message[0])}
	}
	q := &Queue{queue: built, memory: (*memory)(C.calloc(1, C.size_t(unsafe.Sizeof(memory{}))))}
	q.memory.events.list, q.memory.events.room = &q.memory.list[0], C.uint32_t(len(q.memory.list))
	runtime.SetFinalizer(q, (*Queue).Close)
	return q, nil
}

// Close frees the queue. Packets that wait are forgotten: Drain it first where that matters.
func (q *Queue) Close() {
	if q.queue != nil {
		C.fw_free(q.queue)
		C.free(unsafe.Pointer(q.memory))
		q.queue, q.memory = nil, nil
		runtime.SetFinalizer(q, nil)
	}
}

// Enqueue offers packets in their order at a time that is not before that of an earlier call. It
// returns how many were taken, at most Batch; the others stay with the caller. Events says what was
// dropped.
func (q *Queue) Enqueue(now time.Duration, packets ...Packet) (int, error) {
	if q.queue == nil {
		return 0, ErrClosed
	}
	if len(packets) == 0 {
		return 0, nil
	}
	if len(packets) > Batch {
		packets = packets[:Batch]
	}
	for i, p := range packets {
		q.memory.packets[i] = C.fw_packet{
			cookie: C.uint64_t(p.Cookie), flow: C.uint64_t(p.Flow), len: C.uint64_t(p.Len),
			class_id: C.uint32_t(p.Class), ecn: C.uint8_t(p.ECN), dscp: C.uint8_t(p.DSCP), color: C.uint8_t(p.Color),
		}
	}
	m := q.memory
	taken, err := counted(C.fw_enqueue_batch(q.queue, &m.packets[0], C.uint32_t(len(packets)), C.uint64_t(now), &m.events))
	q.read(now, err)
	return taken, err
}

// Dequeue writes the packets that leave next, at most Batch, and returns how many. Call it whenever
// the link becomes free, also when nothing waits.
func (q *Queue) Dequeue(now time.Duration, out []Packet) (int, error) {
	if q.queue == nil {
		return 0, ErrClosed
	}
	if len(out) > Batch {
		out = out[:Batch]
	}
	m := q.memory
	taken, err := counted(C.fw_dequeue_batch(q.queue, C.uint64_t(now), &m.packets[0], C.uint32_t(len(out)), &m.events))
	for i := range out[:taken] {
		out[i] = packet(&m.packets[i])
	}
	q.read(now, err)
	return taken, err
}

// Events is what the latest call dropped and marked: valid until the next.
func (q *Queue) Events() []Event { return q.events }

// read takes all events, also those for which the list had no room.
func (q *Queue) read(now time.Duration, err error) {
	if err == nil {
		q.now = C.uint64_t(now)
	}
	q.events = q.events[:0]
	for {
		for i := range q.memory.list[:q.memory.events.count] {
			e := &q.memory.list[i]
			q.events = append(q.events, Event{packet(&e.packet), Kind(e.kind), uint32(e.cause)})
		}
		if q.memory.events.kept == 0 {
			return
		}
		// An empty batch brings no packet, and the drops that were kept.
		if C.fw_enqueue_batch(q.queue, nil, 0, q.now, &q.memory.events) < 0 {
			return
		}
	}
}

// ReadyAt is the earliest time at which Dequeue is useful; false if nothing waits.
func (q *Queue) ReadyAt() (time.Duration, bool) {
	var at C.uint64_t
	waits := q.queue != nil && C.fw_ready_at(q.queue, &at) == 1
	return time.Duration(at), waits
}

// Backlog is the number of packets that wait, and their bytes.
func (q *Queue) Backlog() (packets, bytes uint64) {
	var size C.fw_backlog_size
	if q.queue != nil {
		C.fw_backlog(q.queue, &size)
	}
	return uint64(size.packets), uint64(size.bytes)
}

// Drain hands back all that waits. No law is consulted, and the queue stays usable.
func (q *Queue) Drain() []Packet {
	waiting, _ := q.Backlog()
	if waiting == 0 {
		return nil
	}
	out := make([]C.fw_packet, waiting)
	taken := max(C.fw_drain(q.queue, &out[0], C.uint32_t(waiting)), 0)
	packets := make([]Packet, taken)
	for i := range packets {
		packets[i] = packet(&out[i])
	}
	return packets
}

// FlowHash is the flow of an Ethernet frame, with its length, ECN and DSCP; the key is secret, so that
// no sender can aim for another's flow.
func FlowHash(key *[16]byte, frame []byte) Packet {
	var found C.fw_packet
	if len(frame) > 0 {
		C.fw_flow_hash_frame((*C.uint8_t)(&key[0]), (*C.uint8_t)(&frame[0]), C.size_t(len(frame)), &found)
	}
	return packet(&found)
}

func packet(p *C.fw_packet) Packet {
	return Packet{
		uint64(p.cookie), uint64(p.flow), time.Duration(p.arrived), uint64(p.len),
		uint32(p.class_id), uint8(p.ecn), uint8(p.dscp), uint8(p.color),
	}
}

func counted(code C.int32_t) (int, error) {
	if code < 0 {
		return 0, &Error{int(code), C.GoString(C.fw_text(code))}
	}
	return int(code), nil
}
