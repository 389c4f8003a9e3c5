package host_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/store"
	"eventdeck/store/seal"
)

const addressToken = "t0ken-of-the-address"

// runOn opens the store in dir as commands do, runs a host with the address on it until an event is
// stored, and returns everything that shows the server's name.
func runOn(t *testing.T, dir string, name func(event.Store) string, address string) (sub event.Subscription, seen string) {
	t.Helper()
	kept, err := store.Open(t.Context(), store.Options{Dir: dir, Keyring: seal.NoKeyring()})
	if err != nil {
		t.Fatal(err)
	}
	h, err := host.New(host.Options{Store: kept, CADir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, host: h}
	spec := event.Server{Name: name(kept), URL: address, AdHoc: true}
	h.AddServer(spec)
	last := kept.Last()
	if sub, err = h.Subscribe(r.ctx(), host.Request{Server: spec.Name, Type: trust.Untrusted("t"), Mode: event.ModePoll, From: host.From{Saved: true}}); err != nil {
		t.Fatal(err)
	}
	r.await("an event", func(snap host.Snapshot) bool { return snap.Last > last && viewOf(snap, sub.ID).Stored > 0 })
	snap := h.Snapshot()
	for _, v := range snap.Servers {
		seen += fmt.Sprintln(v.Name, v.Address)
	}
	for _, v := range snap.Subs {
		seen += fmt.Sprintln(v.Key.Server, v.ID)
	}
	for _, s := range kept.Servers() {
		seen += s.Name + "\n"
	}
	if err := h.Log().Before(0, func(rec event.Record) bool { seen += rec.Server + "\n"; return true }); err != nil {
		t.Fatal(err)
	}
	if err := kept.Scan(1, kept.Last(), func(rec *event.Record) bool { seen += rec.Server + "\n"; return true }); err != nil {
		t.Fatal(err)
	}
	if err := h.Audit().Before(0, func(e event.AuditEntry) bool { seen += e.Server + " " + e.Result + "\n"; return true }); err != nil {
		t.Fatal(err)
	}
	h.AppLog().After(0, func(_ uint64, l host.LogLine) bool { seen += l.Server + " " + l.Text + "\n"; return true })
	if sub, err = kept.Subscription(sub.ID); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if err := kept.Close(); err != nil {
		t.Error(err)
	}
	return sub, seen
}

// polled serves a server whose nth poll brings event n, and returns its address.
func polled(t *testing.T) string {
	n := 0
	s := &strange{list: func(int64) string {
		return `"result":{"events":[{"name":"t","delivery":["poll"]}]}`
	}, polls: func() string {
		n++
		return fmt.Sprintf(`"result":{"events":[{"eventId":"e%d","name":"t","timestamp":"2026-01-01T00:00:00Z","data":{},"cursor":"c%d"}],"cursor":"c%d","nextPollMs":60000}`, n, n, n)
	}}
	served := httptest.NewServer(s)
	t.Cleanup(served.Close)
	return served.URL + "/mcp?token=" + addressToken
}

// The name of a server that is given by its address holds no secret of it, is the same
// in each run, and another one for another secret.
func TestAddressesAreNamedWithoutTheirSecrets(t *testing.T) {
	dir, address := t.TempDir(), polled(t)
	named := func(address string) func(event.Store) string {
		return func(s event.Store) string {
			name, err := host.AddressName(t.Context(), s, address)
			if err != nil {
				t.Fatal(err)
			}
			if whole, err := host.AddressOf(s, name); err != nil || whole != address {
				t.Errorf("the name leads to %v, %v", event.PublicAddress(whole), err)
			}
			return name
		}
	}
	first, seen := runOn(t, dir, named(address), address)
	second, more := runOn(t, dir, named(address), address)
	if first.ID != second.ID || first.Key.Server != second.Key.Server || !event.IsAddressName(first.Key.Server) {
		t.Errorf("the subscription is %s, then %s", first.Key.Server, second.Key.Server)
	}
	other, rest := runOn(t, dir, named(address+"2"), address+"2")
	if other.ID == first.ID {
		t.Error("another secret is the same server")
	}
	if seen += more + rest; strings.Contains(seen, addressToken) || !strings.Contains(seen, "token=…#") {
		t.Errorf("seen are\n%s", seen)
	}
	file, err := os.ReadFile(filepath.Join(dir, "state.db"))
	if err != nil || strings.Contains(string(file), addressToken) || !strings.Contains(string(file), "token=…#") {
		t.Errorf("the file holds the secret, or no name: %v", err)
	}
}
