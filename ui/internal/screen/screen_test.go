package screen

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

func TestSequences(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"text":            {"ab\r\nc", "ab\nc\n\n"},
		"place":           {"\x1b[2;3Hx\x1b[Hy", "y\n  x\n\n"},
		"erase line":      {"abcdef\x1b[3D\x1b[K", "abc\n\n\n"},
		"erase cells":     {"abcdef\r\x1b[2X", "  cdef\n\n\n"},
		"erase below":     {"a\r\nb\r\nc\x1b[2;1H\x1b[J", "a\n\n\n"},
		"repeat":          {"a\x1b[3b", "aaaa\n\n\n"},
		"scroll":          {"a\r\nb\r\nc\r\nd", "b\nc\nd\n"},
		"insert line":     {"a\r\nb\x1b[1;1H\x1b[L", "\na\nb\n"},
		"delete line":     {"a\r\nb\x1b[1;1H\x1b[M", "b\n\n\n"},
		"reverse index":   {"a\x1b[H\x1bM", "\na\n\n"},
		"region":          {"a\r\nb\r\nc\x1b[1;2r\x1b[2;1H\nx", "b\nx\nc\n"},
		"wide":            {"日x", "日x\n\n\n"},
		"wrap":            {"abcdefghijk", "abcdefgh\nijk\n\n"},
		"strings":         {"a\x1b]0;title\x07b\x1bPq\x1b\\c", "abc\n\n\n"},
		"alternate":       {"a\x1b[?1049hb\x1b[?1049lc", "ac\n\n\n"},
		"insert cells":    {"abc\r\x1b[2@", "  abc\n\n\n"},
		"delete cells":    {"abc\r\x1b[2P", "c\n\n\n"},
		"column":          {"\x1b[5Gx\x1b[2dy", "    x\n     y\n\n"},
		"split sequences": {"\x1b[1", "\n\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(8, 3, false)
			for i := range len(c.in) { // one byte at a time: sequences arrive in parts
				s.Write([]byte{c.in[i]})
			}
			if got := s.Text(); got != c.want {
				t.Errorf("%q shows\n%q, want\n%q", c.in, got, c.want)
			}
		})
	}
}

// Runes arrive in parts too.
func TestSplitRunes(t *testing.T) {
	const in = "──a─é日─"
	for at := range len(in) {
		s := New(20, 1, false)
		s.Write([]byte(in[:at]))
		s.Write([]byte(in[at:]))
		if got := s.Text(); got != in+"\n" {
			t.Errorf("split at %d: %q", at, got)
		}
	}
}

func TestStylesAndPicture(t *testing.T) {
	s := New(20, 1, false)
	fmt.Fprint(s, "\x1b[1;38;2;1;2;3mred\x1b[m \x1b[7m<x>\x1b[27m\x1b]2;name\x07")
	c := s.Cells()[0]
	if !c[0].Style.Bold || c[0].Style.FG != "#010203" || c[3].Style != (Style{}) || !c[4].Style.Reverse {
		t.Errorf("styles %+v %+v %+v", c[0].Style, c[3].Style, c[4].Style)
	}
	svg := s.SVG(Dark())
	if !strings.Contains(svg, "&lt;x&gt;") || !strings.Contains(svg, `fill="#010203" font-weight="bold">red<`) {
		t.Error(svg)
	}
	if s.Title() != "name" {
		t.Errorf("title %q", s.Title())
	}
}

func TestWaitErrorHasTheScreen(t *testing.T) {
	s := New(20, 1, false)
	go fmt.Fprint(s, "hello")
	if err := s.Wait(t.Context(), "hello"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Wait(ctx, "bye"); err == nil || !strings.Contains(err.Error(), "hello") {
		t.Errorf("error %v does not show the screen", err)
	}
}

func FuzzWrite(f *testing.F) {
	f.Add([]byte("\x1b[3;4r\x1b[5@\x1b[7P日\x1b[99L\x1b[?1049h\x1b[2T"))
	f.Fuzz(func(t *testing.T, in []byte) {
		s := New(7, 4, false)
		s.Write(in)
		for _, row := range s.Cells() {
			if len(row) != 7 {
				t.Fatalf("a row of %d cells", len(row))
			}
		}
	})
}

// A synchronized update becomes visible as a whole, and a query for its support is answered.
func TestSynchronizedUpdatesAreShownWhole(t *testing.T) {
	var answers strings.Builder
	s := New(8, 2, false)
	s.Answer(&answers)
	fmt.Fprint(s, "old\x1b[?2026$p")
	if answers.String() != "\x1b[?2026;2$y" {
		t.Errorf("answered %q", answers.String())
	}
	fmt.Fprint(s, "\x1b[?2026h\x1b[Hhalf")
	if got := s.Text(); got != "old\n\n" || s.Cells()[0][0].Text != "o" || strings.Contains(s.SVG(Dark()), "half") {
		t.Errorf("of half a frame is shown %q", got)
	}
	fmt.Fprint(s, "\r\nall\x1b[?2026l")
	if got := s.Text(); got != "half\nall\n" {
		t.Errorf("of the frame is shown %q", got)
	}
	fmt.Fprint(s, "\x1b[?1049h\x1b[?2026hx\x1b[?1049l")
	if got := s.Text(); got != "half\nall\n" {
		t.Errorf("after a frame that was never ended is shown %q", got)
	}
}
