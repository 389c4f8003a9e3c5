package seal

import (
	"bytes"
	"errors"
	"testing"

	"eventdeck/host/event"
)

func TestWithoutAKeyNothingIsSealedOrOpened(t *testing.T) {
	var locked Sealer
	if _, err := locked.Seal("here", "secret"); !locked.Locked() || !errors.Is(err, event.ErrKeyLocked) {
		t.Errorf("sealed: %v", err)
	}
	if _, err := locked.Open("here", []byte{sealVersion}); !errors.Is(err, event.ErrKeyLocked) {
		t.Errorf("opened: %v", err)
	}
	if none, err := locked.Seal("here", ""); none != nil || err != nil {
		t.Errorf("nothing: %v, %v", none, err)
	}
}

func TestSealedValuesAreBoundToTheirPlace(t *testing.T) {
	s, err := NewSealer(make([]byte, 32), bytes.NewReader(make([]byte, 99)))
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := s.Seal("here", "secret")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Open("here", sealed); got != "secret" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	bent := bytes.Clone(sealed)
	bent[len(bent)-1] ^= 1
	newer := bytes.Clone(sealed)
	newer[0]++
	for name, c := range map[string]struct {
		place  string
		sealed []byte
	}{"moved": {"there", sealed}, "changed": {"here", bent}, "short": {"here", sealed[:9]}, "newer": {"here", newer}} {
		if got, err := s.Open(c.place, c.sealed); err == nil {
			t.Errorf("%s: opens to %q", name, got)
		}
	}
	if _, err := NewSealer(make([]byte, 9), nil); err == nil {
		t.Error("a key of 9 bytes is taken")
	}
}
