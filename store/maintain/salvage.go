package maintain

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/datadir"
	"eventdeck/store/private"
	"eventdeck/store/tables"
)

// salvage is what can be read of a damaged file without bbolt: the entries that the tree leads
// to and, if some are missing, those on any page.
type salvage struct {
	file   *os.File
	pages  *boltfile.Pages
	layout boltfile.Layout
	tables map[string]*foundTable // all but the log

	log   []found // in the order of their numbers
	last  uint64  // the last number given, 0: not known
	whole bool    // nothing of the log is missing
	fixed int     // damaged numbers that could be corrected

	changes map[uint64]tables.SubChange // of subscriptions, by the number of their audit entry
	strays  map[event.SubID][]byte      // subscriptions on any page, each as it was seen last the longest ago
}

// found is a record, or the identity of a pruned one. Its value lies in the file.
type found struct {
	seq    uint64
	offset int64
	length uint32 // without the checksum
	gone   bool   // a pruned one
	bad    bool   // its checksum does not fit its number
}

// foundTable holds the good entries of a small table.
type foundTable struct {
	keys, values [][]byte
	whole        bool // none is missing
}

// span is a range of sequence numbers, both ends included.
type span struct{ first, last uint64 }

func (s span) String() string {
	switch {
	case s.last == math.MaxUint64:
		return fmt.Sprintf("%d and later", s.first)
	case s.first == s.last:
		return fmt.Sprint(s.first)
	}
	return fmt.Sprintf("%d to %d", s.first, s.last)
}

// openSalvage opens a file for reading what is left of it.
//
// Errors: [boltfile.ErrNewer], [boltfile.ErrUnreleased]; the cause of ctx; those of the file
// system.
func openSalvage(ctx context.Context, path string) (s *salvage, root uint64, err error) {
	f, err := private.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, 0, err
	}
	s = &salvage{file: f, pages: boltfile.ReadPages(f), tables: map[string]*foundTable{}, changes: map[uint64]tables.SubChange{}, strays: map[event.SubID][]byte{}}
	newest, sound, err := boltfile.MetaPages(f)
	if err == nil && sound > 0 {
		s.layout, err = s.pages.Layout(ctx, newest.Root)
	}
	if err == nil && s.layout.Version > tables.Newest {
		err = fmt.Errorf("%w: its layout has version %d and this program knows versions up to %d", boltfile.ErrNewer, s.layout.Version, tables.Newest)
	}
	if datadir.IsMisplaced(err) {
		err = datadir.Misplaced(path, err)
	}
	if err != nil {
		s.close()
		return nil, 0, err
	}
	s.whole = sound == 2
	return s, newest.Root, nil
}

func (s *salvage) close() { _ = s.file.Close() } // it was only read

// readSnapshot reads the tables of a snapshot, and the last number that was given.
//
// Errors: [boltfile.ErrNewer]; the cause of ctx; those of the file system.
func readSnapshot(ctx context.Context, path string) (*salvage, error) {
	s, root, err := openSalvage(ctx, path)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if err := s.readTables(ctx, root); err != nil {
		return nil, err
	}
	tally, _ := s.layout.Tally(tables.Events)
	s.last = tally.Counter
	return s, nil
}

// readSalvage reads the tables and the log.
//
// Errors: [boltfile.ErrNewer]; the cause of ctx; those of the file system.
func readSalvage(ctx context.Context, path string) (*salvage, error) {
	s, root, err := openSalvage(ctx, path)
	if err != nil {
		return nil, err
	}
	if err = s.readTables(ctx, root); err == nil {
		err = s.readLog(ctx, root)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// isLog reports whether a table is a part of the log.
func isLog(table []byte) bool {
	return bytes.Equal(table, tables.Events) || bytes.Equal(table, tables.Gone)
}

// readTables reads the tables that a snapshot holds, and how much is kept of each
// subscription.
func (s *salvage) readTables(ctx context.Context, root uint64) error {
	if root == 0 {
		return nil
	}
	wanted := func(table []byte) bool {
		return bytes.Equal(table, tables.Usage) || tables.InSnapshot(table)
	}
	sound, err := s.pages.Walk(ctx, root, wanted, func(table []byte, entries []boltfile.Entry) error {
		t := s.tables[string(table)]
		if t == nil {
			t = &foundTable{whole: true}
			s.tables[string(table)] = t
		}
		for _, e := range entries {
			if boltfile.Own(table, e.Key) {
				continue
			}
			value, err := boltfile.Open(table, e.Key, e.Stored)
			if err == nil {
				err = tables.CheckEntry(table, e.Key, value)
			}
			if err != nil {
				t.whole = false
				continue
			}
			t.keys, t.values = append(t.keys, bytes.Clone(e.Key)), append(t.values, bytes.Clone(value))
		}
		return nil
	})
	for name, t := range s.tables {
		if tally, known := s.layout.Tally([]byte(name)); known {
			t.whole = t.whole && uint64(len(t.keys)) == tally.Entries
		} else {
			t.whole = t.whole && sound
		}
	}
	return err
}

// readLog reads the log in the order of its tree, and missing records from all pages.
func (s *salvage) readLog(ctx context.Context, root uint64) error {
	var sums uint32
	var gone []found
	lost := false
	sound, err := s.pages.Walk(ctx, root, isLog, func(table []byte, entries []boltfile.Entry) error {
		isGone := bytes.Equal(table, tables.Gone)
		for _, e := range entries {
			f, ok := s.entry(table, e)
			if ok && !isGone {
				sums ^= boltfile.EntrySum(table, e.Key, e.Stored[:f.length])
			}
			switch {
			case !ok:
				lost = true
			case isGone && !f.bad:
				gone = append(gone, f)
			case !isGone:
				s.log = append(s.log, f)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	tally, known := s.layout.Tally(tables.Events)
	s.last = tally.Counter
	for _, f := range s.log {
		if !known && !f.bad {
			s.last = max(s.last, f.seq)
		}
	}
	lost = s.correctNumbers() || lost
	s.whole = s.whole && sound && !lost && root != 0 && known && uint64(len(s.log)) == tally.Entries && (s.fixed > 0 || sums == tally.Sums)
	s.log = append(s.log, gone...)
	s.order()
	if s.whole && complete(s.tables) {
		return nil
	}
	return s.scanPages(ctx)
}

// trace keeps an entry on any page that tells of a subscription.
func (s *salvage) trace(e boltfile.Entry) {
	if value, err := boltfile.Open(tables.Audit, e.Key, e.Stored); err == nil && len(e.Key) == 8 {
		var c tables.SubChange
		if json.Unmarshal(value, &c) == nil && (c.Made || c.Removed) {
			s.changes[binary.BigEndian.Uint64(e.Key)] = c
		}
		return
	}
	value, err := boltfile.Open(tables.Subs, e.Key, e.Stored)
	if err != nil {
		return
	}
	id := event.SubID(e.Key)
	kept, err := tables.ReadSub(id, value)
	if before, readErr := tables.ReadSub(id, s.strays[id]); err == nil && (readErr != nil || kept.Sub.LastSeen.Before(before.Sub.LastSeen)) {
		s.strays[id] = bytes.Clone(value)
	}
}

// entry looks at an entry of the log. Where its checksum does not fit, its number may be
// what is wrong; ok is false when it is no record at all.
func (s *salvage) entry(table []byte, e boltfile.Entry) (f found, ok bool) {
	f = found{offset: e.Offset, gone: bytes.Equal(table, tables.Gone)}
	value, err := boltfile.Open(table, e.Key, e.Stored)
	if err != nil {
		value, f.bad = e.Stored[:max(0, len(e.Stored)-boltfile.SumSize)], true
	}
	f.length = uint32(len(value))
	if len(e.Key) == 8 {
		f.seq = binary.BigEndian.Uint64(e.Key)
	} else {
		f.bad = true
	}
	r, err := tables.DecodeRecord(f.seq, value)
	return f, err == nil && (r.Server == "") == f.gone
}

// correctNumbers corrects damaged numbers: the right one lies between two good ones and fits
// the checksum. It reports whether a record had to be left out.
func (s *salvage) correctNumbers() (lost bool) {
	before := uint64(0)
	for i := 0; i < len(s.log); i++ {
		if !s.log[i].bad {
			before = s.log[i].seq
			continue
		}
		end := i + 1
		for end < len(s.log) && s.log[end].bad {
			end++
		}
		after := s.last + 1
		if end < len(s.log) {
			after = s.log[end].seq
		}
		s.renumber(s.log[i:end], before+1, after)
		i = end - 1
	}
	n := len(s.log)
	s.log = slices.DeleteFunc(s.log, func(f found) bool { return f.bad })
	return len(s.log) < n
}

// maxTries bounds how many numbers are tried against a checksum.
const maxTries = 4096

// renumber gives records the numbers that they must have had, of first up to but not
// including end.
func (s *salvage) renumber(log []found, first, end uint64) {
	for i := range log {
		f := &log[i]
		stored := make([]byte, int(f.length)+boltfile.SumSize)
		if _, err := s.file.ReadAt(stored, f.offset); err != nil {
			continue
		}
		for seq := first; seq < min(end, first+maxTries); seq++ {
			if _, err := boltfile.Open(tables.Events, tables.SeqKey(seq), stored); err == nil {
				f.seq, f.bad, first = seq, false, seq+1
				s.fixed++
				break
			}
		}
	}
}

// order sorts the log by number. Of a record and a pruned one with the same number the
// record stays.
func (s *salvage) order() {
	slices.SortStableFunc(s.log, func(a, b found) int {
		if a.gone != b.gone && a.seq == b.seq {
			if a.gone {
				return 1
			}
			return -1
		}
		return cmp.Compare(a.seq, b.seq)
	})
	s.log = slices.CompactFunc(s.log, func(a, b found) bool { return a.seq == b.seq })
}

// scanPages searches all pages, also unused ones, for records whose numbers are missing, and for
// traces of subscriptions. If two different records have one number, neither is taken.
func (s *salvage) scanPages(ctx context.Context) error {
	if s.layout.Version == 0 {
		if err := s.pages.Each(ctx, func(entries []boltfile.Entry) error {
			for _, e := range entries {
				s.layout.Look(e)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	tally, _ := s.layout.Tally(tables.Events)
	s.last = max(s.last, tally.Counter)
	more := map[uint64]found{}
	ambiguous := map[uint64]bool{}
	err := s.pages.Each(ctx, func(entries []boltfile.Entry) error {
		for _, e := range entries {
			f, ok := s.entry(tables.Events, e)
			if !ok || f.bad {
				f, ok = s.entry(tables.Gone, e)
			}
			if !ok || f.bad {
				s.trace(e)
			}
			if !ok || f.bad || f.seq == 0 || s.has(f.seq) {
				continue
			}
			if have, ok := more[f.seq]; !ok {
				more[f.seq] = f
			} else if !s.same(f, have) {
				ambiguous[f.seq] = true
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for seq, f := range more {
		if !ambiguous[seq] {
			s.log = append(s.log, f)
		}
	}
	s.order()
	return nil
}

// has reports whether a record with the number was found; the log is in order.
func (s *salvage) has(seq uint64) bool {
	i, ok := slices.BinarySearchFunc(s.log, seq, func(f found, seq uint64) int { return cmp.Compare(f.seq, seq) })
	return ok && !s.log[i].gone
}

func (s *salvage) same(a, b found) bool {
	x, errX := s.value(a)
	y, errY := s.value(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func (s *salvage) value(f found) ([]byte, error) {
	value := make([]byte, f.length, int(f.length)+boltfile.SumSize)
	_, err := s.file.ReadAt(value, f.offset)
	return value, err
}

// missing returns the numbers between the first record and the last number given that have no
// record. If there is no record at all, everything is missing.
func (s *salvage) missing() []span {
	switch {
	case s == nil:
		return []span{{1, math.MaxUint64}}
	case s.whole:
		return nil
	}
	var lost []span
	at := uint64(0)
	for _, f := range s.log {
		if at > 0 && f.seq > at+1 {
			lost = append(lost, span{at + 1, f.seq - 1})
		}
		at = f.seq
	}
	if at < s.last || at == 0 {
		end := s.last
		if end == 0 {
			end = math.MaxUint64
		}
		lost = append(lost, span{at + 1, end})
	}
	return lost
}

// identityOf decodes the head of a record, and the identity where it has one.
func identityOf(value []byte) (head event.Record, id tables.Identity, has bool, err error) {
	if head, err = tables.DecodeRecordHead(value); err == nil {
		id, has = tables.Identify(&head)
	}
	return head, id, has, err
}
