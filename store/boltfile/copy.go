package boltfile

import (
	bolt "go.etcd.io/bbolt"
)

// Mirror makes the buckets of src, with their counters and nothing else, in an empty
// file, and gives it the same layout.
func (t *Tx) Mirror(src *Tx) error {
	names, err := src.Names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := t.CreateBucket(name); err != nil {
			return err
		}
		if err := t.Bucket(name).SetCounter(src.Bucket(name).Counter()); err != nil {
			return err
		}
	}
	return t.SetVersion(src.Version())
}

// Copy writes everything of from into an empty file, about size bytes in each transaction.
//
// Errors: [ErrDamaged] for an entry that is not what was written, [ErrNewer], [ErrForeign],
// those of bbolt.
func Copy(to, from *bolt.DB, size int) error {
	return View(from, func(src *Tx) error {
		if err := Update(to, func(dst *Tx) error { return dst.Mirror(src) }); err != nil {
			return err
		}
		names, err := src.Names()
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := copyBucket(to, src.Bucket(name), size); err != nil {
				return err
			}
		}
		return nil
	})
}

func copyBucket(to *bolt.DB, from Bucket, size int) error {
	var keys, values [][]byte
	bytes := 0
	flush := func() error {
		err := Update(to, func(dst *Tx) error {
			b := dst.Bucket(from.name)
			b.b.FillPercent = 1
			for i := range keys {
				if err := b.Append(keys[i], values[i], Sum(values[i])); err != nil {
					return err
				}
			}
			return nil
		})
		keys, values, bytes = keys[:0], values[:0], 0
		return err
	}
	err := from.Each(func(k, v []byte) error {
		keys, values, bytes = append(keys, k), append(values, v), bytes+len(k)+len(v)
		if bytes < size {
			return nil
		}
		return flush()
	})
	if err != nil || len(keys) == 0 {
		return err
	}
	return flush()
}
