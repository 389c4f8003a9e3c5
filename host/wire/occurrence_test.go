package wire

import (
	"errors"
	"testing"

	"eventdeck/host/trust"
)

func TestParseOccurrence(t *testing.T) {
	raw := `{"eventId":"e","name":"n","timestamp":"2026-07-28T12:00:00Z","cursor":"c", "data": {"b":1,"a":1.50} ,"_meta":{}}`
	o, err := ParseOccurrence([]byte(raw), trust.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, string(o.Raw), raw)
	equal(t, string(o.Data), `{"b":1,"a":1.50}`)
	equal(t, []trust.Text{o.EventID, o.Name, o.Timestamp}, []trust.Text{text("e"), text("n"), text("2026-07-28T12:00:00Z")})
	equal(t, o.Cursor, at("c"))

	for raw, want := range map[string]Occurrence{
		`{"eventId":"e"}`: {EventID: text("e")},
		`{"eventId":"e","cursor":null,"name":null}`:   {EventID: text("e"), Cursor: Cursor{Present: true, Null: true}},
		`{"EventID":"x","eventId":"e","EVENTID":"y"}`: {EventID: text("e")},
		`{"eventId":"e","Data":{},"Cursor":"c"}`:      {EventID: text("e")},
	} {
		o, err := ParseOccurrence([]byte(raw), trust.Limits{})
		if err != nil {
			t.Errorf("%s: %v", raw, err)
		}
		o.Raw = nil
		equal(t, o, want)
	}
}

func TestParseOccurrenceRefuses(t *testing.T) {
	for raw, want := range map[string]error{
		`{"eventId":"a","eventId":"b"}`:                trust.ErrDuplicateKey,
		`{"eventId":"a","\u0065ventId":"b"}`:           trust.ErrDuplicateKey,
		`{"eventId":"a","data":{"x":[{"k":1,"k":2}]}}`: trust.ErrDuplicateKey,
		`{"eventId":"a"} {}`:                           trust.ErrTrailing,
		`{"eventId":"a"`:                               trust.ErrSyntax,
		"\xef\xbb\xbf{\"eventId\":\"a\"}":              trust.ErrBOM,
		`["eventId"]`:                                  trust.ErrNotObject,
		`{}`:                                           ErrOccurrence,
		`{"EventId":"a"}`:                              ErrOccurrence,
		`{"eventId":""}`:                               ErrOccurrence,
		`{"eventId":null}`:                             ErrOccurrence,
		`{"eventId":7}`:                                ErrOccurrence,
		`{"eventId":"a","timestamp":1753704000}`:       ErrOccurrence,
		`{"eventId":"a","name":{}}`:                    ErrOccurrence,
		`{"eventId":"a","data":"` + string(make([]byte, 9)) + `"}`: trust.ErrSyntax,
	} {
		_, err := ParseOccurrence([]byte(raw), trust.Limits{})
		if !errors.Is(err, want) || !errors.Is(err, trust.ErrRefused) {
			t.Errorf("%s: %v, want %v", raw, err, want)
		}
	}
	if _, err := ParseOccurrence([]byte(`{"eventId":"a"}`), trust.Limits{Bytes: 5}); !errors.Is(err, trust.ErrSize) {
		t.Error(err)
	}
}
