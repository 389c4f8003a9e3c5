package attach

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"testing"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// sent is what frames write.
type sent struct {
	net.Conn
	bytes.Buffer
}

func (s *sent) Read(b []byte) (int, error)  { return s.Buffer.Read(b) }
func (s *sent) Write(b []byte) (int, error) { return s.Buffer.Write(b) }

func written(t testing.TB, write func(*frames)) []byte {
	t.Helper()
	var s sent
	write(newFrames(&s, bufio.NewReader(&s), maxRequest, maxAnswer))
	return s.Bytes()
}

func readFrames(input []byte) *frames {
	return newFrames(nil, bufio.NewReader(bytes.NewReader(input)), 1<<20, 1<<20)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// FuzzRequests reads what a client might send, for every verb.
func FuzzRequests(f *testing.F) {
	f.Add(written(f, func(w *frames) {
		must(f, w.write(header{ID: 1, Verb: string(verbState)}, stateAsk{Since: 3}))
		must(f, w.write(header{ID: 2, Verb: string(verbPause)}, event.SubID("aa")))
		must(f, w.write(header{ID: 1, Cancel: true}, nil))
		must(f, w.write(header{ID: 3, Verb: string(verbSubscribe)}, request{Server: "s", Type: trust.Untrusted("\xff"), Args: []byte("{}")}))
	}))
	f.Add([]byte("\x00\x00\x00\x01\x00"))
	f.Add([]byte("\xff\xff\xff\xff"))
	verbs := handlers()
	f.Fuzz(func(t *testing.T, input []byte) {
		r := readFrames(input)
		for {
			h, err := r.next()
			if err != nil {
				return
			}
			handle, known := verbs[h.Verb]
			if !known || !h.Body {
				err = r.skip(h)
			} else {
				_, err = handle(r)
			}
			if err != nil {
				return
			}
		}
	})
}

// FuzzAnswers reads what a first process might send.
func FuzzAnswers(f *testing.F) {
	raw := []byte(`{"a":1}`)
	f.Add(written(f, func(w *frames) {
		must(f, w.write(header{ID: 1}, page{Records: []record{newRecord(event.Record{Raw: raw, Data: raw[5:6]})}, Next: 2}))
		must(f, w.write(header{ID: 2, Failed: failed(event.ErrNotFound)}, nil))
		must(f, w.write(header{ID: 3}, state{Snapshot: host.Snapshot{Subs: []host.SubscriptionView{{}}}}))
	}))
	f.Fuzz(func(t *testing.T, input []byte) {
		r := readFrames(input)
		for {
			h, err := r.next()
			if err != nil {
				return
			}
			_ = h.Failed.err()
			switch {
			case !h.Body:
				continue
			case h.ID%2 == 1:
				var p page
				err = r.value(&p)
				for _, rec := range p.Records {
					rec.record()
				}
			default:
				var s state
				err = r.value(&s)
			}
			if err != nil {
				return
			}
		}
	})
}

func FuzzGreeting(f *testing.F) {
	f.Add("eventdeck-attach 1 12\n")
	f.Add("eventdeck-attach 2 12\n")
	f.Fuzz(func(t *testing.T, line string) {
		if pid, err := readGreeting(strings.NewReader(line)); err == nil && (pid < 0 || !strings.HasPrefix(line, "eventdeck-attach 1 ")) {
			t.Errorf("%q is taken as %d", line, pid)
		}
	})
}

func TestFramesAreBounded(t *testing.T) {
	for name, input := range map[string][]byte{
		"too long":        binary.BigEndian.AppendUint32(nil, 1<<20+1),
		"not gob":         []byte("\x00\x00\x00\x03abc"),
		"more than gob":   append([]byte{0, 0, 0, 0}, written(t, func(w *frames) { must(t, w.write(header{ID: 1, Cancel: true}, nil)) })[4:]...),
		"a greeting that": []byte(strings.Repeat("x", 500)),
	} {
		r := readFrames(input)
		if name == "more than gob" {
			input = append(input, 1, 2, 3)
			binary.BigEndian.PutUint32(input, uint32(len(input)-4))
			r = readFrames(input)
			if _, err := r.next(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := r.next(); !errors.Is(err, ErrFrame) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w := newFrames(new(sent), nil, 10, 10)
	if err := w.write(header{ID: 1}, "much more than ten bytes"); !errors.Is(err, ErrFrame) {
		t.Error(err)
	}
}

func TestErrorsCross(t *testing.T) {
	for _, k := range kinds() {
		err := failed(errors.Join(errors.New("no"), k.err)).err()
		if !errors.Is(err, k.err) {
			t.Errorf("%s does not cross", k.name)
		}
	}
	if err := failed(nil).err(); err != nil {
		t.Error(err)
	}
	if err := failed(errors.New("no")).err(); err == nil || err.Error() != "no" || errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
