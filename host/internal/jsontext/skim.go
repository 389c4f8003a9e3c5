package jsontext

// skimDepth bounds the nesting of a skimmed text.
const skimDepth = 64

// Skim iterates over the members of an object, or the elements of an array, of an unchecked
// text, and checks what it skips. It accepts only plain JSON: names in ASCII without
// escapes, nothing nested deeper than 64, nothing after the closing bracket. Another text
// may still be JSON: see [Skim.Complete].
type Skim struct {
	Name, Value []byte // parts of the text; Name is nil in an array

	raw      []byte
	at       int
	closing  byte
	begun    bool
	complete bool
}

// SkimObject starts with a text that is an object.
func SkimObject(raw []byte) Skim { return skim(raw, '{') }

// SkimArray starts with a text that is an array.
func SkimArray(raw []byte) Skim { return skim(raw, '[') }

func skim(raw []byte, bracket byte) Skim {
	s := Skim{raw: raw, closing: closingOf(bracket)}
	if !s.token(bracket) {
		s.at = -1
	}
	return s
}

// closingOf returns the closing bracket of an opening one.
func closingOf(bracket byte) byte { return bracket + 2 }

// Next advances to the next member or element, initially the first. It reports false after
// the last one, and where the text is invalid or not plain.
func (s *Skim) Next() bool {
	if s.at < 0 {
		return false
	}
	if s.token(s.closing) {
		s.complete = SkipSpace(s.raw, s.at) == len(s.raw)
		s.at = -1
		return false
	}
	if !s.read() {
		s.at = -1
		return false
	}
	s.begun = true
	return true
}

// Complete reports whether the text was read to its end, once Next has reported false.
func (s *Skim) Complete() bool { return s.complete }

func (s *Skim) read() (ok bool) {
	if s.begun && !s.token(',') {
		return false
	}
	if s.closing == '}' {
		start := SkipSpace(s.raw, s.at)
		if s.Name, s.at, ok = plainString(s.raw, start); !ok || !s.token(':') {
			return false
		}
	}
	start := SkipSpace(s.raw, s.at)
	end, ok := checkedEnd(s.raw, start)
	if ok {
		s.Value, s.at = s.raw[start:end:end], end
	}
	return ok
}

// token skips c, and blanks before it, and reports whether it is next.
func (s *Skim) token(c byte) bool {
	i := SkipSpace(s.raw, s.at)
	if i >= len(s.raw) || s.raw[i] != c {
		return false
	}
	s.at = i + 1
	return true
}

// PlainString returns the inside of a string of ASCII characters without escapes. ok is
// false for another value.
func PlainString(value []byte) (inside []byte, ok bool) {
	inside, _, ok = plainString(value, 0)
	return inside, ok
}

func plainString(raw []byte, i int) (inside []byte, end int, ok bool) {
	if i >= len(raw) || raw[i] != '"' {
		return nil, i, false
	}
	for end = i + 1; end < len(raw); end++ {
		switch c := raw[end]; {
		case c == '"':
			return raw[i+1 : end], end + 1, true
		case c < ' ' || c == '\\' || c >= 0x80:
			return nil, i, false
		}
	}
	return nil, i, false
}

// checkedEnd returns the offset after the value that begins at i. ok is false if there is
// no value, or one nested deeper than skimDepth.
func checkedEnd(raw []byte, i int) (end int, ok bool) {
	var open [skimDepth]byte // the closing brackets of open containers
	depth := 0
	for {
		// A value begins here.
		i = SkipSpace(raw, i)
		opened := false
		if i < len(raw) && (raw[i] == '{' || raw[i] == '[') {
			if depth == skimDepth {
				return i, false
			}
			open[depth] = closingOf(raw[i])
			depth++
			i++
			opened = true
		} else {
			var err error
			if i, _, _, err = scalar(raw, i); err != nil {
				return i, false
			}
		}
		// Its container continues.
		for depth > 0 {
			i = SkipSpace(raw, i)
			if i >= len(raw) {
				return i, false
			}
			if raw[i] == open[depth-1] {
				depth--
				i++
				opened = false
				continue
			}
			if !opened {
				if raw[i] != ',' {
					return i, false
				}
				i = SkipSpace(raw, i+1)
			}
			if open[depth-1] == '}' {
				if i >= len(raw) || raw[i] != '"' {
					return i, false
				}
				end, _, err := str(raw, i)
				if err != nil {
					return i, false
				}
				if i = SkipSpace(raw, end); i >= len(raw) || raw[i] != ':' {
					return i, false
				}
				i++
			}
			break
		}
		if depth == 0 {
			return i, true
		}
	}
}
