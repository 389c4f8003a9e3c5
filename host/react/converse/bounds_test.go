package converse_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/model/modeltest"
	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// A run ends at its time limit, whatever its model does, and is charged for its questions.
func TestARunOfAModelEndsWithItsTime(t *testing.T) {
	for limit := 200 * time.Millisecond; ; limit *= 4 { // on a busy machine the model must be asked first
		w := newWorld(t, task())
		w.rule().Limits.Time = limit
		w.model.Play(modeltest.Reply{Wait: make(chan struct{})})
		w.begin()
		w.submit(payload)
		r := w.only(react.Failed)
		if !strings.Contains(r.Why, limit.String()) {
			t.Fatalf("spent %d: %s", r.Spend, r.Why)
		}
		if r.Spend >= 15_000 {
			return
		}
		if len(w.model.Asked()) > 0 || limit > time.Minute {
			t.Fatalf("spent %d, asked %d times", r.Spend, len(w.model.Asked()))
		}
	}
}

// Tools with too long descriptions, and those of an unreachable server, are left out; the run goes on
// with the others.
func TestToolsOfARequestAreBounded(t *testing.T) {
	tools := []react.Tool{read("away", "x"), read("git", "log")}
	for i := range 10 {
		tools = append(tools, read("pager", fmt.Sprint("t", i)))
	}
	w := newWorld(t, task(tools...))
	for i := range 10 {
		d := def(fmt.Sprint("t", i), anything)
		d.Description = trust.Untrusted(strings.Repeat("d", 16<<10))
		w.box.tools["pager"] = append(w.box.tools["pager"], d)
	}
	w.rule().Mode = react.ModeAsk
	w.open()
	defer w.close()
	w.submit(payload)
	var names []string
	for _, p := range w.only(react.Asking).Request.Tools {
		names = append(names, p.Name)
	}
	if got := strings.Join(names, " "); got != "log t0 t1 t2 t3 t4 t5 t6" {
		t.Errorf("pinned are %s", got)
	}
}

// A server is asked once for all of its tools in a rule, with a time limit.
func TestEachServerIsAskedOnceForItsTools(t *testing.T) {
	w := newWorld(t, task(read("pager", "get"), read("pager", "undo"), read("away", "x"), read("away", "y"), read("git", "log")))
	w.rule().Mode = react.ModeAsk
	w.open()
	defer w.close()
	w.submit(payload)
	if tools := w.only(react.Asking).Request.Tools; len(tools) != 3 {
		t.Errorf("pinned are %+v", tools)
	}
	w.box.mu.Lock()
	defer w.box.mu.Unlock()
	if l := w.box.lists; l["pager"] != 1 || l["git"] != 1 || l["away"] != 1 || w.box.within <= 0 || w.box.within > 30*time.Second {
		t.Errorf("asked %v, with %s left", l, w.box.within)
	}
}

// The stop switch ends a run between two steps; no further model or tool is called.
func TestTheStopSwitchEndsARun(t *testing.T) {
	w := newWorld(t, task(read("pager", "undo")))
	release := make(chan struct{})
	w.model.Play(modeltest.Reply{Calls: []react.Call{call("a", "pager__undo", `{"id":"1"}`)}, Wait: release})
	heard := w.model.Heard()
	w.begin()
	w.submit(payload)
	modeltest.Await(t, heard)
	if err := w.e.Stop(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	close(release)
	w.only(react.Killed)
	if len(w.box.got()) != 0 || len(w.model.Asked()) != 1 {
		t.Errorf("called %v, asked %d times", w.box.got(), len(w.model.Asked()))
	}
}

// BenchmarkRunOfAModel measures the work for a run of a model with two questions and one tool call.
func BenchmarkRunOfAModel(b *testing.B) {
	w := newWorld(b, task(read("pager", "undo")))
	w.rule().Limits = react.Limits{}
	w.rule().Do.Task.Model.Price = &react.Price{}
	w.model.Answer(func(a modeltest.Asked) modeltest.Reply {
		if strings.Contains(string(a.Body), `"role":"tool"`) {
			return modeltest.Reply{Text: "It was the deployment."}
		}
		return modeltest.Reply{Calls: []react.Call{call("a", "pager__undo", `{"id":"1"}`)}}
	})
	w.begin()
	var payloads []string
	for i := range b.N {
		payloads = append(payloads, fmt.Sprintf(`{"case":"%d","text":%q}`, i, strings.Repeat("x", 500)))
	}
	b.ResetTimer()
	w.submit(payloads...)
	w.await("all are done", func() bool {
		v := w.e.Reactions()
		return len(v.Active) == 0 && v.Rules[0].Matched == uint64(b.N) && len(w.model.Asked()) == 2*b.N
	})
	b.StopTimer()
	size := 0
	for _, table := range []event.JournalTable{event.TableRuns, event.TableReact} {
		if err := w.store.Journal().Entries(table, "", func(key string, value []byte) bool {
			size += len(key) + len(value)
			return true
		}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(size)/float64(b.N), "journal-B/op")
}
