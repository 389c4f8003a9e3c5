//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/store"
	"eventdeck/store/seal"
)

// batch is the number of events in one delivery.
const batch = 500

// fillStore makes a store with a number of events.
func fillStore(args []string) error {
	if len(args) < 1 || len(args) > 2 {
		return errors.New("usage: go run ./ui/internal/bench fill DIR [EVENTS]")
	}
	events := 1_000_000
	if len(args) == 2 {
		n, err := strconv.Atoi(args[1])
		if err != nil || n < 1 {
			return fmt.Errorf("%q is no number of events", args[1])
		}
		events = n
	}
	return fill(args[0], events)
}

// loader is a store that is being filled. close returns errors of commits.
type loader struct {
	*store.Store
	mu     sync.Mutex
	failed error
}

// openLoader opens a store. bounded keeps its retention; otherwise it keeps everything.
func openLoader(dir string, bounded bool, hooks store.Hooks) (*loader, error) {
	ctx := context.Background()
	s, err := store.Open(ctx, store.Options{Dir: dir, Keyring: seal.NoKeyring(), Hooks: hooks})
	if err != nil {
		return nil, err
	}
	if !bounded {
		if err := s.SetRetention(ctx, event.Retention{}); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return &loader{Store: s}, nil
}

// add submits a batch, and calls committed, if not nil, when it is stored.
func (l *loader) add(b event.Batch, committed func()) error {
	b.Done = func(_ event.Outcome, err error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.failed = errors.Join(l.failed, err)
		if committed != nil {
			committed()
		}
	}
	return l.Submit(context.Background(), b)
}

// close commits the queue and returns all errors.
func (l *loader) close() error {
	err := l.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(err, l.failed)
}

func fill(dir string, events int) (err error) {
	l, err := openLoader(dir, false, store.Hooks{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	var keys []event.Key
	for _, typ := range []string{"incident.created", "incident.resolved", "deploy.changed", "alert.fired", "note.added"} {
		keys = append(keys, event.Key{Server: "pager", Type: trust.Untrusted(typ), Args: []byte("{}")})
	}
	began := time.Now().UTC().Add(-24 * time.Hour)
	step := 24 * time.Hour / time.Duration(events)
	for n := 0; n < events; {
		key := keys[n/batch%len(keys)]
		var records []event.Record
		for ; len(records) < batch && n < events; n++ {
			records = append(records, record(key, n, began.Add(time.Duration(n)*step)))
		}
		if err := l.add(event.Batch{Sub: key.ID(), Records: records, Update: func(sub *event.Subscription) {
			sub.Key, sub.Mode, sub.Created, sub.State, sub.Paused = key, event.ModePush, began, event.StatePaused, true
		}}, nil); err != nil {
			return err
		}
	}
	return nil
}

// record makes an event of about 600 bytes.
func record(key event.Key, n int, at time.Time) event.Record {
	id := fmt.Sprintf("evt_%09d", n)
	data := fmt.Sprintf(`{"n":%d,"severity":"P%d","title":"checkout latency above %d ms on host db-%02d","text":"%s"}`,
		n, 1+n%4, 100+n%900, n%32, strings.Repeat("connection pool exhausted; ", 14))
	raw := `{"eventId":"` + id + `","name":"` + key.Type.Raw() + `","timestamp":"` + at.Format(time.RFC3339Nano) + `","data":` + data + `}`
	dataAt := strings.Index(raw, `"data":`) + len(`"data":`)
	return event.Record{
		Kind: event.KindEvent, Sub: key.ID(), Server: key.Server, Type: key.Type, Mode: event.ModePush, ReceivedAt: at,
		EventID: trust.Untrusted(id), Timestamp: trust.Untrusted(at.Format(time.RFC3339Nano)),
		Raw: []byte(raw), Data: []byte(raw[dataAt : len(raw)-1]),
	}
}
