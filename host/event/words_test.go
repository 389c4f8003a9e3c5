package event

import "testing"

func TestSome(t *testing.T) {
	for n, want := range map[int64]string{0: "0 records are", 1: "1 record is", 2: "2 records are", 21: "21 records are"} {
		if got := Some(n, "record is", "records are"); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}
