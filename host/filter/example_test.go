package filter_test

import (
	"errors"
	"fmt"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/filter"
	"eventdeck/host/trust"
)

func ExampleParse() {
	now := time.Date(2026, 3, 14, 14, 3, 5, 0, time.UTC)
	f, err := filter.Parse(`type:page .service=payments (sev:P1 | !test)`, now)
	if err != nil {
		fmt.Println(err)
		return
	}
	r := event.Record{
		Kind: event.KindEvent, Server: "pager", Type: trust.Untrusted("page.sent"), ReceivedAt: now,
		Data: []byte(`{"severity":"P2","service":"payments","summary":"connections exhausted"}`),
	}
	fmt.Println(f.Match(&r))
	// Output: true
}

// An error names the column, and what to write instead.
func ExampleError() {
	_, err := filter.Parse("(disk | load", time.Time{})
	var wrong *filter.Error
	fmt.Println(errors.As(err, &wrong), wrong.At)
	fmt.Println(err)
	// Output:
	// true 0
	// filter, column 1: this ( is not closed; add )
}
