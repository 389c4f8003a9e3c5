package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/store/boltfile"
)

const (
	maxKey      = 4096 // bytes of a key that a caller chooses
	maxRefusals = 1000
	maxEnded    = 1000
)

// Setting implements [event.Store].
func (s *Store) Setting(key string) (string, error) {
	var value string
	err := s.view(func(tx *boltfile.Tx) error {
		v, err := tx.Bucket(bucketSettings).Get([]byte(key))
		if err != nil {
			return err
		}
		if v == nil {
			return fmt.Errorf("setting %q: %w", key, event.ErrNotFound)
		}
		value = string(v)
		return nil
	})
	return value, err
}

// SetSetting implements [event.Store]. It returns after the commit.
//
// Errors: [event.ErrClosed], [event.ErrFull], the cause of ctx, [ErrBatch] for a
// key that is empty or longer than 4 KiB.
func (s *Store) SetSetting(ctx context.Context, key, value string) error {
	return s.put(ctx, bucketSettings, key, []byte(value))
}

func (s *Store) put(ctx context.Context, bucket []byte, key string, value []byte) error {
	if key == "" || len(key) > maxKey {
		return fmt.Errorf("%w: a key in %s has %d bytes, must be 1 to %d", ErrBatch, bucket, len(key), maxKey)
	}
	return s.do(ctx, func(c *commit) error { return c.tx.Bucket(bucket).Put([]byte(key), value) })
}

// storedServer is an [event.ServerSeen] in the file.
type storedServer struct {
	Era       string    `json:"era,omitempty"`
	Version   string    `json:"version,omitempty"`
	Transport string    `json:"transport,omitempty"`
	Title     []byte    `json:"title,omitempty"`
	Release   []byte    `json:"release,omitempty"`
	At        timestamp `json:"at"`
}

// Saw implements [event.Store]. It returns after the commit; the errors are
// those of [Store.SetSetting].
func (s *Store) Saw(ctx context.Context, seen event.ServerSeen) error {
	value, err := json.Marshal(storedServer{
		Era:       seen.Era,
		Version:   seen.Version,
		Transport: seen.Transport,
		Title:     []byte(seen.Title.Raw()),
		Release:   []byte(seen.Release.Raw()),
		At:        stamp(seen.At),
	})
	if err != nil {
		return fmt.Errorf("server %q: %w", seen.Name, err)
	}
	return s.put(ctx, bucketServers, seen.Name, value)
}

// Servers implements [event.Store], in the order of their names. An entry that
// cannot be read is left out.
func (s *Store) Servers() []event.ServerSeen {
	var servers []event.ServerSeen
	s.each(bucketServers, func(k, v []byte) {
		var in storedServer
		if json.Unmarshal(v, &in) != nil {
			return
		}
		servers = append(servers, event.ServerSeen{
			Name:      string(k),
			Era:       in.Era,
			Version:   in.Version,
			Transport: in.Transport,
			Title:     trust.Untrusted(string(in.Title)),
			Release:   trust.Untrusted(string(in.Release)),
			At:        in.At.time(),
		})
	})
	return servers
}

// storedRefusal is an [event.Refusal] in the file.
type storedRefusal struct {
	At     timestamp   `json:"at"`
	Sub    event.SubID `json:"sub,omitempty"`
	Reason string      `json:"reason"`
	Status int         `json:"status"`
	Bytes  int64       `json:"bytes"`
}

// Refuse implements [event.Store]. It returns after the commit; the errors are
// those of [Store.SetSetting].
func (s *Store) Refuse(ctx context.Context, list ...event.Refusal) error {
	values := make([][]byte, len(list))
	for i, r := range list {
		var err error
		if values[i], err = json.Marshal(storedRefusal{stamp(r.At), r.Sub, r.Reason, r.Status, r.Bytes}); err != nil {
			return fmt.Errorf("refused delivery: %w", err)
		}
	}
	return s.do(ctx, func(c *commit) error {
		b := c.tx.Bucket(bucketRefusals)
		for _, value := range values {
			if err := putRefusal(b, value); err != nil {
				return err
			}
		}
		return nil
	})
}

func putRefusal(b boltfile.Bucket, value []byte) error {
	n, err := b.Next()
	if err != nil {
		return err
	}
	if n > maxRefusals {
		if err := b.Delete(seqKey(n - maxRefusals)); err != nil {
			return err
		}
	}
	return b.Put(seqKey(n), value)
}

// Refusals implements [event.Store]. An entry that cannot be read is left out.
func (s *Store) Refusals() []event.Refusal {
	var refusals []event.Refusal
	s.each(bucketRefusals, func(_, v []byte) {
		var in storedRefusal
		if json.Unmarshal(v, &in) == nil {
			refusals = append(refusals, event.Refusal{At: in.At.time(), Sub: in.Sub, Reason: in.Reason, Status: in.Status, Bytes: in.Bytes})
		}
	})
	slices.Reverse(refusals)
	return refusals
}

// storedEnded is an [event.Ended] in the file; the path is its key.
type storedEnded struct {
	At      timestamp `json:"at"`
	Removed bool      `json:"removed,omitempty"`
}

// putEnded keeps the newest maxEnded hooks: a path that is forgotten is answered
// like one that never was.
func (c *commit) putEnded(e event.Ended) error {
	value, err := json.Marshal(storedEnded{stamp(e.At), e.Removed})
	if err != nil {
		return fmt.Errorf("ended hook: %w", err)
	}
	b := c.tx.Bucket(bucketEnded)
	if err := b.Put([]byte(e.Path), value); err != nil {
		return fmt.Errorf("ended hook: %w", err)
	}
	ended, err := collectEnded(b)
	if err != nil || len(ended) <= maxEnded {
		return err
	}
	return b.Delete([]byte(ended[0].Path))
}

// collectEnded returns the ended hooks, oldest first.
func collectEnded(b boltfile.Bucket) (ended []event.Ended, err error) {
	err = b.Each(func(k, v []byte) error {
		var in storedEnded
		if json.Unmarshal(v, &in) == nil {
			ended = append(ended, event.Ended{Path: string(k), At: in.At.time(), Removed: in.Removed})
		}
		return nil
	})
	slices.SortFunc(ended, func(a, b event.Ended) int { return a.At.Compare(b.At) })
	return ended, err
}

// EndedHooks implements [event.Store]: the newest 1,000, oldest first. It is
// empty when the store cannot be read.
func (s *Store) EndedHooks() []event.Ended {
	var ended []event.Ended
	if s.view(func(tx *boltfile.Tx) (err error) {
		ended, err = collectEnded(tx.Bucket(bucketEnded))
		return err
	}) != nil {
		return nil
	}
	return ended
}

// each calls fn for every entry of a small bucket. The interface of its callers
// has no error: what cannot be read is absent, and the next commit reports it.
func (s *Store) each(bucket []byte, fn func(k, v []byte)) {
	_ = s.view(func(tx *boltfile.Tx) error {
		return tx.Bucket(bucket).Each(func(k, v []byte) error {
			fn(k, v)
			return nil
		})
	})
}
