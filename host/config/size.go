package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// sizeUnits are the units of sizes. [SizeWords] uses the first four; "B" comes last, as the
// others end with it.
var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
}

// ParseSize reads a number of bytes with an optional unit, such as 500MB, 2GiB or 1024.
func ParseSize(s string) (int64, error) {
	number, unit := s, int64(1)
	for _, u := range sizeUnits {
		if n := len(s) - len(u.name); n > 0 && strings.EqualFold(s[n:], u.name) {
			number, unit = strings.TrimSpace(s[:n]), u.bytes
			break
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	if size := n * float64(unit); err == nil && n >= 0 && size < math.MaxInt64 {
		return int64(size), nil
	}
	return 0, fmt.Errorf("%q is not a size like 500MB or 2GiB", s)
}

// SizeWords formats a number of bytes for people, such as "1.5 MiB".
func SizeWords(n int64) string {
	for i := 3; i >= 0; i-- {
		if u := sizeUnits[i]; n >= u.bytes {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(u.bytes), u.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}
