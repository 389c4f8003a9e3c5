//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/store"
	"eventdeck/store/seal"
)

// batch is how many events one delivery hands over.
const batch = 500

func fill(dir string, events int) (err error) {
	ctx := context.Background()
	s, err := store.Open(ctx, store.Options{Dir: dir, Keyring: seal.NoKeyring()})
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	defer func() {
		err = errors.Join(err, s.Close())
		select {
		case bad := <-failed:
			err = errors.Join(err, bad)
		default:
		}
	}()
	if err := s.SetRetention(ctx, event.Retention{}); err != nil { // all of it is kept
		return err
	}
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
		if err := s.Submit(ctx, event.Batch{
			Sub: key.ID(), Records: records,
			Update: func(sub *event.Subscription) {
				sub.Key, sub.Mode, sub.Created, sub.State, sub.Paused = key, event.ModePush, began, event.StatePaused, true
			},
			Done: func(_ event.Outcome, err error) {
				if err != nil {
					select {
					case failed <- err:
					default:
					}
				}
			},
		}); err != nil {
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
	at0 := strings.Index(raw, `"data":`) + len(`"data":`)
	return event.Record{
		Kind: event.KindEvent, Sub: key.ID(), Server: key.Server, Type: key.Type, Mode: event.ModePush, ReceivedAt: at,
		EventID: trust.Untrusted(id), Timestamp: trust.Untrusted(at.Format(time.RFC3339Nano)),
		Raw: []byte(raw), Data: []byte(raw[at0 : len(raw)-1]),
	}
}
