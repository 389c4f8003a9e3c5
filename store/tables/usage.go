package tables

import (
	"encoding/binary"
	"fmt"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
)

// Amount is how much of the log is used; Bytes are those of values and keys. A change may be
// negative.
type Amount struct{ Records, Bytes int64 }

// Plus adds a change.
func (u Amount) Plus(v Amount) Amount { return Amount{u.Records + v.Records, u.Bytes + v.Bytes} }

// UsageKey is the key of a subscription in the table Usage. It is never empty: records
// without a subscription are counted too.
func UsageKey(sub event.SubID) []byte { return append([]byte{'s'}, sub...) }

// EncodeUsage returns the stored form of an amount.
func EncodeUsage(u Amount) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(u.Records)), uint64(u.Bytes))
}

// DecodeUsage is the reverse of [EncodeUsage].
//
// Error: [ErrInvalidRecord].
func DecodeUsage(value []byte) (Amount, error) {
	records, n := binary.Uvarint(value)
	if n <= 0 {
		return Amount{}, ErrInvalidRecord
	}
	bytes, m := binary.Uvarint(value[n:])
	if m <= 0 || n+m != len(value) {
		return Amount{}, ErrInvalidRecord
	}
	return Amount{int64(records), int64(bytes)}, nil
}

// LoadUsage reads how much of the log is kept, in all and of each subscription.
//
// Error: [event.ErrDamaged].
func LoadUsage(tx *boltfile.Tx) (total Amount, bySub map[event.SubID]Amount, err error) {
	bySub = map[event.SubID]Amount{}
	err = tx.Bucket(Usage).Each(func(k, v []byte) error {
		u, err := DecodeUsage(v)
		if err != nil || len(k) == 0 || k[0] != 's' {
			return fmt.Errorf("%w: the usage record %q", event.ErrDamaged, k)
		}
		bySub[event.SubID(k[1:])] = u
		total = total.Plus(u)
		return nil
	})
	return total, bySub, err
}
