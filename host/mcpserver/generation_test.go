package mcpserver_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/mcpserver"
	"eventdeck/host/mcptest"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
	"eventdeck/store"
	"eventdeck/store/maintain"
	"eventdeck/store/seal"
)

// swapped is a host that another one replaces: a restored store, opened while clients are there.
type swapped struct {
	mcpserver.Host
	mu      sync.Mutex
	now     *host.Host
	changed chan struct{}
}

func (s *swapped) use(h *host.Host) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = h
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

func (s *swapped) current() *host.Host {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *swapped) Log() *eventlog.Log                 { return s.current().Log() }
func (s *swapped) Changed() (<-chan struct{}, func()) { return s.changed, func() {} }
func (s *swapped) Snapshot() host.Snapshot            { return s.current().Snapshot() }

// restoredRig is a server on a store with a hundred events, of which a copy has the first forty.
type restoredRig struct {
	*rig
	host      *swapped
	dir, copy string
	occurred  map[int]time.Time
}

func newRestoredRig(t *testing.T, change func(*mcpserver.Options)) *restoredRig {
	t.Helper()
	x := &restoredRig{rig: &rig{t: t, opts: mcpserver.Options{Version: "test"}}, host: &swapped{changed: make(chan struct{}, 1)}, occurred: map[int]time.Time{}, dir: t.TempDir(), copy: filepath.Join(t.TempDir(), "copy.db")}
	if change != nil {
		change(&x.opts)
	}
	x.opts.Host = x.host
	x.open()
	x.fill(1, 40)
	if _, err := x.store.Backup(t.Context(), x.copy); err != nil {
		t.Fatal(err)
	}
	x.fill(41, 60)
	x.rig.host = x.host.current() // the rig makes no other
	x.serve("")
	t.Cleanup(x.close)
	return x
}

func (x *restoredRig) open() {
	x.t.Helper()
	var err error
	if x.store, err = store.Open(x.t.Context(), store.Options{Dir: x.dir, Keyring: seal.NoKeyring()}); err != nil {
		x.t.Fatal(err)
	}
	h, err := host.New(host.Options{Store: x.store})
	if err != nil {
		x.t.Fatal(err)
	}
	x.host.use(h)
}

func (x *restoredRig) close() {
	if err := x.host.current().Close(); err != nil {
		x.t.Error(err)
	}
	if err := x.store.Close(); err != nil {
		x.t.Error(err)
	}
}

// fill stores events, each as it occurred when it was stored first, and tells the server.
func (x *restoredRig) fill(first, n int) { x.fillAt(first, n, time.Now()) }

func (x *restoredRig) fillAt(first, n int, received time.Time) {
	var records []event.Record
	for i := first; i < first+n; i++ {
		r := newEvent("pager", "tick", fmt.Sprint("e", i), fmt.Sprintf(`{"n":%d}`, i))
		if _, again := x.occurred[i]; !again {
			x.occurred[i] = received
		}
		r.ReceivedAt, r.Timestamp = received.UTC(), trust.Untrusted(x.occurred[i].UTC().Format(time.RFC3339Nano))
		records = append(records, r)
	}
	x.put(records...)
	x.host.use(x.host.current())
}

// restore puts the copy back while the server runs. Then servers send what they have sent before,
// in another order, and more.
func (x *restoredRig) restore() {
	x.t.Helper()
	x.close()
	if _, err := maintain.Restore(x.t.Context(), x.dir, x.copy, nil, time.Now(), func(string) {}); err != nil {
		x.t.Fatal(err)
	}
	x.open()
	x.fill(71, 30)
	x.fill(41, 30)
}

// A position from before a restore means what it meant up to the last record of the copy. Beyond
// that it is truncated, and what follows begins with the newest record: nothing comes twice.
func TestPositionsFromBeforeARestore(t *testing.T) {
	x := newRestoredRig(t, nil)
	before := x.store.Generations()[0].ID
	at := func(seq string) string { return before + "." + seq }
	a := x.call(wire.MethodPoll, sub("pager/tick", "cursor", at("0")))
	was := a["events"].([]any)[60].(map[string]any)
	if was["eventId"] != before+"-61" || a["cursor"] != at("100") {
		t.Fatalf("event %v, cursor %v", was["eventId"], a["cursor"])
	}
	x.restore()
	for round := range 2 { // another restore forgets the generation between
		known := x.call(wire.MethodPoll, sub("pager/tick", "cursor", at("38")))
		got := known["events"].([]any)
		if known["truncated"] != false || len(got) < 62 || got[1].(map[string]any)["eventId"] != before+"-40" {
			t.Errorf("up to the copy: truncated %v, %d events", known["truncated"], len(got))
		}
		if id := got[22].(map[string]any)["eventId"].(string); strings.HasPrefix(id, before) || !strings.HasSuffix(id, "-61") {
			t.Errorf("record 61 has the id %s, as before", id)
		}
		beyond := x.call(wire.MethodPoll, sub("pager/tick", "cursor", at("41")))
		if beyond["truncated"] != true || len(beyond["events"].([]any)) > 0 || !strings.HasPrefix(beyond["cursor"].(string), known["cursor"].(string)+".") {
			t.Errorf("beyond the copy: %v", beyond)
		}
		x.fill(101+2*round, 2)
		inOrder(t, numbers(x.call(wire.MethodPoll, sub("pager/tick", "cursor", beyond["cursor"]))["events"]), 101+2*round, 2)
		if why := x.refused("whats_new", map[string]any{"position": at("41")}); !strings.Contains(why, "not one of this store") {
			t.Error(why)
		}
		x.restore()
		lost := x.call(wire.MethodPoll, sub("pager/tick", "cursor", known["cursor"]))
		if lost["truncated"] != true || len(lost["events"].([]any)) > 0 {
			t.Errorf("of a generation that was lost: %v", lost)
		}
	}
}

// A stream and a webhook subscription that are there while the store is restored are told.
func TestClientsThatAreThereAtARestore(t *testing.T) {
	callback := &callback{mcptest.NewCallback(t)}
	x := newRestoredRig(t, func(o *mcpserver.Options) { o.CallbacksOnLoopback, o.CallbackCA = true, callback.CA })
	c := x.connect()
	at := x.store.Generations()[0].ID + ".0"
	c.send(1, wire.MethodStream, sub("pager/tick", "cursor", at))
	x.call(wire.MethodSubscribe, callback.params("pager/tick", "cursor", at))
	for n := 1; n <= 100; n++ {
		if got := c.until(wire.NoteEvent).Params.Data.N; got != n {
			t.Fatalf("event %d came for %d", got, n)
		}
		if got := callback.Next(mcptest.IsEvent).N(); got != n {
			t.Fatalf("delivery %d came for %d", got, n)
		}
	}
	x.restore()
	if n := c.until(wire.NoteActive); !n.Params.Truncated {
		t.Errorf("the stream gets %+v", n)
	}
	if d := callback.Next(func(d mcptest.Delivered) bool { return d.Kind != "verification" }); d.Kind != "gap" {
		t.Errorf("the webhook gets %+v", d)
	}
	x.fill(101, 1)
	if got := c.until(wire.NoteEvent).Params.Data.N; got != 101 {
		t.Errorf("the stream continues with event %d", got)
	}
	if got := callback.Next(mcptest.IsEvent).N(); got != 101 {
		t.Errorf("the webhook continues with event %d", got)
	}
}

// What occurred before a client lost its position is not sent to it when its server sends it again,
// and it is informed; what comes later than that is sent.
func TestWhatIsSentAgainAfterARestore(t *testing.T) {
	x := newRestoredRig(t, nil)
	cursor := any(strings.Repeat("0", 32) + ".7")
	poll := func(truncated bool, n ...int) {
		t.Helper()
		a := x.call(wire.MethodPoll, sub("pager/tick", "cursor", cursor))
		if got := numbers(a["events"]); a["truncated"] != truncated || !slices.Equal(got, n) {
			t.Errorf("truncated %v, events %v; want %v, %v", a["truncated"], got, truncated, n)
		}
		cursor = a["cursor"]
	}
	poll(true)
	x.occurred[101] = time.Now().Add(-time.Second)
	x.fill(101, 2)
	poll(true, 102)
	x.fill(103, 1)
	poll(false, 103)
	x.occurred[104] = x.occurred[101]
	x.fillAt(104, 1, time.Now().Add(2*time.Minute))
	poll(false, 104)
}
