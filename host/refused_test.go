package host

import (
	"testing"
	"testing/synctest"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/receiver"
)

// idleStore is a store without anything in it.
type idleStore struct{ event.Store }

func (idleStore) Info() event.StoreInfo               { return event.StoreInfo{} }
func (idleStore) Marks() []event.Mark                 { return nil }
func (idleStore) Refusals() []event.Refusal           { return nil }
func (idleStore) Subscriptions() []event.Subscription { return nil }
func (idleStore) Subscription(event.SubID) (event.Subscription, error) {
	return event.Subscription{}, event.ErrNotFound
}
func (idleStore) EndedHooks() []event.Ended                { return nil }
func (idleStore) Setting(string) (string, error)           { return "", event.ErrNotFound }
func (idleStore) Watch(func([]event.Record)) (stop func()) { return func() {} }

func TestClosedHostRaisesNoFlagForRefusedDeliveries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, err := New(Options{Store: idleStore{}})
		if err != nil {
			t.Fatal(err)
		}
		h.refusedDelivery(event.Refusal{At: time.Now(), Sub: "a", Status: 401, Reason: receiver.ErrSignature.Error()})
		synctest.Wait()
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		closed := h.version.Load()
		time.Sleep(2 * refusedAfter)
		synctest.Wait()
		if now := h.version.Load(); now != closed {
			t.Errorf("the host changed %d times after it was closed", now-closed)
		}
	})
}
