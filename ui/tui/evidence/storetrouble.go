package evidence

import (
	"errors"
	"strings"

	"eventdeck/host/event"
)

// StoreTrouble says what is wrong with the store, in a word, and what to do about it; both are "" if
// nothing is wrong.
func StoreTrouble(s event.StoreInfo) (word, text string) {
	damage := s.Damage
	if errors.Is(s.Err, event.ErrDamaged) {
		damage = s.Err
	}
	switch {
	case damage != nil:
		return "damaged", "quit, then `eventdeck store check` tells what, `eventdeck store recover` keeps what can be read: " + damage.Error()
	case errors.Is(s.Err, event.ErrFull):
		return "disk full", "nothing is acknowledged until there is room in " + s.Path + ": " + s.Err.Error()
	case errors.Is(s.Err, event.ErrSilent):
		return "no answer", strings.TrimPrefix(s.Err.Error(), event.ErrSilent.Error()+": ")
	case s.Err != nil:
		return "not stored", s.Err.Error()
	}
	return "", ""
}
