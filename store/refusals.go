package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"eventdeck/host/event"
	"eventdeck/store/tables"
)

const maxRefusals = 1000

// storedRefusal is an [event.Refusal] in the file.
type storedRefusal struct {
	At     tables.Timestamp `json:"at"`
	Sub    event.SubID      `json:"sub,omitempty"`
	Reason string           `json:"reason"`
	Status int              `json:"status"`
	Bytes  int64            `json:"bytes"`
}

// Refuse implements [event.Store]. It returns after the commit; the errors are
// those of [Store.SetSetting].
func (s *Store) Refuse(ctx context.Context, list ...event.Refusal) error {
	values := make([][]byte, len(list))
	for i, r := range list {
		var err error
		if values[i], err = json.Marshal(storedRefusal{tables.Stamp(r.At), r.Sub, r.Reason, r.Status, r.Bytes}); err != nil {
			return fmt.Errorf("refused delivery: %w", err)
		}
	}
	return s.do(ctx, func(c *commit) error {
		for _, value := range values {
			if err := c.putRefusal(value); err != nil {
				return err
			}
		}
		return nil
	})
}

// putRefusal appends a refused delivery and removes the one that is over the bound.
func (c *commit) putRefusal(value []byte) error {
	b := c.tx.Bucket(tables.Refusals)
	n, err := b.Next()
	if err != nil {
		return err
	}
	if n > maxRefusals {
		if err := b.Delete(tables.SeqKey(n - maxRefusals)); err != nil {
			return err
		}
	}
	return b.Put(tables.SeqKey(n), value)
}

// Refusals implements [event.Store]. An entry that cannot be read is left out.
func (s *Store) Refusals() []event.Refusal {
	var refusals []event.Refusal
	eachJSON(s, tables.Refusals, func(_ []byte, in storedRefusal) {
		refusals = append(refusals, event.Refusal{At: in.At.Time(), Sub: in.Sub, Reason: in.Reason, Status: in.Status, Bytes: in.Bytes})
	})
	slices.Reverse(refusals)
	return refusals
}
