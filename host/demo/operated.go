package demo

import (
	"fmt"
	"strconv"
	"sync"
	"time"
)

// operated is the feed of a scripted type to which calls of tools add events. An event that was
// counted keeps its number.
type operated struct {
	timeline
	*operations
}

// operations are the events that were added.
type operations struct {
	mu   sync.Mutex
	all  []operation
	seen time.Time // up to which events were counted
}

// operation is one added event.
type operation struct {
	n    uint64 // its number among all events of the type
	loop uint64 // of the script, in which it happened
	at   time.Time
	step step
}

// lookAgain is how often a reader looks for added events.
const lookAgain = time.Second

// add adds an event that happens now.
func (o operated) add(s step) {
	o.mu.Lock()
	defer o.mu.Unlock()
	at := time.Now()
	if !at.After(o.seen) {
		at = o.seen.Add(1)
	}
	scripted := o.timeline.count(at)
	loop := uint64(0)
	if scripted > 0 {
		loop, _ = o.timeline.step(scripted)
	}
	o.all = append(o.all, operation{n: scripted + uint64(len(o.all)) + 1, loop: loop, at: at, step: s})
	o.seen = at
}

// find returns event n: an added event, or its number in the script.
func (o operated) find(n uint64) (added *operation, scripted uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	scripted = n
	for i := range o.all {
		switch op := o.all[i]; {
		case op.n == n:
			return &op, 0
		case op.n < n:
			scripted--
		}
	}
	return nil, scripted
}

func (o operated) count(at time.Time) uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	if at.After(o.seen) {
		o.seen = at
	}
	n := o.timeline.count(at)
	for _, op := range o.all {
		if !op.at.After(at) {
			n++
		}
	}
	return n
}

// when returns the moment of event n. If it has not happened yet, it returns when to look again.
func (o operated) when(n uint64) time.Time {
	op, scripted := o.find(n)
	if op != nil {
		return op.at
	}
	at, soon := o.timeline.when(scripted), time.Now().Add(lookAgain)
	if at.After(soon) {
		return soon
	}
	return at
}

func (o operated) loop(n uint64) string {
	op, scripted := o.find(n)
	if op != nil {
		return "l" + strconv.FormatUint(op.loop, 10)
	}
	return o.timeline.loop(scripted)
}

func (o operated) appendBody(dst []byte, n uint64) []byte {
	op, scripted := o.find(n)
	if op == nil {
		return o.timeline.appendBody(dst, scripted)
	}
	dst = fmt.Appendf(dst, `"eventId":"%s-%s-call-%d","name":"%s","timestamp":"`, o.kind, o.run, n, o.kind)
	dst = appendTime(dst, op.at)
	return append(append(dst, `","data":`...), op.step.data...)
}

func (o operated) matches(n uint64, args map[string]any) bool {
	op, scripted := o.find(n)
	if op != nil {
		return op.step.matches(args)
	}
	return o.timeline.matches(scripted, args)
}
