package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	tokenOpen  = "‹"
	tokenClose = "›"
	// showEqual is how many equal tokens stand side by side before a count
	// replaces them, showMixed how many different ones.
	showEqual = 3
	showMixed = 8
	// showHidden is how much decoded text a token offers, in code points.
	showHidden = 400
)

// spell returns the token of one unit: \x1b below U+0080 and for bytes,
// \u009b up to U+FFFF, \U000e0041 above.
func spell(w unit) string {
	switch {
	case w.class == invalid || w.r < 0x80:
		return hexToken('x', w.r, 2)
	case w.r <= 0xffff:
		return hexToken('u', w.r, 4)
	}
	return hexToken('U', w.r, 8)
}

// spellJSON is spell in the spelling of JSON. An invalid byte keeps \x9b,
// which JSON does not have.
func spellJSON(w unit) string {
	if w.class != invalid && w.r < 0x80 {
		return hexToken('u', w.r, 4)
	}
	return spell(w)
}

func hexToken(letter byte, r rune, digits int) string {
	b := [10]byte{'\\', letter}
	for i := range digits {
		b[1+digits-i] = "0123456789abcdef"[r&15]
		r >>= 4
	}
	return string(b[:2+digits])
}

// shortHash tells collapsed runs apart.
func shortHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}

// hiddenText decodes a run of tags or of variation selectors that carry bytes.
// It returns "" if the run says nothing.
func hiddenText(run []unit) string {
	var b []byte
	for _, w := range run {
		switch {
		case w.class == tag && 0xe0020 <= w.r && w.r <= 0xe007e:
			b = append(b, byte(w.r-0xe0000))
		case w.class == selector && w.r <= 0xfe0f:
			b = append(b, byte(w.r-0xfe00))
		case w.class == selector:
			b = append(b, byte(w.r-0xe0100+16))
		}
	}
	if run[0].class == selector && (len(b) < 2 || !utf8.Valid(b) || !mostlyPrintable(b)) {
		return ""
	}
	return string(b)
}

func mostlyPrintable(b []byte) bool {
	good, all := 0, 0
	for _, r := range string(b) {
		all++
		if classOf(r) == plain || r == '\n' || r == '\t' {
			good++
		}
	}
	return good*10 >= all*9
}

// collapse returns one token for a run of hidden units: what it is made of,
// how many they are, what they say, and a hash of the run.
func collapse(s string, run []unit, spell func(unit) string) string {
	body := s[run[0].start:run[len(run)-1].end]
	var b strings.Builder
	b.WriteString(tokenOpen)
	kinds := kindsOf(run, spell)
	switch hidden := hiddenText(run); {
	case len(kinds) == 1:
		fmt.Fprintf(&b, "%s×%d%s", kinds[0], len(run), tokenClose)
		return b.String()
	case run[0].class == tag:
		fmt.Fprintf(&b, "tags×%d %s…", len(run), spell(run[0]))
		writeHidden(&b, hidden)
	case run[0].class == selector:
		fmt.Fprintf(&b, "selectors×%d %s…", len(run), spell(run[0]))
		writeHidden(&b, hidden)
	default:
		fmt.Fprintf(&b, "%s×%d", strings.Join(kinds, ""), len(run))
	}
	fmt.Fprintf(&b, " #%s%s", shortHash(body), tokenClose)
	return b.String()
}

// kindsOf spells the different units of a run, at most four of them.
func kindsOf(run []unit, spell func(unit) string) []string {
	var kinds []string
	type id struct {
		r     rune
		class class
	}
	seen := map[id]bool{}
	for _, w := range run {
		if seen[id{w.r, w.class}] {
			continue
		}
		seen[id{w.r, w.class}] = true
		if len(kinds) == 4 {
			return append(kinds, "…")
		}
		kinds = append(kinds, spell(w))
	}
	return kinds
}

// writeHidden writes text that was hidden, in quotes, itself escaped.
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
		r, n, ok := decodeRune(s[i:])
		w := unit{r: r, class: classOf(r)}
		if !ok {
			w.class = invalid
		}
		switch {
		case w.class != plain || r == '‹' || r == '›':
			b.WriteString(spell(w))
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
