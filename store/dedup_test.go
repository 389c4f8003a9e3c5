package store

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/seal"
	"eventdeck/store/tables"
)

func TestEventsAreStoredOnce(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, Options{Dir: dir})
	equal(t, store(t, s, eventsBatch("aa", "1", "2", "1")), event.Outcome{Stored: 2, Duplicates: 1, Last: 2})
	equal(t, store(t, s, eventsBatch("aa", "2", "3")), event.Outcome{Stored: 1, Duplicates: 1, Last: 3})
	equal(t, store(t, s, eventsBatch("bb", "1")), event.Outcome{Stored: 1, Last: 4})

	other := eventsBatch("aa", "1")
	other.Records[0].Raw, other.Records[0].Data = []byte(`{"other":1}`), nil
	equal(t, store(t, s, other), event.Outcome{Duplicates: 1})
	if r, _ := s.Get(1); string(r.Raw) != string(newEvent("1").Raw) {
		t.Errorf("the first content was replaced by %s", r.Raw)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	s = openTest(t, Options{Dir: dir})
	equal(t, store(t, s, eventsBatch("aa", "1", "3", "4")), event.Outcome{Stored: 1, Duplicates: 2, Last: 5})
	for id, want := range map[string]bool{"1": true, "4": true, "5": false, "": false} {
		if s.HasEvent("aa", text(id)) != want {
			t.Errorf("HasEvent(%q) is not %v", id, want)
		}
	}
	if s.HasEvent("bb", text("2")) {
		t.Error("an event counts for another subscription")
	}
}

func TestEventsOfOneGroupAreStoredOnce(t *testing.T) {
	hold := make(chan struct{})
	s := openTest(t, Options{Hooks: Hooks{BeforeCommit: func() { <-hold }}})
	first := submit(t, s, event.Batch{})
	hold <- struct{}{}
	a, b := submit(t, s, eventsBatch("aa", "1")), submit(t, s, eventsBatch("aa", "1"))
	close(hold)
	<-first
	equal(t, (<-a).out, event.Outcome{Stored: 1, Last: 1})
	equal(t, (<-b).out, event.Outcome{Duplicates: 1})
}

func TestWebhookIDs(t *testing.T) {
	rec := func(kind event.Kind, id, hook string) event.Record {
		return event.Record{Kind: kind, EventID: text(id), WebhookID: text(hook)}
	}
	ev, rej, gap := event.KindEvent, event.KindRejected, event.KindGap
	for name, c := range map[string]struct {
		stored, next event.Record
		dup          bool
	}{
		"same webhook id, other event id":           {rec(ev, "1", "w"), rec(ev, "2", "w"), false},
		"same event id, other webhook id":           {rec(ev, "1", "w"), rec(ev, "1", "v"), true},
		"no event id, same webhook id":              {rec(ev, "", "w"), rec(ev, "", "w"), true},
		"no event id, webhook id of a whole event":  {rec(ev, "1", "w"), rec(ev, "", "w"), true},
		"event id that was only a webhook id":       {rec(ev, "1", "w"), rec(ev, "w", "x"), false},
		"webhook id that is another's event id":     {rec(ev, "w", ""), rec(ev, "", "w"), false},
		"neither id":                                {rec(ev, "", ""), rec(ev, "", ""), false},
		"rejected with the same webhook id":         {rec(rej, "", "w"), rec(rej, "", "w"), true},
		"rejected with the same and other event id": {rec(rej, "1", "w"), rec(rej, "2", "w"), true},
		"rejected without a webhook id":             {rec(rej, "1", ""), rec(rej, "1", ""), false},
		"rejected and event":                        {rec(rej, "", "w"), rec(ev, "", "w"), false},
		"gap without a webhook id":                  {rec(gap, "", ""), rec(gap, "", ""), false},
		"gap envelope sent again":                   {rec(gap, "", "w"), rec(gap, "", "w"), true},
		"gap and rejected":                          {rec(gap, "", "w"), rec(rej, "", "w"), false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := openTest(t, Options{Dir: dir})
			store(t, s, event.Batch{Sub: "aa", Records: []event.Record{c.stored}})
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = openTest(t, Options{Dir: dir})
			out := store(t, s, event.Batch{Sub: "aa", Records: []event.Record{c.next}})
			if out.Duplicates == 1 != c.dup || out.Stored == 1 == c.dup {
				t.Errorf("%+v", out)
			}
			out = store(t, s, event.Batch{Sub: "bb", Records: []event.Record{c.next}})
			equal(t, out.Stored, 1)
		})
	}
}

func TestChangedContentOfAnEventIsReported(t *testing.T) {
	rec := func(hook, data string) event.Record {
		raw := []byte(`{"eventId":"1","data":` + data + `}`)
		return event.Record{Kind: event.KindEvent, EventID: text("1"), WebhookID: text(hook), Raw: raw, Data: raw[len(`{"eventId":"1","data":`) : len(raw)-1]}
	}
	dir := t.TempDir()
	s := openTest(t, Options{Dir: dir})
	store(t, s, event.Batch{Sub: "aa", Records: []event.Record{rec("", `{"a":1,"b":[1.0,null]}`)}})
	for name, c := range map[string]struct {
		rec     event.Record
		changed int
	}{
		"the same":              {rec("1", `{"a":1,"b":[1.0,null]}`), 0},
		"spelled otherwise":     {rec("1", `{ "b" : [1.0, null],"\u0061":1}`), 0},
		"another number":        {rec("1", `{"a":2,"b":[1.0,null]}`), 1},
		"a member more":         {rec("1", `{"a":1,"b":[1.0,null],"c":0}`), 1},
		"another kind of value": {rec("1", `"text"`), 1},
		"not by webhook":        {rec("", `{"a":2}`), 1},
		"the same in a poll":    {rec("", `{"a":1,"b":[1.0,null]}`), 0},
	} {
		out := store(t, s, event.Batch{Sub: "aa", Records: []event.Record{c.rec}})
		if want := (event.Outcome{Duplicates: 1, Changed: c.changed}); out != want {
			t.Errorf("%s: %+v", name, out)
		}
	}
	if r, err := s.Get(1); err != nil || string(r.Data) != `{"a":1,"b":[1.0,null]}` {
		t.Errorf("the first content was replaced: %s, %v", r.Data, err)
	}
}

func TestCollidingHashesDropNothing(t *testing.T) {
	dir := t.TempDir()
	same := func([]byte, tables.Space, event.SubID, string) uint64 { return 42 }
	s := openTest(t, Options{Dir: dir, hash: same})
	equal(t, store(t, s, eventsBatch("aa", "1", "2", "3", "2")), event.Outcome{Stored: 3, Duplicates: 1, Last: 3})
	equal(t, store(t, s, eventsBatch("bb", "1")).Stored, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, Options{Dir: dir, hash: same})
	equal(t, store(t, s, eventsBatch("aa", "3", "1", "4")), event.Outcome{Stored: 1, Duplicates: 2, Last: 5})
	if !s.HasEvent("aa", text("2")) || s.HasEvent("aa", text("9")) {
		t.Error("HasEvent goes by the hash alone")
	}
}

func TestDamagedIndexStopsWriting(t *testing.T) {
	for name, put := range map[string]func(boltfile.Bucket) error{
		"key":     func(b boltfile.Bucket) error { return b.Put([]byte("x"), nil) },
		"version": func(b boltfile.Bucket) error { return b.Put(tables.SeqKey(1), []byte{9}) },
		"length":  func(b boltfile.Bucket) error { return b.Put(tables.SeqKey(1), tables.AppendHash(nil, 0, 1)[:3]) },
	} {
		dir := t.TempDir()
		s := openTest(t, Options{Dir: dir})
		if err := boltfile.Update(s.db, func(tx *boltfile.Tx) error { return put(tx.Bucket(tables.Dedup)) }); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = openTest(t, Options{Dir: dir})
		if r := <-submit(t, s, eventsBatch("aa", "1")); !errors.Is(r.err, ErrDamaged) || !errors.Is(s.Info().Err, ErrDamaged) {
			t.Errorf("%s: %v, %v", name, r.err, s.Info().Err)
		}
		if s.HasEvent("aa", text("1")) {
			t.Errorf("%s: the event is there", name)
		}
	}
}

func TestDamagedRecordIsNamed(t *testing.T) {
	s := openTest(t, Options{hash: func([]byte, tables.Space, event.SubID, string) uint64 { return 1 }})
	store(t, s, eventsBatch("aa", "1"))
	if err := boltfile.Update(s.db, func(tx *boltfile.Tx) error { return tx.Bucket(tables.Events).Put(tables.SeqKey(1), []byte{99}) }); err != nil {
		t.Fatal(err)
	}
	_, get := s.Get(1)
	all := func(event.Record) bool { return true }
	for name, err := range map[string]error{
		"Get": get, "Forward": s.Forward(1, all), "Backward": s.Backward(1, all), "Submit": (<-submit(t, s, eventsBatch("aa", "1"))).err,
	} {
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// BenchmarkOpen opens a store with a million events and waits until duplicates
// can be found. On two shared cores, with the file in the page cache: 1.4 ms until
// Open returns, and 80 ms more for the index.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	s := openTest(b, Options{Dir: dir})
	const million = 1_000_000
	for from := 0; from < million; from += 1000 {
		batch := event.Batch{Sub: "aaaaaaaa"}
		for i := range 1000 {
			r := newEvent(fmt.Sprint("run-7f3a-", from+i))
			batch.Records = append(batch.Records, r)
		}
		if err := s.Submit(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	var opened time.Duration
	for b.Loop() {
		start := time.Now()
		s, err := Open(b.Context(), Options{Dir: dir, Keyring: seal.NoKeyring()})
		if err != nil {
			b.Fatal(err)
		}
		opened += time.Since(start)
		<-s.loaded
		if s.Last() != million {
			b.Fatalf("%d records", s.Last())
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(opened.Microseconds())/1000/float64(b.N), "ms-to-open/op")
}
