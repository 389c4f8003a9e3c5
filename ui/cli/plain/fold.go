package plain

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"eventdeck/host/trust"
)

// LabelWidth is how wide the labels of a block are, in cells.
const LabelWidth = 14

// Labelled is a line of a label and words, folded to width; nothing without words.
func Labelled(label, words string, width int) string {
	if words == "" {
		return ""
	}
	return Hanging(fmt.Sprintf("%-*s", LabelWidth, label), words, width)
}

// Hanging is a line behind a prefix in ASCII, folded to width. What goes on stands two
// cells further in than the words behind a prefix.
func Hanging(prefix, words string, width int) string {
	in := len(prefix) + 2
	if width > 0 {
		words = ansi.Hardwrap(words, max(width-in, 1), true)
	}
	return prefix + strings.ReplaceAll(words, "\n", "\n"+strings.Repeat(" ", in)) + "\n"
}

// Lines are words of others on lines that act on no terminal, each behind a prefix
// and folded to width.
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
