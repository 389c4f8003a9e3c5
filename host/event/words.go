package event

import "fmt"

// Some says how many there are of something, in the word for one or for many of them:
// "1 record is" and "2 records are".
func Some[N int | int64 | uint64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
