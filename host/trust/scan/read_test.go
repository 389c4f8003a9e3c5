package scan

import (
	"encoding/json"
	"reflect"
	"testing"

	"eventdeck/host/internal/jsontext"
	"eventdeck/host/trust"
	"eventdeck/host/trust/internal/trusttest"
	"eventdeck/host/trust/strict"
)

// FuzzReadObject: one walk finds what two walks find, and a member's text is that of
// encoding/json.
func FuzzReadObject(f *testing.F) {
	for _, s := range []string{trusttest.TypicalEvent, trusttest.HostileEvent, `{"a":1,"a":2}`, `{"a":"\ud83d"} x`, `[1]`, "\ufeff{}", `{"a":null,"b":"x\n","c":5}`, `{"constructor":{"prototype":1},"A":1,"a":2}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		members, report, err := ReadObject(raw, jsontext.Limits{})
		want, wantErr := strict.ParseObject(raw, jsontext.Limits{})
		if len(members) != len(want) || len(want) > 0 && !reflect.DeepEqual(members, want) {
			t.Fatalf("%q: members %v, apart %v", raw, members, want)
		}
		if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Fatalf("%q: %v, apart %v", raw, err, wantErr)
		}
		if apart := Scan(raw); !reflect.DeepEqual(report, apart) {
			t.Fatalf("%q: report %+v, apart %+v", raw, report, apart)
		}
		for _, m := range members {
			var decoded trust.Text
			text, ok := m.Text()
			if err := json.Unmarshal(m.Value, &decoded); (err == nil) != ok || ok && decoded != text {
				t.Fatalf("%q: text %q %v, decoded %q %v", m.Value, text.Raw(), ok, decoded.Raw(), err)
			}
		}
	})
}
