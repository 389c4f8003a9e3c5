package demo

import (
	"math"
	"strconv"
	"time"
)

// tickPad makes an event about 600 bytes long on the wire.
const tickPad = "steady load for measuring a host from end to end; every field but this one follows from the seed and the number of the event, so a lost, doubled or changed event can be told apart by looking at the events alone, without any memory on the side of the server"

var tickServices = [...]string{"checkout", "payments", "search", "inventory", "gateway", "profile", "shipping", "mail"}

// ticker is the feed of load.tick: event n is due at start + n/rate and is a
// pure function of the run, the seed and n.
type ticker struct {
	origin
	seed int64
	rate float64 // events per second
}

func (t ticker) count(at time.Time) uint64 {
	d := at.Sub(t.start)
	if d <= 0 {
		return 0
	}
	n := uint64(d.Seconds() * t.rate)
	for t.when(n+1).Compare(at) <= 0 {
		n++
	}
	for n > 0 && t.when(n).After(at) {
		n--
	}
	return n
}

func (t ticker) when(n uint64) time.Time {
	return t.start.Add(time.Duration(math.Ceil(float64(n) / t.rate * float64(time.Second))))
}

func (t ticker) loop(uint64) string { return "" }

func (t ticker) matches(uint64, map[string]any) bool { return true }

func (t ticker) appendBody(dst []byte, n uint64) []byte {
	r := mix(t.seed, n)
	dst = append(dst, `"eventId":"tick-`...)
	dst = append(dst, t.run...)
	dst = append(dst, '-')
	dst = strconv.AppendUint(dst, n, 10)
	dst = append(dst, `","name":"load.tick","timestamp":"`...)
	dst = appendTime(dst, t.when(n))
	dst = append(dst, `","data":{"n":`...)
	dst = strconv.AppendUint(dst, n, 10)
	dst = append(dst, `,"service":"`...)
	dst = append(dst, tickServices[r%uint64(len(tickServices))]...)
	dst = append(dst, `","latencyMs":`...)
	dst = strconv.AppendUint(dst, 3+(r>>8)%240, 10)
	dst = append(dst, `,"status":`...)
	dst = strconv.AppendUint(dst, 200+(r>>20)%4*100, 10)
	dst = append(dst, `,"trace":"`...)
	for shift := 60; shift >= 0; shift -= 4 {
		dst = append(dst, "0123456789abcdef"[r>>shift&15])
	}
	dst = append(dst, `","note":"`...)
	dst = append(dst, tickPad...)
	return append(dst, `"}`...)
}
