package attach

import (
	"context"
	"errors"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// Store returns the store of the owner. It is for reading, and for settings,
// marks and bounds; the rest is refused with [ErrNotHere]. Close detaches.
func (c *Client) Store() event.Store { return &remoteStore{c} }

// remoteStore is a store that another process has open. Methods without an error return zero values
// when the owner does not answer.
type remoteStore struct{ c *Client }

func (s *remoteStore) Last() uint64                   { return s.c.last.Load() }
func (s *remoteStore) Generations() event.Generations { return s.c.Snapshot().Store.Generations }

func (s *remoteStore) Get(seq uint64) (event.Record, error) {
	r, err := askWithTimeout(s.c, verbGet, seq)
	return r.record(), err
}

func (s *remoteStore) Forward(seq uint64, fn func(event.Record) bool) error {
	last := s.Last()
	if seq > last {
		return nil
	}
	return s.pages(max(seq, 1), last, func(r *event.Record) bool { return fn(*r) })
}

func (s *remoteStore) Backward(seq uint64, fn func(event.Record) bool) error {
	if seq = min(seq, s.Last()); seq == 0 {
		return nil
	}
	return s.pages(seq, 1, func(r *event.Record) bool { return fn(*r) })
}

func (s *remoteStore) Scan(from, to uint64, fn func(*event.Record) bool) error {
	if from == 0 && to > 0 {
		from = 1
	}
	return s.pages(from, to, fn)
}

// pages reads from..to. Pages begin small, because many callers want only a
// screenful.
func (s *remoteStore) pages(from, to uint64, fn func(*event.Record) bool) error {
	down := to < from
	for count := 64; from != 0; count = min(2*count, pageRecords) {
		p, err := askWithTimeout(s.c, verbRecords, recordRange{from, to, count})
		if err != nil {
			return err
		}
		for i := range p.Records {
			r := p.Records[i].record()
			if !fn(&r) {
				return nil
			}
		}
		if p.Next != 0 && (down && p.Next >= from || !down && p.Next <= from) {
			return errors.Join(ErrAnswer, errors.New("a page leads back"))
		}
		from = p.Next
	}
	return nil
}

func (s *remoteStore) HasEvent(sub event.SubID, id trust.Text) bool {
	has, err := askWithTimeout(s.c, verbHasEvent, eventKey{sub, id})
	return err == nil && has
}

func (s *remoteStore) Subscriptions() []event.Subscription {
	subs, err := askWithTimeout(s.c, verbSubs, false)
	if err != nil {
		return nil
	}
	return subs
}

func (s *remoteStore) Subscription(id event.SubID) (event.Subscription, error) {
	return askWithTimeout(s.c, verbSub, id)
}

func (s *remoteStore) AuditLast() uint64 { return s.c.audited.Load() }

func (s *remoteStore) AuditBefore(seq uint64, fn func(event.AuditEntry) bool) error {
	for count := 64; ; count = min(2*count, pageRecords) {
		entries, err := askWithTimeout(s.c, verbAudit, auditRequest{seq, count})
		if err != nil {
			return err
		}
		for _, e := range entries {
			if !fn(e) {
				return nil
			}
			seq = e.Seq
		}
		if len(entries) < count || seq <= 1 {
			return nil
		}
	}
}

func (s *remoteStore) Servers() []event.ServerSeen {
	seen, err := askWithTimeout(s.c, verbSeen, false)
	if err != nil {
		return nil
	}
	return seen
}

func (s *remoteStore) Refusals() []event.Refusal { return s.c.Refusals() }
func (s *remoteStore) Marks() []event.Mark       { return s.c.Marks() }
func (s *remoteStore) Info() event.StoreInfo     { return s.c.Snapshot().Store }

func (s *remoteStore) Journal() event.Journal { return remoteJournal{s.c} }

func (s *remoteStore) Setting(key string) (string, error) { return s.c.Setting(key) }

func (s *remoteStore) SetSetting(ctx context.Context, key, value string) error {
	return s.c.SetSetting(ctx, key, value)
}

func (s *remoteStore) SetMark(ctx context.Context, m event.Mark) error { return s.c.SetMark(ctx, m) }

func (s *remoteStore) RemoveMark(ctx context.Context, seq uint64, line bool) error {
	return s.c.RemoveMark(ctx, seq, line)
}

func (s *remoteStore) Retention() event.Retention {
	r, err := askWithTimeout(s.c, verbRetention, false)
	if err != nil {
		return event.Retention{}
	}
	return r
}

func (s *remoteStore) SetRetention(ctx context.Context, r event.Retention) error {
	_, err := ask(ctx, s.c, verbSetRetention, r)
	return err
}

func (s *remoteStore) Submit(context.Context, event.Batch) error {
	return s.c.notHere("storing records")
}
func (s *remoteStore) EndedHooks() []event.Ended { return nil }

func (s *remoteStore) Credential(string) (event.Secret, error) {
	return event.Secret{}, s.c.notHere("reading a secret")
}

func (s *remoteStore) SetCredential(context.Context, string, event.Secret) error {
	return s.c.notHere("keeping a secret")
}

// Unlocked returns a closed channel: secrets are in the owner process, which waits for them.
func (s *remoteStore) Unlocked() <-chan struct{} {
	unlocked := make(chan struct{})
	close(unlocked)
	return unlocked
}

func (s *remoteStore) Saw(context.Context, event.ServerSeen) error {
	return s.c.notHere("noting a server")
}

func (s *remoteStore) Refuse(context.Context, ...event.Refusal) error {
	return s.c.notHere("noting a refusal")
}

func (s *remoteStore) Audit(context.Context, event.AuditEntry) error {
	return s.c.notHere("noting an act")
}

// Watch is never called back: the host that follows the commits is in the owner
// process.
func (s *remoteStore) Watch(func([]event.Record)) (stop func()) { return func() {} }

// Close detaches, and reports whether the owner ended before.
func (s *remoteStore) Close() error {
	err := s.c.Err()
	return errors.Join(err, s.c.Close())
}

// remoteJournal refuses: the engine of reactions runs in the process with the store.
type remoteJournal struct{ c *Client }

func (j remoteJournal) Change(context.Context, event.JournalChange) error {
	return j.c.notHere("writing the journal of reactions")
}

func (j remoteJournal) Entry(event.JournalTable, string) ([]byte, error) {
	return nil, j.c.notHere("reading the journal of reactions")
}

func (j remoteJournal) Entries(event.JournalTable, string, func(string, []byte) bool) error {
	return j.c.notHere("reading the journal of reactions")
}
