package tui

import (
	"strings"
	"testing"
)

// The detail of a server whose descriptors make no sense says where the reasons are.
func TestBadDescriptorsLeadToTheirReasons(t *testing.T) {
	h := incident()
	h.snap.Servers[0].BadTypes = 1
	a := open(t, h, 120, 40)
	a.draw()
	press(t, a, "1", "j")
	if s := screenOf(a); !strings.Contains(s, "1 descriptor made no sense; 5 App tells why") {
		t.Errorf("not told:\n%s", s)
	}
}
