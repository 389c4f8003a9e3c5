// Package modeltest is a model for tests: a server on loopback that plays prepared replies
// on both wires and keeps what it was asked.
package modeltest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"eventdeck/host/react"
)

// Server plays replies. Its methods may be called from any goroutine.
type Server struct {
	http *httptest.Server
	done chan struct{} // closed when the test ends

	mu      sync.Mutex
	replies []Reply
	answer  func(Asked) Reply
	asked   []Asked
	heard   chan Asked // nil: no test waits
}

// Asked is a call as it came.
type Asked struct {
	N      int // from 1
	Path   string
	Header http.Header
	Body   []byte
}

// Reply is what the server does about one call. The zero value is an answer without text.
type Reply struct {
	Text  string       // in pieces of a word each
	Calls []react.Call // with ID, Name and Args
	Cut   bool         // it ends as if it had as many tokens as it may
	// Usage that is reported; nil: 10 and 5 tokens. NoUsage: none is.
	Usage   *react.Usage
	NoUsage bool

	// Status and Body answer in place of a stream; Header goes with them.
	Status int
	Body   string
	Header http.Header

	Stream string // the exact stream, in place of what the members above make
	Piece  int    // bytes that are sent at once; 0: as they come
	// Close ends the connection after so many bytes of the stream; 0: after its end.
	Close int
	// Hang sends what there is and then nothing, until the client goes or the test ends.
	Hang bool
	// Wait is waited for before anything is sent; nil: nothing is.
	Wait <-chan struct{}
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	s := &Server{done: make(chan struct{})}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		close(s.done)
		s.http.Close()
	})
	return s
}

// Model returns a model at this server, which costs 3 and 15 dollars a million tokens and
// answers with at most 1,000.
func (s *Server) Model(wire react.Wire) react.Model {
	m := react.Model{Name: "stub", Wire: wire, URL: s.http.URL, Model: "stub-1", Output: 1000, Price: &react.Price{In: 3_000_000, Out: 15_000_000}}
	if wire == react.WireChat {
		m.URL += "/v1"
	}
	return m
}

// Play adds replies, one for each call; the last one is that to all further calls.
func (s *Server) Play(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies = append(s.replies, replies...)
}

// Answer has each call answered by a function, in place of what was given to Play. It is
// called from the goroutine of the call.
func (s *Server) Answer(fn func(Asked) Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = fn
}

// Asked returns the calls so far.
func (s *Server) Asked() []Asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Asked(nil), s.asked...)
}

// Heard returns a channel on which each further call is told when it came, before it is
// answered. What is not read of 100 calls is lost.
func (s *Server) Heard() <-chan Asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = make(chan Asked, 100)
	return s.heard
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	reply := s.next(r, body)
	if reply.Wait != nil {
		select {
		case <-reply.Wait:
		case <-r.Context().Done():
		case <-s.done:
		}
	}
	if reply.Status != 0 {
		for name, values := range reply.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(reply.Status)
		_, _ = io.WriteString(w, reply.Body) // a client that went is what a test looks at
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	stream := reply.Stream
	if stream == "" {
		stream = reply.chat()
		if strings.HasSuffix(r.URL.Path, "/messages") {
			stream = reply.messages()
		}
	}
	s.send(w, r, reply, stream)
}

// next keeps a call and returns what to do about it.
func (s *Server) next(r *http.Request, body []byte) Reply {
	s.mu.Lock()
	asked := Asked{N: len(s.asked) + 1, Path: r.URL.Path, Header: r.Header.Clone(), Body: body}
	s.asked = append(s.asked, asked)
	answer, heard := s.answer, s.heard
	var reply Reply
	if len(s.replies) > 0 {
		reply = s.replies[0]
		if len(s.replies) > 1 {
			s.replies = s.replies[1:]
		}
	}
	s.mu.Unlock()
	if heard != nil {
		select {
		case heard <- asked:
		default:
		}
	}
	if answer != nil {
		return answer(asked)
	}
	return reply
}

// send sends a stream as the reply says.
func (s *Server) send(w http.ResponseWriter, r *http.Request, reply Reply, stream string) {
	if reply.Close > 0 && reply.Close < len(stream) {
		stream = stream[:reply.Close]
	}
	flush := http.NewResponseController(w)
	for len(stream) > 0 {
		n := len(stream)
		if reply.Piece > 0 {
			n = min(n, reply.Piece)
		}
		if _, err := io.WriteString(w, stream[:n]); err != nil {
			return
		}
		if err := flush.Flush(); err != nil {
			return
		}
		stream = stream[n:]
	}
	if reply.Hang {
		_ = flush.Flush() // the headers alone, where nothing else was sent
		select {
		case <-r.Context().Done():
		case <-s.done:
		}
	}
	if reply.Close > 0 {
		panic(http.ErrAbortHandler) // ends the connection without the end of the body
	}
}

// Await waits for the next call on what [Server.Heard] returned.
func Await(t testing.TB, heard <-chan Asked) Asked {
	t.Helper()
	select {
	case a := <-heard:
		return a
	case <-time.After(time.Minute):
		t.Fatal("the model was not asked within a minute")
		return Asked{}
	}
}
