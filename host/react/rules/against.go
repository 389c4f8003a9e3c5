package rules

import (
	"fmt"
	"strings"

	"eventdeck/host/config"
	"eventdeck/host/event"
	"eventdeck/host/filter"
	"eventdeck/host/react"
	"eventdeck/host/schema"
)

// listensTo returns the type that a rule listens to, if it is a single one that the server lists.
func (p *parser) listensTo(r *react.Rule) (event.Type, bool) {
	if r.On.Kind != event.KindEvent || len(r.On.Types) != 1 {
		return event.Type{}, false
	}
	for _, t := range p.types(r.On.Server) {
		if t.Name.Raw() == r.On.Types[0] {
			return t, true
		}
	}
	return event.Type{}, false
}

// path refuses a path that no payload of the type can have.
func (p *parser) path(at int, path *filter.Path, r *react.Rule) {
	t, ok := p.listensTo(r)
	if !ok {
		return
	}
	place := schema.PayloadAt(t, path.Names())
	if place.Known {
		return
	}
	near := config.Nearest(place.Missing, place.Names)
	write := nearest(place.Missing, place.Names)
	switch {
	case near != "":
		write = quoted(strings.Replace(path.String(), place.Missing, near, 1))
	case !place.Closed:
		return // an open schema need not list all members
	}
	p.wrong(at, write, "payloads of %s have no %s, by the type's schema", quoted(r.On.Types[0]), path)
}

// demand refuses a filter for a value that the schema of the type excludes.
func (p *parser) demand(at int, d filter.Demand, r *react.Rule) {
	t, ok := p.listensTo(r)
	if !ok {
		return
	}
	place := schema.PayloadAt(t, d.Path.Names())
	if !place.Known || len(place.Values) == 0 {
		return
	}
	for _, v := range place.Values {
		if d.Takes(v) {
			return
		}
	}
	var values []string
	for _, v := range place.Values {
		values = append(values, v.Raw())
	}
	p.wrong(at, fmt.Sprintf("%s=%s", d.Path, nearest(d.Wants, values)), "no payload of %s has %s=%s, by the type's schema", quoted(r.On.Types[0]), d.Path, short([]byte(d.Wants)))
}
