package wire

import (
	"encoding/json"
	"errors"
	"testing"

	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
)

func TestParseOccurrence(t *testing.T) {
	raw := `{"eventId":"e","name":"n","timestamp":"2026-07-28T12:00:00Z","cursor":"c", "data": {"b":1,"a":1.50} ,"_meta":{}}`
	o, err := ParseOccurrence([]byte(raw), strict.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, string(o.Raw), raw)
	equal(t, string(o.Data), `{"b":1,"a":1.50}`)
	equal(t, []trust.Text{o.EventID, o.Name, o.Timestamp}, []trust.Text{text("e"), text("n"), text("2026-07-28T12:00:00Z")})
	equal(t, o.Cursor, at("c"))

	for raw, want := range map[string]Occurrence{
		`{"eventId":"e"}`:                                                      {EventID: text("e")},
		`{"eventId":"e","cursor":17}`:                                          {EventID: text("e"), Cursor: Cursor{Present: true, Number: true, Text: text("17")}},
		`{"eventId":"e","cursor":[17]}`:                                        {EventID: text("e")},
		`{"eventId":"e","cursor":null,"name":null}`:                            {EventID: text("e"), Cursor: Cursor{Present: true, Null: true}},
		`{"EventID":"x","eventId":"e","EVENTID":"y"}`:                          {EventID: text("e")},
		`{"eventId":"e","Data":{},"Cursor":"c"}`:                               {EventID: text("e")},
		`{"eventId":"e","_meta":{"a":1}}`:                                      {EventID: text("e"), Meta: json.RawMessage(`{"a":1}`)},
		`{"eventId":"e","_meta":{"io.modelcontextprotocol/subscriptionId":1}}`: {EventID: text("e")},
		`{"eventId":"e","_meta":[1]}`:                                          {EventID: text("e")},
	} {
		o, err := ParseOccurrence([]byte(raw), strict.Limits{})
		if err != nil {
			t.Errorf("%s: %v", raw, err)
		}
		o.Raw = nil
		equal(t, o, want)
	}
}

func TestParseOccurrenceRefuses(t *testing.T) {
	for raw, want := range map[string]error{
		`{"eventId":"a","eventId":"b"}`:                strict.ErrDuplicateKey,
		`{"eventId":"a","\u0065ventId":"b"}`:           strict.ErrDuplicateKey,
		`{"eventId":"a","data":{"x":[{"k":1,"k":2}]}}`: strict.ErrDuplicateKey,
		`{"eventId":"a"} {}`:                           strict.ErrTrailing,
		`{"eventId":"a"`:                               strict.ErrSyntax,
		"\xef\xbb\xbf{\"eventId\":\"a\"}":              strict.ErrBOM,
		`["eventId"]`:                                  strict.ErrNotObject,
		`{}`:                                           ErrOccurrence,
		`{"EventId":"a"}`:                              ErrOccurrence,
		`{"eventId":""}`:                               ErrOccurrence,
		`{"eventId":null}`:                             ErrOccurrence,
		`{"eventId":7}`:                                ErrOccurrence,
		`{"eventId":"a","timestamp":1753704000}`:       ErrOccurrence,
		`{"eventId":"a","name":{}}`:                    ErrOccurrence,
		`{"eventId":"a","data":"` + string(make([]byte, 9)) + `"}`: strict.ErrSyntax,
	} {
		_, err := ParseOccurrence([]byte(raw), strict.Limits{})
		if !errors.Is(err, want) || !errors.Is(err, strict.ErrRefused) {
			t.Errorf("%s: %v, want %v", raw, err, want)
		}
	}
	if _, err := ParseOccurrence([]byte(`{"eventId":"a"}`), strict.Limits{Bytes: 5}); !errors.Is(err, strict.ErrSize) {
		t.Error(err)
	}
}
