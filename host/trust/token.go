package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"eventdeck/host/trust/internal/runes"
)

const (
	tokenOpen  = "‹"
	tokenClose = "›"
	// showEqual is how many equal tokens are shown before a count replaces them, showMixed
	// how many different ones.
	showEqual = 3
	showMixed = 8
	// showHidden bounds the decoded text in a token, in code points.
	showHidden = 400
)

// shortHash returns a short hash that distinguishes collapsed runs.
func shortHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}

// collapse returns one token for a run of hidden units: their kinds, their count, their
// decoded text, and a hash of the run.
func collapse(s string, run []runes.Unit, spell func(runes.Unit) string) string {
	body := s[run[0].Start:run[len(run)-1].End]
	var b strings.Builder
	b.WriteString(tokenOpen)
	kinds := kindsOf(run, spell)
	switch hidden := runes.HiddenText(run); {
	case len(kinds) == 1:
		fmt.Fprintf(&b, "%s×%d%s", kinds[0], len(run), tokenClose)
		return b.String()
	case run[0].Class == runes.Tag:
		fmt.Fprintf(&b, "tags×%d %s…", len(run), spell(run[0]))
		writeHidden(&b, hidden)
	case run[0].Class == runes.Selector:
		fmt.Fprintf(&b, "selectors×%d %s…", len(run), spell(run[0]))
		writeHidden(&b, hidden)
	default:
		fmt.Fprintf(&b, "%s×%d", strings.Join(kinds, ""), len(run))
	}
	fmt.Fprintf(&b, " #%s%s", shortHash(body), tokenClose)
	return b.String()
}

// kindsOf returns the spellings of the different units of a run, at most four.
func kindsOf(run []runes.Unit, spell func(runes.Unit) string) []string {
	var kinds []string
	type id struct {
		r     rune
		class runes.Class
	}
	seen := map[id]bool{}
	for _, w := range run {
		if seen[id{w.R, w.Class}] {
			continue
		}
		seen[id{w.R, w.Class}] = true
		if len(kinds) == 4 {
			return append(kinds, "…")
		}
		kinds = append(kinds, spell(w))
	}
	return kinds
}

// writeHidden writes decoded hidden text, quoted and escaped.
func writeHidden(b *strings.Builder, s string) {
	if s == "" {
		return
	}
	cut := len(s)
	n := 0
	for i := range s {
		if n == showHidden {
			cut = i
			break
		}
		n++
	}
	b.WriteString(` "`)
	for i := 0; i < cut; {
		r, n, ok := runes.DecodeRune(s[i:])
		w := runes.Unit{R: r, Class: runes.ClassOf(r)}
		if !ok {
			w.Class = runes.Invalid
		}
		switch {
		case w.Class != runes.Plain || r == '‹' || r == '›':
			b.WriteString(runes.Spell(w))
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteByte(byte(r))
		default:
			b.WriteRune(r)
		}
		i += n
	}
	if cut < len(s) {
		b.WriteString("…")
	}
	b.WriteByte('"')
}
