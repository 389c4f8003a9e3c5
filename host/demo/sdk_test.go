package demo

import (
	"context"
	"io"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestOfficialClientTalksToBoth(t *testing.T) {
	r := newRig(t, PagerOptions{})
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- RunChat(t.Context(), ChatOptions{}, inRead, outWrite, io.Discard) }()
	defer func() {
		inWrite.Close()
		outRead.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for name, transport := range map[string]mcp.Transport{
		"pager": &mcp.StreamableClientTransport{Endpoint: r.url, HTTPClient: r.client},
		"chat":  &mcp.IOTransport{Reader: outRead, Writer: inWrite},
	} {
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, transport, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		tools, err := session.ListTools(ctx, nil)
		if want := map[string]int{"pager": 3}[name]; err != nil || len(tools.Tools) != want {
			t.Errorf("%s: tools %v, %v", name, tools, err)
		}
		if err := session.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
