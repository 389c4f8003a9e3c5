package session

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/internal/proxy"
	"eventdeck/host/wire"
)

// zipped is a response that a proxy compresses, whatever the client wants. Each write is sent at once.
type zipped struct {
	http.ResponseWriter
	zip *gzip.Writer
}

func (z *zipped) WriteHeader(status int) {
	z.Header().Del("Content-Length")
	z.Header().Set("Content-Encoding", "gzip")
	z.ResponseWriter.WriteHeader(status)
}

func (z *zipped) Write(b []byte) (int, error) {
	if z.zip == nil {
		z.Header().Set("Content-Encoding", "gzip")
		z.zip = gzip.NewWriter(z.ResponseWriter)
	}
	defer z.Flush()
	return z.zip.Write(b)
}

func (z *zipped) Flush() {
	if z.zip != nil && z.zip.Flush() == nil {
		z.ResponseWriter.(http.Flusher).Flush()
	}
}

// compressing puts a proxy before a fake server, and fails the test for requests that want
// compression.
func compressing(t *testing.T, f *fake) event.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "identity" {
			t.Errorf("%s wants %q", r.Method, r.Header.Get("Accept-Encoding"))
		}
		z := &zipped{ResponseWriter: w}
		f.ServeHTTP(z, r)
		if z.zip != nil {
			z.zip.Close()
		}
	}))
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return event.Server{Name: "zipped", URL: srv.URL + "/mcp"}
}

func TestCompressedAnswersAreRead(t *testing.T) {
	handlers := map[string]func(ask){
		"JSON":    func(a ask) { a.result(`{"ok":true}`) },
		"refused": func(a ask) { a.fail(400, -32602, "null") },
		"SSE": func(a ask) {
			a.sse("data: " + `{"jsonrpc":"2.0","id":` + a.id + `,"result":{"ok":true}}` + "\n\n")
		},
		"too large":       func(a ask) { a.result(`"` + strings.Repeat("x", 1<<20) + `"`) },
		wire.MethodStream: func(a ask) { a.note(wire.NoteEvent, 7); <-a.gone() },
	}
	for name, f := range map[string]*fake{"stateless": modernFake(t, handlers), "handshake": handshakeFake(t, handlers)} {
		t.Run(name, func(t *testing.T) {
			s := mustDial(t, compressing(t, f), Options{MaxFrame: 1000})
			for _, method := range []string{"JSON", "SSE"} {
				if raw, err := s.Call(soon(t), method, nil); err != nil || string(raw) != `{"ok":true}` {
					t.Errorf("%s: %s, %v", method, raw, err)
				}
			}
			if _, err := s.Call(soon(t), "refused", nil); wire.NameFrom(err) != wire.InvalidParams {
				t.Errorf("refused: %v", err)
			}
			if _, err := s.Call(soon(t), "too large", nil); !errors.Is(err, ErrTooLarge) {
				t.Errorf("too large: %v", err)
			}
			opened(t, s) // its event comes while the stream is open
		})
	}
}

func TestCompressedResumptionIsRead(t *testing.T) {
	f := handshakeFake(t, map[string]func(ask){
		"m": func(a ask) { a.sse("id: 1\ndata:\n\n") },
		http.MethodGet: func(a ask) {
			if a.r.Header.Get(headerLastID) != "" {
				a.sse(`data: {"jsonrpc":"2.0","id":null,"result":{"ok":true}}` + "\n\n")
				return
			}
			a.w.WriteHeader(http.StatusMethodNotAllowed)
		},
	})
	s := mustDial(t, compressing(t, f), Options{Reopen: Backoff{Min: 1, Max: 1}})
	if raw, err := s.Call(soon(t), "m", nil); err != nil || string(raw) != `{"ok":true}` {
		t.Errorf("%s, %v", raw, err)
	}
}

func TestUnknownCompressionIsNamed(t *testing.T) {
	f := modernFake(t, map[string]func(ask){"m": func(a ask) {
		a.w.Header().Set("Content-Encoding", "br")
		io.WriteString(a.w, "\x0b\x02\x80")
	}})
	_, err := mustDial(t, f.server(), Options{}).Call(soon(t), "m", nil)
	if !errors.Is(err, ErrAnswer) || !errors.Is(err, proxy.ErrEncoding) || !strings.Contains(err.Error(), `"br"`) {
		t.Errorf("error %v", err)
	}
}
