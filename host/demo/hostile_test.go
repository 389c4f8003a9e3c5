package demo

import (
	"strings"
	"testing"

	"eventdeck/host/trust/scan"
)

// The demo shows each class of flags.
func TestTricksShowEveryClass(t *testing.T) {
	missing := map[string]bool{"term": true, "uni": true, "json": true, "url": true, "inj": true}
	for _, trick := range tricks() {
		report := scan.Scan([]byte(`{"text":` + quoteJSON(trick.text) + trick.members + `}`))
		for _, f := range report.Flags {
			class, _, _ := strings.Cut(string(f), ".")
			delete(missing, class)
		}
	}
	if len(missing) > 0 {
		t.Errorf("no payload of the demo shows %v", missing)
	}
}
