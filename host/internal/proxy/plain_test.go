package proxy

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// answer answers every request with a body in a coding.
type answer struct {
	coding string
	body   []byte
	asked  string
}

func (a *answer) RoundTrip(r *http.Request) (*http.Response, error) {
	a.asked = r.Header.Get("Accept-Encoding")
	return &http.Response{Header: http.Header{"Content-Encoding": {a.coding}, "Content-Length": {"7"}}, ContentLength: 7, Body: io.NopCloser(bytes.NewReader(a.body))}, nil
}

func (a *answer) CloseIdleConnections() {}

func TestPlain(t *testing.T) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	io.WriteString(w, "hello")
	w.Close()
	for _, c := range []struct {
		coding string
		body   []byte
		want   string
		err    error
	}{
		{"", []byte("hello"), "hello", nil},
		{"identity", []byte("hello"), "hello", nil},
		{"gzip", zipped.Bytes(), "hello", nil},
		{"X-GZIP", zipped.Bytes(), "hello", nil},
		{"gzip", nil, "", nil},
		{"gzip", []byte("hello, this is not"), "", gzip.ErrHeader},
		{"gzip", zipped.Bytes()[:20], "", io.ErrUnexpectedEOF},
	} {
		a := &answer{coding: c.coding, body: c.body}
		req, _ := http.NewRequest(http.MethodGet, "http://h/", nil)
		resp, err := Plain{a}.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		if !strings.HasPrefix("hello", string(got)) || err == nil && string(got) != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %q, %v", c.coding, got, err)
		}
		if a.asked != "identity" || req.Header.Get("Accept-Encoding") != "" {
			t.Errorf("asked for %q, and changed the request to %v", a.asked, req.Header)
		}
		if strings.Contains(strings.ToLower(c.coding), "gzip") && (resp.ContentLength != -1 || len(resp.Header) != 0) {
			t.Errorf("length %d, header %v", resp.ContentLength, resp.Header)
		}
	}
	req, _ := http.NewRequest(http.MethodGet, "http://h/", nil)
	req.Header.Set("Accept-Encoding", "x")
	a := &answer{coding: "zstd"}
	if _, err := (Plain{a}).RoundTrip(req); !errors.Is(err, ErrEncoding) || !strings.Contains(err.Error(), "zstd") || a.asked != "x" {
		t.Errorf("%v, asked for %q", err, a.asked)
	}
}
