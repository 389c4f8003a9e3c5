package screen

import (
	"bytes"
	"encoding/base64"
	"io"
	"strconv"
	"strings"
)

// paramMax bounds the value of a parameter.
const paramMax = 10_000

// escape processes a sequence that begins with ESC.
func (s *Screen) escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '[':
		for i := 2; i < len(b); i++ {
			if b[i] >= 0x40 && b[i] <= 0x7e {
				s.csi(string(b[2:i]), b[i])
				return i + 1
			}
		}
		return 0
	case ']', 'P', '_', '^', 'X':
		return s.stringSequence(b)
	case 'M':
		if s.y == s.top {
			s.scroll(s.top, -1)
		} else {
			s.y = max(0, s.y-1)
		}
	case '7':
		s.saved = [2]int{s.x, s.y}
	case '8':
		s.x, s.y = min(s.saved[0], s.w-1), min(s.saved[1], s.h-1)
	case '(', ')', '*', '+', '#', '%', ' ':
		if len(b) < 3 {
			return 0
		}
		return 3
	}
	return 2
}

// stringSequence processes a string sequence, which can set the window title or the clipboard.
func (s *Screen) stringSequence(b []byte) int {
	end, n := bytes.IndexByte(b, 7), 1
	if st := bytes.Index(b, []byte("\x1b\\")); st >= 0 && (end < 0 || st < end) {
		end, n = st, 2
	}
	if end < 0 {
		return 0
	}
	if body := string(b[2:end]); b[1] == ']' {
		if t, ok := strings.CutPrefix(body, "2;"); ok {
			s.title = t
		} else if t, ok := strings.CutPrefix(body, "0;"); ok {
			s.title = t
		} else if t, ok := strings.CutPrefix(body, "52;"); ok {
			_, t, _ = strings.Cut(t, ";") // which clipboard: tmux names none
			if text, err := base64.StdEncoding.DecodeString(t); err == nil {
				s.clipboard = string(text)
			}
		}
	}
	return end + n
}

// csi processes a control sequence.
func (s *Screen) csi(params string, final byte) {
	if params == "?2026$" && final == 'p' {
		if s.answers != nil { // synchronized output is supported, and off
			_, _ = io.WriteString(s.answers, "\x1b[?2026;2$y") // the program may have ended
		}
		return
	}
	if strings.HasPrefix(params, "?") {
		s.mode(params[1:], final == 'h')
		return
	}
	if strings.ContainsAny(params, "<=> $\"!") {
		return
	}
	if final == 'm' {
		s.style = s.style.with(params)
		return
	}
	args := strings.Split(params, ";")
	arg := func(i, def int) int {
		if i < len(args) {
			if n, err := strconv.Atoi(args[i]); err == nil && n > 0 {
				return min(n, paramMax)
			}
		}
		return def
	}
	if final != 'b' {
		s.wrap = false
	}
	if !s.move(final, arg) && !s.eraseOrRepeat(final, arg) {
		s.edit(final, arg(0, 1), arg)
	}
}

// move processes sequences that move the cursor, and reports whether this is one.
func (s *Screen) move(final byte, arg func(i, def int) int) bool {
	n := arg(0, 1)
	switch final {
	case 'A':
		s.y = max(0, s.y-n)
	case 'B', 'e':
		s.y = min(s.h-1, s.y+n)
	case 'C', 'a':
		s.x = min(s.w-1, s.x+n)
	case 'D':
		s.x = max(0, s.x-n)
	case 'E':
		s.x, s.y = 0, min(s.h-1, s.y+n)
	case 'F':
		s.x, s.y = 0, max(0, s.y-n)
	case 'G', '`':
		s.x = min(s.w, n) - 1
	case 'd':
		s.y = min(s.h, n) - 1
	case 'H', 'f':
		s.y, s.x = min(s.h, n)-1, min(s.w, arg(1, 1))-1
	case 'I':
		s.x = min(s.w-1, (s.x/8+n)*8)
	case 'Z':
		s.x = max(0, ((s.x+7)/8-n)*8)
	default:
		return false
	}
	return true
}

// eraseOrRepeat processes sequences that erase cells or repeat a glyph, and reports whether this is
// one.
func (s *Screen) eraseOrRepeat(final byte, arg func(i, def int) int) bool {
	n := arg(0, 1)
	switch final {
	case 'J':
		s.eraseScreen(arg(0, 0))
	case 'K':
		switch arg(0, 0) {
		case 0:
			s.erase(s.y, s.x, s.w)
		case 1:
			s.erase(s.y, 0, s.x+1)
		default:
			s.erase(s.y, 0, s.w)
		}
	case 'X':
		s.erase(s.y, s.x, s.x+n)
	case 'b':
		for range min(n, s.w) {
			s.put(s.last, 1)
		}
	default:
		return false
	}
	return true
}

// edit processes sequences that move cells.
func (s *Screen) edit(final byte, n int, arg func(int, int) int) {
	row := s.cells[s.y]
	switch final {
	case '@':
		n = min(n, s.w-s.x)
		copy(row[s.x+n:], row[s.x:])
		s.erase(s.y, s.x, s.x+n)
	case 'P':
		n = min(n, s.w-s.x)
		copy(row[s.x:], row[s.x+n:])
		s.erase(s.y, s.w-n, s.w)
	case 'L', 'M':
		if s.y < s.top || s.y >= s.bottom {
			return
		}
		n = min(n, s.bottom-s.y)
		if final == 'L' {
			n = -n
		}
		s.scroll(s.y, n)
	case 'S':
		s.scroll(s.top, min(n, s.h))
	case 'T':
		s.scroll(s.top, -min(n, s.h))
	case 'r':
		top, bottom := arg(0, 1)-1, min(arg(1, s.h), s.h)
		if top < bottom {
			s.top, s.bottom = top, bottom
			s.x, s.y = 0, 0
		}
	case 's':
		s.saved = [2]int{s.x, s.y}
	case 'u':
		s.x, s.y = min(s.saved[0], s.w-1), min(s.saved[1], s.h-1)
	}
}

func (s *Screen) eraseScreen(what int) {
	for y := range s.h {
		switch {
		case what >= 2, what == 0 && y > s.y, what == 1 && y < s.y:
			s.erase(y, 0, s.w)
		case what == 0 && y == s.y:
			s.erase(y, s.x, s.w)
		case what == 1 && y == s.y:
			s.erase(y, 0, s.x+1)
		}
	}
}

// mode processes the private modes that change the screen.
func (s *Screen) mode(params string, on bool) {
	for _, p := range strings.Split(params, ";") {
		switch p {
		case "25":
			s.hidden = !on
		case "2026": // synchronized output: a frame is shown when it is whole
			if s.before = nil; on {
				s.before = clone(s.cells)
			}
		case "1049", "1047", "47":
			if on == s.alt {
				continue
			}
			s.alt, s.before = on, nil
			if on {
				s.main, s.cells = s.cells, s.blank()
				s.saved = [2]int{s.x, s.y}
				continue
			}
			s.cells = s.blank()
			for y := range min(s.h, len(s.main)) {
				copy(s.cells[y], s.main[y])
			}
			s.x, s.y = min(s.saved[0], s.w-1), min(s.saved[1], s.h-1)
		}
	}
}
