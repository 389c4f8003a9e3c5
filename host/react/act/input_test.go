package act

import (
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/trust"
)

func numbered(seq uint64, data string) event.Record {
	return event.Record{Seq: seq, Kind: event.KindEvent, Server: "pager", Type: trust.Untrusted("incident"), ReceivedAt: time.Unix(int64(seq), 0), Data: []byte(data)}
}

func inputTheRun(members ...event.Record) react.Run {
	run := react.Run{ID: "run1", Rule: "r"}
	for i := range members {
		run.Members.Add(&members[i])
	}
	return run
}

func TestAnEnvelopeOfManyIsBounded(t *testing.T) {
	var members []event.Record
	for i := range 100 {
		members = append(members, numbered(uint64(i+1), `{"x":"`+strings.Repeat("y", 20_000)+`"}`))
	}
	text, err := Envelope(inputTheRun(members...), members, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > MaxBytes || !strings.Contains(string(text), `\"count\":100`) || !strings.Contains(string(text), `\"seq\":1,`) || !strings.Contains(string(text), `\"seq\":100,`) {
		t.Errorf("%d bytes: %.300s", len(text), text)
	}
	for i := range members {
		members[i].Data = []byte(`{"x":"` + strings.Repeat("<", 20_000) + `"}`) // each is six bytes in an envelope
	}
	if text, err = Envelope(inputTheRun(members...), members, nil); err != nil || len(text) > MaxBytes || !strings.Contains(string(text), `\"seq\":1,`) {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	huge := numbered(1, `{"x":"`+strings.Repeat("y", 2*MaxBytes)+`"}`)
	if text, err = Envelope(inputTheRun(huge), []event.Record{huge}, nil); err != nil || len(text) > MaxBytes {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

// With fields an envelope holds their values and nothing else that the server wrote.
func TestFieldsAreAllThatAnEnvelopeHolds(t *testing.T) {
	one := numbered(1, `{"id":"INC-1","a":{"b":[1,2]},"note":"canary"}`)
	one.EventID, one.Labels = trust.Untrusted("canary"), &event.Labels{Name: trust.Untrusted("canary")}
	two := numbered(2, `{"note":"canary"}`)
	for _, members := range [][]event.Record{{one}, {one, two}} {
		text, err := Envelope(inputTheRun(members...), members, []string{".id", "a.b", ".gone"})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "canary") || !strings.Contains(string(text), `\".id\":\"INC-1\",\"a.b\":[1,2]`) {
			t.Errorf("%s", text)
		}
	}
	if _, err := Envelope(inputTheRun(one), []event.Record{one}, []string{"a b"}); err == nil {
		t.Error("a field that is no path is taken")
	}
}
