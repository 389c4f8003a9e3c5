package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"sort"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// maxCounts bounds the types that one result counts separately.
const maxCounts = 200

// countOut is the number of events of a type.
type countOut struct {
	Server string     `json:"server"`
	Type   trust.Text `json:"type"`
	Events int        `json:"events"`
}

// newsOut is the result of the tool whats_new.
type newsOut struct {
	Counts    []countOut  `json:"counts"`
	Gaps      []gapOut    `json:"gaps"`
	Events    []recordOut `json:"events"`
	Examined  int         `json:"examined"`
	More      bool        `json:"more"`
	Truncated bool        `json:"truncated"`
	Position  string      `json:"position"`
}

// whatsNew sums up the records that were stored since a position, or received since a time.
func (s *Server) whatsNew(ctx context.Context, args json.RawMessage) (any, error) {
	q, err := s.query(args, "")
	if err != nil {
		return nil, err
	}
	if q.args.Position == "" {
		return s.newsSince(ctx, q)
	}
	from, ok := s.position(q.args.Position)
	if !ok {
		return nil, errors.New("position: it is not one of this store; give since instead")
	}
	n := news{counts: map[typeKey]int{}, limit: q.limit}
	pos, truncated, more := from, false, false
	err = s.log().After(from, func(r event.Record) bool {
		truncated = truncated || r.Seq != pos+1
		pos = r.Seq
		n.add(&r, false)
		more = n.examined >= maxSearched || ctx.Err() != nil
		return !more
	})
	if err = errors.Join(err, context.Cause(ctx)); err != nil {
		return nil, err
	}
	return n.out(s, pos, truncated, more && pos < s.log().Last())
}

// newsSince is whatsNew since a time, or of the newest records if none is given.
func (s *Server) newsSince(ctx context.Context, q query) (any, error) {
	n := news{counts: map[typeKey]int{}, limit: q.limit}
	last := s.log().Last()
	q.before = last + 1
	examined, next, err := s.search(ctx, q, func(r *event.Record) bool {
		n.add(r, true)
		return true
	})
	if err != nil {
		return nil, err
	}
	n.examined = examined
	// Records that are older than the examined ones are not reported later either: they count as
	// skipped.
	return n.out(s, last, next != nil, false)
}

// news collects the contents of a result.
type news struct {
	counts   map[typeKey]int
	gaps     []gapOut
	newest   []event.Record // of events, at most limit, in the order of add
	limit    int
	examined int
}

// add adds a record. down: the records come newest first.
func (n *news) add(r *event.Record, down bool) {
	n.examined++
	switch r.Kind {
	case event.KindEvent:
		key := typeKey{r.Server, r.Family()}
		if _, known := n.counts[key]; !known && len(n.counts) >= maxCounts {
			key = typeKey{}
		}
		n.counts[key]++
		if len(n.newest) >= n.limit {
			if down {
				return
			}
			n.newest = n.newest[1:]
		}
		n.newest = append(n.newest, *r)
	case event.KindGap:
		if len(n.gaps) < n.limit {
			n.gaps = append(n.gaps, newGap(r))
		}
	}
}

func (n *news) out(s *Server, pos uint64, truncated, more bool) (any, error) {
	out := newsOut{Counts: []countOut{}, Gaps: n.gaps, Events: []recordOut{}, Examined: n.examined, More: more, Truncated: truncated, Position: s.at(pos).cursor()}
	if out.Gaps == nil {
		out.Gaps = []gapOut{}
	}
	for k, events := range n.counts {
		out.Counts = append(out.Counts, countOut{k.server, wire.Clip(k.typ), events})
	}
	sort.Slice(out.Counts, func(i, j int) bool {
		a, b := out.Counts[i], out.Counts[j]
		if a.Events != b.Events {
			return a.Events > b.Events
		}
		return a.Server+"\x00"+a.Type.Raw() < b.Server+"\x00"+b.Type.Raw()
	})
	sort.Slice(n.newest, func(i, j int) bool { return n.newest[i].Seq > n.newest[j].Seq })
	size := 0
	for i := range n.newest {
		r, err := s.newRecord(&n.newest[i], payloadShort)
		if err != nil {
			return nil, err
		}
		if size += len(r.Envelope); size > answerBytes {
			break
		}
		out.Events = append(out.Events, r)
	}
	return out, nil
}
