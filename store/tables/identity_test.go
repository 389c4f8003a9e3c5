package tables

import "testing"

func TestHashIsKeyed(t *testing.T) {
	a := KeyedHash([]byte("k1"), spaceEvent, "aa", "1")
	for name, b := range map[string]uint64{
		"key":   KeyedHash([]byte("k2"), spaceEvent, "aa", "1"),
		"space": KeyedHash([]byte("k1"), spaceRejected, "aa", "1"),
		"split": KeyedHash([]byte("k1"), spaceEvent, "a", "a1"),
	} {
		if a == b {
			t.Errorf("%s does not change the hash", name)
		}
	}
}
