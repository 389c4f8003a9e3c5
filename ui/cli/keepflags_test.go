package cli

import (
	"testing"
	"time"

	"eventdeck/host/event"
)

func TestBoundsAreRead(t *testing.T) {
	have := event.Limits{Age: time.Hour, Bytes: 7, Records: 9}
	for _, tt := range []struct {
		flags limitFlags
		want  event.Limits
		words string
	}{
		{limitFlags{}, have, "at most 1h0m0s, 7 B, 9 records"},
		{limitFlags{age: "30d", size: "2GiB", records: "100"}, event.Limits{Age: 30 * 24 * time.Hour, Bytes: 2 << 30, Records: 100}, "at most 30d, 2.0 GiB, 100 records"},
		{limitFlags{age: "0", size: "0", records: "0"}, event.Limits{}, "no bound"},
		{limitFlags{age: "90m", size: "1.5 mb"}, event.Limits{Age: 90 * time.Minute, Bytes: 1_500_000, Records: 9}, "at most 1h30m0s, 1.4 MiB, 9 records"},
	} {
		l := have
		if err := tt.flags.apply(&l, ""); err != nil || l != tt.want {
			t.Errorf("%+v: %+v, %v", tt.flags, l, err)
		}
		if got := limitWords(l); got != tt.words {
			t.Errorf("%+v: %q, want %q", l, got, tt.words)
		}
	}
}

func TestInvalidBounds(t *testing.T) {
	for _, f := range []limitFlags{
		{age: "soon"}, {age: "-1d"}, {age: "-1h"}, {age: "99999999999d"}, {age: "NaNd"},
		{size: "3parsec"}, {size: "-1"}, {size: "1e300GiB"}, {size: "NaN"}, {size: "GiB"}, {records: "-1"}, {records: "many"},
	} {
		var l event.Limits
		if err := f.apply(&l, "sub-"); err == nil || exitCode(err) != exitUsage {
			t.Errorf("%+v: %+v, %v", f, l, err)
		}
	}
}
