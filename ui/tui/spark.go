package tui

import "strconv"

// spark draws counts as a row of bars, one cell each, the newest last. It is
// scaled to the highest of them. Seconds without an event are a dot, so that no
// event and few events differ.
func (g *glyphs) spark(counts []uint32) string {
	most := uint32(0)
	for _, n := range counts {
		most = max(most, n)
	}
	out := make([]byte, 0, 3*len(counts))
	for _, n := range counts {
		if n == 0 {
			out = append(out, g.none...)
			continue
		}
		out = append(out, g.bars[int(uint64(n)*uint64(len(g.bars))-1)/int(most)]...)
	}
	return string(out)
}

// newest returns the last n of the counts before the bucket that is not over.
func newestOf(counts []uint32, n int) []uint32 {
	counts = counts[:len(counts)-1]
	return counts[max(0, len(counts)-n):]
}

// rateOver is how many seconds a rate is the mean of.
const rateOver = 5

// perSecond is the mean of the last whole seconds.
func perSecond(seconds []uint32) float64 {
	sum := uint64(0)
	for _, n := range newestOf(seconds, rateOver) {
		sum += uint64(n)
	}
	return float64(sum) / rateOver
}

// rateWords tells a rate: 12,000/s, 12/s, 0.4/s.
func rateWords(r float64) string {
	if r >= 10 {
		return number(uint64(r+0.5)) + "/s"
	}
	return strconv.FormatFloat(r, 'f', 1, 64) + "/s"
}

func total(counts []uint32) (sum uint64) {
	for _, n := range counts {
		sum += uint64(n)
	}
	return sum
}

func highest(counts []uint32) (most uint32) {
	for _, n := range counts {
		most = max(most, n)
	}
	return most
}
