package event

import (
	"testing"

	"eventdeck/host/trust"
)

func TestCursorIsPrintedAsReceived(t *testing.T) {
	number := func(s string) Cursor { return Cursor{Text: trust.Untrusted(s), Valid: true, Number: true} }
	for _, row := range []struct {
		cursor Cursor
		want   string
	}{
		{Cursor{}, `null`},
		{At(trust.Untrusted("17")), `"17"`},
		{At(trust.Untrusted("")), `""`},
		{number("17"), `17`},
		{number("-1.50e+2"), `-1.50e+2`},
		// What is marked as a number and is none must not break the line.
		{number(""), `""`},
		{number("true"), `"true"`},
		{number("17\n"), `"17\n"`},
		{number("1,2"), `"1,2"`},
	} {
		if got := string(row.cursor.AppendJSON(nil)); got != row.want {
			t.Errorf("%+v: %s, want %s", row.cursor, got, row.want)
		}
	}
}

// A store that was written before numbers were told from strings holds a string.
func TestStringAndNumberAreTheSamePosition(t *testing.T) {
	text, number := At(trust.Untrusted("17")), Cursor{Text: trust.Untrusted("17"), Valid: true, Number: true}
	if !text.Same(number) || text.Same(At(trust.Untrusted("18"))) || text.Same(Cursor{}) {
		t.Error("positions are told apart wrongly")
	}
	s := Subscription{Cursor: text}
	s.MoveTo(number, trust.Untrusted("evt_1"))
	if s.Before.Valid || s.Cursor != number {
		t.Errorf("moved: %+v", s)
	}
}
