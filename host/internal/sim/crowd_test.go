package sim_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/internal/sim"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// crowd is a host with many push subscriptions at one server, whose connections can all be
// cut at once.
type crowd struct {
	t      *testing.T
	server *sim.Server
	host   *host.Host
	start  func() // starts a host on the store
	close  func() // ends it

	network *sim.Network

	mu      sync.Mutex
	asked   []time.Time // times of stream requests
	polled  []time.Time // times of polls
	polling int         // polls in progress
	most    int         // most polls in progress at once
	conns   map[net.Conn]struct{}
}

func (c *crowd) count(w http.ResponseWriter, r *http.Request) {
	method := r.Header.Get("Mcp-Method")
	c.mu.Lock()
	switch method {
	case wire.MethodStream:
		c.asked = append(c.asked, time.Now())
	case wire.MethodPoll:
		c.polled = append(c.polled, time.Now())
		c.polling++
		c.most = max(c.most, c.polling)
	}
	c.mu.Unlock()
	c.server.ServeHTTP(w, r)
	if method == wire.MethodPoll {
		c.mu.Lock()
		c.polling--
		c.mu.Unlock()
	}
}

func (c *crowd) follow(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state == http.StateClosed {
		delete(c.conns, conn)
	} else {
		c.conns[conn] = struct{}{}
	}
}

// cut closes every connection and resets the counts.
func (c *crowd) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked, c.polled, c.most = nil, nil, 0
	for conn := range c.conns {
		conn.Close()
	}
}

// crowdOf returns n types for push.
func crowdOf(n int) (feeds []*sim.Feed) {
	for i := range n {
		feeds = append(feeds, sim.NewFeed(fmt.Sprintf("crowd-%d", i), event.ModePush))
	}
	return feeds
}

// newCrowd subscribes to all types at once: over the in-memory network, in a bubble, or
// over sockets.
func newCrowd(t *testing.T, feeds []*sim.Feed, beat time.Duration, sockets bool) *crowd {
	t.Helper()
	random := sim.NewRandom(1, 1)
	network := sim.NewNetwork(random)
	c := &crowd{t: t, network: network, server: sim.NewServer(network, random, feeds, func(*sim.Feed, int) {}), conns: map[net.Conn]struct{}{}}
	c.server.Heartbeat, c.server.Lease, c.server.Challenges = beat, 10*time.Minute, true
	if err := c.server.Start(); err != nil {
		t.Fatal(err)
	}
	// The front counts the requests to the server.
	front, node := network.Node("front"), network.Node("host")
	listen, dial := front.Listen, node.Dial
	if sockets {
		listen, dial = net.Listen, nil
	}
	listener, err := listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	web := &http.Server{Handler: http.HandlerFunc(c.count), ConnState: c.follow}
	served := make(chan struct{})
	go func() {
		defer close(served)
		web.Serve(listener)
	}()
	dir := t.TempDir()
	c.start = func() {
		t.Helper()
		store, err := open(dir, &sim.Disk{})
		if err != nil {
			t.Fatal(err)
		}
		c.host, err = host.New(host.Options{Store: store, PlainHTTP: true, Network: host.Network{Dial: dial, Listen: listenIn(node, sockets)}})
		if err != nil {
			t.Fatal(err)
		}
		c.close = func() {
			if err := c.host.Close(); err != nil {
				t.Error(err)
			}
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		}
		c.host.AddServer(event.Server{Name: "model", URL: "http://" + listener.Addr().String() + "/mcp"})
	}
	c.start()
	t.Cleanup(func() {
		c.close()
		c.server.Stop(false)
		web.Close()
		front.Kill()
		node.Kill()
		<-served
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	for _, f := range feeds {
		all.Go(func() {
			_, err := c.host.Subscribe(ctx, host.Request{Server: "model", Type: trust.Untrusted(f.Name), Mode: f.Mode})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	return c
}

// listenIn returns the receiver's listen function; nil: on sockets.
func listenIn(node *sim.Node, sockets bool) func(network, address string) (net.Listener, error) {
	if sockets {
		return nil
	}
	return node.Listen
}

// live returns the number of live subscriptions.
func (c *crowd) live() (n int) {
	for _, v := range c.host.Snapshot().Subs {
		if v.Status.State == event.StateLive {
			n++
		}
	}
	return n
}

// Streams that are cut at once are reopened spread over time. Over sockets the spread also
// depends on the machine, so they only have to be reopened. With EVENTDECK_SIM set there
// are 10,000 of them.
func TestReconnectsSpreadOut(t *testing.T) {
	t.Run("simulated", func(t *testing.T) {
		subs, cuts := 100, 2
		if os.Getenv(envSoak) != "" {
			subs, cuts = 1000, 10
		}
		synctest.Test(t, func(t *testing.T) {
			c := newCrowd(t, crowdOf(subs), 2*time.Second, false)
			if share := c.reopen(subs, cuts); share > 50 {
				t.Errorf("%d %% of the reconnects fell into the same tenth of a second", share)
			}
		})
	})
	t.Run("sockets", func(t *testing.T) {
		subs, cuts := 100, 1
		if os.Getenv(envSoak) != "" {
			subs, cuts = 1000, 10
		}
		newCrowd(t, crowdOf(subs), 2*time.Second, true).reopen(subs, cuts)
	})
}

// reopen cuts all streams repeatedly and waits until each is reopened. It returns the
// largest share of them, in percent, within a tenth of a second.
func (c *crowd) reopen(subs, cuts int) (share int) {
	t := c.t
	t.Helper()
	c.await(subs)
	slots := map[int]int{} // by tenths of a second after the cut
	total, late := 0, time.Duration(0)
	began := time.Now()
	for range cuts {
		cut := time.Now()
		c.cut()
		time.Sleep(6 * time.Second) // long enough for a success: the next cut is the first failure of a series
		c.await(subs)
		c.mu.Lock()
		for _, at := range c.asked {
			slots[int(at.Sub(cut)/(100*time.Millisecond))]++
			late = max(late, at.Sub(cut))
			total++
		}
		c.mu.Unlock()
	}
	most, last := 0, 0
	for slot, n := range slots {
		most, last = max(most, n), max(last, slot)
	}
	var lines []string
	for slot := range last + 1 {
		lines = append(lines, fmt.Sprintf("%4d ms %6d %s", slot*100, slots[slot], strings.Repeat("#", slots[slot]*60/total)))
	}
	t.Logf("%d streams opened again after %d cuts of %d in %v, the last %v after its cut:\n%s", total, cuts, subs, time.Since(began), late, strings.Join(lines, "\n"))
	if total < subs*cuts {
		t.Errorf("%d reconnects, want at least %d", total, subs*cuts)
	}
	return most * 100 / max(total, 1)
}

// await waits until all subscriptions are live.
func (c *crowd) await(subs int) {
	c.t.Helper()
	changed, stop := c.host.Changed()
	defer stop()
	deadline := time.After(time.Minute)
	for c.live() < subs {
		select {
		case <-changed:
			time.Sleep(20 * time.Millisecond) // a snapshot of all is too expensive for every change
		case <-deadline:
			c.t.Fatalf("%d of %d are live after a minute", c.live(), subs)
		}
	}
}
