package converse_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"eventdeck/host/model/modeltest"
	"eventdeck/host/react"
)

// pauses records the waits before a model is asked again, and does not wait.
type pauses struct {
	mu  sync.Mutex
	all []time.Duration
}

func (p *pauses) wait(_ context.Context, d time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, d)
	return nil
}

// seconds returns the waits in seconds, rounded up, and clears them.
func (p *pauses) seconds() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []int
	for _, d := range p.all {
		all = append(all, int((d+time.Second-1)/time.Second))
	}
	return all
}

func busy(status int, after, body string) modeltest.Reply {
	return modeltest.Reply{Status: status, Header: http.Header{"Retry-After": {after}}, Body: body}
}

// A busy provider is asked again in further steps, after the wait that it demands and with backoff.
// These steps cost nothing, unless the provider reports usage.
func TestAModelThatIsBusyIsAskedAgain(t *testing.T) {
	const used = `{"error":{"message":"slow down"},"usage":{"prompt_tokens":10,"completion_tokens":5}}`
	answer := modeltest.Reply{Text: "It was I."}
	for name, c := range map[string]struct {
		replies []modeltest.Reply
		waits   []int
		costs   []int64 // of the steps
		why     string  // of a run that failed
	}{
		"once":            {[]modeltest.Reply{busy(429, "", ""), answer}, []int{2}, []int64{0, 105}, ""},
		"as it says":      {[]modeltest.Reply{busy(503, "7", ""), answer}, []int{7}, []int64{0, 105}, ""},
		"later each time": {[]modeltest.Reply{busy(429, "1", ""), busy(503, "", ""), busy(529, "", ""), busy(429, "", ""), answer}, []int{2, 4, 8, 16}, []int64{0, 0, 0, 0, 105}, ""},
		"and it counts":   {[]modeltest.Reply{busy(429, "", used), answer}, []int{2}, []int64{105, 105}, ""},
		"too often":       {[]modeltest.Reply{busy(429, "", "")}, []int{2, 4, 8, 16}, []int64{0, 0, 0, 0, 0}, "asked 5 times"},
		"too late":        {[]modeltest.Reply{busy(429, "61", ""), answer}, nil, []int64{0}, "the run has not the time to ask again in 1m1s"},
		"another status":  {[]modeltest.Reply{busy(400, "1", ""), answer}, nil, []int64{0}, "HTTP 400"},
		"not known":       {[]modeltest.Reply{busy(500, "1", ""), answer}, nil, nil, "HTTP 500"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, task())
			var p pauses
			w.wait = p.wait
			w.model.Play(c.replies...)
			w.begin()
			w.submit(payload)
			state := react.Done
			if c.why != "" {
				state = react.Failed
			}
			r := w.only(state)
			if !strings.Contains(r.Why, c.why) {
				t.Errorf("the run says %q", r.Why)
			}
			if got := p.seconds(); !slices.Equal(got, c.waits) {
				t.Errorf("waited %v s, want %v", got, c.waits)
			}
			var costs []int64
			var sum int64
			for i, s := range w.steps(r.ID) {
				costs, sum = append(costs, s.Cost), sum+s.Cost
				if again := i < len(c.waits); again == s.Again.IsZero() || again && (s.State != react.StepFailed || !strings.Contains(s.Why, "HTTP ") || !strings.Contains(s.Why, fmt.Sprintf("again in %ds", c.waits[i]))) {
					t.Errorf("step %+v", s)
				}
			}
			if c.costs != nil && !slices.Equal(costs, c.costs) || r.Spend != sum {
				t.Errorf("the steps cost %v, the run %d", costs, r.Spend)
			}
			for _, a := range w.model.Asked() {
				if string(a.Body) != string(w.model.Asked()[0].Body) {
					t.Errorf("asked something else: %s", a.Body)
				}
			}
			w.await("the day has all of it", func() bool { return w.e.Reactions().Spent == sum })
		})
	}
}

// Tries of a busy provider take no step from the run: 12 questions may each be asked twice.
func TestTriesOfABusyModelTakeNoSteps(t *testing.T) {
	w := newWorld(t, task(read("pager", "get")))
	w.wait = new(pauses).wait
	w.model.Answer(func(a modeltest.Asked) modeltest.Reply {
		if a.N%2 == 1 {
			return busy(429, "", "")
		}
		return modeltest.Reply{Calls: []react.Call{call(fmt.Sprint("c", a.N), "pager__get", `{"id":"a","env":"b"}`)}}
	})
	w.begin()
	w.submit(payload)
	r := w.only(react.Failed)
	if n := len(w.model.Asked()); n != react.MaxSteps || !strings.Contains(r.Why, "12 steps at most") || r.Steps != react.MaxSteps*3/2 {
		t.Errorf("asked %d times in %d steps: %s", n, r.Steps, r.Why)
	}
}

// A kill between two tries leaves no reservation, and the question is asked once more.
func TestAKillBetweenTwoTriesCostsNothing(t *testing.T) {
	w := newWorld(t, task())
	w.model.Play(busy(429, "30", ""), modeltest.Reply{Text: "It was I."})
	waits := make(chan time.Duration, 1)
	w.wait = func(ctx context.Context, d time.Duration) error {
		waits <- d
		<-ctx.Done()
		return context.Cause(ctx)
	}
	w.open()
	w.arm()
	w.submit(payload)
	select {
	case <-waits:
	case <-time.After(patience):
		t.Fatal("nothing waits")
	}
	w.await("nothing is spent while it waits", func() bool { return w.e.Reactions().Spent == 0 }) // the view is made a moment later
	w.close()
	var p pauses
	w.wait = p.wait
	w.open()
	defer w.close()
	r := w.only(react.Done)
	steps := w.steps(r.ID)
	if len(steps) != 2 || steps[0].Cost != 0 || steps[1].Tries != 1 || steps[1].Cost != 105 || r.Spend != 105 || len(w.model.Asked()) != 2 {
		t.Errorf("steps %+v, spent %d, asked %d times", steps, r.Spend, len(w.model.Asked()))
	}
	if left := p.seconds(); len(left) != 1 || left[0] > 30 || left[0] < 1 {
		t.Errorf("then waited %v s", left)
	}
	w.await("the day has all of it", func() bool { return w.e.Reactions().Spent == 105 })
}

// Stop ends the wait of a run.
func TestAStopEndsTheWaitForABusyModel(t *testing.T) {
	w := newWorld(t, task())
	w.model.Play(busy(503, "50", ""))
	w.begin()
	w.submit(payload)
	w.await("it waits", func() bool {
		all := w.runs()
		if len(all) != 1 {
			return false
		}
		steps := w.steps(all[0].ID)
		return len(steps) == 1 && !steps[0].Again.IsZero()
	})
	if err := w.e.Stop(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if r := w.only(react.Killed); r.Spend != 0 || len(w.model.Asked()) != 1 {
		t.Errorf("%+v", r)
	}
}
