package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"eventdeck/host/cron"
	"eventdeck/host/internal/pause"
	"eventdeck/host/wire"
)

// toolArgs are the arguments of all tools.
type toolArgs struct {
	SubscriptionID string             `json:"subscriptionId"`
	Status         string             `json:"status"`
	Filter         *wire.MCPEFilter   `json:"filter"`
	Delivery       *wire.MCPEDelivery `json:"delivery"`
	Handler        json.RawMessage    `json:"handler"`
	ExpiresAt      *string            `json:"expiresAt"`
}

// subscription is one subscription. It is guarded by the lock of its server.
type subscription struct {
	id        string
	filter    wire.MCPEFilter
	delivery  wire.MCPEDelivery
	plan      plan   // of delivery, without a scheduled delivery that was made
	status    string // active, paused or expired
	created   time.Time
	expiresAt time.Time // zero: never
	since     []uint64  // for each feed, the last event that was put in a batch

	owner  *connection        // nil: no client is connected
	cancel context.CancelFunc // ends what delivers to owner; nil: nothing does

	reschedule func() // begins the schedule anew while the stream continues; nil with cancel
}

func (t *subscription) view() map[string]any {
	v := map[string]any{
		"subscriptionId": t.id, "status": t.status, "filter": t.filter, "delivery": t.delivery,
		"createdAt": t.created.UTC().Format(time.RFC3339),
	}
	if !t.expiresAt.IsZero() {
		v["expiresAt"] = t.expiresAt.UTC().Format(time.RFC3339)
	}
	return v
}

// plan says when a subscription delivers.
type plan struct {
	realtime bool
	cron     *cron.Expression
	zone     *time.Location
	at       time.Time // the time of the scheduled delivery; zero: there is none
	expires  bool      // the subscription ends with the scheduled delivery
}

func planOf(d wire.MCPEDelivery, now time.Time) (p plan, err error) {
	if len(d.Channels) == 0 {
		return p, errors.New("delivery.channels must name a channel")
	}
	for _, c := range d.Channels {
		switch c {
		case wire.ChannelRealtime:
			p.realtime = true
		case wire.ChannelCron:
			err = p.addCron(d.Cron)
		case wire.ChannelScheduled:
			err = p.addScheduled(d.Scheduled, now)
		default:
			err = fmt.Errorf("no such channel: %q", c)
		}
		if err != nil {
			return p, err
		}
	}
	return p, nil
}

func (p *plan) addCron(c *wire.MCPECron) error {
	if c == nil {
		return errors.New("the channel cron needs delivery.cronSchedule")
	}
	expression, err := cron.Parse(c.Expression)
	if err != nil {
		return err
	}
	p.cron = &expression
	p.zone, err = cron.Zone(c.Timezone)
	return err
}

func (p *plan) addScheduled(s *wire.MCPEScheduled, now time.Time) error {
	if s == nil {
		return errors.New("the channel scheduled needs delivery.scheduledDelivery")
	}
	zone, err := cron.Zone(s.Timezone)
	if err != nil {
		return err
	}
	if p.at, err = time.Parse(time.RFC3339, s.DeliverAt); err != nil {
		if p.at, err = time.ParseInLocation("2006-01-02T15:04:05", s.DeliverAt, zone); err != nil {
			return errors.New("deliverAt is no time")
		}
	}
	if !p.at.After(now) {
		return errors.New("deliverAt is over")
	}
	p.expires = s.AutoExpire == nil || *s.AutoExpire
	return nil
}

// subscribe makes a subscription that delivers to the connection.
func (d *Digest) subscribe(c *connection, w toolArgs) (any, error) {
	now := time.Now()
	if len(w.Handler) > 0 && string(w.Handler) != "null" {
		return nil, errors.New("this server runs no handlers")
	}
	if w.Delivery == nil {
		return nil, errors.New("delivery is missing")
	}
	t := &subscription{status: "active", created: now, since: d.counts(now)}
	if err := t.apply(w, now); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.subs) >= maxSubscriptions {
		return nil, fmt.Errorf("at most %d subscriptions", maxSubscriptions)
	}
	d.made++
	t.id = fmt.Sprintf("%s-%d", d.run, d.made)
	d.subs[t.id] = t
	d.bind(c, t)
	return t.view(), nil
}

// counts returns the number of events of each feed.
func (d *Digest) counts(now time.Time) (all []uint64) {
	for _, f := range d.feeds {
		all = append(all, f.count(now))
	}
	return all
}

// apply sets the members that the arguments have.
func (t *subscription) apply(w toolArgs, now time.Time) error {
	if w.ExpiresAt != nil && *w.ExpiresAt != "" {
		at, err := time.Parse(time.RFC3339, *w.ExpiresAt)
		if err != nil || !at.After(now) {
			return errors.New("expiresAt must be a time to come")
		}
		t.expiresAt = at
	}
	if w.Delivery != nil {
		p, err := planOf(*w.Delivery, now)
		if err != nil {
			return err
		}
		t.delivery, t.plan = *w.Delivery, p
	}
	if w.Filter != nil {
		t.filter = *w.Filter
	}
	return nil
}

// list returns the subscriptions, and makes the active ones deliver to the connection.
func (d *Digest) list(c *connection, status string) any {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := []any{}
	for _, t := range d.subs {
		if t.status == "active" {
			d.bind(c, t)
		}
		if status == "" || t.status == status {
			all = append(all, t.view())
		}
	}
	return map[string]any{"subscriptions": all}
}

// change carries out the tools that change one subscription.
func (d *Digest) change(c *connection, tool string, w toolArgs) (any, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.subs[w.SubscriptionID]
	if t == nil {
		return nil, errNoSubscription
	}
	now := time.Now()
	switch tool {
	case wire.ToolUnsubscribe:
		t.stop()
		delete(d.subs, t.id)
		return map[string]any{"subscriptionId": t.id, "status": "unsubscribed"}, nil
	case wire.ToolPause:
		t.stop()
		t.status = "paused"
		return t.view(), nil
	case wire.ToolResume:
		t.status = "active"
	case wire.ToolUpdate:
		if err := t.apply(w, now); err != nil {
			return nil, err
		}
	}
	switch {
	case t.status != "active":
	case tool == wire.ToolUpdate && t.owner == c && w.Filter == nil && w.Delivery == nil:
		t.reschedule() // another end: a new stream would begin after what is on its way
	default:
		t.stop()
		d.bind(c, t)
	}
	return t.view(), nil
}

func (t *subscription) stop() {
	if t.cancel != nil {
		t.cancel()
	}
	t.owner, t.cancel, t.reschedule = nil, nil, nil
}

// bind makes a subscription deliver to a connection, unless it does already. The caller holds the
// lock.
func (d *Digest) bind(c *connection, t *subscription) {
	if t.owner == c || c.ctx.Err() != nil {
		return
	}
	t.stop()
	ctx, cancel := context.WithCancel(c.ctx)
	t.owner, t.cancel = c, cancel
	filter := t.filter
	if t.plan.realtime {
		counts := d.counts(time.Now())
		for i, f := range d.feeds {
			c.workers.Go(func() { d.stream(ctx, c, t.id, f, counts[i], filter) })
		}
	}
	end := func() {}
	t.reschedule = func() {
		end()
		var planned context.Context
		planned, end = context.WithCancel(ctx)
		p := t.plan
		c.workers.Go(func() { d.schedule(planned, c, t, p) })
	}
	t.reschedule()
}

// unbind stops the deliveries to a connection that is over.
func (d *Digest) unbind(c *connection) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range d.subs {
		if t.owner == c {
			t.stop()
		}
	}
}

// stream delivers the events of one feed as they fall due.
func (d *Digest) stream(ctx context.Context, c *connection, id string, f feed, from uint64, filter wire.MCPEFilter) {
	follow(ctx, f, from, nil, func(n uint64) bool {
		event := mcpeEvent(f, n)
		if !passes(filter, event) {
			return true
		}
		return c.notify(wire.NoteMCPEEvent, map[string]any{"subscriptionId": id, "event": event}) == nil
	})
}

// schedule sends the batches of a subscription when they are due, and ends it.
func (d *Digest) schedule(ctx context.Context, c *connection, t *subscription, p plan) {
	for {
		now := time.Now()
		var next time.Time
		sooner := func(at time.Time) {
			if !at.IsZero() && (next.IsZero() || at.Before(next)) {
				next = at
			}
		}
		if p.cron != nil {
			sooner(p.cron.Next(now.In(p.zone)))
		}
		sooner(p.at)
		d.mu.Lock()
		end := t.expiresAt
		d.mu.Unlock()
		sooner(end)
		if next.IsZero() {
			return
		}
		if pause.For(ctx, time.Until(next)) != nil {
			return
		}
		if next.Equal(end) {
			d.expire(t)
			return
		}
		sent := d.deliverBatch(c, t, next)
		if next.Equal(p.at) {
			p.at = time.Time{}
			if p.expires && p.cron == nil && !p.realtime {
				d.expire(t)
				return
			}
		}
		if !sent {
			return
		}
	}
}

// deliverBatch sends the events since the last batch, the newest digestBacklog of each
// feed if there are more. due is when the batch was to be sent: a scheduled delivery is
// made once, on whatever connection. It is false when the connection is over.
func (d *Digest) deliverBatch(c *connection, t *subscription, due time.Time) bool {
	d.mu.Lock()
	if t.plan.at.Equal(due) {
		t.plan.at = time.Time{}
	}
	since, filter, most := t.since, t.filter, digestBatch
	if c := t.delivery.Cron; c != nil && c.MaxEvents != nil && *c.MaxEvents > 0 {
		most = min(*c.MaxEvents, digestBatch)
	}
	t.since = d.counts(time.Now())
	until := t.since
	d.mu.Unlock()
	var events []map[string]any
	for i, f := range d.feeds {
		from := since[i]
		if until[i] > from+digestBacklog {
			from = until[i] - digestBacklog
		}
		for n := from + 1; n <= until[i]; n++ {
			if event := mcpeEvent(f, n); passes(filter, event) {
				events = append(events, event)
			}
		}
	}
	for len(events) > 0 {
		n := min(most, len(events))
		if c.notify(wire.NoteMCPEBatch, map[string]any{"subscriptionId": t.id, "events": events[:n]}) != nil {
			return false
		}
		events = events[n:]
	}
	return true
}

// expire ends a subscription and notifies its connection, if any. Other clients see it in the list.
func (d *Digest) expire(t *subscription) {
	d.mu.Lock()
	c := t.owner
	t.status = "expired"
	t.stop()
	d.mu.Unlock()
	if c != nil {
		_ = c.notify(wire.NoteMCPEExpired, map[string]any{"subscriptionId": t.id}) // the connection may be over
	}
}
