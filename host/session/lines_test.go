package session

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	r := newLineReader(strings.NewReader("one\r\ntwo\n\n"+strings.Repeat("x", 70_000)+"\nlast"), 100)
	for _, want := range []struct {
		line string
		cut  bool
	}{{"one", false}, {"two", false}, {"", false}, {strings.Repeat("x", 100), true}, {"last", false}} {
		line, cut, err := r.next()
		if string(line) != want.line || cut != want.cut || err != nil {
			t.Errorf("%q, %v, %v", line, cut, err)
		}
	}
	if _, _, err := r.next(); !errors.Is(err, io.EOF) {
		t.Errorf("error %v", err)
	}
}

// FuzzLines: lines are those of splitting the text, cut to the limit.
func FuzzLines(f *testing.F) {
	f.Add([]byte("one\ntwo\r\n\nxxxxxxxxxxxxxxxxxxxxxxxxxxxx\nlast"))
	f.Fuzz(func(t *testing.T, in []byte) {
		const limit = 20
		want := strings.SplitAfter(string(in), "\n")
		if want[len(want)-1] == "" {
			want = want[:len(want)-1]
		}
		r := newLineReader(strings.NewReader(string(in)), limit)
		for _, w := range want {
			w = strings.TrimSuffix(strings.TrimSuffix(w, "\n"), "\r")
			line, cut, err := r.next()
			if err != nil || cut != (len(w) > limit) || string(line) != w[:min(len(w), limit)] {
				t.Fatalf("%q, %v, %v; want %q", line, cut, err, w)
			}
		}
		if _, _, err := r.next(); !errors.Is(err, io.EOF) {
			t.Fatalf("error %v", err)
		}
	})
}
