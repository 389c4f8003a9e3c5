package dialect

import (
	"context"

	"eventdeck/host/event"
	"eventdeck/host/redact"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// redacted is a server's dialects with secrets masked in what the server says. Payloads,
// names, ids and cursors pass as they are, and so do previews, which are the host's own
// words. Secrets that go to the server or come from it are added to the set before the
// server can repeat them.
type redacted struct {
	*merged
	set *redact.Set
}

// List implements [Dialect].
func (d redacted) List(ctx context.Context) ([]event.Type, SkippedTypes, error) {
	types, skipped, err := d.merged.List(ctx)
	for i := range types {
		t := &types[i]
		t.Title, t.Description = d.set.Text(t.Title), d.set.Text(t.Description)
	}
	for i, why := range skipped.Why {
		skipped.Why[i] = d.set.String(why)
	}
	return types, skipped, d.set.Error(err)
}

// Poll implements [Dialect].
func (d redacted) Poll(ctx context.Context, r wire.PollRequest) (wire.PollResult, error) {
	res, err := d.merged.Poll(ctx, r)
	return res, d.set.Error(err)
}

// Stream implements [Dialect].
func (d redacted) Stream(ctx context.Context, r wire.StreamRequest, sink func(wire.Note)) (Stream, error) {
	d.know(r.Resume)
	stream, err := d.merged.Stream(ctx, r, func(n wire.Note) {
		if n.Resume != nil {
			d.know(n.Resume.Text())
		}
		switch {
		case n.Method == wire.NoteError, n.Method == wire.NoteTerminated:
			n.Params = d.set.JSON(n.Params)
		case n.Refused != nil:
			n.Refused = d.set.Error(n.Refused)
		}
		sink(n)
	})
	if err != nil {
		return nil, d.set.Error(err)
	}
	return redactedStream{stream, d.set}, nil
}

// Subscribe implements [Dialect].
func (d redacted) Subscribe(ctx context.Context, r wire.SubscribeRequest) (wire.SubscribeResult, error) {
	d.know(r.Secret)
	res, err := d.merged.Subscribe(ctx, r)
	if res.Secret != nil {
		d.know(res.Secret.Text)
	}
	if s := res.Status; s != nil {
		s.LastDeliveryAt, s.LastError, s.FailedSince = d.set.Text(s.LastDeliveryAt), d.set.Text(s.LastError), d.set.Text(s.FailedSince)
	}
	return res, d.set.Error(err)
}

// Unsubscribe implements [Dialect].
func (d redacted) Unsubscribe(ctx context.Context, r wire.UnsubscribeRequest) error {
	return d.set.Error(d.merged.Unsubscribe(ctx, r))
}

// Pause implements [Dialect].
func (d redacted) Pause(ctx context.Context, r wire.UnsubscribeRequest) error {
	return d.set.Error(d.merged.Pause(ctx, r))
}

// Remote implements [Lister].
func (d redacted) Remote(ctx context.Context) ([]Listed, error) {
	all, err := d.merged.Remote(ctx)
	for i := range all {
		all[i].Detail, all[i].Status = d.set.Text(all[i].Detail), d.set.Text(all[i].Status)
	}
	return all, d.set.Error(err)
}

// Release implements [Lister].
func (d redacted) Release(ctx context.Context, id trust.Text) error {
	return d.set.Error(d.merged.Release(ctx, id))
}

func (d redacted) know(secret string) {
	if d.set != nil {
		d.set.AddGiven(event.NewSecret(secret))
	}
}

// redactedStream masks secrets in the error of a stream.
type redactedStream struct {
	Stream
	set *redact.Set
}

// Err implements [Stream].
func (s redactedStream) Err() error { return s.set.Error(s.Stream.Err()) }
