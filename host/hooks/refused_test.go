package hooks

import (
	"testing"
	"time"

	"eventdeck/host/receiver"
)

// A delivery that is repeated for hours is another number of seconds late each time.
func TestRefusalsOfOneKindShareOneAuditEntry(t *testing.T) {
	var d auditDamper
	now := time.Date(2026, 7, 28, 0, 0, 0, 0, time.UTC)
	told := 0
	for off := range 5 {
		late := receiver.ClockError{Off: -time.Hour - time.Duration(off)*time.Second}
		if _, ok := d.pass(auditKind{"s", reasonKind(late.Error())}, now.Add(time.Duration(off)*time.Second)); ok {
			told++
		}
	}
	if told != 1 || len(d.last) != 1 {
		t.Errorf("%d were told, %d kinds are remembered", told, len(d.last))
	}
	if d.forget("s"); len(d.last) != 0 {
		t.Errorf("%d kinds of a removed subscription are remembered", len(d.last))
	}
	if reasonKind(receiver.ReasonNotInFlight) != receiver.ReasonNotInFlight || reasonKind(receiver.ErrOldSecret.Error()) != receiver.ErrSignature.Error() {
		t.Error("kinds are mixed up")
	}
}
