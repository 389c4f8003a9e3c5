package mcpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"eventdeck/host/wire"
)

// replayRig serves b.N stored events, and returns the cursor before them.
func replayRig(b *testing.B) (r *rig, oldest string) {
	b.Helper()
	r = newRig(b, nil)
	r.fill(1, b.N)
	return r, r.serve("").oldest()
}

// BenchmarkReplayByPoll replays b.N stored events to the official client over loopback, and
// checks that each comes once and in order.
func BenchmarkReplayByPoll(b *testing.B) {
	r, at := replayRig(b)
	c := r.connect()
	b.ResetTimer()
	seen := 0
	for id := int64(2); seen < b.N; id++ {
		c.send(id, wire.MethodPoll, sub("pager/tick", "cursor", at, "maxEvents", 1000))
		m, err := c.conn.Read(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		var page struct {
			Events []struct{ Data struct{ N int } }
			Cursor string
		}
		if err := json.Unmarshal(m.(*jsonrpc.Response).Result, &page); err != nil {
			b.Fatal(err)
		}
		for _, e := range page.Events {
			if seen++; e.Data.N != seen {
				b.Fatalf("event %d is %d", seen, e.Data.N)
			}
		}
		at = page.Cursor
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkReplayByPush is the same for a stream.
func BenchmarkReplayByPush(b *testing.B) {
	r, at := replayRig(b)
	c := r.connect()
	b.ResetTimer()
	c.send(1, wire.MethodStream, sub("pager/tick", "cursor", at))
	for seen := 1; seen <= b.N; seen++ {
		if n := c.until(wire.NoteEvent); n.Params.Data.N != seen {
			b.Fatalf("event %d is %d", seen, n.Params.Data.N)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkReplayToAPlainReader is the same for a reader that only counts lines: the difference to
// [BenchmarkReplayByPush] is the cost of the client.
func BenchmarkReplayToAPlainReader(b *testing.B) {
	r, at := replayRig(b)
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	b.ResetTimer()
	res := r.post(ctx, 1, wire.MethodStream, sub("pager/tick", "cursor", at), nil)
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for seen := 0; seen < b.N && lines.Scan(); {
		if bytes.Contains(lines.Bytes(), []byte(wire.NoteEvent)) {
			seen++
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
