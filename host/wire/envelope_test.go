package wire

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// envelopes are messages as servers write them, and similar texts.
var envelopes = []string{
	`{"jsonrpc":"2.0","id":7,"result":{"a":[1,-2.5e3,true,false,null,"x\"\\\u00e9"]}}`,
	`{"jsonrpc":"2.0","method":"notifications/events/event","params":{"eventId":"e","data":{"n":[{},[],[[]],{"a":{}}]}}}`,
	` { "id" : "18" , "error" : { "code" : -32601 , "message" : "no" } } `,
	`{"id":null,"method":"ping","params":null}`,
	`{"method":"ping","method":"pong"}`, `{"ID":1,"method":"ping"}`, `{"me\u0074hod":"ping"}`, `{"method":"p\u0069ng"}`,
	`{"method":5}`, `{"method":null}`, `{"id":01,"method":"x"}`, `{"id":1,"method":"x"}x`, `{"id":1,}`, `{"id":1 "method":"x"}`,
	`{"params":{"a":1,},"method":"x"}`, `{"params":[1,],"method":"x"}`, `{"params":{,},"method":"x"}`, `{"params":[}`, `{"params":{"a"}}`,
	`{"params":nul}`, `{"params":-}`, `{"params":1.}`, `{"params":"` + "\x01" + `"}`, `{"params":"\x"}`, `{"params":"\u12g4"}`, `{"\xff":1,"method":"x"}`,
	`{}`, `[]`, `[{"a":1},2 , "x"]`, `[1,]`, `{"a":1,"a":2}`, `null`, ``, `{`, `{"method":"x","params":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`,
	"{\"\u017Fesult\":1,\"method\":\"x\"}", "{\"\u212Aey\":1,\"method\":\"x\"}",
}

// FuzzEnvelope: an envelope that the reader accepts, encoding/json reads with the same
// result.
func FuzzEnvelope(f *testing.F) {
	for _, text := range envelopes {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if m, ok := readMembers(raw); ok {
			var want members
			if err := json.Unmarshal(raw, &want); err != nil || !reflect.DeepEqual(m, want) {
				t.Fatalf("%q: read %v, encoding/json reads %v: %v", raw, m, want, err)
			}
		}
		if l, ok := readList(raw); ok {
			var want []json.RawMessage
			if err := json.Unmarshal(raw, &want); err != nil || !reflect.DeepEqual(l, want) {
				t.Fatalf("%q: read %v, encoding/json reads %v: %v", raw, l, want, err)
			}
		}
		got, ok := readEnvelope(raw)
		if !ok {
			return
		}
		var want rawMessage
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatalf("encoding/json refuses %q: %v", raw, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: read %+v, encoding/json reads %+v", raw, got, want)
		}
	})
}

func TestUsualEnvelopesAreReadFast(t *testing.T) {
	for i, text := range envelopes[:4] {
		if _, ok := readEnvelope([]byte(text)); !ok {
			t.Errorf("message %d goes the slow way: %s", i, text)
		}
	}
}

func BenchmarkDecodeEvent(b *testing.B) {
	raw := []byte(`{"jsonrpc":"2.0","method":"notifications/events/event","params":{"eventId":"tick-1","name":"load.tick","timestamp":"2026-11-21T08:19:19.747Z","data":{"n":201200,"service":"checkout","latencyMs":116,"note":"` +
		strings.Repeat("steady load for measuring ", 15) + `"},"cursor":"r99f24c846c.201200","_meta":{"io.modelcontextprotocol/subscriptionId":1}}}`)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodeMessages(raw); err != nil {
			b.Fatal(err)
		}
	}
}
