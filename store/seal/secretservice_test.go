//go:build unix && !darwin

package seal

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// ringService is a Secret Service with one collection. Clients reach it without a bus between.
type ringService struct {
	locked     atomic.Bool
	unfinished bool        // there is no default collection
	hidden     bool        // a locked collection does not show its items
	refuses    atomic.Bool // the operator dismisses the prompt
	unanswered bool        // the prompt stays
	asked      func()      // called for such a prompt
	dismissed  chan struct{}
	items      map[dbus.ObjectPath]ringItem
	conn       atomic.Pointer[dbus.Conn] // to the client
}

type ringItem struct {
	attributes map[string]string
	secret     secret
}

const (
	ringCollection = dbus.ObjectPath("/org/freedesktop/secrets/collection/login")
	ringItemPath   = dbus.ObjectPath("/org/freedesktop/secrets/collection/login/1")
	ringPrompt     = dbus.ObjectPath("/org/freedesktop/secrets/prompt/1")
)

// serve makes s the Secret Service of the session bus, for one client at a time.
func serve(t *testing.T, s *ringService) {
	t.Helper()
	s.items = map[dbus.ObjectPath]ringItem{}
	ln, err := net.Listen("unix", filepath.Join(t.TempDir(), "bus"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+dbus.EscapeBusAddressValue(ln.Addr().String()))
	go func() {
		for {
			client, err := ln.Accept()
			if err != nil {
				return
			}
			s.connect(t, client)
		}
	}()
}

// connect joins a client with a connection of the service, after the handshakes of both.
func (s *ringService) connect(t *testing.T, client net.Conn) {
	here, there := net.Pipe()
	service, err := dbus.NewConn(there)
	if err != nil {
		t.Error(err)
		return
	}
	s.conn.Store(service)
	for iface, methods := range map[string]map[string]any{
		serviceIface:    {"SearchItems": s.search, "ReadAlias": s.alias, "OpenSession": s.session, "Unlock": s.unlock},
		collectionIface: {"CreateItem": s.create}, "org.freedesktop.DBus.Properties": {"Get": s.property},
		itemIface: {"GetSecret": s.get, "Delete": s.remove}, promptIface: {"Prompt": s.prompt, "Dismiss": func() *dbus.Error { close(s.dismissed); return nil }},
		"org.freedesktop.DBus": {
			"Hello":    func() (string, *dbus.Error) { return ":1.1", nil },
			"AddMatch": func(string) *dbus.Error { return nil },
		},
	} {
		for _, path := range []dbus.ObjectPath{servicePath, ringCollection, ringItemPath, ringPrompt, "/org/freedesktop/DBus"} {
			if err := service.ExportMethodTable(methods, path, iface); err != nil {
				t.Error(err)
			}
		}
	}
	go func() {
		welcome(here)
		_, _ = io.Copy(client, here)
	}()
	if err := service.Auth(nil); err != nil {
		t.Error(err)
	}
	go func() { // only now, as the handshake may read ahead
		defer client.Close()
		defer service.Close()
		welcome(client)
		_, _ = io.Copy(here, client)
	}()
}

// welcome is the part of a bus in the handshake: everybody is let in.
func welcome(conn net.Conn) {
	var line []byte
	for b := make([]byte, 1); ; {
		if _, err := conn.Read(b); err != nil {
			return
		}
		if line = append(line, b...); b[0] != '\n' {
			continue
		}
		reply := "ERROR\r\n"
		switch words := strings.Fields(strings.TrimLeft(string(line), "\x00")); {
		case words[0] == "BEGIN":
			return
		case len(words) == 1 && words[0] == "AUTH":
			reply = "REJECTED EXTERNAL\r\n"
		case words[0] == "AUTH":
			reply = "OK 0123456789abcdef\r\n"
		}
		line = nil
		_, _ = io.WriteString(conn, reply)
	}
}

func (s *ringService) search(attributes map[string]string) (open, locked []dbus.ObjectPath, _ *dbus.Error) {
	for path, item := range s.items {
		switch {
		case !maps.Equal(item.attributes, attributes) || s.locked.Load() && s.hidden:
		case s.locked.Load():
			locked = append(locked, path)
		default:
			open = append(open, path)
		}
	}
	return open, locked, nil
}

func (s *ringService) alias(string) (dbus.ObjectPath, *dbus.Error) {
	if s.unfinished {
		return noObject, nil
	}
	return ringCollection, nil
}

func (s *ringService) property(string, string) (dbus.Variant, *dbus.Error) {
	return dbus.MakeVariant(s.locked.Load()), nil
}

func (s *ringService) session(string, dbus.Variant) (dbus.Variant, dbus.ObjectPath, *dbus.Error) {
	return dbus.MakeVariant(""), "/session", nil
}

func (s *ringService) create(p map[string]dbus.Variant, given secret, _ bool) (dbus.ObjectPath, dbus.ObjectPath, *dbus.Error) {
	attributes, _ := p[itemIface+".Attributes"].Value().(map[string]string)
	s.items[ringItemPath] = ringItem{attributes, given}
	return ringItemPath, noObject, nil
}

func (s *ringService) get(dbus.ObjectPath) (secret, *dbus.Error) {
	return s.items[ringItemPath].secret, nil
}

func (s *ringService) remove() (dbus.ObjectPath, *dbus.Error) {
	clear(s.items)
	return noObject, nil
}

func (s *ringService) unlock([]dbus.ObjectPath) ([]dbus.ObjectPath, dbus.ObjectPath, *dbus.Error) {
	return nil, ringPrompt, nil
}

func (s *ringService) prompt(string) *dbus.Error {
	if s.unanswered {
		s.asked()
		return nil
	}
	s.locked.Store(s.refuses.Load())
	_ = s.conn.Load().Emit(ringPrompt, promptIface+".Completed", s.refuses.Load(), dbus.MakeVariant(""))
	return nil
}

func TestSecretsInTheSecretService(t *testing.T) {
	serve(t, &ringService{})
	ring, ctx := SystemKeyring(), t.Context()
	if _, err := ring.Get(ctx, "eventdeck", "a"); !errors.Is(err, ErrNoKey) {
		t.Errorf("before: %v", err)
	}
	if err := ring.Set(ctx, "eventdeck", "a", "text"); err != nil {
		t.Fatal(err)
	}
	if got, err := ring.Get(ctx, "eventdeck", "a"); got != "text" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := ring.Get(ctx, "eventdeck", "b"); !errors.Is(err, ErrNoKey) {
		t.Errorf("another account: %v", err)
	}
	if err := ring.Delete(ctx, "eventdeck", "a"); err != nil {
		t.Error(err)
	}
	if _, err := ring.Get(ctx, "eventdeck", "a"); !errors.Is(err, ErrNoKey) {
		t.Errorf("removed: %v", err)
	}
}

func TestLockedSecretService(t *testing.T) {
	for _, hidden := range []bool{false, true} {
		s := &ringService{hidden: hidden}
		serve(t, s)
		ring, ctx := SystemKeyring(), t.Context()
		if err := ring.Set(ctx, "eventdeck", "a", "text"); err != nil {
			t.Fatal(err)
		}
		s.locked.Store(true)
		if _, err := ring.Get(ctx, "eventdeck", "a"); !errors.Is(err, ErrRingLocked) {
			t.Errorf("hidden %t: read: %v", hidden, err)
		}
		if err := ring.Set(ctx, "eventdeck", "b", "text"); !errors.Is(err, ErrRingLocked) {
			t.Errorf("hidden %t: stored: %v", hidden, err)
		}
		s.refuses.Store(true)
		if err := ring.Unlock(ctx, "eventdeck", "a"); !errors.Is(err, ErrRingLocked) {
			t.Errorf("hidden %t: the operator refuses: %v", hidden, err)
		}
		s.refuses.Store(false)
		if err := ring.Unlock(ctx, "eventdeck", "a"); err != nil {
			t.Errorf("hidden %t: %v", hidden, err)
		}
		if got, err := ring.Get(ctx, "eventdeck", "a"); got != "text" || err != nil {
			t.Errorf("hidden %t: unlocked: %q, %v", hidden, got, err)
		}
	}
}

func TestSecretServiceWithoutDefaultCollection(t *testing.T) {
	serve(t, &ringService{unfinished: true})
	if err := SystemKeyring().Set(t.Context(), "eventdeck", "a", "text"); !errors.Is(err, ErrNoKeyring) {
		t.Errorf("%v", err)
	}
	if err := SystemKeyring().Unlock(t.Context(), "eventdeck", "a"); !errors.Is(err, ErrNoKeyring) {
		t.Errorf("%v", err)
	}
}

func TestPromptThatIsNotAnswered(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &ringService{unanswered: true, asked: cancel, dismissed: make(chan struct{})}
	s.locked.Store(true)
	serve(t, s)
	if err := SystemKeyring().Unlock(ctx, "eventdeck", "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	<-s.dismissed // nothing stays on the operator's screen
}

// No bus is started, whatever the machine has: only two addresses are asked.
func TestSessionBusAddress(t *testing.T) {
	empty, running := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(running, "bus"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ address, dir, want string }{
		{"", "", ""},
		{"", empty, ""},
		{"", running, "unix:path=" + dbus.EscapeBusAddressValue(running+"/bus")},
		{"unix:path=/x", running, "unix:path=/x"},
	} {
		t.Setenv("DBUS_SESSION_BUS_ADDRESS", c.address)
		t.Setenv("XDG_RUNTIME_DIR", c.dir)
		got, err := busAddress()
		if got != c.want || (err == nil) != (c.want != "") || err != nil && !errors.Is(err, ErrNoKeyring) {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
}

func TestBusThatCannotBeHad(t *testing.T) {
	// A dbus-launch that tells what it was started for.
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "dbus-launch"), []byte("#!/bin/sh\n: > "+bin+"/launched\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	silent, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for name, address := range map[string]string{
		"none": "", "autolaunch": "autolaunch:", "not there": "unix:path=/none", "no address": "x",
		"silent": "unix:path=" + dbus.EscapeBusAddressValue(silent.Addr().String()),
	} {
		t.Setenv("DBUS_SESSION_BUS_ADDRESS", address)
		ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, errSilent)
		_, err := SystemKeyring().Get(ctx, "eventdeck", "a")
		cancel()
		if want := ErrNoKeyring; name == "silent" && !errors.Is(err, errSilent) || name != "silent" && !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(bin, "launched")); err == nil {
		t.Error("a bus was started")
	}
}
