package trust_test

import (
	"strings"
	"testing"

	"eventdeck/host/trust"
)

// A comma never stands on a line of its own, whatever the width.
func TestNoLoneCommas(t *testing.T) {
	raw := []byte(`{"text":"` + strings.Repeat("w", 30) + `","n":1234567890,"list":["` + strings.Repeat("日本", 8) + `",true]}`)
	for width := 8; width < 60; width++ {
		for _, l := range trust.JSON(raw, width) {
			if strings.TrimSpace(l.Plain()) == "," || l.Width > width {
				t.Errorf("%d cells: %q", width, l.Plain())
			}
		}
	}
}
