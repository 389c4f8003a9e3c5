//go:build unix

package act

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestOutputIsCutAndCounted(t *testing.T) {
	r := newRunner(t, Options{})
	out := ran(t, r, shell(`printf begin; head -c 5000000 /dev/zero | tr '\0' x; printf end; printf err >&2`)).Output
	if out.Stdout.Bytes != 5_000_008 || out.Stdout.Head.Len() != maxEnd || out.Stdout.Tail.Len() != maxEnd ||
		!strings.HasPrefix(out.Stdout.Head.Raw(), "begin") || !strings.HasSuffix(out.Stdout.Tail.Raw(), "end") || out.Stderr.Head.Raw() != "err" {
		t.Errorf("%d bytes, head %d, tail %d", out.Stdout.Bytes, out.Stdout.Head.Len(), out.Stdout.Tail.Len())
	}
}

func TestBinaryOutputCanBeStored(t *testing.T) {
	r := newRunner(t, Options{})
	result := ran(t, r, shell(`head -c 100000 /dev/zero; head -c 100000 /dev/zero >&2; exit 3`))
	text, err := json.Marshal(result)
	if err != nil || len(text) > maxResult || result.Exit != 3 || result.Output.Stdout.Bytes != 100_000 || result.Output.Stdout.Head.Len() < 1000 {
		t.Errorf("%d bytes, %v, %d", len(text), err, result.Output.Stdout.Head.Len())
	}
}

func TestCaptureKeepsBothEnds(t *testing.T) {
	for _, size := range []int{0, 1, maxEnd, maxEnd + 1, 2 * maxEnd, 2*maxEnd + 7, 5 * maxEnd} {
		all := make([]byte, size)
		for i := range all {
			all[i] = byte(i*7 + i>>8)
		}
		for _, step := range []int{1, 100, maxEnd - 1, 3 * maxEnd} {
			c := &capture{}
			for rest := all; len(rest) > 0; {
				n := min(step, len(rest))
				_, _ = c.Write(rest[:n])
				rest = rest[n:]
			}
			s := c.stream()
			head, tail := all[:min(size, maxEnd)], all[max(min(size, maxEnd), size-maxEnd):]
			if s.Head.Raw() != string(head) || s.Tail.Raw() != string(tail) || s.Bytes != int64(size) {
				t.Errorf("%d bytes by %d: head %d, tail %d of %d", size, step, s.Head.Len(), s.Tail.Len(), s.Bytes)
			}
		}
	}
}
