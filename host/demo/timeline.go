package demo

import (
	"sort"
	"strconv"
	"strings"
	"time"
)

// step is one event of the scripted incident.
type step struct {
	at   time.Duration // within the loop, at speed 1
	kind string        // event type
	// data is the JSON text of the payload. $INC and $LOOP stand for the
	// incident's name and the number of the loop.
	data string
	tags map[string]string // arguments of the same name select events by them
}

// timeline is the feed of one scripted type: its steps, repeated forever.
type timeline struct {
	origin
	kind   string
	steps  []step        // in order of time, at least one
	period time.Duration // length of a loop at speed 1
	speed  float64
}

func (t timeline) count(at time.Time) uint64 {
	elapsed := time.Duration(float64(at.Sub(t.start)) * t.speed)
	if elapsed < 0 {
		return 0
	}
	loops := uint64(elapsed / t.period)
	rest := elapsed % t.period
	k := sort.Search(len(t.steps), func(i int) bool { return t.steps[i].at > rest })
	n := loops*uint64(len(t.steps)) + uint64(k)
	for n > 0 && t.when(n).After(at) { // rounding of a speed that is no integer
		n--
	}
	return n
}

func (t timeline) when(n uint64) time.Time {
	loop, s := t.step(n)
	script := time.Duration(loop)*t.period + s.at
	return t.start.Add(time.Duration(float64(script)/t.speed) + 1)
}

func (t timeline) step(n uint64) (loop uint64, s step) {
	size := uint64(len(t.steps))
	return (n - 1) / size, t.steps[(n-1)%size]
}

func (t timeline) loop(n uint64) string {
	if n == 0 {
		return "l0"
	}
	loop, _ := t.step(n)
	return "l" + strconv.FormatUint(loop, 10)
}

func (t timeline) appendBody(dst []byte, n uint64) []byte {
	loop, s := t.step(n)
	dst = append(dst, `"eventId":"`...)
	dst = append(dst, t.kind...)
	dst = append(dst, '-')
	dst = append(dst, t.run...)
	dst = append(dst, '-')
	dst = append(dst, t.loop(n)...)
	dst = append(dst, '-')
	dst = strconv.AppendUint(dst, n, 10)
	dst = append(dst, `","name":"`...)
	dst = append(dst, t.kind...)
	dst = append(dst, `","timestamp":"`...)
	dst = appendTime(dst, t.when(n))
	dst = append(dst, `","data":`...)
	number := strconv.FormatUint(loop+1, 10)
	data := strings.ReplaceAll(s.data, "$INC", "INC-"+strconv.FormatUint(4200+loop+1, 10))
	return append(dst, strings.ReplaceAll(data, "$LOOP", number)...)
}

var severities = map[string]int{"info": 1, "warning": 2, "critical": 3}

func (t timeline) matches(n uint64, args map[string]any) bool {
	_, s := t.step(n)
	return s.matches(args)
}

func (s step) matches(args map[string]any) bool {
	for key, want := range args {
		text, ok := want.(string)
		switch {
		case !ok:
		case key == "minSeverity":
			if severities[s.tags["severity"]] < severities[text] {
				return false
			}
		case s.tags[key] != text:
			return false
		}
	}
	return true
}
