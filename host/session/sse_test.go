package session

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func readAllEvents(src io.Reader, limit int) (data []string, retry time.Duration, err error) {
	r := newSSEReader(src, limit)
	for {
		e, err := r.next()
		if err != nil {
			return data, r.retry, err
		}
		data = append(data, e.name+"|"+string(e.data))
	}
}

func TestSSE(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"LF", "data: a\n\ndata:b\n\n", []string{"|a", "|b"}},
		{"CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"|a", "|b"}},
		{"CR", "data: a\r\rdata: b\r\r", []string{"|a", "|b"}},
		{"comments", ": hello\n\n:\ndata: a\n: between\n\n", []string{"|a"}},
		{"several data lines", "data: a\ndata:\ndata: b\n\n", []string{"|a\n\nb"}},
		{"byte order mark", "\xef\xbb\xbfdata: a\n\n", []string{"|a"}},
		{"id and event", "id: 7\nevent: message\ndata: a\n\ndata: b\n\n", []string{"message|a", "|b"}},
		{"first event with empty data", "id: 0\ndata:\n\ndata: a\n\n", []string{"|a"}},
		{"field without a colon", "data\nnonsense\ndata: a\n\n", []string{"|\na"}},
		{"only one space goes", "data:  a\n\n", []string{"| a"}},
		{"cut off at the end", "data: a", []string{"|a"}},
		{"long", "data: " + strings.Repeat("x", 9000) + "\n\n", []string{"|" + strings.Repeat("x", 9000)}},
	} {
		for _, src := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in))} {
			if got, _, err := readAllEvents(src, 10_000); !slices.Equal(got, c.want) || !errors.Is(err, io.EOF) {
				t.Errorf("%s: got %.80q, error %v", c.name, got, err)
			}
		}
	}
}

func TestSSERetry(t *testing.T) {
	if _, retry, _ := readAllEvents(strings.NewReader("retry: 1500\nretry: soon\n\n"), 100); retry != 1500*time.Millisecond {
		t.Errorf("retry %v", retry)
	}
}

func TestSSELimit(t *testing.T) {
	for _, in := range []string{
		"data: " + strings.Repeat("x", 5000),
		strings.Repeat("data: xxxxxxxxx\n", 20) + "\n",
	} {
		if got, _, err := readAllEvents(strings.NewReader(in), 100); len(got) != 0 || !errors.Is(err, ErrTooLarge) || !errors.Is(err, ErrAnswer) {
			t.Errorf("got %q, error %v", got, err)
		}
	}
}

func TestSSEGoesOnAfterOneThatIsTooLarge(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, in := range []string{
		"data: " + long + "\n\ndata: b\n\n",
		"data: " + long + "\r\ndata: " + long + "\r\n: " + long + "\r\n\r\ndata: b\r\n\r\n",
		strings.Repeat("data: xxxxxxxxx\n", 20) + "\ndata: b\n\n",
		": " + long + "\ndata: a\n\ndata: b\n\n",
	} {
		for _, src := range []io.Reader{strings.NewReader(in), iotest.OneByteReader(strings.NewReader(in))} {
			r := newSSEReader(src, 100)
			e, err := r.next()
			if !errors.Is(err, ErrTooLarge) || len(e.data) == 0 {
				t.Errorf("%.20q: got %.40q, error %v", in, e.data, err)
			}
			if e, err = r.next(); err != nil || string(e.data) != "b" {
				t.Errorf("%.20q: then %.40q, error %v", in, e.data, err)
			}
			if _, err = r.next(); !errors.Is(err, io.EOF) {
				t.Errorf("%.20q: in the end %v", in, err)
			}
		}
	}
}

func TestSSESourceFails(t *testing.T) {
	broken := errors.New("broken")
	_, _, err := readAllEvents(io.MultiReader(strings.NewReader("data: a\n"), iotest.ErrReader(broken)), 100)
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

// FuzzSSE: how the bytes arrive makes no difference, and no event is too large.
func FuzzSSE(f *testing.F) {
	f.Add([]byte("data: a\r\n\r\n: c\nid: 1\nretry: 5\nevent: x\ndata: b\rdata: c\n\n"))
	f.Add([]byte("\xef\xbb\xbfdata\n\ndata: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"))
	f.Fuzz(func(t *testing.T, in []byte) {
		const limit = 50
		whole, _, err1 := readAllEvents(strings.NewReader(string(in)), limit)
		bits, _, err2 := readAllEvents(iotest.OneByteReader(strings.NewReader(string(in))), limit)
		large := errors.Is(err1, ErrTooLarge) || errors.Is(err2, ErrTooLarge)
		if !large && !slices.Equal(whole, bits) {
			t.Fatalf("%q whole, %q in bits", whole, bits)
		}
		for _, e := range whole {
			if _, data, _ := strings.Cut(e, "|"); !strings.Contains(e, "|") || len(data) > limit+len(in) {
				t.Fatalf("event %q", e)
			}
		}
	})
}

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

// FuzzLines: lines are what splitting gives, cut to the limit.
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

func TestSSEBufferFollowsTheStream(t *testing.T) {
	r := newSSEReader(strings.NewReader(strings.Repeat(": beat\n\n", 20)), 1<<20)
	if r.await(); len(r.buf) != leastBuffer {
		t.Errorf("a quiet stream keeps %d bytes of room, want %d", len(r.buf), leastBuffer)
	}
	r = newSSEReader(strings.NewReader(strings.Repeat("data: "+strings.Repeat("x", 100)+"\n\n", 1000)), 1<<20)
	for {
		r.await()
		if _, err := r.next(); err != nil {
			break
		}
	}
	if len(r.buf) != mostBuffer {
		t.Errorf("a busy stream has %d bytes of room, want %d", len(r.buf), mostBuffer)
	}
}
