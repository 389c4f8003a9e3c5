package tables

import (
	"crypto/sha256"
	"encoding/binary"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// hashVersion is the first byte of a dedup record: the hashes of one commit,
// each as a uvarint distance of its sequence number from the record's key and
// eight bytes. One record a commit, and not one key an id, keeps random keys
// out of the tree, where each would touch a page of its own.
const hashVersion = 1

// Space separates ids that do not exclude each other.
type Space byte

const (
	spaceEvent    Space = 'e' // event ids, and webhook ids of events
	spaceRejected Space = 'r' // webhook ids of rejected payloads
	spaceGap      Space = 'g' // webhook ids of gap envelopes
)

// HashFunc maps an id to 64 bits under a key that the sender cannot know, so
// that no sender can make ids collide.
type HashFunc func(key []byte, in Space, sub event.SubID, id string) uint64

// KeyedHash is the hash of the program.
func KeyedHash(key []byte, in Space, sub event.SubID, id string) uint64 {
	var scratch [512]byte
	b := append(scratch[:0], key...)
	b = append(b, byte(in))
	b = appendText(b, string(sub))
	b = append(b, id...)
	sum := sha256.Sum256(b)
	return binary.LittleEndian.Uint64(sum[:])
}

// Identity is what makes a record the same as another one.
type Identity struct {
	in        Space
	sub       event.SubID
	eventID   trust.Text // or, when it is empty,
	webhookID trust.Text
}

// Identify returns the identity of a record, and whether it has one. Only
// events, and rejected payloads and gaps that came by webhook do; of an event the
// event id decides, and the webhook id only when there is no event id.
func Identify(r *event.Record) (Identity, bool) {
	id := Identity{sub: r.Sub, webhookID: r.WebhookID}
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

// EventIdentity is the identity of an event with an id.
func EventIdentity(sub event.SubID, id trust.Text) Identity {
	return Identity{in: spaceEvent, sub: sub, eventID: id}
}

// Same reports whether the stored record has the identity.
func (id Identity) Same(stored *event.Record) bool {
	other, ok := Identify(stored)
	if !ok || other.in != id.in || other.sub != id.sub {
		return false
	}
	if !id.eventID.IsZero() {
		return other.eventID == id.eventID
	}
	return other.webhookID == id.webhookID
}

// Hashes appends to out the hashes under which a record with this identity is remembered. It
// is looked up by the first one.
func (id Identity) Hashes(out []uint64, hash func(Space, event.SubID, string) uint64) []uint64 {
	if id.eventID.IsZero() {
		return append(out, hash(id.in, id.sub, id.webhookID.Raw()))
	}
	out = append(out, hash(id.in, id.sub, id.eventID.Raw()))
	if id.webhookID.IsZero() || id.webhookID == id.eventID {
		return out
	}
	return append(out, hash(id.in, id.sub, id.webhookID.Raw()))
}

// AppendHash appends the hash of one more record to the hashes of a commit, nil for none
// yet. distance is how far its number is from the first one.
func AppendHash(record []byte, distance, hash uint64) []byte {
	if len(record) == 0 {
		record = append(record, hashVersion)
	}
	record = binary.AppendUvarint(record, distance)
	return binary.BigEndian.AppendUint64(record, hash)
}

// EachHash calls fn for what [AppendHash] wrote.
//
// Error: [ErrInvalidRecord].
func EachHash(record []byte, fn func(distance, hash uint64)) error {
	if len(record) == 0 || record[0] != hashVersion {
		return ErrInvalidRecord
	}
	for record = record[1:]; len(record) > 0; {
		distance, n := binary.Uvarint(record)
		if n <= 0 || len(record) < n+8 {
			return ErrInvalidRecord
		}
		fn(distance, binary.BigEndian.Uint64(record[n:]))
		record = record[n+8:]
	}
	return nil
}
