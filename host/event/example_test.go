package event_test

import (
	"fmt"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// Arguments that mean the same make the same subscription, whatever their spelling.
func ExampleKey_ID() {
	id := func(args string) event.SubID {
		canonical, err := event.CanonicalArgs([]byte(args))
		if err != nil {
			fmt.Println(err)
		}
		return event.Key{Server: "pager", Type: trust.Untrusted("page.sent"), Args: canonical}.ID()
	}
	fmt.Println(id(`{"team": "night", "n": 1}`) == id(`{"n":1,"team":"night"}`))
	fmt.Println(id(`{"team": "day"}`) == id(`{"team": "night"}`))
	// Output:
	// true
	// false
}

// A secret masks itself when it is printed.
func ExampleSecret() {
	s := event.NewSecret("whsec_dGhlIHNlY3JldA")
	fmt.Println(s, len(s.Reveal()))
	// Output: whsec_…JldA 20
}
