package dialect

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"eventdeck/host/session"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// plain answers a request with plain text, as an HTTP router does.
func (c call) plain(status int, text string) string {
	http.Error(c.w, text, status)
	return ""
}

// The reference implementation of MCPE declares tools and no events.
func TestToolsAreListedBeforeAServerCountsAsWithoutEvents(t *testing.T) {
	tools := toolList3
	p := newPeer(t, `{"tools":{}}`, func(c call) string {
		if c.method == "tools/list" {
			return tools
		}
		return notFound
	})
	d, _ := p.connect(Options{})
	types, _, err := d.List(background(t))
	if err != nil || strings.Join(typeNames(types), " ") != FilteredStream || d.Name() != MCPE {
		t.Errorf("%v, %q, %v", typeNames(types), d.Name(), err)
	}
	tools = `"result":{"tools":[{"name":"other"}]}`
	if types, _, err := d.List(background(t)); !errors.Is(err, ErrNoEvents) {
		t.Errorf("without the tools: %v, %v", typeNames(types), err)
	}
}

func TestToolsAreNotListedIfTheServerAdvertisesItsDialect(t *testing.T) {
	p := newPeer(t, `{"tools":{},"extensions":{"io.modelcontextprotocol/events":{}}}`, func(call) string { return `"result":{"events":[]}` })
	d, _ := p.connect(Options{})
	if _, _, err := d.List(background(t)); err != nil || p.count(isMethod("tools/list")) != 0 {
		t.Errorf("asked %d times, %v", p.count(isMethod("tools/list")), err)
	}
}

// Over HTTP an unknown method may be refused without JSON-RPC.
func TestAnUnknownMethodMayBeRefusedInPlainText(t *testing.T) {
	for _, status := range []int{400, 404, 405} {
		p := newPeer(t, updatesCapabilities, library(func(c call) string { return c.plain(status, "Bad Request: unknown method") }))
		d, s := p.connect(Options{})
		types, _, err := d.List(background(t))
		if err != nil || strings.Join(typeNames(types), " ") != ResourceUpdated || d.Name() != ResourceUpdates {
			t.Errorf("%d: %v, %q, %v", status, typeNames(types), d.Name(), err)
		}
		alone := newPeer(t, `{}`, func(c call) string { return c.plain(status, "unknown method") })
		d, _ = alone.connect(Options{})
		if _, _, err := d.List(background(t)); !errors.Is(err, ErrNoEvents) {
			t.Errorf("%d, nothing else: %v", status, err)
		}
		if s.Err() != nil {
			t.Errorf("%d: session %v", status, s.Err())
		}
	}
}

// Whatever fails in one dialect, the types of the others are listed, and the failure is
// reported.
func TestFailureOfOneDialectHidesNoOther(t *testing.T) {
	for name, fail := range map[string]func(call) string{
		"denied":     func(c call) string { return c.plain(403, "no") },
		"down":       func(c call) string { return c.plain(503, "later") },
		"a web page": func(c call) string { return c.plain(200, "<html>") },
		"cut":        func(c call) string { c.cut(); return "" },
	} {
		p := newPeer(t, updatesCapabilities, library(func(c call) string {
			if c.method == wire.MethodList {
				return fail(c)
			}
			return notFound
		}))
		d, _ := p.connect(Options{})
		types, _, err := d.List(background(t))
		if !errors.Is(err, ErrPartial) || !errors.Is(err, ErrDialect) || strings.Join(typeNames(types), " ") != ResourceUpdated {
			t.Errorf("%s: %v, %v", name, typeNames(types), err)
		}
		if denied := errors.Is(err, wire.ErrDenied); denied != (name == "denied") {
			t.Errorf("%s: denied %v: %v", name, denied, err)
		}
	}
}

// Neither a cancelled caller nor a lost session is a failure of a dialect.
func TestTheEndOfTheConnectionIsNoFailureOfADialect(t *testing.T) {
	p := newPeer(t, updatesCapabilities, library(nil))
	d, s := p.connect(Options{})
	given, giveUp := context.WithCancel(background(t))
	giveUp()
	if types, _, err := d.List(given); !errors.Is(err, context.Canceled) || len(types) != 0 {
		t.Errorf("given up: %v, %v", typeNames(types), err)
	}
	s.Close()
	if types, _, err := d.List(background(t)); !errors.Is(err, session.ErrClosed) || len(types) != 0 {
		t.Errorf("over: %v, %v", typeNames(types), err)
	}
}

const draftCapabilities = `{"resources":{"subscribe":true},"extensions":{"events":{"subscribe":true}}}`

// dump is the response of a server of the draft of April 2026 to an unknown request.
const dump = `"error":{"code":-32603,"message":"[{\"code\":\"invalid_type\",\"path\":[\"params\",\"subscriptions\"]}]"}`

func TestTheDraftOfAprilIsNamed(t *testing.T) {
	p := newPeer(t, draftCapabilities, library(func(call) string { return dump }))
	d, _ := p.connect(Options{})
	types, _, err := d.List(background(t))
	if !errors.Is(err, ErrPartial) || !errors.Is(err, ErrDraft) || strings.Join(typeNames(types), " ") != ResourceUpdated {
		t.Errorf("the list: %v, %v", typeNames(types), err)
	}
	ctx, name := background(t), trust.Untrusted("a")
	_, poll := d.Poll(ctx, wire.PollRequest{Name: name})
	_, hook := d.Subscribe(ctx, wire.SubscribeRequest{Name: name})
	_, stream := d.Stream(ctx, wire.StreamRequest{Name: name}, func(wire.Note) {})
	for verb, err := range map[string]error{"poll": poll, "subscribe": hook, "stream": stream} {
		if !errors.Is(err, ErrDraft) || !errors.Is(err, wire.ErrUnacceptable) || !strings.Contains(err.Error(), "April 2026") {
			t.Errorf("%s: %v", verb, err)
		}
	}
}
