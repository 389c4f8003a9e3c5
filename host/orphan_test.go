package host_test

import (
	"slices"
	"testing"

	"eventdeck/host/event"
)

// A lease that ended here while its server could not end it is ended there once the server is back.
func TestOrphanIsEndedWhenItsServerIsBack(t *testing.T) {
	r, s, sub := subscribedHookRig(t, event.Server{})
	s.set(func() { s.refuse = true })
	if err := r.host.Unsubscribe(r.ctx(), sub.ID); err != nil {
		t.Fatal(err)
	}
	s.set(func() { s.refuse = false })
	if err := r.host.Reconnect("pager"); err != nil {
		t.Fatal(err)
	}
	r.eventually("the end on the server", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return slices.Contains(s.ended, sub.Hook.URL)
	})
	r.eventually("the note in the audit log", func() bool {
		found := false
		err := r.host.Audit().Before(0, func(e event.AuditEntry) bool {
			found = found || e.Action == "orphaned lease ended" && e.Result == event.ResultOK
			return true
		})
		return err == nil && found
	})
	if left, err := r.host.Remote(r.ctx(), "pager"); err != nil || len(left) != 0 {
		t.Errorf("%+v, %v", left, err)
	}
}

func (s *hookServer) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}
