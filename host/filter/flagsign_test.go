package filter

import (
	"testing"

	"eventdeck/host/event"
)

// A flag matches with and without the sign with which it is shown.
func TestFlagsAreFoundAsTheyAreShown(t *testing.T) {
	r := event.Record{Kind: event.KindEvent, Flags: []string{"term.osc52", "json.number"}}
	for text, want := range map[string]bool{
		"flag:term.osc52": true, "flag:!term.osc52": true, "flag:!term": true, "flag:~json": true, "flag:!uni": false, "flag:any": true,
	} {
		f, err := Parse(text, noon)
		if err != nil {
			t.Fatal(text, err)
		}
		if got := f.Match(&r); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
