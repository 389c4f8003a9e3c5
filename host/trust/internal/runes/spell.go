package runes

import "unicode/utf8"

// Spell returns the token of one unit: \x1b below U+0080 and for bytes,
// \u009b up to U+FFFF, \U000e0041 above.
func Spell(w Unit) string {
	switch {
	case w.Class == Invalid || w.R < 0x80:
		return HexToken('x', w.R, 2)
	case w.R <= 0xffff:
		return HexToken('u', w.R, 4)
	}
	return HexToken('U', w.R, 8)
}

// SpellJSON is [Spell] with the escapes of JSON. An invalid byte keeps \x9b, which JSON
// does not have.
func SpellJSON(w Unit) string {
	if w.Class != Invalid && w.R < 0x80 {
		return HexToken('u', w.R, 4)
	}
	return Spell(w)
}

func HexToken(letter byte, r rune, digits int) string {
	b := [10]byte{'\\', letter}
	for i := range digits {
		b[1+digits-i] = "0123456789abcdef"[r&15]
		r >>= 4
	}
	return string(b[:2+digits])
}

// HiddenText decodes a run of tags or of variation selectors that carry bytes. It returns
// "" if that is no text.
func HiddenText(run []Unit) string {
	var b []byte
	for _, w := range run {
		switch {
		case w.Class == Tag && 0xe0020 <= w.R && w.R <= 0xe007e:
			b = append(b, byte(w.R-0xe0000))
		case w.Class == Selector && w.R <= 0xfe0f:
			b = append(b, byte(w.R-0xfe00))
		case w.Class == Selector:
			b = append(b, byte(w.R-0xe0100+16))
		}
	}
	if run[0].Class == Selector && (len(b) < 2 || !utf8.Valid(b) || !mostlyPrintable(b)) {
		return ""
	}
	return string(b)
}

func mostlyPrintable(b []byte) bool {
	good, all := 0, 0
	for _, r := range string(b) {
		all++
		if ClassOf(r) == Plain || r == '\n' || r == '\t' {
			good++
		}
	}
	return good*10 >= all*9
}
