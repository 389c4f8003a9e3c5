package plain

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"eventdeck/host/trust"
)

// LabelWidth is how wide the labels of a block are, in cells.
const LabelWidth = 14

// Labelled is a line with a label and words, folded to width cells; "" without words.
func Labelled(label, words string, width int) string {
	if words == "" {
		return ""
	}
	return Hanging(fmt.Sprintf("%-*s", LabelWidth, label), words, width)
}

// Hanging is a line with an ASCII prefix, folded to width cells. Continuation lines are
// indented by two cells more than the words behind the prefix.
func Hanging(prefix, words string, width int) string {
	in := len(prefix) + 2
	if width > 0 {
		words = ansi.Hardwrap(words, max(width-in, 1), true)
	}
	return prefix + strings.ReplaceAll(words, "\n", "\n"+strings.Repeat(" ", in)) + "\n"
}

// Lines are untrusted words on lines that cannot act on a terminal, each behind a prefix and
// folded to width cells.
func Lines(prefix string, text trust.Text, width int) string {
	if text.IsZero() {
		return ""
	}
	if width > 0 {
		width = max(width-ansi.StringWidth(prefix), 1)
	}
	var b strings.Builder
	for _, l := range trust.Block(trust.Untrusted(strings.TrimSuffix(text.Raw(), "\n")), width) {
		b.WriteString(prefix + l.Plain() + "\n")
	}
	return b.String()
}
