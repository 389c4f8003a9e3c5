package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"sync"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/store/boltfile"
)

// hashVersion is the first byte of a dedup record: the hashes of one commit,
// each as a uvarint distance of its sequence number from the record's key and
// eight bytes. One record a commit, and not one key an id, keeps random keys
// out of the tree, where each would touch a page of its own.
const hashVersion = 1

// space separates ids that do not exclude each other.
type space byte

const (
	spaceEvent    space = 'e' // event ids, and webhook ids of events
	spaceRejected space = 'r' // webhook ids of rejected payloads
	spaceGap      space = 'g' // webhook ids of gap envelopes
)

// hashFunc maps an id to 64 bits under a key that the sender cannot know, so
// that no sender can make ids collide.
type hashFunc func(key []byte, in space, sub event.SubID, id string) uint64

func keyedHash(key []byte, in space, sub event.SubID, id string) uint64 {
	var scratch [512]byte
	b := append(scratch[:0], key...)
	b = append(b, byte(in))
	b = appendText(b, string(sub))
	b = append(b, id...)
	sum := sha256.Sum256(b)
	return binary.LittleEndian.Uint64(sum[:])
}

// identity is what makes a record the same as another one.
type identity struct {
	in        space
	sub       event.SubID
	eventID   trust.Text // or, when it is empty,
	webhookID trust.Text
}

// identify returns the identity of a record, and whether it has one. Only
// events, and rejected payloads and gaps that came by webhook do; of an event the
// event id decides, and the webhook id only when there is no event id.
func identify(r *event.Record) (identity, bool) {
	id := identity{sub: r.Sub, webhookID: r.WebhookID}
	switch r.Kind {
	case event.KindEvent:
		id.in, id.eventID = spaceEvent, r.EventID
	case event.KindRejected:
		id.in = spaceRejected
	case event.KindGap:
		id.in = spaceGap
	default:
		return id, false
	}
	return id, !id.eventID.IsZero() || !id.webhookID.IsZero()
}

// same reports whether the stored record has the identity.
func (id identity) same(stored *event.Record) bool {
	other, ok := identify(stored)
	if !ok || other.in != id.in || other.sub != id.sub {
		return false
	}
	if !id.eventID.IsZero() {
		return other.eventID == id.eventID
	}
	return other.webhookID == id.webhookID
}

// isChanged reports whether the data of an event differ from those of the
// stored record with its identity, white space and the order of keys apart. Of what
// was pruned nothing is known.
func isChanged(stored []byte, r *event.Record) bool {
	var old event.Record
	if r.Kind != event.KindEvent || lendRecord(&old, 0, stored) != nil || old.Data == nil || r.Data == nil {
		return false
	}
	return !sameJSON(old.Data, r.Data)
}

func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y any
	for raw, v := range map[*[]byte]*any{&a: &x, &b: &y} {
		dec := json.NewDecoder(bytes.NewReader(*raw))
		dec.UseNumber()
		if dec.Decode(v) != nil {
			return false
		}
	}
	return reflect.DeepEqual(x, y)
}

// hashes appends to out under which hashes a record with this identity is
// remembered. The first one is that by which it is looked up.
func (id identity) hashes(out []uint64, hash func(space, event.SubID, string) uint64) []uint64 {
	if id.eventID.IsZero() {
		return append(out, hash(id.in, id.sub, id.webhookID.Raw()))
	}
	out = append(out, hash(id.in, id.sub, id.eventID.Raw()))
	if id.webhookID.IsZero() || id.webhookID == id.eventID {
		return out
	}
	return append(out, hash(id.in, id.sub, id.webhookID.Raw()))
}

// index is a [table] that many may read while the writer changes it.
type index struct {
	mu    sync.RWMutex
	table *table
}

// find appends the sequence numbers that may have the hash to seqs.
func (x *index) find(seqs []uint64, hash uint64) []uint64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.table.find(seqs, hash)
}

func appendHash(record []byte, distance, hash uint64) []byte {
	if len(record) == 0 {
		record = append(record, hashVersion)
	}
	record = binary.AppendUvarint(record, distance)
	return binary.BigEndian.AppendUint64(record, hash)
}

// eachHash calls fn for what appendHash wrote.
func eachHash(record []byte, fn func(distance, hash uint64)) error {
	if len(record) == 0 || record[0] != hashVersion {
		return errCodec
	}
	for record = record[1:]; len(record) > 0; {
		distance, n := binary.Uvarint(record)
		if n <= 0 || len(record) < n+8 {
			return errCodec
		}
		fn(distance, binary.BigEndian.Uint64(record[n:]))
		record = record[n+8:]
	}
	return nil
}

// loadIndex reads all dedup records.
func loadIndex(tx *boltfile.Tx) (*table, error) {
	const hashSize = 9
	b := tx.Bucket(bucketDedup)
	size := 0
	c := b.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		size += len(v) / hashSize
	}
	if c.Err() != nil {
		return nil, c.Err()
	}
	x := newTable(min(size, int(tx.Size()/hashSize))) // lengths may be damaged
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if len(k) != 8 {
			return nil, fmt.Errorf("%w: a dedup record has the key %x", ErrDamaged, k)
		}
		base := binary.BigEndian.Uint64(k)
		if err := eachHash(v, func(distance, hash uint64) { x.insert(hash, base+distance) }); err != nil {
			return nil, fmt.Errorf("%w: dedup record %d: %w", ErrDamaged, base, err)
		}
		runtime.Gosched() // a large index is loaded while the first screen is drawn
	}
	return x, c.Err()
}

// identified returns a record, or what is left of a pruned one; nil if there is neither.
//
// Error: [ErrDamaged].
func identified(events, gone boltfile.Bucket, seq uint64) ([]byte, error) {
	value, err := events.Get(seqKey(seq))
	if value != nil || err != nil {
		return value, err
	}
	return gone.Get(seqKey(seq))
}

// publish takes over what a commit has stored and forgotten.
func (x *index) publish(added, dropped []hashed) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, h := range dropped {
		x.table.remove(h.hash, h.seq)
	}
	for _, h := range added {
		x.table.insert(h.hash, h.seq)
	}
}

// loadDedup fills the index. It is the first thing that the writer does, so
// that opening a large store does not wait for it.
func (s *Store) loadDedup() error {
	return s.view(func(tx *boltfile.Tx) error {
		x, err := loadIndex(tx)
		if err != nil {
			return err
		}
		s.index.mu.Lock()
		defer s.index.mu.Unlock()
		s.index.table = x
		return nil
	})
}

// HasEvent implements [event.Store]. Right after the opening it waits until the
// index is loaded. What cannot be read counts as absent: storing it again finds
// the duplicate, or the error.
func (s *Store) HasEvent(sub event.SubID, id trust.Text) bool {
	<-s.loaded
	if id.IsZero() {
		return false
	}
	want := identity{in: spaceEvent, sub: sub, eventID: id}
	found := false
	err := s.view(func(tx *boltfile.Tx) error {
		for _, seq := range s.index.find(nil, want.hashes(nil, s.hashID)[0]) {
			value, err := identified(tx.Bucket(bucketEvents), tx.Bucket(bucketGone), seq)
			if err != nil {
				continue
			}
			if stored, err := decodeHead(value); err == nil && want.same(&stored) {
				found = true
			}
		}
		return nil
	})
	return err == nil && found
}
