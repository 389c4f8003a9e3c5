package cells

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"eventdeck/host/trust"
	"eventdeck/themes"
)

// A row has the width of its pane in a terminal that measures code points, also with clusters that
// are not as wide as their code points together.
func TestRowsFitATerminalOfCodePoints(t *testing.T) {
	env := &Env{}
	for _, text := range []string{
		"plain", "\u00e9 e\u0301 \u65e5\u672c", "\U0001F44D\U0001F3FD thumbs", "\U0001F469\u200d\U0001F469\u200d\U0001F467 family",
		"\u2764\ufe0f \u260e\ufe0f 1\ufe0f\u20e3", "\U0001F1E9\U0001F1EA flag", "\u0939\u093f\u0928\u094d\u0926\u0940 \u0928\u092e\u0938\u094d\u0924\u0947",
		"\u0bae\u0bbf \u1019\u103c\u1014\u103a\u1019\u102c", "\u1112\u1161\u11ab\u1100\u1173\u11af", "\U0001F3F3\ufe0f\u200d\U0001F308",
		strings.Repeat("\U0001F44D\U0001F3FD", 30),
	} {
		for _, width := range []int{7, 20, 40} {
			var c Canvas
			c.Begin(&themes.Theme{}, width)
			c.Column(themes.Plain, trust.Line(trust.Untrusted(text)), width)
			c.End()
			row := c.Top()
			if w := ansi.StringWidth(row); w != width {
				t.Errorf("%+q: the canvas has %d cells, not %d", text, w, width)
			}
			if w := ansi.StringWidthWc(string(env.Fit(nil, row, width))); w != width {
				t.Errorf("%+q: %d cells by code points, not %d", text, w, width)
			}
			if clusters := (&Env{Clusters: true}); string(clusters.Fit(nil, row, width)) != row {
				t.Errorf("%+q: changed for a terminal that measures clusters", text)
			}
			if !disputed(row) && ansi.StringWidthWc(row) != width {
				t.Errorf("%+q: not taken as disputed", text)
			}
		}
	}
}
