package event

import (
	"testing"

	"eventdeck/host/trust"
)

func TestNameMatchesAPattern(t *testing.T) {
	for pattern, want := range map[string]bool{"a.b": true, "a.*": true, "*": true, "a": false, "a.b.*": false, "*.b": true, "*.c": false, "a.b.c": false, "": false, "a.b*": true, "A.b": false, "*.*": true, "b*": false} {
		if NameMatches(pattern, "a.b") != want {
			t.Errorf("%s matches a.b: %v", pattern, !want)
		}
	}
	if !NameMatches("event://x/filed/*", "event://x/filed/2026.pdf") || NameMatches("event://x/filed/*", "event://x/other/2026.pdf") || !NameMatches("a.*", "a.b.c") {
		t.Error("a * at the end does not match any rest")
	}
}

// The event name is the name that the server gave the event, in every dialect, and the type that
// was subscribed to where it gave none.
func TestEventName(t *testing.T) {
	typ := trust.Untrusted("filtered-stream")
	for own, want := range map[string]string{"": "filtered-stream", "note.added": "note.added"} {
		r := Record{Type: typ, Labels: &Labels{Name: trust.Untrusted(own)}}
		if r.Name().Raw() != want || r.Subscribed().IsZero() != (own == "") {
			t.Errorf("%q is named %q, subscribed as %q", own, r.Name().Raw(), r.Subscribed().Raw())
		}
	}
	for _, c := range [][4]string{ // subscribed, name, family, below
		{"event://x/filed", "event://x/filed/17", "event://x/filed", "/17"},
		{"event://x/shelf/{shelf}", "event://x/shelf/a/17", "event://x/shelf/{shelf}", "a/17"},
		{"event://x/shelf/{shelf}", "", "event://x/shelf/{shelf}", ""},
		{"event://x/filed", "event://y", "event://y", ""},
		{"filtered-stream", "filtered-stream.x", "filtered-stream.x", ""},
		{"a.b", "", "a.b", ""},
	} {
		r := Record{Type: trust.Untrusted(c[0]), Labels: &Labels{Name: trust.Untrusted(c[1])}}
		if r.Family().Raw() != c[2] || r.Below() != c[3] {
			t.Errorf("%s of %s: family %s, below %q", c[1], c[0], r.Family().Raw(), r.Below())
		}
	}
	gap := Record{Kind: KindGap, Type: typ}
	if gap.Name() != typ || !gap.Subscribed().IsZero() || gap.Tags() != nil || !gap.Priority().IsZero() {
		t.Error("a record without labels has some")
	}
}
