package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/delivery"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/trust"
	"eventdeck/host/trust/scan"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/query"
)

// start is the initial time of the stand-ins.
var start = time.Date(2026, 3, 14, 14, 3, 5, 0, time.UTC)

// fakeStore keeps records in memory. It has only the methods that the screen uses.
type fakeStore struct {
	event.Store
	scanFails error
	mu        sync.Mutex
	recs      []event.Record
	logs
}

func (s *fakeStore) Last() uint64 {
	offEventLoop()
	s.mu.Lock()
	defer s.mu.Unlock()
	return uint64(len(s.recs))
}

func (s *fakeStore) Get(seq uint64) (event.Record, error) {
	offEventLoop()
	return s.get(seq)
}

func (s *fakeStore) get(seq uint64) (event.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if seq == 0 || seq > uint64(len(s.recs)) {
		return event.Record{}, event.ErrNotFound
	}
	return s.recs[seq-1], nil
}

func (s *fakeStore) Forward(seq uint64, fn func(event.Record) bool) error {
	offEventLoop()
	for ; ; seq++ {
		r, err := s.get(seq)
		if err != nil || !fn(r) {
			return nil
		}
	}
}

func (s *fakeStore) Scan(from, to uint64, fn func(*event.Record) bool) error {
	if s.scanFails != nil {
		return s.scanFails
	}
	if from <= to {
		return s.Forward(from, func(r event.Record) bool { return r.Seq <= to && fn(&r) })
	}
	return s.Backward(from, func(r event.Record) bool { return r.Seq >= to && fn(&r) })
}

func (s *fakeStore) Backward(seq uint64, fn func(event.Record) bool) error {
	offEventLoop()
	for ; seq > 0; seq-- {
		if r, err := s.get(seq); err != nil || !fn(r) {
			return nil
		}
	}
	return nil
}

// fakeHost is a stand-in for the host that records requests.
type fakeHost struct {
	callback bool // there is an address for deliveries
	host.API
	store *fakeStore
	log   *eventlog.Log

	mu       sync.Mutex
	snap     host.Snapshot
	flag     chan struct{}
	asked    []host.Request
	ended    []event.SubID
	paused   []event.SubID
	refuse   error
	argsFail error
	tested   host.ServerView           // what a test finds
	held     []host.RemoteSubscription // what Remote tells instead of the usual
	settings map[string]string
	stats    host.Stats
	measured int // calls of Stats
	marks    []event.Mark
	flow     host.SignIn
	did      []string // verbs on subscriptions and servers
	// never makes a server that does not confirm a subscription: it returns what is
	// stored of it.
	never func(r host.Request) event.Subscription
}

func newFake() *fakeHost {
	s := &fakeStore{logs: newLogs()}
	return &fakeHost{store: s, log: eventlog.New(s), flag: make(chan struct{}, 1)}
}

func (h *fakeHost) Snapshot() host.Snapshot {
	offEventLoop()
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.snap
	s.Servers = append([]host.ServerView(nil), s.Servers...)
	s.Subs = append([]host.SubscriptionView(nil), s.Subs...)
	s.Last = uint64(len(h.store.recs))
	return s
}

func (h *fakeHost) Changed() (<-chan struct{}, func()) { return h.flag, func() {} }
func (h *fakeHost) Log() *eventlog.Log                 { return h.log }

func (h *fakeHost) Check(_ context.Context, r host.Request) (event.Mode, error) {
	offEventLoop()
	switch t := query.FindType(&h.snap, query.Node{Server: r.Server, Type: r.Type}); {
	case r.Mode == event.ModeWebhook && !h.callback:
		return "", fmt.Errorf("%w: no callback address", host.ErrMode)
	case r.Mode == event.ModeAuto && t != nil && len(t.Modes) == 1 && t.Offers(event.ModeWebhook):
		return "", fmt.Errorf("%w: only webhook", host.ErrMode)
	}
	return r.Mode, h.argsFail
}

func (h *fakeHost) Subscribe(ctx context.Context, r host.Request) (event.Subscription, error) {
	h.mu.Lock()
	h.asked = append(h.asked, r)
	err, never := h.refuse, h.never
	h.mu.Unlock()
	if never != nil {
		sub := never(r)
		<-ctx.Done()
		return sub, context.Cause(ctx)
	}
	if err != nil {
		return event.Subscription{}, err
	}
	v := h.subscribe(r.Server, r.Type.Raw(), event.ModePush, string(r.Args))
	return v.Subscription, nil
}

func (h *fakeHost) Unsubscribe(_ context.Context, id event.SubID) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = append(h.ended, id)
	return h.refuse
}

func (h *fakeHost) Pause(_ context.Context, id event.SubID) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.paused = append(h.paused, id)
	return h.refuse
}

// touch sets the flag of a change.
func (h *fakeHost) touch() {
	select {
	case h.flag <- struct{}{}:
	default:
	}
}

func (h *fakeHost) server(name string, types ...event.Type) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.snap.Version++
	h.snap.Servers = append(h.snap.Servers, host.ServerView{
		Name: name, Address: "http://127.0.0.1:7000/mcp", Reach: host.ReachReady, Since: start,
		Era: "2026-07-28 stateless", Version: "2026-07-28", Transport: "http", Profile: "SEP-3415", Types: types, TypesKnown: true,
	})
}

func (h *fakeHost) subscribe(server, typ string, mode event.Mode, args string) host.SubscriptionView {
	canonical, _ := event.CanonicalArgs([]byte(args))
	key := event.Key{Server: server, Type: trust.Untrusted(typ), Args: canonical}
	v := host.SubscriptionView{Subscription: event.Subscription{ID: key.ID(), Key: key, Mode: mode, Created: start}}
	v.Status = delivery.Status{State: event.StateLive, Since: start, Opened: start, LastHeartbeat: start.Add(-3 * time.Second), Interval: 15 * time.Second}
	switch mode {
	case event.ModePoll:
		v.Status = delivery.Status{State: event.StatePolling, Since: start, LastPoll: start.Add(-6 * time.Second), NextTry: start.Add(24 * time.Second)}
	case event.ModeWebhook:
		v.Lease.RefreshBefore = start.Add(12 * time.Minute)
		v.Status = delivery.Status{State: event.StateLive, Since: start, Lease: v.Lease, LastDelivery: start.Add(-9 * time.Second)}
		v.Status.Lease.GrantedAt = start
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.snap.Version++
	h.snap.Subs = append(h.snap.Subs, v)
	return v
}

func (h *fakeHost) add(r event.Record) uint64 {
	h.store.mu.Lock()
	defer h.store.mu.Unlock()
	r.Seq = uint64(len(h.store.recs)) + 1
	if r.ReceivedAt.IsZero() {
		r.ReceivedAt = start.Add(time.Duration(r.Seq) * 300 * time.Millisecond)
	}
	if r.Kind == "" {
		r.Kind = event.KindEvent
		r.EventID = trust.Untrusted(fmt.Sprintf("evt_%d", r.Seq))
	}
	if r.Flags == nil {
		r.Flags = scanned(detail.PayloadOf(&r))
	}
	h.store.recs = append(h.store.recs, r)
	return r.Seq
}

// scanned returns the flags of a payload as the delivery sets them.
func scanned(raw []byte) (flags []string) {
	if len(raw) == 0 {
		return nil
	}
	report := scan.Scan(raw)
	for _, f := range report.Flags {
		flags = append(flags, string(f))
	}
	if report.Badge {
		flags = append(flags, event.FlagBadge)
	}
	return flags
}

func (h *fakeHost) event(server, typ, title string) uint64 {
	data, _ := json.Marshal(map[string]any{"title": title, "severity": "P1", "n": 12345678901234567})
	return h.add(event.Record{Server: server, Type: trust.Untrusted(typ), Mode: event.ModePush, Data: data,
		Sub: event.Key{Server: server, Type: trust.Untrusted(typ), Args: json.RawMessage("{}")}.ID()})
}

// offEventLoop panics when the host is called on the event loop.
func offEventLoop() {
	var calls [64]uintptr
	frames := runtime.CallersFrames(calls[:runtime.Callers(2, calls[:])])
	for {
		f, more := frames.Next()
		if name, ok := strings.CutPrefix(f.Function, "eventdeck/ui/tui.(*app)."); ok && slices.Contains([]string{"update", "View", "compose", "key", "reconcile"}, name) {
			panic("the host is asked on the event loop")
		}
		if !more {
			return
		}
	}
}

// incident returns a host with servers, subscriptions in every mode and some records.
func incident() *fakeHost {
	h := newFake()
	all := []event.Mode{event.ModePush, event.ModePoll, event.ModeWebhook}
	h.server("pager",
		event.Type{Name: trust.Untrusted("incident.created"), Description: trust.Untrusted("A page was sent."), Modes: all, InputSchema: json.RawMessage(`{"type":"object"}`)},
		event.Type{Name: trust.Untrusted("incident.resolved"), Modes: all},
		event.Type{Name: trust.Untrusted("deploy.finished"), Modes: []event.Mode{event.ModePoll}})
	h.server("chat", event.Type{Name: trust.Untrusted("message.posted"), Modes: []event.Mode{event.ModePush, event.ModePoll}})
	h.subscribe("pager", "incident.created", event.ModePush, "{}")
	h.subscribe("pager", "incident.resolved", event.ModeWebhook, `{"severity":"P1"}`)
	h.subscribe("chat", "message.posted", event.ModePoll, "{}")
	h.snap.Servers[1].Reach, h.snap.Servers[1].Attempt = host.ReachBackoff, 3
	h.snap.Servers[1].NextTry, h.snap.Servers[1].Err = start.Add(8*time.Second), "connection refused"
	h.snap.Store = event.StoreInfo{Path: "/home/op/.local/state/eventdeck", Sealed: "keyring"}
	h.event("pager", "incident.created", "p99 latency above 4s")
	h.event("chat", "message.posted", "looking at it")
	h.add(event.Record{Kind: event.KindState, Server: "pager", Type: trust.Untrusted("incident.created"), Mode: event.ModePush,
		State: &event.StateChange{State: event.StateResumed, Evidence: "from the saved cursor, 12 replayed"}})
	h.add(event.Record{Kind: event.KindGap, Server: "chat", Type: trust.Untrusted("message.posted"), Mode: event.ModePoll,
		Gap: &event.Gap{Cause: event.CauseTruncated, From: start.Add(-time.Minute), To: start, Certain: true}})
	h.add(event.Record{Kind: event.KindRejected, Server: "pager", Type: trust.Untrusted("incident.created"), Mode: event.ModePush,
		Reason: trust.Untrusted("duplicate key"), Raw: []byte(`{"a":1,"a":2}`)})
	h.history()
	h.event("pager", "incident.created", "pool exhausted \x1b[31mred\x1b]0;owned\a \u202eevil 日本語")
	return h
}

// quiet is the environment of tests: UTF-8 and nothing else.
var quiet = []string{"LANG=C.UTF-8", "TERM=xterm-256color"}

// open returns the screen on h at a size, in theme none and at a fixed time.
func open(t testing.TB, h *fakeHost, w, hgt int) *app {
	t.Helper()
	a := newApp(context.Background(), Options{API: h, Env: quiet, Theme: "none", Now: func() time.Time { return start }})
	a.update(tea.WindowSizeMsg{Width: w, Height: hgt})
	a.draw() // the panes know their height
	flush(a)
	return a
}

// nextRun saves the state of a screen, and returns the screen of the next run at the same size.
func nextRun(t testing.TB, a *app, h *fakeHost) *app {
	t.Helper()
	a.persist.SaveAtEnd(context.Background(), a.state())
	return open(t, h, a.panes.W, a.panes.H)
}

// named maps the names of keys that are no letters.
var named = map[string]tea.Key{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab},
	"f2": {Code: tea.KeyF2}, "shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
	"left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight}, "home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd},
	"backspace": {Code: tea.KeyBackspace}, "space": {Code: tea.KeySpace, Text: " "},
	"ctrl+p": {Code: 'p', Mod: tea.ModCtrl}, "ctrl+r": {Code: 'r', Mod: tea.ModCtrl}, "ctrl+t": {Code: 't', Mod: tea.ModCtrl},
	"ctrl+n": {Code: 'n', Mod: tea.ModCtrl}, "ctrl+s": {Code: 's', Mod: tea.ModCtrl}, "ctrl+c": {Code: 'c', Mod: tea.ModCtrl},
	"ctrl+d": {Code: 'd', Mod: tea.ModCtrl}, "ctrl+u": {Code: 'u', Mod: tea.ModCtrl}, "pgup": {Code: tea.KeyPgUp},
	"ctrl+l": {Code: 'l', Mod: tea.ModCtrl}, "ctrl+f": {Code: 'f', Mod: tea.ModCtrl}, "delete": {Code: tea.KeyDelete},
	"ctrl+left": {Code: tea.KeyLeft, Mod: tea.ModCtrl}, "alt+right": {Code: tea.KeyRight, Mod: tea.ModAlt},
}

// press types keys and runs all commands that follow.
func press(t testing.TB, a *app, keys ...string) (quit bool) {
	t.Helper()
	for _, k := range keys {
		if settle(a, a.key(tea.KeyPressMsg(keyNamed(k)))) {
			quit = true
		}
		flush(a)
	}
	return quit
}

// flush runs the commands of the panes until they want nothing more.
func flush(a *app) {
	for {
		cmd := tea.Batch(a.fetch(), a.detail.Work(), a.boardWork(), a.stripWork())
		if cmd == nil {
			return
		}
		settle(a, cmd)
	}
}

// keyNamed returns a key by its name in tests.
func keyNamed(k string) tea.Key {
	if key, ok := named[k]; ok {
		return key
	}
	if letter, ctrl := strings.CutPrefix(k, "ctrl+"); ctrl {
		return tea.Key{Code: rune(letter[0]), Mod: tea.ModCtrl}
	}
	return tea.Key{Code: []rune(k)[0], Text: k}
}

func settle(a *app, cmd tea.Cmd) (quit bool) {
	if cmd == nil {
		return false
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.QuitMsg:
		return true
	case tea.BatchMsg:
		for _, c := range msg {
			quit = settle(a, c) || quit
		}
	default:
		return settle(a, a.update(msg))
	}
	return quit
}

// look runs the periodic commands of the screen.
func look(a *app) {
	settle(a, a.Read())
	settle(a, a.rates.Work(a.Scheduler.Focused))
	settle(a, a.updateCaptions())
	flush(a)
}

// arrive has the screen read new records.
func arrive(a *app) {
	settle(a, a.Read())
	for cmd := tea.Batch(a.fetch(), a.boardWork()); cmd != nil; cmd = tea.Batch(a.fetch(), a.boardWork()) {
		settle(a, cmd)
	}
}
