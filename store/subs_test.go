package store

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// fill sets every field to a value that is not zero, so that a field which the encoding omits
// is noticed.
func fill(t *testing.T, v reflect.Value, n *int64) {
	t.Helper()
	*n++
	switch p := v.Addr().Interface().(type) {
	case *trust.Text:
		*p = text(fmt.Sprintf("text-%d\xff\u202e", *n))
		return
	case *event.Secret:
		*p = event.NewSecret(fmt.Sprintf("whsec_secret-%d", *n))
		return
	case *time.Time:
		*p = time.Unix(1_700_000_000+*n, *n).UTC()
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("s%d\xfe", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int64:
		v.SetInt(*n)
	case reflect.Uint64:
		v.SetUint(uint64(*n))
	case reflect.Slice:
		v.SetBytes(fmt.Appendf(nil, `{"<": %d}`, *n))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), n)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), n)
		}
	default:
		t.Fatalf("a field of kind %v", v.Kind())
	}
}

func fullSub(t *testing.T) event.Subscription {
	var s event.Subscription
	var n int64
	fill(t, reflect.ValueOf(&s).Elem(), &n)
	s.ID, s.Mode, s.Preferred, s.State = "aa", event.ModeWebhook, event.ModePush, event.StateLive
	return s
}

func set(sub event.Subscription) func(*event.Subscription) {
	return func(s *event.Subscription) { *s = sub }
}

func TestSubscriptionsKeepEveryField(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, Options{Dir: dir})
	want := fullSub(t)
	store(t, s, event.Batch{Sub: "aa", Update: set(want)})
	for range 2 {
		got, err := s.Subscription("aa")
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v\n%v", got, want, err)
		}
		if got.Hook.Secret.Reveal() != want.Hook.Secret.Reveal() || got.Hook.Previous.Reveal() != want.Hook.Previous.Reveal() {
			t.Error("the secrets differ")
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = openTest(t, Options{Dir: dir})
	}
}

func TestZeroSubscription(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, Options{Dir: dir})
	store(t, s, event.Batch{Sub: "aa", Update: func(sub *event.Subscription) {
		if !reflect.DeepEqual(*sub, event.Subscription{}) {
			t.Errorf("an unknown subscription is %+v", *sub)
		}
	}})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, Options{Dir: dir})
	equal(t, s.Subscriptions(), []event.Subscription{{ID: "aa"}})
}

func TestCursors(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, Options{Dir: dir})
	cursor := func(c event.Cursor) *event.Cursor { return &c }
	store(t, s, event.Batch{Sub: "no", Cursor: cursor(event.At(text("5")))})
	if _, err := s.Subscription("no"); !errors.Is(err, event.ErrNotFound) {
		t.Errorf("a cursor made a subscription: %v", err)
	}
	for id, c := range map[event.SubID]event.Cursor{"none": {}, "empty": event.At(text("")), "some": event.At(text("c\xff\x1b")), "number": {Text: text("17"), Valid: true, Number: true}} {
		store(t, s, event.Batch{Sub: id, Update: func(s *event.Subscription) { s.Cursor = event.At(text("old")) }})
		b := eventsBatch(id, "1")
		b.Cursor = cursor(c)
		b.Update = func(sub *event.Subscription) { equal(t, sub.Cursor, c) } // after the cursor
		store(t, s, b)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, Options{Dir: dir})
	for id, c := range map[event.SubID]event.Cursor{"none": {}, "empty": event.At(text("")), "some": event.At(text("c\xff\x1b")), "number": {Text: text("17"), Valid: true, Number: true}} {
		sub, err := s.Subscription(id)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, sub.Cursor, c)
	}
}

func TestSubscriptionsAreOrderedValues(t *testing.T) {
	s := openTest(t, Options{})
	for i, id := range []event.SubID{"c", "a", "b", "d"} {
		store(t, s, event.Batch{Sub: id, Update: func(sub *event.Subscription) {
			sub.Created = time.Unix(int64(max(i, 1)), 0)
			sub.Lease.Status = &event.DeliveryStatus{Active: true}
			sub.Key.Args = []byte(`{}`)
		}})
	}
	var order string
	for _, sub := range s.Subscriptions() {
		order += string(sub.ID)
		sub.Lease.Status.Active = false
		sub.Key.Args[0] = 'x'
	}
	equal(t, order, "acbd")
	sub, _ := s.Subscription("a")
	if !sub.Lease.Status.Active || string(sub.Key.Args) != "{}" {
		t.Error("a reader changed what the store holds")
	}
}

func TestRemove(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, Options{Dir: dir})
	b := eventsBatch("aa", "1")
	b.Update = set(fullSub(t))
	store(t, s, b)
	ended := event.Ended{Path: "/p\xff", At: time.Unix(9, 9).UTC(), Removed: true}
	store(t, s, event.Batch{Sub: "aa", Remove: true, Ended: []event.Ended{ended}})
	for range 2 {
		if _, err := s.Subscription("aa"); !errors.Is(err, event.ErrNotFound) || len(s.Subscriptions()) != 0 {
			t.Errorf("it is still there: %v", err)
		}
		equal(t, s.EndedHooks(), []event.Ended{ended})
		equal(t, ids(t, s), []string{"1"})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = openTest(t, Options{Dir: dir})
	}
}

// A change that is under way when its subscription is removed does not restore a part of it.
func TestUpdateAfterRemoval(t *testing.T) {
	s := openTest(t, Options{})
	store(t, s, event.Batch{Sub: "aa", Update: set(fullSub(t))})
	store(t, s, event.Batch{Sub: "aa", Remove: true})
	cursor := event.At(text("c"))
	store(t, s, event.Batch{Sub: "aa", IfKept: true, Cursor: &cursor, Update: func(have *event.Subscription) { have.Printed = 9 }})
	if subs := s.Subscriptions(); len(subs) != 0 {
		t.Errorf("%+v", subs)
	}
	if _, err := s.Subscription("aa"); !errors.Is(err, event.ErrNotFound) {
		t.Error(err)
	}
}

func TestRemoveAndMakeAgainInOneGroup(t *testing.T) {
	hold := make(chan struct{})
	s := openTest(t, Options{Hooks: Hooks{BeforeCommit: func() { <-hold }}})
	first := submit(t, s, event.Batch{Sub: "aa", Update: set(fullSub(t))})
	hold <- struct{}{}
	submit(t, s, event.Batch{Sub: "aa", Remove: true})
	last := submit(t, s, event.Batch{Sub: "aa", Update: func(sub *event.Subscription) {
		if sub.Printed != 0 {
			t.Error("what was removed came back")
		}
		sub.Paused = true
	}})
	close(hold)
	<-first
	<-last
	equal(t, s.Subscriptions(), []event.Subscription{{ID: "aa", Paused: true}})
}

func TestSmallBuckets(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, Options{Dir: dir})
	ctx := t.Context()
	at := time.Unix(5, 6).UTC()
	seen := event.ServerSeen{Name: "b", Era: "modern", Version: "2026", Transport: "http", Title: text("\xff"), Release: text("1"), At: at}
	for _, err := range []error{
		s.SetSetting(ctx, "address", "old"), s.SetSetting(ctx, "address", "127.0.0.1:1\xff"), s.SetSetting(ctx, "none", ""),
		s.Saw(ctx, event.ServerSeen{Name: "b"}), s.Saw(ctx, seen), s.Saw(ctx, event.ServerSeen{Name: "a"}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SetSetting(ctx, "", "v"); !errors.Is(err, ErrBatch) {
		t.Errorf("an empty key: %v", err)
	}
	done := make(chan error)
	for range 10 {
		go func() {
			for range 100 {
				if err := s.Refuse(ctx, event.Refusal{At: at, Status: 401}); err != nil {
					done <- err
				}
			}
			done <- nil
		}()
	}
	for range 10 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	last := event.Refusal{At: at, Sub: "aa", Reason: "signature wrong", Status: 401, Bytes: 7}
	if err := s.Refuse(ctx, last); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	s = openTest(t, Options{Dir: dir})
	for key, want := range map[string]string{"address": "127.0.0.1:1\xff", "none": ""} {
		if got, err := s.Setting(key); err != nil || got != want {
			t.Errorf("setting %s: %q, %v", key, got, err)
		}
	}
	if _, err := s.Setting("other"); !errors.Is(err, event.ErrNotFound) {
		t.Errorf("a setting that was never set: %v", err)
	}
	equal(t, s.Servers(), []event.ServerSeen{{Name: "a"}, seen})
	refusals := s.Refusals()
	equal(t, len(refusals), maxRefusals)
	equal(t, refusals[0], last)
}

func TestEndedHooksAreBounded(t *testing.T) {
	s := openTest(t, Options{})
	var last <-chan result
	for i := range maxEnded + 5 {
		last = submit(t, s, event.Batch{Ended: []event.Ended{{Path: fmt.Sprint(i), At: time.Unix(int64(i), 0)}}})
	}
	<-last
	hooks := s.EndedHooks()
	equal(t, len(hooks), maxEnded)
	equal(t, hooks[0].Path, "5")
}
