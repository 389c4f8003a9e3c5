package cli

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"eventdeck/host/trust"
)

// usualWidth is how wide a terminal is taken for that does not tell, in cells.
const usualWidth = 80

// width returns to how many cells text is folded: as wide as the terminal is, and 0, which is
// not at all, for programs. A terminal itself folds to its first column, where words of
// others could pass for a label of ours.
func (a *app) width(terminal bool) int {
	if !terminal {
		return 0
	}
	if a.Columns != nil {
		if columns := a.Columns(); columns > 0 {
			return columns
		}
	}
	return usualWidth
}

// labelled is a line of a label and words, folded to width; nothing without words.
func labelled(label, words string, width int) string {
	if words == "" {
		return ""
	}
	return hanging(fmt.Sprintf("%-*s", labelWidth, label), words, width)
}

// hanging is a line behind a prefix in ASCII, folded to width. What goes on stands two
// cells further in than the words behind a prefix.
func hanging(prefix, words string, width int) string {
	in := len(prefix) + 2
	if width > 0 {
		words = ansi.Hardwrap(words, max(width-in, 1), true)
	}
	return prefix + strings.ReplaceAll(words, "\n", "\n"+strings.Repeat(" ", in)) + "\n"
}

// safeLines are words of others on lines that act on no terminal, each behind a prefix
// and folded to width.
func safeLines(prefix string, text trust.Text, width int) string {
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
