package present_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/present"
)

// fakeHost is a host whose texts have an address; it counts requests.
type fakeHost struct {
	host.Reader
	host.Actor
	log   *eventlog.Log
	asked int
}

func (h *fakeHost) Log() *eventlog.Log { return h.log }
func (h *fakeHost) Snapshot() host.Snapshot {
	return host.Snapshot{Servers: []host.ServerView{{Name: "pager", Err: "no answer to ann@example.com"}}}
}
func (h *fakeHost) Check(context.Context, host.Request) (event.Mode, error) {
	h.asked++
	return "", nil
}
func (h *fakeHost) Subscribe(context.Context, host.Request) (event.Subscription, error) {
	h.asked++
	return event.Subscription{}, nil
}

func TestPersonalValuesAreMasked(t *testing.T) {
	h := &fakeHost{log: eventlog.New(nil)}
	h.log.Append([]event.Record{{Seq: 1, Raw: []byte(`{"mail":"ann@example.com"}`), Data: []byte(`{"mail":"ann@example.com"}`), Reason: trust.Untrusted("of ann@example.com")}})
	r, a := present.Mask(h, h)
	record, err := r.Log().Get(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(record.Raw), string(record.Data), record.Reason.Raw(), r.Snapshot().Servers[0].Err} {
		if strings.Contains(text, "ann@") || !strings.Contains(text, "***") {
			t.Errorf("%q is shown", text)
		}
	}
	masked := host.Request{Args: []byte(`{"user":"***"}`)}
	if _, err := a.Subscribe(t.Context(), masked); !errors.Is(err, present.ErrMasked) {
		t.Errorf("subscribing with a masked value: %v", err)
	}
	if _, err := r.Check(t.Context(), masked); !errors.Is(err, present.ErrMasked) || h.asked != 0 {
		t.Errorf("checking it: %v", err)
	}
	if _, err := a.Subscribe(t.Context(), host.Request{Args: []byte(`{}`)}); err != nil || h.asked != 1 {
		t.Errorf("subscribing without masked values: %v", err)
	}
}

func TestCaptionsShowKeysAndRecords(t *testing.T) {
	env := &cells.Env{Theme: themes.For(true, themes.NoColours), Glyphs: &cells.UnicodeGlyphs}
	c := present.Captions{On: true}
	if h := c.Fit(40); h != 36 || c.Rows != 4 {
		t.Fatalf("%d rows are left, %d taken", h, c.Rows)
	}
	c.Pressed("ctrl+s", "sends")
	if from, due := c.Due(7); due || from != 7 {
		t.Errorf("at first %d, %v", from, due)
	}
	if from, due := c.Due(9); !due || from != 7 {
		t.Errorf("two more: from %d, %v", from, due)
	}
	if _, due := c.Due(10); due {
		t.Error("records are due twice")
	}
	c.Looked(9, "a gap")
	text := ansi.Strip(c.Draw(env, 60))
	if !strings.Contains(text, "ctrl + s") || !strings.Contains(text, "sends") || !strings.Contains(text, "a gap") {
		t.Errorf("told:\n%s", text)
	}
	c.Typed("p", "in a field")
	if text := ansi.Strip(c.Draw(env, 60)); strings.Contains(text, "in a field") {
		t.Errorf("a letter of a field is shown:\n%s", text)
	}
	rows := func(n int) []string { return make([]string, n) }
	if got := c.Airy(5, 9, rows); len(got) != 9 || c.Stride(9) != 2 {
		t.Errorf("%d rows, every %d", len(got), c.Stride(9))
	}
	var none present.Captions
	if none.Fit(40) != 40 || none.Stride(9) != 1 || len(none.Airy(5, 9, rows)) != 9 {
		t.Error("without an audience the screen is not the same")
	}
}
