package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"eventdeck/host/mcpserver"
	"eventdeck/host/wire"
)

func TestDiscover(t *testing.T) {
	r := newRig(t, nil).serve("")
	d := r.call("server/discover", nil)
	if d["resultType"] != "complete" {
		t.Errorf("discover: %v", d)
	}
	checkCapabilities(t, d)
	if status, a := r.ask("resources/list", nil); status != 404 || a.Error == nil || a.Error.Code != -32601 {
		t.Errorf("unknown method: %d %+v", status, a.Error)
	}
}

// checkCapabilities checks that a greeting declares tools and events, and the events in both places
// where clients look.
func checkCapabilities(t *testing.T, greeting map[string]any) {
	t.Helper()
	c, _ := greeting["capabilities"].(map[string]any)
	top, _ := c["events"].(map[string]any)
	extensions, _ := c["extensions"].(map[string]any)
	extension, _ := extensions[wire.Extension].(map[string]any)
	if top["listChanged"] != true || extension["listChanged"] != true || c["tools"] == nil {
		t.Errorf("capabilities: %v", c)
	}
}

func TestDescriptorsAreComplete(t *testing.T) {
	r := newRig(t, nil)
	r.fill(1, 1)
	r.serve("")
	all := r.call(wire.MethodList, nil)["events"].([]any)
	for _, one := range all {
		d := one.(map[string]any)
		for _, member := range []string{"name", "description"} {
			if text, _ := d[member].(string); text == "" {
				t.Errorf("%s of %v", member, d)
			}
		}
		for _, member := range []string{"inputSchema", "payloadSchema"} {
			if schema, _ := d[member].(map[string]any); schema["type"] != "object" {
				t.Errorf("%s of %v", member, d["name"])
			}
		}
		if raw, _ := json.Marshal(d["delivery"]); string(raw) != `["push","poll","webhook"]` {
			t.Errorf("delivery of %v: %s", d["name"], raw)
		}
	}
	if len(all) != 4 {
		t.Errorf("%d types", len(all))
	}
	for _, bad := range []any{"x", 1} {
		if _, a := r.ask(wire.MethodList, map[string]any{"cursor": bad}); a.Error == nil || a.Error.Code != -32602 {
			t.Errorf("page %v: %+v", bad, a.Error)
		}
	}
}

func TestPollAnswersAreComplete(t *testing.T) {
	r := newRig(t, nil)
	r.fill(1, 2)
	r.serve("")
	at := r.oldest()
	for _, cursor := range []any{nil, at} {
		a := r.call(wire.MethodPoll, sub("pager/tick", "cursor", cursor))
		_, events := a["events"].([]any)
		_, position := a["cursor"].(string)
		_, more := a["hasMore"].(bool)
		_, truncated := a["truncated"].(bool)
		pause, _ := a["nextPollMs"].(float64)
		if !events || !position || !more || !truncated || pause != 1000 || a["resultType"] != "complete" {
			t.Errorf("cursor %v: %v", cursor, a)
		}
	}
	absent, null := r.call(wire.MethodPoll, sub("pager/tick")), r.call(wire.MethodPoll, sub("pager/tick", "cursor", nil))
	if absent["cursor"] != null["cursor"] || len(absent["events"].([]any)) != 0 {
		t.Errorf("absent %v, null %v", absent, null)
	}
	seen := map[string]bool{}
	for _, one := range r.call(wire.MethodPoll, sub("pager/tick", "cursor", at))["events"].([]any) {
		e := one.(map[string]any)
		id, _ := e["eventId"].(string)
		text, _ := e["timestamp"].(string)
		_, err := time.Parse(time.RFC3339Nano, text)
		_, data := e["data"].(map[string]any)
		_, meta := e["_meta"].(map[string]any)
		if id == "" || seen[id] || e["name"] != "pager/tick" || err != nil || !data || !meta {
			t.Errorf("event %v", e)
		}
		seen[id] = true
	}
	for _, bad := range []map[string]any{{}, sub("pager/tick", "cursor", 7), sub("pager/tick", "arguments", []any{})} {
		if status, a := r.ask(wire.MethodPoll, bad); status != 400 || a.Error == nil || a.Error.Code != -32602 {
			t.Errorf("%v: %d %+v", bad, status, a.Error)
		}
	}
}

// A stream has only frames of its own subscription; bad requests are refused before it is opened;
// the end of the server ends it with a result.
func TestStreamsCarryOnlyTheirSubscription(t *testing.T) {
	r := newRig(t, func(o *mcpserver.Options) { o.Heartbeat = 10 * time.Millisecond })
	r.fill(1, 5)
	r.serve("")
	at := r.oldest()
	for name, code := range map[string]int{"gone": -32023, "": -32602} {
		if _, a := r.ask(wire.MethodStream, sub(name)); a.Error == nil || a.Error.Code != code {
			t.Errorf("%q: %+v", name, a.Error)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for id := range 3 { // at once
		res := r.post(ctx, id, wire.MethodStream, sub("pager/tick", "cursor", at), nil)
		defer res.Body.Close()
		lines := bufio.NewScanner(res.Body)
		events, beats := 0, 0
		for (events < 5 || beats < 3) && lines.Scan() {
			if lines.Text() == "" {
				continue
			}
			frame, ok := strings.CutPrefix(lines.Text(), "data: ")
			var m struct {
				Method string
				Params struct {
					Meta map[string]any `json:"_meta"`
				}
			}
			if err := json.Unmarshal([]byte(frame), &m); !ok || err != nil || m.Params.Meta[wire.MetaSubscription] != float64(id) {
				t.Fatalf("stream %d: %q", id, lines.Text())
			}
			switch m.Method {
			case wire.NoteEvent:
				events++
			case wire.NoteHeartbeat:
				beats++
			case wire.NoteActive:
			default:
				t.Errorf("stream %d carries %s", id, m.Method)
			}
		}
		if id == 2 {
			stopped := make(chan struct{})
			go func() { defer close(stopped); r.stop() }()
			last := ""
			for lines.Scan() {
				if lines.Text() != "" {
					last = lines.Text()
				}
			}
			<-stopped
			if !strings.Contains(last, `"resultType":"complete"`) {
				t.Errorf("the end: %q", last)
			}
		}
	}
}
