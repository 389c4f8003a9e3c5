// Command gosdk is a server and a client built with the Go SDK of MCP, for .ci/foreign.d/go-sdk:
//
//	gosdk serve stdio|http|sse|stateless [ADDRESS]   a resource that changes ten times a second
//	gosdk use URL | COMMAND ARGS                     lists and calls the tools of `eventdeck mcp`
//
// A server on the network prints its address.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const resource = "file:///build.log"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: gosdk serve TRANSPORT | use URL|COMMAND")
		os.Exit(2)
	}
	run := use
	if os.Args[1] == "serve" {
		run = serve
	}
	if err := run(ctx, os.Args[2:]); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// newServer returns a server whose resource changes until ctx ends.
func newServer(ctx context.Context) *mcp.Server {
	var version atomic.Int64
	s := mcp.NewServer(&mcp.Implementation{Name: "gosdk", Version: "1"}, &mcp.ServerOptions{
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	s.AddResource(&mcp.Resource{URI: resource, Name: "build", MIMEType: "text/plain"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		text := fmt.Sprintf("line %d", version.Load())
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: resource, MIMEType: "text/plain", Text: text}}}, nil
	})
	go func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				version.Add(1)
				_ = s.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: resource}) // a session may have ended
			}
		}
	}()
	return s
}

func serve(ctx context.Context, args []string) error {
	s := newServer(ctx)
	get := func(*http.Request) *mcp.Server { return s }
	var handler http.Handler
	switch args[0] {
	case "stdio":
		return s.Run(ctx, &mcp.StdioTransport{})
	case "http":
		handler = mcp.NewStreamableHTTPHandler(get, nil)
	case "stateless":
		handler = mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true})
	case "sse":
		handler = mcp.NewSSEHandler(get, nil)
	default:
		return fmt.Errorf("no transport %q", args[0])
	}
	address := "127.0.0.1:0"
	if len(args) > 1 {
		address = args[1]
	}
	ln, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/mcp\n", ln.Addr())
	server := &http.Server{Handler: handler}
	context.AfterFunc(ctx, func() { server.Close() })
	return server.Serve(ln)
}

// bearer adds the token of EVENTDECK_MCP_TOKEN to each request.
type bearer struct{}

func (bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+os.Getenv("EVENTDECK_MCP_TOKEN"))
	return http.DefaultTransport.RoundTrip(r)
}

func use(ctx context.Context, args []string) error {
	var t mcp.Transport = &mcp.CommandTransport{Command: exec.Command(args[0], args[1:]...)}
	if strings.HasPrefix(args[0], "http") {
		t = &mcp.StreamableClientTransport{Endpoint: args[0], HTTPClient: &http.Client{Transport: bearer{}}}
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "gosdk", Version: "1"}, nil).Connect(ctx, t, nil)
	if err != nil {
		return err
	}
	defer session.Close()
	tools, err := session.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "search_events", Arguments: map[string]any{}})
	switch {
	case err != nil:
		return err
	case res.IsError || len(res.Content) == 0:
		return fmt.Errorf("search_events: %+v", res)
	}
	if res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "no_such_tool"}); err == nil && !res.IsError {
		return errors.New("a tool that does not exist was called")
	}
	again, err := session.ListTools(ctx, nil)
	if err != nil {
		return fmt.Errorf("after an error: %w", err)
	}
	if len(again.Tools) != len(tools.Tools) || len(tools.Tools) == 0 {
		return fmt.Errorf("%d tools, then %d", len(tools.Tools), len(again.Tools))
	}
	return nil
}
