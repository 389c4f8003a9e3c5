package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"eventdeck/host/cron"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// streamArgs are the arguments of a filtered stream, as the operator gives them.
type streamArgs struct {
	EventTypes []string `json:"eventTypes,omitempty"`
	Tags       []string `json:"tags,omitempty"`
	Priority   []string `json:"priority,omitempty"`

	Channels    []string `json:"channels,omitempty"`
	Cron        string   `json:"cronExpression,omitempty"`
	Timezone    string   `json:"timezone,omitempty"`
	Aggregate   *bool    `json:"aggregateEvents,omitempty"`
	MaxEvents   *int     `json:"maxEventsPerDelivery,omitempty"`
	DeliverAt   string   `json:"deliverAt,omitempty"`
	Description string   `json:"description,omitempty"`
	AutoExpire  *bool    `json:"autoExpire,omitempty"`
	ExpiresAt   string   `json:"expiresAt,omitempty"`

	// Handler asks the server to act on events itself. Its long name is not given by
	// accident.
	Handler json.RawMessage `json:"serverSideHandler,omitempty"`
}

// errStreamArgs returns an [ErrArguments] with a reason.
func errStreamArgs(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrArguments, fmt.Errorf(format, args...))
}

// readStreamArgs reads arguments. It refuses unknown members: a misspelled handler must not
// be dropped silently.
//
// Error: [ErrArguments].
func readStreamArgs(args json.RawMessage) (streamArgs, error) {
	var w streamArgs
	if len(args) == 0 {
		return w, nil
	}
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&w); err != nil {
		if strings.Contains(err.Error(), `"handler"`) {
			return w, errStreamArgs("a handler runs on the server; to ask for that, name it serverSideHandler")
		}
		return w, errStreamArgs("%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return w, nil
}

// check refuses arguments that are invalid at now.
//
// Error: [ErrArguments].
func (w streamArgs) check(now time.Time) error {
	for _, check := range []func(time.Time) error{w.checkFilter, w.checkChannels, w.checkCron, w.checkScheduled, w.checkExpiry, w.checkHandler} {
		if err := check(now); err != nil {
			return err
		}
	}
	return nil
}

func (w streamArgs) checkFilter(time.Time) error {
	for _, pattern := range w.EventTypes {
		for _, part := range strings.Split(pattern, ".") {
			if part == "" || part != "*" && strings.Contains(part, "*") {
				return errStreamArgs("eventTypes: %v must be like github.push, or github.* with a whole part left open", trust.Untrusted(pattern))
			}
		}
	}
	for _, p := range w.Priority {
		if !slices.Contains(priorities(), p) {
			return errStreamArgs("priority: %v is none of %s", trust.Untrusted(p), strings.Join(priorities(), ", "))
		}
	}
	return nil
}

func priorities() []string { return []string{"low", "normal", "high", "critical"} }

func (w streamArgs) has(channel string) bool { return slices.Contains(w.Channels, channel) }

func (w streamArgs) checkChannels(time.Time) error {
	for _, c := range w.Channels {
		if c != wire.ChannelRealtime && c != wire.ChannelCron && c != wire.ChannelScheduled {
			return errStreamArgs("channels: %v is none of realtime, cron, scheduled", trust.Untrusted(c))
		}
	}
	return nil
}

func (w streamArgs) checkCron(now time.Time) error {
	if !w.has(wire.ChannelCron) {
		if w.Cron != "" {
			return errStreamArgs("cronExpression is for the channel cron, which is not among channels")
		}
		return nil
	}
	c, err := cron.Parse(w.Cron)
	if err != nil {
		return errStreamArgs("cronExpression: %w", err)
	}
	zone, err := cron.Zone(w.Timezone)
	if err != nil {
		return errStreamArgs("timezone: %w", err)
	}
	if c.Next(now.In(zone)).IsZero() {
		return errStreamArgs("cronExpression: it never comes true")
	}
	if w.MaxEvents != nil && *w.MaxEvents < 1 {
		return errStreamArgs("maxEventsPerDelivery must be 1 or more")
	}
	return nil
}

func (w streamArgs) checkScheduled(now time.Time) error {
	if !w.has(wire.ChannelScheduled) {
		if w.DeliverAt != "" {
			return errStreamArgs("deliverAt is for the channel scheduled, which is not among channels")
		}
		return nil
	}
	at, err := w.deliverAt()
	if err != nil {
		return err
	}
	if !at.After(now) {
		return errStreamArgs("deliverAt: %s is over", at.Format(time.RFC3339))
	}
	return nil
}

// deliverAt reads the time of a scheduled delivery: with a zone of its own, or as local
// time in the named zone.
func (w streamArgs) deliverAt() (time.Time, error) {
	if w.DeliverAt == "" {
		return time.Time{}, errStreamArgs("deliverAt is needed for the channel scheduled")
	}
	zone, err := cron.Zone(w.Timezone)
	if err != nil {
		return time.Time{}, errStreamArgs("timezone: %w", err)
	}
	if at, err := time.Parse(time.RFC3339, w.DeliverAt); err == nil {
		return at, nil
	}
	at, err := time.ParseInLocation("2006-01-02T15:04:05", w.DeliverAt, zone)
	if err != nil {
		return time.Time{}, errStreamArgs("deliverAt: %v is no time like 2026-12-24T18:00:00Z", trust.Untrusted(w.DeliverAt))
	}
	return at, nil
}

func (w streamArgs) checkExpiry(now time.Time) error {
	if w.ExpiresAt == "" {
		return nil
	}
	at, err := time.Parse(time.RFC3339, w.ExpiresAt)
	if err != nil {
		return errStreamArgs("expiresAt: %v is no time like 2026-12-24T18:00:00Z", trust.Untrusted(w.ExpiresAt))
	}
	if !at.After(now) {
		return errStreamArgs("expiresAt: %s is over", at.Format(time.RFC3339))
	}
	return nil
}

func (w streamArgs) checkHandler(time.Time) error {
	if len(w.Handler) == 0 || string(w.Handler) == "null" {
		return nil
	}
	var h struct{ Type, Command, URL string }
	if err := json.Unmarshal(w.Handler, &h); err != nil {
		return errStreamArgs("serverSideHandler: not an object with a type")
	}
	switch h.Type {
	case "agent":
		return nil
	case "bash":
		if h.Command == "" {
			return errStreamArgs("serverSideHandler: bash needs a command")
		}
		return nil
	case "webhook":
		if u, err := url.Parse(h.URL); err != nil || u.Scheme != "https" || u.Host == "" {
			return errStreamArgs("serverSideHandler: webhook needs an https url")
		}
		return nil
	}
	return errStreamArgs("serverSideHandler: the type must be bash, agent or webhook")
}

// request is the arguments of events_subscribe, and the same members of a listed
// subscription.
type request struct {
	Filter    wire.MCPEFilter   `json:"filter"`
	Delivery  wire.MCPEDelivery `json:"delivery"`
	Handler   json.RawMessage   `json:"handler,omitempty"`
	ExpiresAt string            `json:"expiresAt,omitempty"`
}

// request returns the request for the arguments.
func (w streamArgs) request() request {
	q := request{
		Filter:   wire.MCPEFilter{EventTypes: w.EventTypes, Tags: w.Tags, Priority: w.Priority},
		Delivery: wire.MCPEDelivery{Channels: w.Channels},
		Handler:  w.Handler, ExpiresAt: w.ExpiresAt,
	}
	if len(q.Delivery.Channels) == 0 {
		q.Delivery.Channels = []string{wire.ChannelRealtime}
	}
	if w.has(wire.ChannelCron) {
		q.Delivery.Cron = &wire.MCPECron{Expression: w.Cron, Timezone: w.Timezone, Aggregate: w.Aggregate, MaxEvents: w.MaxEvents}
	}
	if w.has(wire.ChannelScheduled) {
		q.Delivery.Scheduled = &wire.MCPEScheduled{DeliverAt: w.DeliverAt, Timezone: w.Timezone, Description: w.Description, Aggregate: w.Aggregate, AutoExpire: w.AutoExpire}
	}
	return q
}

// same reports whether two requests ask for the same events in the same way. The order of
// lists does not matter, nor do defaults that servers fill in.
func (q request) same(other request) bool { return reflect.DeepEqual(q.essence(), other.essence()) }

// essence returns the members that distinguish requests, normalized.
func (q request) essence() any {
	lists := [...][]string{q.Filter.EventTypes, q.Filter.Tags, q.Filter.Priority, q.Delivery.Channels}
	for i, list := range lists {
		lists[i] = slices.Sorted(slices.Values(list))
	}
	var expression, zone, at string
	if c := q.Delivery.Cron; c != nil {
		expression, zone = c.Expression, c.Timezone
	}
	if s := q.Delivery.Scheduled; s != nil {
		at = s.DeliverAt
		if t, ok := trust.Untrusted(at).Time(); ok {
			at = t.Format(time.RFC3339)
		}
	}
	return [...]any{lists, expression, zone, at}
}

// checkFiltered is [Kind.Check] of MCPE.
func checkFiltered(t event.Type, args json.RawMessage, now time.Time) error {
	w, err := readStreamArgs(args)
	if err != nil {
		return err
	}
	if len(w.Channels) == 0 {
		if offered := defaultChannels(t.InputSchema); len(offered) > 0 && offered[0] != wire.ChannelRealtime {
			return errStreamArgs("channels is needed: the server does not deliver in realtime")
		}
	}
	return w.check(now)
}

// filteredFirings is [Kind.Firings] of MCPE.
func filteredFirings(args json.RawMessage, now time.Time, n int) []time.Time {
	w, err := readStreamArgs(args)
	if err != nil {
		return nil
	}
	var all []time.Time
	if w.has(wire.ChannelCron) {
		c, err := cron.Parse(w.Cron)
		zone, zoneErr := cron.Zone(w.Timezone)
		if errors.Join(err, zoneErr) == nil {
			all = c.Firings(now.In(zone), n)
		}
	}
	if w.has(wire.ChannelScheduled) {
		if at, err := w.deliverAt(); err == nil && at.After(now) {
			all = append(all, at)
		}
	}
	slices.SortFunc(all, time.Time.Compare)
	return all[:min(n, len(all))]
}

// filteredEnd is [Kind.Ends] of MCPE: when the subscription expires, or when its one
// delivery is due.
func filteredEnd(args json.RawMessage) time.Time {
	w, err := readStreamArgs(args)
	if err != nil {
		return time.Time{}
	}
	end, err := time.Parse(time.RFC3339, w.ExpiresAt)
	if err != nil {
		end = time.Time{}
	}
	if slices.Equal(w.Channels, []string{wire.ChannelScheduled}) {
		if at, err := w.deliverAt(); err == nil && (end.IsZero() || at.Before(end)) {
			end = at
		}
	}
	return end
}
