package proxy

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// ErrEncoding: a response is compressed in a way that was not asked for.
var ErrEncoding = errors.New("the answer is compressed, which was not asked for; let the proxy before the server heed Accept-Encoding")

// Plain is a transport that asks for responses without compression, which delays the events of a
// stream, and decompresses those that a proxy compresses anyway with gzip.
type Plain struct {
	Base interface {
		http.RoundTripper
		CloseIdleConnections()
	}
}

// RoundTrip implements [http.RoundTripper]. Errors: [ErrEncoding], those of Base.
func (p Plain) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Header.Get("Accept-Encoding") == "" {
		req = req.Clone(req.Context())
		req.Header.Set("Accept-Encoding", "identity")
	}
	resp, err := p.Base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	switch coding := strings.ToLower(resp.Header.Get("Content-Encoding")); coding {
	case "", "identity":
	case "gzip", "x-gzip":
		resp.Header.Del("Content-Encoding")
		resp.Header.Del("Content-Length")
		resp.ContentLength, resp.Uncompressed = -1, true
		resp.Body = &gunzip{body: resp.Body}
	default:
		resp.Body.Close()
		return nil, fmt.Errorf("%w (%.20q)", ErrEncoding, coding)
	}
	return resp, nil
}

// CloseIdleConnections implements the optional method of [http.Client]'s transport.
func (p Plain) CloseIdleConnections() { p.Base.CloseIdleConnections() }

// gunzip decompresses a body as it comes. An empty one is empty.
type gunzip struct {
	body io.ReadCloser
	zip  *gzip.Reader // nil before the first bytes
}

func (g *gunzip) Read(p []byte) (n int, err error) {
	if g.zip == nil {
		if g.zip, err = gzip.NewReader(g.body); err != nil {
			g.zip = nil
			return 0, err
		}
	}
	return g.zip.Read(p)
}

func (g *gunzip) Close() error { return g.body.Close() }
