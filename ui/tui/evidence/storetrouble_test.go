package evidence

import (
	"fmt"
	"testing"

	"eventdeck/host/event"
)

// The word stands before the text, so the text does not begin with it again.
func TestASilentOwnerIsToldOnce(t *testing.T) {
	err := fmt.Errorf("%w: process 7; what is shown is from 10:00:00", event.ErrSilent)
	word, text := StoreTrouble(event.StoreInfo{Err: err})
	if want := "process 7; what is shown is from 10:00:00"; word != "no answer" || text != want {
		t.Errorf("%s: %s", word, text)
	}
}
