package session

import (
	"strings"
	"testing"

	"eventdeck/host/trust"
)

// However a frame is cut, nothing of a secret but its last characters is left.
func TestCutFramesStayMasked(t *testing.T) {
	const secret = "dG9wLXNlY3JldC1rZXktb2YtMzItYnl0ZXMh"
	for _, frame := range []string{
		`{"delivery":{"secret":"whsec_` + secret + `"}}`,
		`{"resumeToken" : "` + secret + `\"x","a":1}`,
		`{"text":"use whsec_` + secret + ` now"}`,
		`{"access_token":"` + secret + `"}`,
		`{"webhookSecret":{"type":"raw","value":"` + secret + `"},"a":1}`,
		`{"webhookSecret": {"key" : "` + secret + `","type":"stand{ard"}}`,
	} {
		for limit := 1; limit <= len(frame); limit++ {
			var got string
			o := Options{TraceLimit: limit, Trace: func(_ Direction, f trust.Text, size int) {
				got = f.Raw()
				if size != len(frame) {
					t.Errorf("size %d, want %d", size, len(frame))
				}
			}}
			o.trace(Sent, []byte(frame))
			if strings.Contains(got, secret[:5]) {
				t.Fatalf("cut at %d: %s", limit, got)
			}
		}
	}
}

func BenchmarkTraceOfAnEvent(b *testing.B) {
	frame := []byte(`{"jsonrpc":"2.0","method":"notifications/events/event","params":{"data":{"text":"` + strings.Repeat("word ", 150) + `"}}}`)
	o := Options{TraceLimit: 4096, Trace: func(Direction, trust.Text, int) {}}
	b.ReportAllocs()
	for b.Loop() {
		o.trace(Received, frame)
	}
}
