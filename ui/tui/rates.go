package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"eventdeck/host"
)

// rateSeconds is over how many seconds a rate is the mean.
const rateSeconds = 10

// perSecond is the mean of the last whole seconds.
func perSecond(r host.Rate) float64 {
	n := len(r.Seconds) - 1 // the newest one is not over
	sum := uint32(0)
	for _, c := range r.Seconds[n-rateSeconds : n] {
		sum += c
	}
	return float64(sum) / rateSeconds
}

// rateWords is the rate of the last seconds with a spark of the last minute.
func rateWords(g *glyphs, r host.Rate) string {
	s := spark(g, r.Seconds[:], 8)
	switch v := perSecond(r); {
	case v == 0:
		return s
	case v < 10:
		return s + " " + strconv.FormatFloat(v, 'f', 1, 64) + "/s"
	default:
		return s + " " + number(uint64(v)) + "/s"
	}
}

// spark draws counts in so many cells; the highest one fills its cell. Without
// any count it is blank.
func spark(g *glyphs, counts []uint32, cells int) string {
	sums := make([]uint32, cells)
	most := uint32(0)
	for i, c := range counts {
		j := i * cells / len(counts)
		sums[j] += c
		most = max(most, sums[j])
	}
	if most == 0 {
		return ""
	}
	levels := []rune(g.bars)
	var b strings.Builder
	for _, n := range sums {
		if n == 0 {
			b.WriteByte(' ')
			continue
		}
		b.WriteRune(levels[min(int(uint64(n)*uint64(len(levels))/uint64(most)), len(levels)-1)])
	}
	return b.String()
}

// shortSpan spells a duration for a narrow column: 120 ms, 2.5 s, 4 m.
func shortSpan(d time.Duration) string {
	switch {
	case d < time.Second:
		return strconv.Itoa(int(d/time.Millisecond)) + " ms"
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return span(d)
}
