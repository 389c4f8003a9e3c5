package scan

import (
	"strings"
	"unicode"

	"eventdeck/host/trust/internal/runes"
)

// special scans the code points of a field: terminal and Unicode classes.
func (s *scanner) special(f *field) {
	var hostile bool
	var w word
	styled, cjk := 0, false
	styledAt := -1
	for u := (runes.Units{S: f.text}); u.I < len(f.text); {
		if c := f.text[u.I]; c >= 0x20 && c < 0x7f {
			u.Prev2, u.Prev = u.Prev, rune(c)
			w.rune(s, f, rune(c), u.I)
			u.I++
			continue
		}
		save := u
		n := u.Next()
		w.rune(s, f, n.R, n.Start)
		switch n.Class {
		case runes.Plain:
			if isStyled(n.R) {
				if styled++; styledAt < 0 {
					styledAt = n.Start
				}
			}
			cjk = cjk || 0x3040 <= n.R && n.R <= 0x9fff
			if unicode.Is(unicode.M, n.R) && n.R > 0x300 && runes.ClassOf(n.R) == runes.Mark {
				s.marks(f, &u, n)
			}
			continue
		case runes.Control, runes.C1:
			if n.R == '\n' || n.R == '\t' || n.R == '\r' && u.Peek(n) == '\n' {
				continue
			}
			hostile = true
			s.control(f, n)
			continue
		case runes.Tag, runes.Selector:
			hostile = true
			u = save
			s.hiddenRun(f, &u)
			continue
		}
		hostile = hostile || n.Class != runes.Space && n.Class != runes.Private
		s.hiddenUnit(f, n)
	}
	w.end(s, f, len(f.text))
	if fullwidth := strings.ContainsFunc(f.text, isFullwidth); styled >= 4 && !(fullwidth && cjk) {
		s.span("uni.styled", f, styledAt, len(f.text))
	}
	if f.key && (hostile || w.odd) {
		s.place("json.key-hostile", f.at)
	}
}

var classFlags = map[runes.Class]Flag{
	runes.Bidi: "uni.bidi", runes.Invisible: "uni.invisible", runes.Space: "uni.space", runes.Separator: "uni.linesep",
	runes.Private: "uni.pua", runes.Nonchar: "uni.nonchar", runes.Unassigned: "uni.unassigned", runes.Wide: "uni.width",
}

// hiddenUnit flags a single hidden unit.
func (s *scanner) hiddenUnit(f *field, n runes.Unit) {
	switch n.Class {
	case runes.Space:
		// The blanks of ordinary typography are shown as tokens, not flagged.
		switch n.R {
		case 0xa0, 0x3000, 0x2002, 0x2003, 0x2007, 0x2009, 0x200a, 0x202f:
			return
		}
	case runes.Invalid:
		s.span("json.invalid-utf8", f, n.Start, n.End)
		s.span("uni.invalid", f, n.Start, n.End)
		return
	case runes.Surrogate:
		s.span("json.lone-surrogate", f, n.Start, n.End)
		return
	}
	if flag, ok := classFlags[n.Class]; ok {
		s.span(flag, f, n.Start, n.End)
	}
}

// marks flags a pile of combining marks of which n is the first.
func (s *scanner) marks(f *field, u *runes.Units, n runes.Unit) {
	count := 1
	for u.I < len(f.text) {
		save := *u
		next := u.Next()
		if next.Class != runes.Plain || runes.ClassOf(next.R) != runes.Mark {
			*u = save
			break
		}
		count++
	}
	if count > runes.MaxMarks {
		s.span("uni.zalgo", f, n.Start, u.I)
	}
}

// hiddenRun flags a run of tags or selectors and decodes it.
func (s *scanner) hiddenRun(f *field, u *runes.Units) {
	var run []runes.Unit
	for u.I < len(f.text) {
		save := *u
		n := u.Next()
		if len(run) > 0 && n.Class != run[0].Class {
			*u = save
			break
		}
		run = append(run, n)
	}
	flag := Flag("uni.tag")
	if run[0].Class == runes.Selector {
		flag = "uni.vs"
	}
	start, end := run[0].Start, run[len(run)-1].End
	s.span(flag, f, start, end)
	if text := runes.HiddenText(run); text != "" {
		s.decode(text)
		s.matchDerived(text, f, start, end)
	}
}

// foldedKeys flags keys of one payload that look equal. Keys of different objects may
// repeat; only those with hidden or look-alike letters are compared with all others.
func (s *scanner) foldedKeys() {
	plainKeys := map[string]bool{}
	odd := false
	for _, f := range s.found {
		if f.key {
			if runes.CleanASCII(f.text) {
				plainKeys[strings.ToLower(f.text)] = true
			} else {
				odd = true
			}
		}
	}
	if !odd {
		return
	}
	for _, f := range s.found {
		if !f.key || runes.CleanASCII(f.text) {
			continue
		}
		look := skeleton(f.text)
		if plainKeys[look] {
			s.place("json.case-key", f.at)
		}
		plainKeys[look] = true
	}
}

// isStyled reports whether r is a Latin letter in a special style.
func isStyled(r rune) bool {
	return 0x1d400 <= r && r <= 0x1d6a5 || 0x24b6 <= r && r <= 0x24e9 ||
		0x1f130 <= r && r <= 0x1f169 || isFullwidth(r)
}

func isFullwidth(r rune) bool { return 0xff21 <= r && r <= 0xff3a || 0xff41 <= r && r <= 0xff5a }

// word tracks the letters of one word and their scripts.
type word struct {
	start                 int
	letters, latin, alien int  // alien: letters of Cyrillic, Greek or the like
	alike                 int  // of alien, those that look like Latin ones
	at                    int  // offset of the first of alike
	odd                   bool // an earlier word was flagged
}

func (w *word) rune(s *scanner, f *field, r rune, i int) {
	if r < 0x80 && r|0x20 >= 'a' && r|0x20 <= 'z' {
		if w.letters == 0 {
			w.start = i
		}
		w.letters++
		w.latin++
		return
	}
	if r >= 0x80 && unicode.IsLetter(r) {
		if w.letters == 0 {
			w.start = i
		}
		w.letters++
		switch {
		case r < 0x250 || unicode.Is(unicode.Latin, r):
			w.latin++
		case unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Lisu):
			w.alien++
			if _, ok := lookalikes[r]; ok {
				if w.alike == 0 {
					w.at = i
				}
				w.alike++
			}
		}
		return
	}
	if r >= 0x80 && runes.ClassOf(r) == runes.Mark || runes.IsInvisible(r) {
		return
	}
	w.end(s, f, i)
}

// end flags the word that ends at i, if it mixes scripts.
func (w *word) end(s *scanner, f *field, i int) {
	v := *w
	*w = word{odd: v.odd}
	switch {
	case v.alien == 0 || v.alien != v.alike:
		return
	case v.latin > 0:
		w.odd = true
		s.span("uni.mixed-script", f, v.start, i)
	case v.letters == v.alike && v.letters >= 2 && isHost(f.text, v.start, i):
		s.span("uni.confusable", f, v.start, i)
	}
}

// isHost reports whether text[start:end] is a label of a host name: after "://", or before
// a dot and ASCII letters.
func isHost(text string, start, end int) bool {
	rest := text[end:]
	if len(rest) < 3 || rest[0] != '.' {
		return false
	}
	c := rest[1] | 0x20
	d := rest[2] | 0x20
	return 'a' <= c && c <= 'z' && 'a' <= d && d <= 'z'
}
