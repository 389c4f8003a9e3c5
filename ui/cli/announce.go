package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/ui/cli/plain"
	"eventdeck/ui/cli/program"
)

// announcer is the screen in words, for screen readers and for operators who want to scroll
// back: it only appends lines, each of which can be understood alone. It announces the state
// of servers and subscriptions at the start and on changes, and every record that arrives.
type announcer struct {
	host host.Reader
	out  io.Writer
	now  func() time.Time

	holder  int                         // process that has the store; 0: this one
	pos     uint64                      // every record up to here is told
	servers map[string]string           // what was told of a server last
	subs    map[event.SubID]event.State // the state that was told of a subscription last
	buf     []byte
}

func newAnnouncer(h host.Reader, out io.Writer) *announcer {
	return &announcer{host: h, out: out, now: time.Now, pos: h.Log().Last(), servers: map[string]string{}, subs: map[event.SubID]event.State{}}
}

// run announces until ctx ends.
func (p *announcer) run(ctx context.Context) error {
	changed, stop := p.host.Changed()
	defer stop()
	snap := p.host.Snapshot()
	p.line(fmt.Sprintf("eventdeck in words. %s, %s%s, %s stored. Ctrl+C ends it.",
		event.Some(len(snap.Servers), "server", "servers"), event.Some(len(snap.Subs), "subscription", "subscriptions"), inTrouble(snap), event.Some(snap.Last, "record", "records")))
	if p.holder = snap.Store.Holder; p.holder != 0 {
		p.line(fmt.Sprintf("attached to process %d, which has the store", p.holder))
	}
	if len(snap.Subs) == 0 {
		p.line("nothing is subscribed yet: `eventdeck tail SERVER TYPE --data DIR` subscribes")
	}
	for {
		p.states(p.host.Snapshot())
		if err := p.records(); err != nil {
			return err
		}
		if _, err := p.out.Write(p.buf); err != nil {
			return fmt.Errorf("standard output: %w", err)
		}
		if len(p.buf) >= program.BatchBytes { // there may be more
			p.buf = p.buf[:0]
			continue
		}
		p.buf = p.buf[:0]
		select {
		case <-ctx.Done():
			return nil
		case _, ok := <-changed:
			if !ok {
				return nil
			}
		}
	}
}

// inTrouble says how many subscriptions bring nothing, "" for none.
func inTrouble(snap host.Snapshot) string {
	n := 0
	for i := range snap.Subs {
		if snap.Subs[i].InTrouble() {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" of which %d in trouble", n)
}

// line appends one announcement of the program, with its time.
func (p *announcer) line(text string) {
	p.buf = p.now().Local().AppendFormat(p.buf, "15:04:05.000")
	p.buf = append(append(append(p.buf, "  "...), text...), '\n')
}

// states announces the states that changed since they were last announced.
func (p *announcer) states(snap host.Snapshot) {
	if now := snap.Store.Holder; now != p.holder && snap.Store.Err == nil {
		words := fmt.Sprintf("process %d has ended; this one has the store now and goes on", p.holder)
		if now != 0 {
			words = fmt.Sprintf("process %d has ended; attached to process %d now", p.holder, now)
		}
		p.holder = now
		p.line(words)
	}
	for _, s := range snap.Servers {
		words := "server " + plain.Safe(s.Name) + " " + reachWords(s)
		if p.servers[s.Name] != words {
			p.servers[s.Name] = words
			p.line(words)
		}
	}
	there := make(map[event.SubID]bool, len(snap.Subs))
	for _, v := range snap.Subs {
		there[v.ID] = true
		state := settled(v)
		if p.subs[v.ID] != state {
			p.subs[v.ID] = state
			p.line("subscription " + plain.Safe(v.Key.Server) + " " + plain.Text(v.Key.Type) + " by " + string(v.Mode) + " is " + spoken(state) + because(v))
		}
	}
	for id := range p.subs {
		if !there[id] {
			delete(p.subs, id)
			p.line("subscription " + string(id) + " is over")
		}
	}
}

// settled is the state of a subscription, without the passing states of every poll and
// refresh.
func settled(v host.SubscriptionView) event.State {
	state := v.Status.State
	if state == "" {
		state = v.State
	}
	switch state {
	case "":
		return event.StateStarting
	case event.StateStarting:
		if v.Waits() {
			return "waiting for the server"
		}
	case event.StateDraining:
		return event.StatePolling
	case event.StateRefreshing:
		return event.StateLive
	}
	return state
}

// spoken is a state in a sentence.
func spoken(s event.State) string {
	if s == event.StateBackoff {
		return "in backoff"
	}
	return string(s)
}

func reachWords(s host.ServerView) string {
	if why := s.Why(nil); why != "" && s.Reach == host.ReachBackoff {
		return "is " + plain.Safe(why)
	}
	words := "is " + string(s.Reach)
	switch s.Reach {
	case host.ReachBackoff:
		words = "is unreachable"
	case host.ReachRefused:
		words = "refuses"
	case host.ReachSignIn:
		words = "needs sign-in"
	case host.ReachFault:
		words = "cannot be used"
	}
	switch {
	case s.Reach == host.ReachReady && s.TypesErr != "":
		words += ", but its event types are not known: " + plain.Safe(s.TypesErr)
	case s.Reach != host.ReachReady && s.Err != "":
		words += ": " + plain.Safe(s.Err)
	}
	return words
}

// because says why a subscription is in trouble, or its last error, if there is one.
func because(v host.SubscriptionView) string {
	if v.InTrouble() {
		if why := v.Why(func(t time.Time) string { return t.Local().Format(time.TimeOnly) }); why != "" {
			return ": " + plain.Safe(why)
		}
	}
	if v.Status.Error.IsZero() {
		return ""
	}
	return ": " + plain.Text(v.Status.Error)
}

// records announces the records that were stored, up to a batch.
func (p *announcer) records() error {
	return p.host.Log().After(p.pos, func(r event.Record) bool {
		p.pos = r.Seq
		if r.Kind == event.KindState && r.State != nil && p.subs[r.Sub] == r.State.State {
			return true // told as a state already
		}
		p.buf = plain.AppendRecord(p.buf, r, p.now())
		return len(p.buf) < program.BatchBytes
	})
}
