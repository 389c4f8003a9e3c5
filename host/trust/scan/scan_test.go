package scan

import (
	"slices"
	"testing"

	"eventdeck/host/trust"
	"eventdeck/host/trust/internal/trusttest"
)

// FuzzScan scans any bytes and renders the findings.
func FuzzScan(f *testing.F) {
	for _, raw := range bigPayloads() {
		f.Add(raw[:min(len(raw), 300)])
	}
	f.Add([]byte(trusttest.HostileEvent))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, payload := range [][]byte{raw, trusttest.WrapText(string(raw))} {
			r := Scan(payload)
			for _, s := range r.Spans {
				if s.Start < 0 || s.End < s.Start || s.End > len(payload) {
					t.Fatalf("span %+v in %q", s, payload)
				}
			}
			if !slices.IsSorted(r.Flags) || len(r.Spans) > MaxSpans {
				t.Fatalf("%v, %d spans", r.Flags, len(r.Spans))
			}
			for _, width := range []int{0, 3, 33} {
				for _, l := range trust.Detail(payload, r.Places(), width) {
					trusttest.CheckSafe(t, "detail", l)
					if width > 0 && l.Width > width {
						t.Fatalf("%d cells in %d", l.Width, width)
					}
				}
			}
		}
	})
}
