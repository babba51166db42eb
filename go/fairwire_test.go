package fairwire

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
)

var site = Site{Rate: 10_000_000, Buffer: "20 packets", Seed: 1}

func built(t *testing.T, law, parameters string) *Queue {
	t.Helper()
	q, err := New(law, parameters, site)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	return q
}

func TestTwoFlowsHaveHalfOfTheLinkEach(t *testing.T) {
	q := built(t, "drr+lqd", "")
	sent := map[uint64]int{}
	inside := map[uint64]bool{}
	cookie := uint64(0)
	for turn := 0; turn < 3000; turn++ {
		now := time.Duration(turn) * 800 * time.Microsecond
		for _, flow := range []uint64{0, 1, 1, 1} {
			cookie++
			inside[cookie] = true
			if n, err := q.Enqueue(now, Packet{Cookie: cookie, Flow: flow, Len: 1000}); n != 1 || err != nil {
				t.Fatal(n, err)
			}
			for _, e := range q.Events() {
				if e.Kind != Dropped || !inside[e.Packet.Cookie] {
					t.Fatal(e)
				}
				delete(inside, e.Packet.Cookie)
			}
		}
		var out [1]Packet
		if n, err := q.Dequeue(now, out[:]); n != 1 || err != nil || !inside[out[0].Cookie] {
			t.Fatal(n, err, out)
		}
		delete(inside, out[0].Cookie)
		sent[out[0].Flow]++
	}
	if sent[0] < 1490 || sent[0] > 1510 {
		t.Fatal(sent)
	}
	if waiting, bytes := q.Backlog(); int(waiting) != len(inside) || bytes != waiting*1000 || len(q.Drain()) != len(inside) {
		t.Fatal(waiting, bytes, len(inside))
	}
}

func TestWrongCallsReturnErrors(t *testing.T) {
	for _, c := range [][3]string{
		{"fabba", "", "did you mean `faba`?"},
		{"red", "gentel = true", "did you mean `gentle`?"},
		{"red", "}{", "line 1"},
	} {
		if _, err := New(c[0], c[1], site); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Fatal(c, err)
		}
	}
	q := built(t, "tail-drop", "")
	var wrong *Error
	if _, err := q.Enqueue(0, Packet{Len: 0}); !errors.As(err, &wrong) || wrong.Code != -7 {
		t.Fatal(err)
	}
	if _, err := q.Enqueue(-1, Packet{Len: 1}); !errors.As(err, &wrong) || wrong.Code != -6 {
		t.Fatal(err)
	}
	if n, err := q.Enqueue(0); n != 0 || err != nil {
		t.Fatal(n, err)
	}
	q.Close()
	q.Close()
	if _, err := q.Dequeue(0, make([]Packet, 1)); err != ErrClosed {
		t.Fatal(err)
	}
	if _, waits := q.ReadyAt(); waits || q.Drain() != nil {
		t.Fatal("something waits in a closed queue")
	}
}

func TestABatchMayDropMoreThanTheListHolds(t *testing.T) {
	q := built(t, "tail-drop", "")
	all := make([]Packet, 100)
	for i := range all {
		all[i] = Packet{Cookie: uint64(i), Len: 100}
	}
	left := map[uint64]bool{}
	for len(all) > 0 { // 20 wait, and a call has room for 65 drops
		n, err := q.Enqueue(0, all...)
		if n == 0 || err != nil {
			t.Fatal(n, err)
		}
		for _, e := range q.Events() {
			left[e.Packet.Cookie] = true
		}
		all = all[n:]
	}
	if waiting, _ := q.Backlog(); waiting != 20 || len(left) != 80 {
		t.Fatal(waiting, len(left))
	}
}

func TestAFrameHasItsFlow(t *testing.T) {
	frame := []byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0xba, 0, 28, 0, 1, 0x40, 0, 64, 17,
		0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x0f, 0xa0, 0, 53, 0, 8, 0, 0}
	one := FlowHash(&[16]byte{1}, frame)
	frame[35]++
	other := FlowHash(&[16]byte{1}, frame)
	if one.Len != 42 || one.ECN != 2 || one.DSCP != 46 || one.Flow == 0 || one.Flow == other.Flow {
		t.Fatal(one, other)
	}
	if (FlowHash(&[16]byte{1}, nil) != Packet{}) {
		t.Fatal("an empty frame has a flow")
	}
}

// virtual is a clock that goes on when the Qdisc waits.
type virtual struct {
	mutex sync.Mutex
	now   time.Duration
}

func (v *virtual) Now() time.Duration {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	return v.now
}

func (v *virtual) After(wait time.Duration) <-chan time.Time {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.now += wait
	passed := make(chan time.Time, 1)
	passed <- time.Time{}
	return passed
}

// log keeps when each packet left.
type log struct {
	clock *virtual
	sent  chan time.Duration
	gate  chan struct{}
}

func (l *log) WritePacket(p string, mark bool) error {
	<-l.gate
	l.sent <- l.clock.Now()
	return nil
}

func TestAQdiscSendsAtTheRateAndLosesNothing(t *testing.T) {
	clock := &virtual{}
	link := &log{clock, make(chan time.Duration, 100), make(chan struct{})}
	var dropped []string
	d := NewQdisc(Config[string]{
		Queue: built(t, "drr+lqd", ""), Link: link, Rate: 10_000_000, Clock: clock,
		Describe: func(p string) Packet { return Packet{Flow: uint64(p[0]), Len: 1250} },
		Dropped:  func(p string, _ uint32) { dropped = append(dropped, p) },
	})
	for i := 0; i < 30; i++ {
		if err := d.WritePacket(string(rune('a' + i%3))); err != nil {
			t.Fatal(err)
		}
	}
	close(link.gate) // nothing left before
	var last time.Duration
	sent := 0
	for sent+len30(d, &dropped) < 30 {
		at := <-link.sent
		if sent > 0 && at-last != time.Millisecond { // 1250 bytes at 10 Mbit/s
			t.Fatal(sent, at, last)
		}
		last = at
		sent++
	}
	d.Close()
	d.Close()
	if err := d.WritePacket("late"); err != ErrClosed {
		t.Fatal(err)
	}
	if sent+len(dropped) != 30 || len(dropped) < 9 {
		t.Fatal(sent, len(dropped))
	}
}

func len30(d *Qdisc[string], dropped *[]string) int {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return len(*dropped)
}

func TestTheBacklogIsReturnedAtTheEnd(t *testing.T) {
	link := &log{&virtual{}, make(chan time.Duration, 100), make(chan struct{})}
	back := 0
	d := NewQdisc(Config[string]{
		Queue: built(t, "tail-drop", ""), Link: link, Rate: 1000,
		Describe: func(string) Packet { return Packet{Len: 1500} },
		Dropped: func(_ string, cause uint32) {
			if cause == CauseClosed {
				back++
			}
		},
	})
	for i := 0; i < 10; i++ {
		if err := d.WritePacket("x"); err != nil {
			t.Fatal(err)
		}
	}
	close(link.gate)
	<-link.sent // the first; the next leaves 12 s later
	d.Close()
	if back != 9 {
		t.Fatal(back)
	}
}

func TestDroppedMayCallTheQdisc(t *testing.T) {
	link := &log{&virtual{}, make(chan time.Duration, 100), make(chan struct{})}
	var d *Qdisc[string]
	tries := 0
	d = NewQdisc(Config[string]{
		Queue: built(t, "tail-drop", "buffer = '1 packet'"), Link: link, Rate: 1000,
		Describe: func(string) Packet { return Packet{Len: 1500} },
		Dropped: func(p string, cause uint32) {
			if tries++; cause == CauseOverflow && tries < 3 {
				_ = d.WritePacket(p)
			}
		},
	})
	for i := 0; i < 3; i++ {
		if err := d.WritePacket("x"); err != nil {
			t.Fatal(err)
		}
	}
	close(link.gate)
	d.Close()
	if tries < 3 {
		t.Fatal(tries)
	}
}

func BenchmarkInAndOut(b *testing.B) {
	q, err := New("faba", "", site)
	if err != nil {
		b.Fatal(err)
	}
	defer q.Close()
	var out [1]Packet
	for i := 0; i < b.N; i++ {
		now := time.Duration(i) * time.Microsecond
		q.Enqueue(now, Packet{Flow: uint64(i % 8), Len: 1000})
		q.Dequeue(now, out[:])
	}
}
