package demo

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"eventdeck/host/wire"
)

// tool calls a tool and returns its text, and whether it failed.
func (r *rig) tool(name string, args map[string]any) (text string, failed bool) {
	r.t.Helper()
	result := r.call("tools/call", map[string]any{"name": name, "arguments": args})
	content, _ := result["content"].([]any)
	if len(content) != 1 || content[0].(map[string]any)["type"] != "text" || result["resultType"] != "complete" {
		r.t.Fatalf("%s: %v", name, result)
	}
	failed, _ = result["isError"].(bool)
	return content[0].(map[string]any)["text"].(string), failed
}

// toolRig is a pager whose script is twenty seconds in: the deploy is finished, the incident open.
// The script is so slow that this lasts for hours.
func toolRig(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, PagerOptions{ServerOptions: ServerOptions{Speed: 1. / 3600}, NextPoll: time.Millisecond})
	for _, kind := range r.pager.types {
		line, ok := kind.feed.(timeline)
		if !ok {
			line = kind.feed.(operated).timeline
		}
		line.start = line.start.Add(-20 * time.Hour)
		kind.feed = line
	}
	r.pager.makeTools()
	return r
}

func TestToolsAreListed(t *testing.T) {
	r := toolRig(t)
	tools, _ := r.call("tools/list", nil)["tools"].([]any)
	var names []string
	for _, raw := range tools {
		one := raw.(map[string]any)
		names = append(names, one["name"].(string))
		hints := one["annotations"].(map[string]any)
		if writes := one["name"] == "rollback"; hints["readOnlyHint"] == writes || hints["destructiveHint"] != writes {
			t.Errorf("%s hints %v", one["name"], hints)
		}
		if schema := one["inputSchema"].(map[string]any); schema["type"] != "object" || schema["additionalProperties"] != false || one["description"] == "" {
			t.Errorf("%s: %v", one["name"], one)
		}
	}
	if strings.Join(names, " ") != "get_incident list_deploys rollback" {
		t.Errorf("tools %v", names)
	}
}

func TestToolsTellTheStory(t *testing.T) {
	r := toolRig(t)
	text, failed := r.tool("get_incident", map[string]any{"incident": "INC-4201"})
	var incident struct {
		Incident, Title, State, Service, Deploy string
		History                                 []map[string]any
	}
	if err := json.Unmarshal([]byte(text), &incident); err != nil || failed {
		t.Fatal(text, err)
	}
	if incident.Incident != "INC-4201" || incident.State != "opened" || incident.Service != "checkout" || incident.Deploy != "d-1" || len(incident.History) != 1 || incident.History[0]["at"] == nil {
		t.Errorf("%+v", incident)
	}
	text, failed = r.tool("list_deploys", map[string]any{"service": "checkout"})
	var deploys struct{ Deploys []map[string]any }
	if err := json.Unmarshal([]byte(text), &deploys); err != nil || failed {
		t.Fatal(text, err)
	}
	if len(deploys.Deploys) != 1 || deploys.Deploys[0]["deploy"] != "d-1" || deploys.Deploys[0]["phase"] != "finished" {
		t.Errorf("%v", deploys.Deploys)
	}
	if text, _ := r.tool("list_deploys", map[string]any{"service": "search"}); text != `{"deploys":[]}` {
		t.Error(text)
	}
}

// Refusals of tools are results: only an unknown tool is an error.
func TestToolRefusalsAreResults(t *testing.T) {
	r := toolRig(t)
	for _, c := range []struct {
		tool string
		args map[string]any
		says string
	}{
		{"get_incident", map[string]any{}, "inputSchema"},
		{"get_incident", map[string]any{"incident": "INC-4201", "x": 1}, "inputSchema"},
		{"get_incident", map[string]any{"incident": "../INC-4201"}, "inputSchema"},
		{"get_incident", map[string]any{"incident": "INC-4202"}, "there is no incident INC-4202"},
		{"get_incident", map[string]any{"incident": "INC-1"}, "there is no incident"},
		{"get_incident", map[string]any{"incident": "INC-999999999"}, "there is no incident"},
		{"list_deploys", map[string]any{"limit": 0}, "inputSchema"},
		{"rollback", map[string]any{"deploy": "d-1"}, "inputSchema"},
		{"rollback", map[string]any{"deploy": "d-7", "reason": "x"}, "there is no deploy d-7"},
		{"rollback", map[string]any{"deploy": "d-1", "reason": "x", "env": "staging"}, "staging"},
	} {
		if text, failed := r.tool(c.tool, c.args); !failed || !strings.Contains(text, c.says) {
			t.Errorf("%s %v: %s", c.tool, c.args, text)
		}
	}
	if _, e := r.refuse("tools/call", map[string]any{"name": "rm"}); e.Code != wire.CodeInvalidParams {
		t.Errorf("a tool that is not there: %v", e)
	}
	if n := len(r.pager.deploys.all); n != 0 {
		t.Errorf("%d events were added", n)
	}
}

func TestRollbackIsAnEvent(t *testing.T) {
	r := toolRig(t)
	s := r.open(1, wire.MethodStream, sub("deploy.changed"))
	before := s.until(wire.NoteActive)["cursor"]
	if text, failed := r.tool("rollback", map[string]any{"deploy": "d-1", "reason": "INC-4201: \"errors\""}); failed {
		t.Fatal(text)
	}
	pushed := s.until(wire.NoteEvent)
	data := pushed["data"].(map[string]any)
	if data["deploy"] != "d-1" || data["phase"] != "rolled-back" || data["by"] != "tool" || data["reason"] != `INC-4201: "errors"` {
		t.Errorf("%v", data)
	}
	polled := r.call(wire.MethodPoll, sub("deploy.changed", "cursor", before))["events"].([]any)
	if len(polled) != 1 || polled[0].(map[string]any)["eventId"] != pushed["eventId"] {
		t.Errorf("polled %v, pushed %v", polled, pushed)
	}
	if got := r.call(wire.MethodPoll, sub("deploy.changed", "cursor", pushed["cursor"]))["events"].([]any); len(got) != 0 {
		t.Errorf("behind it: %v", got)
	}
	if text, failed := r.tool("rollback", map[string]any{"deploy": "d-1", "reason": "again", "force": true}); !failed || !strings.Contains(text, "rolled back already") {
		t.Error(text)
	}
	if text, _ := r.tool("list_deploys", nil); !strings.Contains(text, `"phase":"rolled-back"`) {
		t.Error(text)
	}
	if n := len(r.pager.deploys.all); n != 1 {
		t.Errorf("%d events were added", n)
	}
}

// Added events do not change the numbers of events that were read.
func TestAddedEventsKeepNumbers(t *testing.T) {
	o := origin{run: "r0", start: time.Now()}
	f := operated{timeline{origin: o, kind: "x", steps: []step{{at: 1, kind: "x", data: "{}"}, {at: period / 2, kind: "x", data: "{}"}}, period: period, speed: 100_000}, &operations{}}
	var workers sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		workers.Go(func() {
			ids, seen := map[uint64]string{}, uint64(0)
			for {
				select {
				case <-done:
					for n, id := range ids {
						if again := eventAt(f, n).EventID; again != id {
							t.Errorf("event %d was %s and is %s", n, id, again)
						}
					}
					return
				default:
				}
				count := f.count(time.Now())
				if count < seen {
					t.Errorf("%d events after %d", count, seen)
				}
				for n := max(seen+1, count-min(count, 3)); n <= count; n++ {
					ids[n] = eventAt(f, n).EventID
				}
				seen = count
			}
		})
	}
	for range 500 {
		f.add(step{kind: "x", data: `{"added":true}`})
	}
	close(done)
	workers.Wait()
	last := time.Time{}
	for n := uint64(1); n <= f.count(time.Now()); n++ {
		if at := f.when(n); at.Before(last) {
			t.Fatalf("event %d is at %v, the one before at %v", n, at, last)
		} else {
			last = at
		}
		if pos, ok := o.position(f, o.cursor(f, n)); !ok || pos != n {
			t.Fatalf("the cursor of %d is that of %d", n, pos)
		}
		if n > 3000 {
			break
		}
	}
	if len(f.all) != 500 {
		t.Errorf("%d were added", len(f.all))
	}
}
