package tables

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

func codecText(s string) trust.Text { return trust.Untrusted(s) }

func codecCases() map[string]event.Record {
	at := time.Date(2026, 2, 19, 15, 30, 0, 5, time.UTC)
	raw := []byte("{\"t\":\"caf\xe9\",\"data\":{\"a\":1}}")
	data := raw[bytes.IndexByte(raw[1:], '{')+1 : len(raw)-1]
	return map[string]event.Record{
		"zero": {Kind: event.KindEvent},
		"event": {
			Kind: event.KindEvent, Sub: "abcdefgh", Server: "pager", Type: codecText("a.b"), Mode: event.ModeWebhook,
			ReceivedAt: at, EventID: codecText("e\x001"), Timestamp: codecText("2026"), Cursor: event.At(codecText("c\x1b]52")),
			WebhookID: codecText("w"), Raw: raw, Data: data, Replayed: true, Flags: []string{event.FlagIDLearned, ""},
		},
		"empty cursor":        {Kind: event.KindEvent, Cursor: event.At(codecText(""))},
		"number for a cursor": {Kind: event.KindEvent, Cursor: event.Cursor{Text: codecText("17"), Valid: true, Number: true}},
		"empty raw":           {Kind: event.KindEvent, Raw: []byte{}, Data: []byte{}},
		"data alone":          {Kind: event.KindEvent, Data: []byte(`{}`)},
		"data apart":          {Kind: event.KindEvent, Raw: raw, Data: []byte(`{"b":2}`)},
		"data equal":          {Kind: event.KindEvent, Raw: raw, Data: bytes.Clone(data)},
		"far times": {
			Kind: event.KindGap, ReceivedAt: time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC),
			Gap: &event.Gap{Cause: event.CauseSilent, From: time.Date(-4000, 1, 1, 0, 0, 0, 0, time.UTC), To: time.Date(99999, 1, 1, 0, 0, 0, 999999999, time.UTC), Certain: true},
		},
		"open gap":   {Kind: event.KindGap, Gap: &event.Gap{Cause: event.CauseGap}},
		"state":      {Kind: event.KindState, State: &event.StateChange{State: event.StateStale, Evidence: "no word for 61 s", Error: codecText("\xff")}},
		"labels":     {Kind: event.KindEvent, Labels: &event.Labels{Name: codecText("n\xff"), Priority: codecText("high"), Batch: codecText("b"), Tags: []trust.Text{codecText("t"), codecText("")}}},
		"meta":       {Kind: event.KindEvent, Raw: raw, Data: data, Meta: raw[1:4]},
		"meta apart": {Kind: event.KindEvent, Raw: raw, Data: data, Meta: []byte(`{"b":2}`), Flags: []string{"x"}},
		"meta alone": {Kind: event.KindEvent, Meta: []byte(`{"b":2}`)},
		"both apart": {Kind: event.KindEvent, Data: []byte(`{"a":1}`), Meta: []byte(`{"b":2}`), Labels: &event.Labels{Name: codecText("n")}},
		"rejected":   {Kind: event.KindRejected, Raw: []byte("{"), Reason: codecText("syntax"), WebhookID: codecText("w")},
		"long":       {Kind: event.KindEvent, EventID: codecText(strings.Repeat("i", 3000)), Raw: bytes.Repeat([]byte("r"), 300000)},
	}
}

func TestRecordsRoundTrip(t *testing.T) {
	for name, want := range codecCases() {
		enc, err := EncodeRecord(&want)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want.Seq = 7
		got, err := DecodeRecord(7, enc.Value)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v\n%v", name, got, want, err)
		}
		if !bytes.Equal(enc.Raw, want.Raw) || !bytes.Equal(enc.Data, want.Data) || !bytes.Equal(enc.Meta, want.Meta) {
			t.Errorf("%s: raw %q, data %q, meta %q", name, enc.Raw, enc.Data, enc.Meta)
		}
		head, err := DecodeRecordHead(enc.Value)
		if err != nil || head.EventID != want.EventID || head.WebhookID != want.WebhookID {
			t.Errorf("%s: head %+v, %v", name, head, err)
		}
	}
}

func TestDataIsStoredOnce(t *testing.T) {
	r := codecCases()["event"]
	r.Raw = bytes.Repeat([]byte("y"), 1000)
	r.Data = r.Raw[10:990]
	for name, data := range map[string][]byte{"a slice of raw": r.Raw[10:990], "with its own capacity": r.Raw[10:990:990], "a copy": bytes.Clone(r.Raw[10:990])} {
		r.Data = data
		enc, err := EncodeRecord(&r)
		if err != nil || len(enc.Value) > 1200 {
			t.Errorf("%s: %d bytes, %v", name, len(enc.Value), err)
		}
	}
}

func TestDecodeRefusesInvalidRecords(t *testing.T) {
	r := codecCases()["event"]
	enc, err := EncodeRecord(&r)
	if err != nil {
		t.Fatal(err)
	}
	good := enc.Value
	headEnd := len(good) - len(r.Raw)
	for n := range headEnd {
		if _, err := DecodeRecord(1, good[:n]); err == nil {
			t.Errorf("the first %d bytes are taken for a record", n)
		}
	}
	for name, bad := range map[string][]byte{
		"newer version":          append([]byte{recordVersion + 1}, good[1:]...),
		"unknown kind":           {recordVersion, 1, 99},
		"raw that was not there": append(mustEncode(t, event.Record{Kind: event.KindGap}), 'x'),
		"data beyond raw":        good[:len(good)-3],
		"endless number":         append([]byte{recordVersion, 12, 1}, bytes.Repeat([]byte{0xff}, 11)...),
	} {
		if _, err := DecodeRecord(1, bad); err == nil {
			t.Errorf("%s: taken for a record", name)
		}
	}
}

func mustEncode(t testing.TB, r event.Record) []byte {
	t.Helper()
	enc, err := EncodeRecord(&r)
	if err != nil {
		t.Fatal(err)
	}
	return enc.Value
}

func FuzzDecodeRecord(f *testing.F) {
	for _, r := range codecCases() {
		f.Add(mustEncode(f, r))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		r, err := DecodeRecord(3, value)
		if err != nil {
			return
		}
		again, err := DecodeRecord(3, mustEncode(t, r))
		if err != nil || !reflect.DeepEqual(r, again) {
			t.Errorf("%+v\nbecomes %+v\n%v", r, again, err)
		}
	})
}

func FuzzRecordRoundTrip(f *testing.F) {
	f.Add("sub", "id", "cursor", true, []byte("raw"), 0, 2, int64(1), int64(5), "flag")
	f.Fuzz(func(t *testing.T, sub, id, cursor string, has bool, raw []byte, from, to int, sec, nsec int64, flag string) {
		r := event.Record{
			Kind: event.KindEvent, Sub: event.SubID(sub), EventID: codecText(id), Type: codecText(cursor), Replayed: has,
			ReceivedAt: time.Unix(sec, nsec).UTC(), Raw: raw, Flags: []string{flag},
		}
		if has {
			r.Cursor = event.At(codecText(cursor))
			r.State = &event.StateChange{State: event.State(flag), Error: codecText(id)}
		}
		if 0 <= from && from <= to && to <= len(raw) {
			r.Data = raw[from:to]
		}
		got, err := DecodeRecord(0, mustEncode(t, r))
		if err != nil || !reflect.DeepEqual(got, r) {
			t.Errorf("got  %+v\nwant %+v\n%v", got, r, err)
		}
	})
}

func FuzzHashes(f *testing.F) {
	f.Add(AppendHash(AppendHash(nil, 0, 1), 300, ^uint64(0)))
	f.Fuzz(func(t *testing.T, record []byte) {
		var again []byte
		if EachHash(record, func(d, h uint64) { again = AppendHash(again, d, h) }) != nil || len(again) == 0 {
			return
		}
		var third []byte
		if err := EachHash(again, func(d, h uint64) { third = AppendHash(third, d, h) }); err != nil || !bytes.Equal(again, third) {
			t.Errorf("%x becomes %x, %v", again, third, err)
		}
	})
}
