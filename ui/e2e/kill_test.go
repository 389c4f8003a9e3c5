package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// kills is how often the host is killed in each mode. A soak sets more:
//
//	EVENTDECK_KILLS=500 go test ./ui/e2e -run TestKill -timeout 2h
func kills(t *testing.T) int {
	return howOften(t, "EVENTDECK_KILLS", 20)
}

// howOften reads a number from the environment.
func howOften(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// TestKill kills the host at random moments, at failpoints between a commit and its response
// and between a grant and its commit, and compares the store with the server's own list: every
// event is there once, without a gap.
func TestKill(t *testing.T) {
	// Each delivery of a webhook is a request: a busy machine must keep up with them.
	for mode, rate := range map[string]string{"push": "500", "poll": "500", "webhook": "100"} {
		t.Run(mode, func(t *testing.T) {
			w := newWorld(t)
			_, url := w.pager("--rate", rate, "--seed", "7")
			start := pollServer(t, url, "null").Cursor
			tail := []string{"tail", url, "load.tick", "--mode", mode, "--from", "saved", "--data", w.data(), "--json"}

			first := w.start(nil, tail...)
			first.await(first.stdout, 1, isEvent)
			first.kill()
			for i := range kills(t) {
				var env []string
				switch i {
				case 0:
					env = []string{envFailpoint + "=committed:1"}
				case 1:
					env = []string{envFailpoint + "=committed:3"}
				case 2:
					if mode == "webhook" {
						env = []string{envFailpoint + "=subscribed:1"}
					}
				}
				p := w.start(env, tail...)
				if env != nil {
					if code := p.wait(); code == 0 {
						t.Fatalf("the failpoint %v was not reached", env)
					}
					continue
				}
				p.await(p.stdout, 1+rand.IntN(200), isEvent)
				p.kill()
			}
			mark := position(t, pollServer(t, url, "null").Cursor)
			last := w.start(nil, tail...)
			last.await(last.stdout, 300, isEvent)
			if mode == "webhook" {
				last.awaitWatermark(mark)
			}
			last.signal(syscall.SIGTERM)
			if code := last.wait(); code != 0 {
				t.Fatalf("tail ended with %d: %s", code, last.stderr.text())
			}
			if mode != "webhook" {
				mark = 0
			}
			compare(t, url, start, w.stored(), mark)
		})
	}
}

// position is the number at the end of a cursor of load.tick.
func position(t *testing.T, cursor string) int {
	t.Helper()
	n, err := strconv.Atoi(cursor[strings.LastIndexByte(cursor, '.')+1:])
	if err != nil {
		t.Fatalf("cursor %q does not end in a number", cursor)
	}
	return n
}

// awaitWatermark waits until the server says that everything up to event n was accepted:
// webhook deliveries come out of order, and those that met a dead host are retried later.
func (p *process) awaitWatermark(n int) {
	p.t.Helper()
	p.await(p.stdout, 1, func(line string) bool {
		if !isEvent(line) {
			return false
		}
		r := decode(p.t, line)[0]
		return r.Cursor != nil && position(p.t, *r.Cursor) >= n
	})
}

// compare compares the store with the server's own list, up to event upTo, or with 0 up to the
// newest that is stored.
func compare(t *testing.T, url, start string, stored []record, upTo int) {
	t.Helper()
	have := map[string]int{}
	low, high := 0, 0
	for _, r := range stored {
		if r.Kind == "gap" {
			t.Errorf("gap record %d: %s", r.Seq, r.Cause)
		}
		if r.Kind == "rejected" {
			t.Errorf("record %d was rejected", r.Seq)
		}
		if r.Kind != "event" {
			continue
		}
		have[r.EventID]++
		n := r.n(t)
		if low == 0 || n < low {
			low = n
		}
		high = max(high, n)
	}
	if len(have) < 100 {
		t.Fatalf("only %d events were stored", len(have))
	}
	if upTo > 0 {
		high = upTo
	}
	list := serverList(t, url, start, low, high)
	missing, doubled := 0, 0
	var lost []string
	for i, id := range list {
		switch have[id] {
		case 0:
			missing++
			if i == 0 || have[list[i-1]] > 0 || i == len(list)-1 || have[list[i+1]] > 0 {
				lost = append(lost, id) // the ends of each hole
			}
		case 1:
		default:
			doubled++
		}
	}
	if missing > 0 || doubled > 0 {
		t.Fatalf("of %d events, up to %s, %d are missing (%s) and %d stored more than once",
			len(list), list[len(list)-1], missing, strings.Join(lost, " "), doubled)
	}
	t.Logf("%d events, each once", len(list))
}

// page is the response to events/poll, as far as these tests need it.
type page struct {
	Events []struct {
		EventID string `json:"eventId"`
		Data    struct{ N int }
	}
	Cursor    string
	Truncated bool
}

func pollServer(t *testing.T, url, cursor string) page {
	t.Helper()
	var res struct {
		Result *page
		Error  json.RawMessage
	}
	post(t, url, "events/poll", fmt.Sprintf(`{"name":"load.tick","arguments":{},"cursor":%s}`, cursor), &res)
	if res.Result == nil {
		t.Fatalf("the server does not answer a poll: %s", res.Error)
	}
	return *res.Result
}

// serverList asks the server itself for the ids of events low to high, from a
// cursor that lies before them.
func serverList(t *testing.T, url, start string, low, high int) []string {
	t.Helper()
	var ids []string
	cursor := start
	for n := 0; n < high; {
		p := pollServer(t, url, strconv.Quote(cursor))
		if p.Truncated || len(p.Events) == 0 {
			t.Fatalf("the server's list ends at %d of %d: %+v", n, high, p)
		}
		for _, e := range p.Events {
			if n = e.Data.N; n >= low && n <= high {
				ids = append(ids, e.EventID)
			}
		}
		cursor = p.Cursor
	}
	return ids
}

func post(t *testing.T, url, method, params string, into any) {
	t.Helper()
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/events":{}}}}`
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, strings.TrimSuffix(params, "}")+","+meta+"}")
	req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("MCP-Protocol-Version", "2026-07-28")
	req.Header.Set("Mcp-Method", method)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%s: %v: %.300s", method, err, raw)
	}
}
