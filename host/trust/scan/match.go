package scan

import (
	"bytes"
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// token is a word of a folded text.
type token struct {
	means      concept
	start, end int32 // in the folded text of its field
	field      int32
	sentence   int32
}

// hit is a rule that matched.
type hit struct {
	flag   Flag
	weight int
}

// raise records a hit at [start, end) of a field.
func (s *scanner) raise(h hit, f *field, start, end int) {
	s.span(h.flag, f, start, end)
	if s.score == nil {
		s.score = map[Flag]int{}
	}
	s.score[h.flag] = max(s.score[h.flag], h.weight)
}

// badge reports whether the findings mark the event as a whole: one strong finding, or weak
// ones of two kinds.
func (s *scanner) badge() bool {
	weak := 0
	for _, w := range s.score {
		if w >= 3 {
			return true
		}
		weak++
	}
	return weak >= 2
}

// match runs the rules over all strings of the event, joined in the order of the text, so
// that a phrase may continue in the next string.
func (s *scanner) match(fields []field) {
	lex := lexicon()
	var tokens []token
	for i := range fields {
		if !fields[i].key {
			tokens = tokenize(lex, tokens, fields[i].folded.text, int32(i))
		}
	}
	lex.run(tokens, func(r *rule, first, last int) {
		s.mark(hit{r.flag, r.weight}, fields, tokens[first:last+1])
	})
}

// mark raises a hit on the words of a match, in each field that it touches.
func (s *scanner) mark(h hit, fields []field, words []token) {
	for i := 0; i < len(words); {
		j := i
		for j+1 < len(words) && words[j+1].field == words[i].field {
			j++
		}
		f := &fields[words[i].field]
		start, end := f.folded.original(int(words[i].start)), f.folded.original(int(words[j].end))
		s.raise(h, f, start, end)
		if inComment(f.folded.text, int(words[i].start)) {
			s.raise(hit{flag: "inj.hidden", weight: 2}, f, start, end)
		}
		i = j + 1
	}
}

// inComment reports whether offset i lies in an HTML comment.
func inComment(text []byte, i int) bool {
	before := text[max(0, i-4096):i]
	open := bytes.LastIndex(before, []byte("<!--"))
	return open >= 0 && !bytes.Contains(before[open:], []byte("-->"))
}

// matchDerived runs the rules over text that was hidden or coded at [start, end) of a
// field, and reports whether one matched.
func (s *scanner) matchDerived(text string, f *field, start, end int) bool {
	lex := lexicon()
	tokens := tokenize(lex, nil, fold(text).text, 0)
	found := false
	lex.run(tokens, func(r *rule, _, _ int) {
		found = true
		s.raise(hit{r.flag, r.weight}, f, start, end)
	})
	return found
}

// maxHits bounds the reported matches of one rule.
const maxHits = 50

// run calls found for each match of a rule, with its first and last token.
func (d *dictionary) run(tokens []token, found func(r *rule, first, last int)) {
	hits := make([]int, len(d.rules))
	var seen concept
	for i := range tokens {
		seen |= tokens[i].means
	}
	live := make([]bool, len(d.rules))
	for i := range d.rules {
		live[i] = d.rules[i].possible(seen | signs)
	}
	for i := range tokens {
		for means := tokens[i].means; means != 0; means &= means - 1 {
			for _, n := range d.byHead[bits.TrailingZeros64(uint64(means))] {
				r := &d.rules[n]
				if !live[n] || hits[n] >= maxHits || !fits(r.steps[0], tokens, i) {
					continue
				}
				if first, last, ok := follows(r.steps[1:], tokens, i); ok {
					hits[n]++
					found(r, first, last)
				}
			}
		}
	}
}

// fits reports whether token i matches one word of a rule.
func fits(m match, tokens []token, i int) bool {
	t := tokens[i]
	if t.means&m.any == 0 || t.means&m.all != m.all {
		return false
	}
	if m.not != 0 {
		for j := i - 1; j >= 0 && j >= i-2 && tokens[j].sentence == t.sentence; j-- {
			if tokens[j].means&m.not != 0 {
				return false
			}
		}
	}
	return true
}

// follows matches the remaining words of a rule after token i, the nearest token first.
func follows(steps []match, tokens []token, i int) (first, last int, ok bool) {
	first, last = i, i
	at := i
	for _, m := range steps {
		n := -1
		for j := at + 1; j < len(tokens) && j <= at+1+m.gap && tokens[j].sentence == tokens[i].sentence; j++ {
			if fits(m, tokens, j) {
				n = j
				break
			}
		}
		if n < 0 && m.rev {
			for j := max(0, i-1-m.gap); j < len(tokens) && j <= i+1+m.gap; j++ {
				if j != i && tokens[j].sentence == tokens[i].sentence && fits(m, tokens, j) {
					first, last = min(first, j), max(last, j)
					n = at
					break
				}
			}
		}
		if n < 0 {
			return 0, 0, false
		}
		at = n
		last = max(last, n)
	}
	return first, last, true
}

// tokenize appends the words of a folded text.
func tokenize(lex *dictionary, tokens []token, text []byte, field int32) []token {
	sentence := int32(0)
	if n := len(tokens); n > 0 {
		// A phrase may continue in the next string.
		sentence = tokens[n-1].sentence
	}
	z := tokenizer{lex: lex, text: text, tokens: tokens, field: field, sentence: sentence, lineStart: true}
	z.run()
	z.spelled(len(tokens))
	return z.tokens
}

type tokenizer struct {
	lex       *dictionary
	text      []byte
	tokens    []token
	field     int32
	sentence  int32
	lineStart bool
}

func (z *tokenizer) run() {
	text := z.text
	for i := 0; i < len(text); {
		c := text[i]
		if c < 0x80 && !isWordByte(c) {
			switch c {
			case '\n':
				z.lineStart = true
			case '.', '!', '?':
				if i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\n' || text[i+1] == '"' {
					z.sentence++
				}
			}
			i++
			continue
		}
		if c >= 0x80 {
			r, n := utf8.DecodeRune(text[i:])
			if isUnspaced(r) {
				means, size := z.lex.glued(text[i:], r)
				if size == 0 {
					size = n
				}
				z.add(means, i, i+size)
				i += size
				continue
			}
			if !unicode.IsLetter(r) && !unicode.Is(unicode.M, r) {
				if r == '。' || r == '！' || r == '？' || r == '।' {
					z.sentence++
				}
				i += n
				continue
			}
		}
		i = z.word(i)
	}
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '\''
}

// word adds the word that starts at i and returns its end.
func (z *tokenizer) word(i int) int {
	text := z.text
	end, digits, high := i, 0, false
	snake := false
	for end < len(text) {
		c := text[end]
		if c < 0x80 {
			if !isWordByte(c) && !(c == '-' && end > i && end+1 < len(text) && isWordByte(text[end+1]) && digits == 0 && end-i < 3) {
				break
			}
			if '0' <= c && c <= '9' {
				digits++
			}
			snake = snake || c == '_' && end > i
			end++
			continue
		}
		r, n := utf8.DecodeRune(text[end:])
		if isUnspaced(r) || !unicode.IsLetter(r) && !unicode.Is(unicode.M, r) {
			break
		}
		high = true
		end += n
	}
	start := i
	w := text[i:end]
	for len(w) > 0 && w[0] == '\'' {
		w = w[1:]
		start++
	}
	w = bytes.TrimRight(w, "'")
	if owner, ok := bytes.CutSuffix(w, []byte("'s")); ok && z.lex.find(w) == 0 && len(owner) > 0 {
		w = owner
	}
	if len(w) == 0 {
		return end
	}
	var means concept
	if len(w) <= 64 {
		if high || z.lex.maybe(w) {
			means = z.lex.find(w)
		}
		if means == 0 && (high || digits > 0 && digits < len(w)) {
			means = z.disguised(w)
		}
	}
	if snake {
		means |= toolName
	}
	z.add(means|z.sign(start, start+len(w)), start, start+len(w))
	return end
}

// disguised looks up a word with its look-alike letters and digits replaced.
func (z *tokenizer) disguised(w []byte) concept {
	var b []byte
	for _, r := range string(w) {
		if r >= 0x80 {
			l, ok := lookalikes[r]
			if !ok {
				return 0
			}
			r = rune(l)
		}
		b = utf8.AppendRune(b, unleet(r))
	}
	if bytes.Equal(b, w) {
		return 0
	}
	return z.lex.find(b)
}

// sign returns the meanings that a word has by its position.
func (z *tokenizer) sign(start, end int) (means concept) {
	text := z.text
	if z.lineStart {
		means |= lineStart
	}
	if start > 0 {
		switch c := text[start-1]; c {
		case '<', '[':
			means |= angled
		case '|':
			if start > 1 && text[start-2] == '<' {
				means |= angled
			}
			means |= pipe
		case '/':
			if start > 1 && (text[start-2] == '<' || text[start-2] == '[') {
				means |= angled
			}
		case '@':
			if start > 1 && isWordByte(text[start-2]) {
				means |= recipient
			}
		case ' ':
			b := bytes.TrimRight(text[max(0, start-8):start], " ")
			if bytes.HasSuffix(b, []byte("|")) || bytes.HasSuffix(b, []byte("| sudo")) {
				means |= pipe
			}
		}
	}
	if means&angled != 0 {
		means = closed(means, text, start, end)
	}
	rest := bytes.TrimLeft(text[end:min(len(text), end+3)], " ")
	if len(rest) > 0 && rest[0] == ':' {
		means |= colon
	}
	return means
}

// closed keeps the sign of a tag only if the bracket is closed soon.
func closed(means concept, text []byte, start, end int) concept {
	rest := text[end:min(len(text), end+40)]
	if text[start-1] == '[' || text[start-1] == '/' && text[start-2] == '[' {
		if len(rest) > 0 && rest[0] == ']' && len(rest) > 1 && rest[1] != '(' && end-start == 4 {
			return means
		}
		return means &^ angled
	}
	if bytes.ContainsAny(rest, ">|") {
		return means
	}
	return means &^ angled
}

func (z *tokenizer) add(means concept, start, end int) {
	z.lineStart = false
	z.tokens = append(z.tokens, token{means: means, start: int32(start), end: int32(end), field: z.field, sentence: z.sentence})
}

// spelledLetters is the least number of single letters in a spelled phrase.
const spelledLetters = 10

// spelled joins single letters, as in "i g n o r e", and replaces them by the words that
// they spell.
func (z *tokenizer) spelled(own int) {
	words := z.tokens[own:]
	out := z.tokens[:own]
	for i := 0; i < len(words); {
		n := i
		for n < len(words) && words[n].end-words[n].start == 1 {
			n++
		}
		if n-i < spelledLetters {
			n = max(n, i+1)
			out = append(out, words[i:n]...)
		} else {
			out = z.spell(out, words[i:n])
		}
		i = n
	}
	z.tokens = out
}

// spell appends the words that letters spell to out. It never appends more words than there
// are letters.
func (z *tokenizer) spell(out, letters []token) []token {
	text := make([]byte, len(letters))
	for i, t := range letters {
		text[i] = z.text[t.start]
	}
	for i := 0; i < len(text); {
		n := min(14, len(text)-i)
		for n > 2 && z.lex.exact[string(text[i:i+n])] == 0 {
			n--
		}
		if n <= 2 {
			i++
			continue
		}
		w := letters[i]
		w.means, w.end = z.lex.exact[string(text[i:i+n])], letters[i+n-1].end
		out = append(out, w)
		i += n
	}
	return out
}
