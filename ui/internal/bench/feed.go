//go:build linux

package main

import (
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// eventBytes is about the length of one event.
const eventBytes = 600

// clock records when events were emitted, by their numbers, which are visible on a screen.
type clock struct {
	began time.Time
	mu    sync.RWMutex
	at    []time.Duration // since began; of event n+1
	ended bool
}

func newClock() *clock { return &clock{began: time.Now()} }

// emit assigns numbers to n events that are emitted now, and returns the first number and how many
// events may be sent: none after [clock.end].
func (c *clock) emit(n int) (first, granted int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	first = len(c.at) + 1
	if c.ended {
		return first, 0
	}
	now := time.Since(c.began)
	for range n {
		c.at = append(c.at, now)
	}
	return first, n
}

// end returns how many events were emitted, and stops further ones: a request under way gets none.
func (c *clock) end() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	return len(c.at)
}

func (c *clock) emitted() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.at)
}

// when returns the moment at which event n was emitted.
func (c *clock) when(n int) (time.Duration, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if n < 1 || n > len(c.at) {
		return 0, false
	}
	return c.at[n-1], true
}

// template is an event with placeholders for its number and the time. Events differ only in digits,
// so that making one is cheap.
type template struct {
	text    []byte
	numbers []int // places of ten digits
	times   []int // places of a time as in timeLayout
}

const (
	numberMark = "@NUMBER@@@" // as long as the number
	timeMark   = "@TIME@@@@@@@@@@@@@@@@@@@@"
	timeLayout = "2006-01-02T15:04:05.0000Z"
)

func newTemplate(text string) *template {
	t := &template{text: []byte(text)}
	for _, place := range []struct {
		mark string
		at   *[]int
	}{{numberMark, &t.numbers}, {timeMark, &t.times}} {
		for from := 0; ; {
			i := strings.Index(text[from:], place.mark)
			if i < 0 {
				break
			}
			*place.at = append(*place.at, from+i)
			from += i + len(place.mark)
		}
	}
	return t
}

// append appends event n. now has the length of timeLayout.
func (t *template) append(b []byte, n int, now string) []byte {
	start := len(b)
	b = append(b, t.text...)
	for _, at := range t.times {
		copy(b[start+at:], now)
	}
	var digits [10]byte
	for i, rest := len(digits)-1, n; i >= 0; i, rest = i-1, rest/10 {
		digits[i] = '0' + byte(rest%10)
	}
	for _, at := range t.numbers {
		copy(b[start+at:], digits[:])
	}
	return b
}

// payload returns the data of every event. The number comes first, since rows are cut at their end.
func payload() string {
	return `{"status":"SEQ=` + numberMark + `","service":"checkout","latencyMs":116,"code":300,"trace":"eed6951840dcd148","note":"`
}

// occurrence returns the JSON text of an event, about eventBytes long; more has further members.
func occurrence(more string) string {
	head := `{"eventId":"tick-` + numberMark + `","name":"load","timestamp":"` + timeMark + `","cursor":"c.` + numberMark + `","data":` + payload()
	tail := `"}` + more + `}`
	fill := strings.Repeat("connection pool exhausted on the second replica; ", 20)
	return head + strings.TrimSpace(fill[:max(0, eventBytes-len(head)-len(tail))]) + tail
}

// pace computes how many events are due.
type pace struct {
	rate  int // a second; 0: as fast as they are accepted
	count int // 0: no end
	began atomic.Int64
	ended atomic.Bool
}

func (p *pace) start() { p.began.CompareAndSwap(0, time.Now().UnixNano()) }

// stop ends the feed: no further events fall due.
func (p *pace) stop() { p.ended.Store(true) }

// due returns how many events of all are due now.
func (p *pace) due() int {
	began := p.began.Load()
	if began == 0 || p.ended.Load() {
		return 0
	}
	due := int(^uint(0) >> 1)
	if p.rate > 0 {
		due = int(float64(time.Now().UnixNano()-began) / 1e9 * float64(p.rate))
	}
	if p.count > 0 {
		due = min(due, p.count)
	}
	return due
}

// share returns the part of stream i of n in an even split.
func share(total, i, n int) int { return total/n + btoi(i < total%n) }

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// thousands writes a number with separators.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
