package sim

import (
	"net/http"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/receiver"
)

// refusedAlive is how long a subscription may be shown as live after a delivery was refused:
// 5 s (contracts, subs list), and some slack as the watch looks twice a second.
const refusedAlive = 5*time.Second + time.Second

// refusedWatch checks that a webhook subscription is not shown as live from a refused delivery
// on, as the host counts them, until one is accepted. What may be an acceptance counts as one.
type refusedWatch struct {
	seen map[event.SubID]refusedSeen
	// stretches is how often deliveries were refused, and none accepted, for so long that
	// the subscription must not be shown as live.
	stretches int
}

// refusedSeen is what was seen of a subscription.
type refusedSeen struct {
	accepted time.Time // when the host says that a delivery came last
	opened   time.Time // when its server confirmed it last
	refused  event.Refused
	since    time.Time // the first refusal after an acceptance was seen; zero: none
	due      bool      // it must not be shown as live
}

// look takes another snapshot, and calls broken for the subscriptions that are wrongly shown as
// live.
func (w *refusedWatch) look(snap host.Snapshot, broken func(v host.SubscriptionView, since time.Time)) {
	if w.seen == nil {
		w.seen = map[event.SubID]refusedSeen{}
	}
	for _, v := range snap.Subs {
		s := v.Status
		now := refusedSeen{accepted: s.LastDelivery, opened: s.Opened, refused: s.Refused}
		live := s.State == event.StateLive || s.State == event.StateRefreshing
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

// refusing is what the server knows of the deliveries of a type that are refused.
type refusing struct {
	since   time.Time // a forged one was refused, and none was sent since that could be accepted; zero: no
	genuine int       // requests under way that may be accepted
	unsure  time.Time // until then one that was not answered may be accepted
}

// refusing returns what is known of a type. The lock is held.
func (s *Server) refusing(f *Feed) *refusing {
	if s.refused[f] == nil {
		s.refused[f] = new(refusing)
	}
	return s.refused[f]
}

// noteSent notes a request to the receiver.
func (s *Server) noteSent(r sent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.refusing(r.feed); !r.forged {
		k.since = time.Time{}
		k.genuine++
	}
}

// noteResponse notes what became of it.
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

// forgetRefused forgets all refusals, for a host that was just started.
func (s *Server) forgetRefused() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.refused {
		k.since = time.Time{}
	}
}
