package jsontext

// skimDepth bounds what is nested in a text that is skimmed.
const skimDepth = 64

// Skim goes through the members of an object, or the elements of an array, of a text
// that nothing has checked, and checks what it passes over. It takes what is written
// plainly: names in ASCII without escapes, nothing nested deeper than 64, nothing behind
// the closing bracket. What it does not take may be JSON all the same: see [Skim.Complete].
type Skim struct {
	Name, Value []byte // parts of the text; Name is nil in an array

	raw      []byte
	at       int
	closing  byte
	begun    bool
	complete bool
}

// SkimObject begins with a text that is an object.
func SkimObject(raw []byte) Skim { return skim(raw, '{') }

// SkimArray begins with a text that is an array.
func SkimArray(raw []byte) Skim { return skim(raw, '[') }

func skim(raw []byte, bracket byte) Skim {
	s := Skim{raw: raw, closing: closingOf(bracket)}
	if !s.token(bracket) {
		s.at = -1
	}
	return s
}

// closingOf returns the bracket that closes the one at which a container begins.
func closingOf(bracket byte) byte { return bracket + 2 }

// Next goes to the next one, the first one at the beginning. It reports false behind the
// last one, and where the text is wrong or not plain.
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

// Complete reports, once Next has reported false, whether the text was read to its end.
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

// token passes over c, and blanks before it, if it is next.
func (s *Skim) token(c byte) bool {
	i := SkipSpace(s.raw, s.at)
	if i >= len(s.raw) || s.raw[i] != c {
		return false
	}
	s.at = i + 1
	return true
}

// PlainString returns the inside of a string of ASCII characters without escapes. It
// reports false for another value.
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

// checkedEnd returns the offset behind the value that begins at i. ok is false where
// there is no value, or one that is nested deeper than skimDepth.
func checkedEnd(raw []byte, i int) (end int, ok bool) {
	var open [skimDepth]byte // the brackets that close what is open
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
		// Its container goes on.
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
