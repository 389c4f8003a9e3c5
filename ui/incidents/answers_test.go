package incidents

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// finished is a [Runs] with fixed results.
type finished struct {
	runs []react.Run
	err  error
}

func (f finished) Runs(context.Context, react.Query) ([]react.Run, error) { return f.runs, f.err }

func TestReportHasAnswersOfModels(t *testing.T) {
	at := time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)
	log := stored(t, 2, 2)
	about := func(seq uint64, answer string) react.Run {
		return react.Run{ID: "r", Ended: at, Members: react.Members{Count: 1, First: []uint64{seq}}, Result: &react.Result{Answer: trust.Untrusted(answer)},
			Request: &react.Request{Kind: react.RequestModel, Model: &react.Model{Name: "local"}, Task: "Find the *cause*."}}
	}
	hostile := "the pool is full\n```\n# Heading\n<script>\x1b[2J\u202e"
	q := Request{Title: "t", Match: func(r *event.Record) bool { return r.Seq == 1 }, Made: at,
		Runs: finished{runs: []react.Run{about(2, "of another record"), about(1, hostile), {ID: "n", Members: react.Members{Count: 1, First: []uint64{1}}}}}}
	markdown := func() string {
		t.Helper()
		r, err := Build(t.Context(), log, q)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := r.Markdown(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	got := markdown()
	for _, want := range []string{"## What models answered", "It was not checked", "model local, of record 1", `Asked: Find the \*cause\*.`, "the pool is full", `"origin":"model-answer"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "of another record") || strings.ContainsAny(got, "\x1b\u202e") || strings.Contains(got, "\n# Heading") {
		t.Errorf("it acts, or it is of another record:\n%s", got)
	}
	for _, runs := range []Runs{nil, finished{err: fmt.Errorf("here: %w", react.ErrNotEngine)}, finished{}} {
		if q.Runs = runs; strings.Contains(markdown(), "answered") {
			t.Errorf("answers of %v", runs)
		}
	}
	q.Runs = finished{err: errors.New("broken")}
	if _, err := Build(t.Context(), log, q); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("runs that cannot be read: %v", err)
	}
}
