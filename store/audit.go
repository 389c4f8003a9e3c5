package store

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/store/boltfile"
	"eventdeck/store/tables"
)

const (
	maxAudit = 100_000 // entries that are kept
	// auditPrune is how many old entries one new entry removes at most, so that a log far over
	// its bound does not delay commits.
	auditPrune = 4
	auditChunk = 256 // entries that one read transaction returns
)

// storedAudit is an [event.AuditEntry] in the file; the sequence number is its
// key. Everything that a server or an operator wrote is bytes, since JSON
// strings cannot hold every text.
type storedAudit struct {
	tables.SubChange
	At     tables.Timestamp `json:"at"`
	Actor  event.Actor      `json:"actor"`
	Action string           `json:"action"`
	Record uint64           `json:"record,omitempty"`
	Result []byte           `json:"result,omitempty"`
	Detail []byte           `json:"detail,omitempty"`
}

// Audit implements [event.Store]. It shares the commits of the log.
//
// Errors: [event.ErrClosed], [event.ErrFull], the cause of ctx. When ctx ends
// first the entry may still be kept.
func (s *Store) Audit(ctx context.Context, e event.AuditEntry) error {
	return s.do(ctx, func(c *commit) error { return c.putAudit(e, tables.SubChange{}) })
}

// putAudit appends an entry and removes a few that are over the bound. did says whether the same
// batch made or removed the subscription.
func (c *commit) putAudit(e event.AuditEntry, did tables.SubChange) error {
	did.Server, did.Type, did.Sub = []byte(e.Server), []byte(e.Type.Raw()), e.Sub
	value, err := json.Marshal(storedAudit{
		SubChange: did, At: tables.Stamp(e.At), Actor: e.Actor, Action: e.Action, Record: e.Record,
		Result: []byte(e.Result), Detail: []byte(e.Detail.Raw()),
	})
	if err != nil {
		return fmt.Errorf("audit entry: %w", err)
	}
	b := c.tx.Bucket(tables.Audit)
	b.FillPages()
	n, err := b.Next()
	if err != nil {
		return fmt.Errorf("audit entry: %w", err)
	}
	if err := b.Put(tables.SeqKey(n), value); err != nil {
		return fmt.Errorf("audit entry %d: %w", n, err)
	}
	c.audited = n
	return c.pruneAudit(b, n)
}

func (c *commit) pruneAudit(b boltfile.Bucket, last uint64) error {
	cursor := b.Cursor()
	k, _ := cursor.First()
	for range auditPrune {
		if len(k) != 8 || last-binary.BigEndian.Uint64(k) < c.store.maxAudit {
			return cursor.Err()
		}
		if err := b.Delete(k); err != nil {
			return fmt.Errorf("remove an old audit entry: %w", err)
		}
		k, _ = cursor.First()
	}
	return cursor.Err()
}

// AuditLast implements [event.Store].
func (s *Store) AuditLast() uint64 { return s.audited.Load() }

// AuditBefore implements [event.Store]. Commits go on while fn runs.
//
// Errors: [event.ErrClosed], [ErrDamaged].
func (s *Store) AuditBefore(seq uint64, fn func(event.AuditEntry) bool) error {
	if seq == 0 {
		seq = s.AuditLast() + 1
	}
	for seq > 1 {
		chunk, err := s.auditChunk(seq - 1)
		if err != nil || len(chunk) == 0 {
			return err
		}
		for _, e := range chunk {
			if !fn(e) {
				return nil
			}
		}
		seq = chunk[len(chunk)-1].Seq
	}
	return nil
}

// auditChunk returns entries from seq down.
func (s *Store) auditChunk(seq uint64) ([]event.AuditEntry, error) {
	var chunk []event.AuditEntry
	err := s.view(func(tx *boltfile.Tx) error {
		c := tx.Bucket(tables.Audit).Cursor()
		for k, v := seekBackward(c, seq); k != nil && len(chunk) < auditChunk; k, v = c.Prev() {
			var in storedAudit
			if err := json.Unmarshal(v, &in); err != nil || len(k) != 8 {
				return fmt.Errorf("%w: audit entry %x", ErrDamaged, k)
			}
			chunk = append(chunk, event.AuditEntry{
				Seq: binary.BigEndian.Uint64(k), At: in.At.Time(), Actor: in.Actor, Action: in.Action,
				Server: string(in.Server), Type: trust.Untrusted(string(in.Type)), Sub: in.Sub, Record: in.Record,
				Result: string(in.Result), Detail: trust.Untrusted(string(in.Detail)),
			})
		}
		return c.Err()
	})
	return chunk, err
}
