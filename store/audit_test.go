package store

import (
	"errors"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/store/tables"
)

func act(n int) event.AuditEntry {
	return event.AuditEntry{
		At: time.Unix(int64(n), 5).UTC(), Actor: event.ActorOperator, Action: "pause",
		Server: "pager\xff", Type: text("t\x00"), Sub: "aa", Record: uint64(n), Result: event.ResultOK, Detail: text("\xed\xa0\x80"),
	}
}

func audit(t testing.TB, s *Store, before uint64) (got []event.AuditEntry) {
	t.Helper()
	if err := s.AuditBefore(before, func(e event.AuditEntry) bool {
		got = append(got, e)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return got
}

func seqs(entries []event.AuditEntry) (out []uint64) {
	for _, e := range entries {
		out = append(out, e.Seq)
	}
	return out
}

func TestAuditIsKeptOverReopen(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, Options{Dir: dir})
	if err := s.Audit(t.Context(), act(1)); err != nil {
		t.Fatal(err)
	}
	// With a batch it is part of the same commit.
	b := eventsBatch("aa", "1")
	b.Audit = []event.AuditEntry{act(2), act(3)}
	store(t, s, b)
	equal(t, s.AuditLast(), uint64(3))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, Options{Dir: dir})
	equal(t, s.AuditLast(), uint64(3))
	got := audit(t, s, 0)
	equal(t, seqs(got), []uint64{3, 2, 1})
	want := act(1)
	want.Seq = 1
	equal(t, got[2], want)
	equal(t, seqs(audit(t, s, 3)), []uint64{2, 1})
	equal(t, len(audit(t, s, 1)), 0)
}

// A commit that fails stores neither the act nor its entry.
func TestAuditFailsWithItsBatch(t *testing.T) {
	s := openTest(t, Options{})
	b := eventsBatch("aa", "1")
	b.Audit = []event.AuditEntry{act(1)}
	b.Fence = new(event.Fence)
	b.Fence.Break()
	if r := <-submit(t, s, b); r.err == nil {
		t.Error("a batch behind a broken fence was stored")
	}
	equal(t, s.AuditLast(), uint64(0))
}

func TestAuditIsPrunedInSmallSteps(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, Options{Dir: dir})
	var b event.Batch
	for n := range 100 {
		b.Audit = append(b.Audit, act(n))
	}
	store(t, s, b)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, Options{Dir: dir, maxAudit: 10})
	if err := s.Audit(t.Context(), act(101)); err != nil {
		t.Fatal(err)
	}
	if n := len(audit(t, s, 0)); n != 101-auditPrune {
		t.Errorf("%d entries after one more, want %d", n, 101-auditPrune)
	}
	for n := range 40 {
		if err := s.Audit(t.Context(), act(n)); err != nil {
			t.Fatal(err)
		}
	}
	got := seqs(audit(t, s, 0))
	equal(t, len(got), 10)
	equal(t, got[0], uint64(141))
	equal(t, got[9], uint64(132))
}

// At their bound marks are changed and not added.
func TestMarksAtTheirBound(t *testing.T) {
	s := openTest(t, Options{Dir: t.TempDir()})
	mustDo(t, s.do(t.Context(), func(c *commit) error {
		for seq := range uint64(maxMarks - 1) {
			if err := c.tx.Bucket(tables.Marks).Put(markKey(seq+1, true), []byte(`{}`)); err != nil {
				return err
			}
		}
		return nil
	}))
	mustDo(t, s.SetMark(t.Context(), event.Mark{Seq: maxMarks, Line: true})) // the last for which there is room
	equal(t, len(s.Marks()), maxMarks)
	mustDo(t, s.SetMark(t.Context(), event.Mark{Seq: 7, Line: true, Note: "changed"}))
	if got := s.Marks()[6]; got.Note != "changed" {
		t.Errorf("mark %+v", got)
	}
	if err := s.SetMark(t.Context(), event.Mark{Seq: 7}); !errors.Is(err, ErrBatch) {
		t.Errorf("another mark: %v", err)
	}
}

func TestMarks(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, Options{Dir: dir})
	at := time.Date(2026, 2, 19, 15, 30, 0, 5, time.UTC)
	for _, m := range []event.Mark{{Seq: 300, At: at, Line: true}, {Seq: 2, At: at, Note: "old"}, {Seq: 2, At: at, Note: "a\xff"}, {Seq: 300, At: at}} {
		if err := s.SetMark(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.RemoveMark(t.Context(), 300, false); err != nil {
		t.Fatal(err)
	}
	if err := s.RemoveMark(t.Context(), 7, false); err != nil {
		t.Errorf("removing what is not there: %v", err)
	}
	for n, want := range map[int]error{maxNote - 1: nil, maxNote: nil, maxNote + 1: ErrBatch} {
		if err := s.SetMark(t.Context(), event.Mark{Seq: 1, Note: string(make([]byte, n))}); !errors.Is(err, want) {
			t.Errorf("a note of %d bytes: %v", n, err)
		}
	}
	mustDo(t, s.RemoveMark(t.Context(), 1, false))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, Options{Dir: dir})
	equal(t, s.Marks(), []event.Mark{{Seq: 2, At: at, Note: "a\xff"}, {Seq: 300, At: at, Line: true}})
}

func TestLoad(t *testing.T) {
	s := openTest(t, Options{})
	store(t, s, eventsBatch("aa", "1", "2"))
	l := s.Info().Load
	if l.Commits != 1 || l.Records != 2 || l.Queued != 0 || l.QueuedMax != queueRecords || l.CommitP50 <= 0 || l.CommitP95 < l.CommitP50 {
		t.Errorf("%+v", l)
	}
}
