package fairwire

import (
	"sync"
	"time"
)

// Link is what a Qdisc writes to.
type Link[P any] interface {
	// WritePacket sends a packet, which Describe described; mark is true where its ECN field must
	// become CE.
	WritePacket(packet P, mark bool) error
}

// Clock is what a Qdisc reads the time from.
type Clock interface {
	// Now is the time since some start. It never goes back.
	Now() time.Duration
	// After is a channel that receives something once this time has passed.
	After(time.Duration) <-chan time.Time
}

// Config is how a Qdisc works.
type Config[P any] struct {
	Queue    *Queue          // which packet leaves next; the Qdisc closes it
	Link     Link[P]         // where it goes
	Rate     uint64          // of the link, in bit/s; 0 where the link itself blocks
	Describe func(P) Packet  // the flow and the size of a packet; its Cookie is not read
	Dropped  func(P, uint32) // gets back a dropped packet, with the cause; may call the Qdisc; may be nil
	Clock    Clock           // the system's if nil
}

// Qdisc is a queue in front of a link, with a goroutine that sends. It has the methods of gVisor's
// stack.QueueingDiscipline: WritePacket and Close.
type Qdisc[P any] struct {
	config Config[P]
	wake   chan struct{}
	closed chan struct{}
	ended  sync.WaitGroup
	mutex  sync.Mutex // of all below, and of the queue
	held   []P
	free   []uint64
	gone   []gone[P] // to give back once the mutex is free
	isShut bool
}

// gone is a dropped packet, and the cause.
type gone[P any] struct {
	packet P
	cause  uint32
}

// NewQdisc starts one. Close ends it.
func NewQdisc[P any](config Config[P]) *Qdisc[P] {
	if config.Clock == nil {
		config.Clock = system{time.Now()}
	}
	d := &Qdisc[P]{config: config, wake: make(chan struct{}, 1), closed: make(chan struct{})}
	d.ended.Add(1)
	go d.send()
	return d
}

// WritePacket offers a packet. An error means that it stays with the caller; a packet that the law
// drops goes to Dropped, and is no error.
func (d *Qdisc[P]) WritePacket(p P) error {
	d.mutex.Lock()
	defer d.unlock()
	if d.isShut {
		return ErrClosed
	}
	described := d.config.Describe(p)
	described.Cookie = d.hold(p)
	if _, err := d.config.Queue.Enqueue(d.config.Clock.Now(), described); err != nil {
		d.release(described.Cookie)
		return err
	}
	d.giveBack()
	select {
	case d.wake <- struct{}{}:
	default: // it is awake
	}
	return nil
}

// Close ends sending. Waiting packets go to Dropped with CauseClosed.
func (d *Qdisc[P]) Close() {
	d.mutex.Lock()
	wasShut := d.isShut
	d.isShut = true
	d.mutex.Unlock()
	if wasShut {
		return
	}
	close(d.closed)
	d.ended.Wait()
	d.mutex.Lock()
	defer d.unlock()
	for _, p := range d.config.Queue.Drain() {
		d.gone = append(d.gone, gone[P]{d.release(p.Cookie), CauseClosed})
	}
	d.config.Queue.Close()
}

// send dequeues whenever the link is free.
func (d *Qdisc[P]) send() {
	defer d.ended.Done()
	free := d.config.Clock.Now()
	for {
		wait := free - d.config.Clock.Now()
		if wait <= 0 {
			p, described, next, ok := d.next()
			if ok {
				_ = d.config.Link.WritePacket(p, described.ECN == 3) // a link that fails has lost it
				if d.config.Rate > 0 {
					free = max(free, d.config.Clock.Now()-time.Millisecond) + time.Duration(described.Len*8*1e9/d.config.Rate)
				}
				continue
			}
			wait = next
		}
		if !d.sleep(wait) {
			return
		}
	}
}

// next is the packet that leaves now, or how long to wait: below zero for another packet.
func (d *Qdisc[P]) next() (p P, described Packet, wait time.Duration, ok bool) {
	d.mutex.Lock()
	defer d.unlock()
	var out [1]Packet
	now := d.config.Clock.Now()
	count, err := d.config.Queue.Dequeue(now, out[:])
	d.giveBack()
	if err == nil && count == 1 {
		return d.release(out[0].Cookie), out[0], 0, true
	}
	if at, waits := d.config.Queue.ReadyAt(); waits {
		return p, described, max(at-now, 1), false
	}
	return p, described, -1, false
}

// sleep waits so long, or below zero until a packet comes. False when the Qdisc is closed.
func (d *Qdisc[P]) sleep(wait time.Duration) bool {
	var after <-chan time.Time
	wake := d.wake
	if wait >= 0 {
		after, wake = d.config.Clock.After(wait), nil
	}
	select {
	case <-d.closed:
		return false
	case <-after:
	case <-wake:
	}
	return true
}

func (d *Qdisc[P]) hold(p P) uint64 {
	if last := len(d.free) - 1; last >= 0 {
		cookie := d.free[last]
		d.free = d.free[:last]
		d.held[cookie] = p
		return cookie
	}
	d.held = append(d.held, p)
	return uint64(len(d.held) - 1)
}

func (d *Qdisc[P]) release(cookie uint64) P {
	var none P
	p := d.held[cookie]
	d.held[cookie] = none
	d.free = append(d.free, cookie)
	return p
}

func (d *Qdisc[P]) giveBack() {
	for _, e := range d.config.Queue.Events() {
		if e.Kind == Dropped {
			d.gone = append(d.gone, gone[P]{d.release(e.Packet.Cookie), e.Cause})
		}
	}
}

// unlock frees the mutex and gives back the dropped packets.
func (d *Qdisc[P]) unlock() {
	all := d.gone
	d.gone = nil
	d.mutex.Unlock()
	if d.config.Dropped != nil {
		for _, g := range all {
			d.config.Dropped(g.packet, g.cause)
		}
	}
}

type system struct{ start time.Time }

func (s system) Now() time.Duration                        { return time.Since(s.start) }
func (s system) After(wait time.Duration) <-chan time.Time { return time.After(wait) }
