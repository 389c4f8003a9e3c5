package host

import (
	"cmp"
	"fmt"
	"time"

	"eventdeck/host/dialect"
	"eventdeck/host/event"
	"eventdeck/host/schema"
)

// DialectName returns the name that is shown for the dialect of an [event.Type] or an
// [event.Subscription].
func DialectName(dialect string) string { return cmp.Or(dialect, "MCP Events") }

// Firings returns when a subscription on a schedule delivers next after now, at most
// three times and in its own time zone; nil for one that delivers at once.
func Firings(sub event.Subscription, now time.Time) []time.Time {
	if firings := dialect.KindOf(sub.Dialect).Firings; firings != nil {
		return firings(sub.Key.Args, now, nextFirings)
	}
	return nil
}

// expires returns when a subscription ends as it was planned, by the operator or by its arguments;
// zero: never.
func expires(sub event.Subscription) time.Time {
	if ends := dialect.KindOf(sub.Dialect).Ends; ends != nil {
		if end := ends(sub.Key.Args); sub.Ends.IsZero() || !end.IsZero() && end.Before(sub.Ends) {
			return end
		}
	}
	return sub.Ends
}

// checkRequest validates arguments against the type's schema and by the rules of its dialect.
// Error: [ErrArguments].
func (subs *subscriptions) checkRequest(t event.Type, args []byte) error {
	if err := schema.ValidateArguments(t, args); err != nil {
		return schema.Secrets(t, args).Error(err)
	}
	check := dialect.KindOf(t.Dialect).Check
	if check == nil {
		return nil
	}
	if err := check(t, args, subs.opts.Now()); err != nil {
		return schema.Secrets(t, args).Error(fmt.Errorf("%w: %w", ErrArguments, err))
	}
	return nil
}
