package host_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/mcptest"
)

// What a server logs by notifications/message is among the lines of the log, with its level and
// without its control characters.
func TestMessagesOfAServerAreKept(t *testing.T) {
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m, ok := mcptest.Read(w, r)
		if !ok {
			return
		}
		if m.Method != "events/list" {
			m.Answer(w, `"result":{"supportedVersions":["2026-07-28"],"capabilities":{"events":{}},"serverInfo":{"name":"s","version":"1"}}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for level, data := range map[string]string{"error": `"disk\u001b full"`, "warning": `{"free":1}`, "notice": `"up"`, "emergency": `"out"`} {
			fmt.Fprintf(w, `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":%q,"logger":"db","data":%s}}`+"\n\n", level, data)
		}
		fmt.Fprintf(w, `data: {"jsonrpc":"2.0","id":%s,"result":{"events":[]}}`+"\n\n", m.ID)
	}))
	t.Cleanup(served.Close)
	r := newRig(t)
	r.host.AddServer(event.Server{Name: "logs", URL: served.URL})
	want := map[string]slog.Level{`db: disk\x1b full`: slog.LevelError, `db: {"free":1}`: slog.LevelWarn, "db: up": slog.LevelInfo, "db: out": slog.LevelError}
	r.await("the messages", func(host.Snapshot) bool {
		found := 0
		r.host.AppLog().After(0, func(_ uint64, l host.LogLine) bool {
			if level, ok := want[l.Text]; ok && l.Server == "logs" && l.Level == level {
				found++
			}
			return !strings.Contains(l.Text, "\x1b")
		})
		return found == len(want)
	})
}
