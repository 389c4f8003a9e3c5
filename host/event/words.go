package event

import "fmt"

// Some returns a count with the words for one or for many, as in Some(n, "record is",
// "records are"): "1 record is", "2 records are".
func Some[N int | int64 | uint64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
