package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/filter"
)

// Bounds of a search.
const (
	defaultLimit = 20
	maxSearched  = 200_000 // records that one search examines
	tooOldInARow = 1_000   // so many records before since end a search: the log is in the order of commits, not of times
)

// searchArgs are the arguments of tools that search for records.
type searchArgs struct {
	Filter, Since, Until, Server, Type, Subscription, Cursor, Position string
	Limit                                                              int
	Seq                                                                uint64
}

// query is a checked search.
type query struct {
	kind         event.Kind // "": all
	filter       *filter.Filter
	since, until time.Time // zero: no bound
	args         searchArgs
	before       uint64 // examine only records before this one; 0: all
	limit        int
}

// query reads the arguments of a search for records of a kind.
func (s *Server) query(raw json.RawMessage, kind event.Kind) (query, error) {
	q := query{kind: kind}
	if err := json.Unmarshal(raw, &q.args); err != nil {
		return q, fmt.Errorf("%w: %w", errArguments, err)
	}
	now := s.opts.Now()
	var err error
	if q.filter, err = filter.Parse(q.args.Filter, now); err != nil {
		return q, err
	}
	if q.since, err = parseMoment(q.args.Since, now); err != nil {
		return q, fmt.Errorf("since: %w", err)
	}
	if q.until, err = parseMoment(q.args.Until, now); err != nil {
		return q, fmt.Errorf("until: %w", err)
	}
	if q.args.Cursor != "" {
		seq, ok := s.position(q.args.Cursor)
		if !ok || seq == 0 {
			return q, errors.New("cursor: it is not one of this tool; leave it out to begin with the newest")
		}
		q.before = seq
	}
	if q.limit = q.args.Limit; q.limit == 0 {
		q.limit = defaultLimit
	}
	return q, nil
}

// parseMoment reads a time, or how long ago it is; "" is the zero time.
func parseMoment(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if t, ok := filter.Moment(text, now); ok {
		return t, nil
	}
	return time.Time{}, fmt.Errorf("%q is neither a time such as 2026-07-28T12:00:00Z nor how long ago, such as 10m, 2h or 1d", text)
}

func (q *query) takes(r *event.Record) bool {
	return (q.kind == "" || r.Kind == q.kind) &&
		(q.args.Server == "" || r.Server == q.args.Server) &&
		(q.args.Type == "" || r.Named(q.args.Type)) &&
		(q.args.Subscription == "" || string(r.Sub) == q.args.Subscription) &&
		(q.since.IsZero() || !r.ReceivedAt.Before(q.since)) && (q.until.IsZero() || !r.ReceivedAt.After(q.until)) &&
		q.filter.Match(r)
}

// search calls fn for the records of a query, newest first, until fn returns false or maxSearched
// records were examined. next is the cursor to continue with, nil at the end.
//
// Errors: the cause of ctx, those of the store.
func (s *Server) search(ctx context.Context, q query, fn func(*event.Record) bool) (examined int, next *string, err error) {
	old, stopped := 0, uint64(0)
	err = s.log().Before(q.before, func(r event.Record) bool {
		examined++
		if !q.since.IsZero() && r.ReceivedAt.Before(q.since) {
			if old++; old >= tooOldInARow {
				return false
			}
		} else {
			old = 0
		}
		if q.takes(&r) && !fn(&r) || examined >= maxSearched || ctx.Err() != nil {
			stopped = r.Seq
			return false
		}
		return true
	})
	if err == nil {
		err = context.Cause(ctx)
	}
	if err == nil && stopped > 1 {
		at := s.at(stopped).cursor()
		next = &at
	}
	return examined, next, err
}

func (s *Server) searchEvents(ctx context.Context, args json.RawMessage) (any, error) {
	q, err := s.query(args, event.KindEvent)
	if err != nil {
		return nil, err
	}
	found := struct {
		Events     []recordOut `json:"events"`
		Examined   int         `json:"examined"`
		NextCursor *string     `json:"nextCursor"`
	}{Events: []recordOut{}}
	size := 0
	var failed error
	found.Examined, found.NextCursor, err = s.search(ctx, q, func(r *event.Record) bool {
		var out recordOut
		if out, failed = s.newRecord(r, payloadShort); failed != nil {
			return false
		}
		found.Events = append(found.Events, out)
		size += len(out.Envelope)
		return len(found.Events) < q.limit && size < answerBytes
	})
	return found, errors.Join(err, failed)
}

func (s *Server) readEvent(_ context.Context, args json.RawMessage) (any, error) {
	var a searchArgs
	if err := json.Unmarshal(args, &a); err != nil {
		return nil, fmt.Errorf("%w: %w", errArguments, err)
	}
	r, err := s.log().Get(a.Seq)
	if errors.Is(err, event.ErrNotFound) {
		return nil, fmt.Errorf("record %d: %w; it was pruned, or the newest is %d", a.Seq, err, s.log().Last())
	}
	if err != nil {
		return nil, err
	}
	return s.newRecord(&r, payloadFull)
}

func (s *Server) listGaps(ctx context.Context, args json.RawMessage) (any, error) {
	q, err := s.query(args, event.KindGap)
	if err != nil {
		return nil, err
	}
	found := struct {
		Gaps       []gapOut `json:"gaps"`
		Examined   int      `json:"examined"`
		NextCursor *string  `json:"nextCursor"`
	}{Gaps: []gapOut{}}
	found.Examined, found.NextCursor, err = s.search(ctx, q, func(r *event.Record) bool {
		found.Gaps = append(found.Gaps, newGap(r))
		return len(found.Gaps) < q.limit
	})
	return found, err
}
