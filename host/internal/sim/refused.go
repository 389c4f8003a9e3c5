package sim

import (
	"net/http"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/receiver"
)

// refusedAlive is how long a subscription may be shown as live after a refused delivery: 5
// s (contracts, subs list), and some slack, since the watch runs twice a second.
const refusedAlive = 5*time.Second + time.Second

// refusedWatch checks that after a refused delivery, as counted by the host, a webhook
// subscription is not shown as live until one is accepted. A possible acceptance counts as
// one.
type refusedWatch struct {
	seen map[event.SubID]refusedSeen
	// stretches counts the times in which deliveries were refused for so long that the
	// subscription must not be shown as live.
	stretches int
}

// refusedSeen is the state of one subscription in the watch.
type refusedSeen struct {
	accepted time.Time // the host's time of the last delivery
	opened   time.Time // when its server last confirmed it
	refused  event.Refused
	since    time.Time // the first refusal after an acceptance was seen; zero: none
	due      bool      // it must not be shown as live
}

// look examines another snapshot, and calls broken for each subscription that is wrongly
// shown as live.
func (w *refusedWatch) look(snap host.Snapshot, broken func(v host.SubscriptionView, since time.Time)) {
	if w.seen == nil {
		w.seen = map[event.SubID]refusedSeen{}
	}
	for _, v := range snap.Subs {
		s := v.Status
		now := refusedSeen{accepted: s.LastDelivery, opened: s.Opened, refused: s.Refused}
		live := s.State == event.StateLive || s.State == event.StateRefreshing || s.State == event.StateFlapping
		before := w.seen[v.ID]
		if v.Mode == event.ModeWebhook && (live || s.State == event.StateRefused) &&
			s.LastDelivery.Equal(before.accepted) && s.Opened.Equal(before.opened) && s.Refused.Count >= before.refused.Count {
			now.since, now.due = before.since, before.due
			if now.since.IsZero() && s.Refused.Count > before.refused.Count && s.Refused.Reason != receiver.ReasonNotInFlight {
				now.since = time.Now()
			}
		}
		if !now.since.IsZero() && time.Since(now.since) > refusedAlive {
			if !now.due {
				now.due = true
				w.stretches++
			}
			if live {
				broken(v, now.since)
			}
		}
		w.seen[v.ID] = now
	}
}

// refusing is the server's state of refused deliveries of one type.
type refusing struct {
	since   time.Time // when a forged one was refused, with no acceptable one sent since; zero: never
	genuine int       // requests under way that may be accepted
	unsure  time.Time // until then an unanswered one may be accepted
}

// refusing returns the state of a type. The lock is held.
func (s *Server) refusing(f *Feed) *refusing {
	if s.refused[f] == nil {
		s.refused[f] = new(refusing)
	}
	return s.refused[f]
}

// noteSent records a request to the receiver.
func (s *Server) noteSent(r sent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.refusing(r.feed); !r.forged {
		k.since = time.Time{}
		k.genuine++
	}
}

// noteResponse records the outcome of a request.
func (s *Server) noteResponse(r sent, a response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.refusing(r.feed)
	switch {
	case !r.forged:
		k.genuine--
		if a.status == 0 && !a.down {
			k.unsure = time.Now().Add(delay)
		}
	case a.status == http.StatusUnauthorized && k.since.IsZero() && k.genuine == 0 && time.Now().After(k.unsure):
		k.since = time.Now()
	}
}

// RefusedSince returns since when every delivery of a type was refused as forged; zero:
// the last one was not.
func (s *Server) RefusedSince(f *Feed) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refusing(f).since
}

// forgetRefused forgets all refusals, for a new process of the host.
func (s *Server) forgetRefused() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.refused {
		k.since = time.Time{}
	}
}
