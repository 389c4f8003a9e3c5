package host_test

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"eventdeck/host"
	"eventdeck/host/event"
)

// failingNetwork opens listeners for a receiver, the first of which can be made to fail.
type failingNetwork struct {
	opened   atomic.Bool // the first listener
	failed   atomic.Bool
	repaired atomic.Bool // further listeners can be opened
	taken    string      // an address at which they cannot be; set before failed
}

var errNoNetwork = errors.New("no network")

// Listen implements [host.Network].
func (n *failingNetwork) Listen(network, address string) (net.Listener, error) {
	if !n.opened.Swap(true) {
		l, err := net.Listen(network, address)
		return &failingListener{l, n}, err
	}
	if !n.repaired.Load() || address == n.taken {
		return nil, errNoNetwork
	}
	return net.Listen(network, address)
}

type failingListener struct {
	net.Listener
	network *failingNetwork
}

// Accept implements [net.Listener].
func (l *failingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if l.network.failed.Load() {
		if err == nil {
			c.Close()
		}
		return nil, errNoNetwork
	}
	return c, err
}

// fail ends the listener at address.
func (n *failingNetwork) fail(address string) {
	n.failed.Store(true)
	if c, err := net.Dial("tcp", address); err == nil { // so that Accept returns
		c.Close()
	}
}

func TestStoppedReceiverIsStartedAgain(t *testing.T) {
	for name, moved := range map[string]bool{"at its address": false, "at another address": true} {
		t.Run(name, func(t *testing.T) {
			n := &failingNetwork{}
			r, s := hookRigOn(t, event.Server{}, host.Network{Listen: n.Listen})
			if _, err := r.host.Subscribe(r.ctx(), r.tick()); err != nil {
				t.Fatal(err)
			}
			before := s.callback()
			hook, err := url.Parse(before)
			if err != nil {
				t.Fatal(err)
			}
			if moved {
				n.taken = hook.Host
			}
			n.fail(hook.Host)
			r.await("a receiver that cannot be started again", func(s host.Snapshot) bool {
				return s.Receiver == "" && strings.Contains(s.ReceiverErr, "cannot listen")
			})
			n.repaired.Store(true)
			snap := r.await("another receiver", func(s host.Snapshot) bool { return s.Receiver != "" })
			if snap.ReceiverErr != "" {
				t.Errorf("after it was started again: %s", snap.ReceiverErr)
			}
			if got := snap.Receiver != hook.Host; got != moved {
				t.Errorf("it listens on %s, before on %s", snap.Receiver, hook.Host)
			}
			if moved {
				r.eventually("a subscribe with the new callback", func() bool { return s.callback() != before })
			}
			if got := s.deliver("evt_1", occurrence("evt_1"), nil); got != http.StatusNoContent {
				t.Errorf("a delivery is answered %d", got)
			}
		})
	}
}
