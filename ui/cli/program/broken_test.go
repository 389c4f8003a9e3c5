package program

import (
	"errors"
	"fmt"
	"testing"

	"eventdeck/host/event"
)

// badCopy is an error about damage that says itself what helps.
type badCopy struct{}

func (badCopy) Error() string  { return "copy.db: damaged; " + badCopy{}.Remedy() }
func (badCopy) Remedy() string { return "take another copy" }
func (badCopy) Unwrap() error  { return event.ErrDamaged }

func TestRecoveryIsAdvisedWhereNothingElseHelps(t *testing.T) {
	damaged := fmt.Errorf("read: %w", event.ErrDamaged)
	if says := AdviseRecovery(damaged).Error(); says != damaged.Error()+"; "+recoverAdvice {
		t.Errorf("of damage: %s", says)
	}
	for _, err := range []error{nil, errors.New("disk full"), fmt.Errorf("restore the store: %w", badCopy{}), AdviseRecovery(damaged)} {
		if got := AdviseRecovery(err); got != err {
			t.Errorf("%v becomes %v", err, got)
		}
	}
}
