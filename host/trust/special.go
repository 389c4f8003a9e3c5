package trust

import (
	"strings"
	"unicode"
)

// special looks at the code points of a field: terminal and Unicode classes.
func (s *scanner) special(f *field) {
	var hostile bool
	var w word
	styled, cjk := 0, false
	styledAt := -1
	for u := (units{s: f.text}); u.i < len(f.text); {
		if c := f.text[u.i]; c >= 0x20 && c < 0x7f {
			u.prev2, u.prev = u.prev, rune(c)
			w.rune(s, f, rune(c), u.i)
			u.i++
			continue
		}
		save := u
		n := u.next()
		w.rune(s, f, n.r, n.start)
		switch n.class {
		case plain:
			if isStyled(n.r) {
				if styled++; styledAt < 0 {
					styledAt = n.start
				}
			}
			cjk = cjk || 0x3040 <= n.r && n.r <= 0x9fff
			if unicode.Is(unicode.M, n.r) && n.r > 0x300 && classOf(n.r) == mark {
				s.marks(f, &u, n)
			}
			continue
		case control, c1:
			if n.r == '\n' || n.r == '\t' || n.r == '\r' && u.peek(n) == '\n' {
				continue
			}
			hostile = true
			s.control(f, n)
			continue
		case tag, selector:
			hostile = true
			u = save
			s.hiddenRun(f, &u)
			continue
		}
		hostile = hostile || n.class != space && n.class != private
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

var classFlags = map[class]Flag{
	bidi: "uni.bidi", invisible: "uni.invisible", space: "uni.space", separator: "uni.linesep",
	private: "uni.pua", nonchar: "uni.nonchar", unassigned: "uni.unassigned", wide: "uni.width",
}

// hiddenUnit flags a unit that is hidden alone.
func (s *scanner) hiddenUnit(f *field, n unit) {
	switch n.class {
	case space:
		// The blanks of ordinary typography are shown as tokens, not flagged.
		switch n.r {
		case 0xa0, 0x3000, 0x2002, 0x2003, 0x2007, 0x2009, 0x200a, 0x202f:
			return
		}
	case invalid:
		s.span("json.invalid-utf8", f, n.start, n.end)
		s.span("uni.invalid", f, n.start, n.end)
		return
	case surrogate:
		s.span("json.lone-surrogate", f, n.start, n.end)
		return
	}
	if flag, ok := classFlags[n.class]; ok {
		s.span(flag, f, n.start, n.end)
	}
}

// marks flags a pile of combining marks of which n is the first.
func (s *scanner) marks(f *field, u *units, n unit) {
	count := 1
	for u.i < len(f.text) {
		save := *u
		next := u.next()
		if next.class != plain || classOf(next.r) != mark {
			*u = save
			break
		}
		count++
	}
	if count > maxMarks {
		s.span("uni.zalgo", f, n.start, u.i)
	}
}

// hiddenRun flags a run of tags or selectors and reads what it says.
func (s *scanner) hiddenRun(f *field, u *units) {
	var run []unit
	for u.i < len(f.text) {
		save := *u
		n := u.next()
		if len(run) > 0 && n.class != run[0].class {
			*u = save
			break
		}
		run = append(run, n)
	}
	flag := Flag("uni.tag")
	if run[0].class == selector {
		flag = "uni.vs"
	}
	start, end := run[0].start, run[len(run)-1].end
	s.span(flag, f, start, end)
	if text := hiddenText(run); text != "" {
		s.decode(text)
		s.matchDerived(text, f, start, end)
	}
}

// foldedKeys flags keys of one payload that are equal to the eye. Keys of
// different objects may repeat; only those with hidden or look-alike letters
// are compared, with all others.
func (s *scanner) foldedKeys() {
	plainKeys := map[string]bool{}
	odd := false
	for _, f := range s.found {
		if f.key {
			if cleanASCII(f.text) {
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
		if !f.key || cleanASCII(f.text) {
			continue
		}
		look := skeleton(f.text)
		if plainKeys[look] {
			s.place("json.case-key", f.at)
		}
		plainKeys[look] = true
	}
}

// isStyled tells whether r is a Latin letter in a special style.
func isStyled(r rune) bool {
	return 0x1d400 <= r && r <= 0x1d6a5 || 0x24b6 <= r && r <= 0x24e9 ||
		0x1f130 <= r && r <= 0x1f169 || isFullwidth(r)
}

func isFullwidth(r rune) bool { return 0xff21 <= r && r <= 0xff3a || 0xff41 <= r && r <= 0xff5a }

// word follows the letters of one word and their scripts.
type word struct {
	start                 int
	letters, latin, alien int  // alien: letters of Cyrillic, Greek or the like
	alike                 int  // of them those that look like Latin ones
	at                    int  // the first of these
	odd                   bool // some word before was flagged
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
	if r >= 0x80 && classOf(r) == mark || isInvisible(r) {
		return
	}
	w.end(s, f, i)
}

// end judges the word that ends at i.
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

// isHost tells whether text[start:end] is a label of a host name: behind
// "://", or before a dot and ASCII letters.
func isHost(text string, start, end int) bool {
	rest := text[end:]
	if len(rest) < 3 || rest[0] != '.' {
		return false
	}
	c := rest[1] | 0x20
	d := rest[2] | 0x20
	return 'a' <= c && c <= 'z' && 'a' <= d && d <= 'z'
}
