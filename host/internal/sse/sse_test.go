package sse

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func readAllEvents(src io.Reader, limit int) (data []string, retry time.Duration, err error) {
	r := NewReader(src, limit)
	for {
		e, err := r.Next()
		if err != nil {
			return data, r.Retry, err
		}
		data = append(data, e.Name+"|"+string(e.Data))
	}
}

func TestEvents(t *testing.T) {
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

func TestRetry(t *testing.T) {
	if _, retry, _ := readAllEvents(strings.NewReader("retry: 1500\nretry: soon\n\n"), 100); retry != 1500*time.Millisecond {
		t.Errorf("retry %v", retry)
	}
}

func TestLimit(t *testing.T) {
	for _, in := range []string{
		"data: " + strings.Repeat("x", 5000),
		strings.Repeat("data: xxxxxxxxx\n", 20) + "\n",
	} {
		if got, _, err := readAllEvents(strings.NewReader(in), 100); len(got) != 0 || !errors.Is(err, ErrTooLarge) {
			t.Errorf("got %q, error %v", got, err)
		}
	}
}

func TestReaderGoesOnAfterATooLargeEvent(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, in := range []string{
		"data: " + long + "\n\ndata: b\n\n",
		"data: " + long + "\r\ndata: " + long + "\r\n: " + long + "\r\n\r\ndata: b\r\n\r\n",
		strings.Repeat("data: xxxxxxxxx\n", 20) + "\ndata: b\n\n",
		": " + long + "\ndata: a\n\ndata: b\n\n",
	} {
		for _, src := range []io.Reader{strings.NewReader(in), iotest.OneByteReader(strings.NewReader(in))} {
			r := NewReader(src, 100)
			e, err := r.Next()
			if !errors.Is(err, ErrTooLarge) || len(e.Data) == 0 {
				t.Errorf("%.20q: got %.40q, error %v", in, e.Data, err)
			}
			if e, err = r.Next(); err != nil || string(e.Data) != "b" {
				t.Errorf("%.20q: then %.40q, error %v", in, e.Data, err)
			}
			if _, err = r.Next(); !errors.Is(err, io.EOF) {
				t.Errorf("%.20q: in the end %v", in, err)
			}
		}
	}
}

func TestFailingSource(t *testing.T) {
	broken := errors.New("broken")
	_, _, err := readAllEvents(io.MultiReader(strings.NewReader("data: a\n"), iotest.ErrReader(broken)), 100)
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

// FuzzReader: how the bytes arrive makes no difference, and no event exceeds the limit.
func FuzzReader(f *testing.F) {
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

func TestBufferFollowsTheStream(t *testing.T) {
	r := NewReader(strings.NewReader(strings.Repeat(": beat\n\n", 20)), 1<<20)
	if r.Await(); len(r.buf) != leastBuffer {
		t.Errorf("a quiet stream keeps %d bytes of room, want %d", len(r.buf), leastBuffer)
	}
	r = NewReader(strings.NewReader(strings.Repeat("data: "+strings.Repeat("x", 100)+"\n\n", 1000)), 1<<20)
	for {
		r.Await()
		if _, err := r.Next(); err != nil {
			break
		}
	}
	if len(r.buf) != mostBuffer {
		t.Errorf("a busy stream has %d bytes of room, want %d", len(r.buf), mostBuffer)
	}
}

// FuzzLastEventID: an id for Last-Event-ID is allowed in a header.
func FuzzLastEventID(f *testing.F) {
	for _, seed := range []string{"id: 1\ndata: x\n\n", "id: a\x00b\n\n", "id\ndata\n\n", "id: é\r\r", "id: 1\nid: 2\n\nid: 3"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		r := NewReader(bytes.NewReader(in), 1000)
		for {
			_, err := r.Next()
			if strings.ContainsAny(r.ID, "\x00\r\n") || len(r.ID) > maxID {
				t.Fatalf("id %q", r.ID)
			}
			if err != nil {
				return
			}
		}
	})
}

func TestEventIDs(t *testing.T) {
	for in, want := range map[string]string{
		"id: 1\ndata: a\n\n":                           "1",
		"id: 1\ndata:\n\n":                             "1", // an event without data counts
		"id: 1\ndata: a\n\nid: 2\ndata: b":             "1", // a cut-off one does not
		"id: 1\ndata: a\n\ndata: b\n\n":                "1",
		"id: 1\ndata: a\n\nid\ndata: b\n\n":            "",
		"id: a\x00b\ndata: a\n\n":                      "",
		"id: " + strings.Repeat("x", maxID-1) + "\n\n": strings.Repeat("x", maxID-1),
		"id: " + strings.Repeat("x", maxID) + "\n\n":   strings.Repeat("x", maxID),
		"id: " + strings.Repeat("x", maxID+1) + "\n\n": "",
	} {
		r := NewReader(strings.NewReader(in), 10_000)
		var err error
		for err == nil {
			_, err = r.Next()
		}
		if r.ID != want || err != io.EOF {
			t.Errorf("%.40q: id %q, %v; want %q", in, r.ID, err, want)
		}
	}
}
