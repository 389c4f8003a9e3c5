package cells

import "strconv"

// Spark draws a sparkline: one bar for each count, scaled to the highest. A count of 0 is a dot,
// so that it differs from a low one.
func (g *Glyphs) Spark(counts []uint32) string {
	return g.SparkTo(counts, Highest(counts))
}

// SparkTo is [Glyphs.Spark] scaled to most, which no count may exceed, so that sparklines can be
// compared.
func (g *Glyphs) SparkTo(counts []uint32, most uint32) string {
	out := make([]byte, 0, 3*len(counts))
	for _, n := range counts {
		if n == 0 {
			out = append(out, g.none...)
			continue
		}
		out = append(out, g.Bars[int(uint64(n)*uint64(len(g.Bars))-1)/int(most)]...)
	}
	return string(out)
}

// Recent returns the last n counts before the newest one, whose second is not over yet.
func Recent(counts []uint32, n int) []uint32 {
	counts = counts[:len(counts)-1]
	return counts[max(0, len(counts)-n):]
}

// rateSeconds is the number of seconds over which a rate is averaged.
const rateSeconds = 5

// PerSecond returns the mean of the last rateSeconds whole seconds.
func PerSecond(seconds []uint32) float64 {
	sum := uint64(0)
	for _, n := range Recent(seconds, rateSeconds) {
		sum += uint64(n)
	}
	return float64(sum) / rateSeconds
}

// Rate formats a rate per second: 12,000/s, 12/s, 0.4/s.
func Rate(r float64) string { return RatePer(r, "s") }

// RatePer formats a rate per unit of time: 12/min for the unit min.
func RatePer(r float64, unit string) string {
	if r >= 10 {
		return Number(uint64(r+0.5)) + "/" + unit
	}
	return strconv.FormatFloat(r, 'f', 1, 64) + "/" + unit
}

// Sum returns the sum of counts.
func Sum(counts []uint32) (sum uint64) {
	for _, n := range counts {
		sum += uint64(n)
	}
	return sum
}

// Highest returns the highest count, 0 if there is none.
func Highest(counts []uint32) (most uint32) {
	for _, n := range counts {
		most = max(most, n)
	}
	return most
}
