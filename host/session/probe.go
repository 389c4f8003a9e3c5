package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

// versionStateless is the revision without a handshake.
const versionStateless = "2026-07-28"

// handshakeVersions are the revisions that begin with initialize, newest first.
func handshakeVersions() []string {
	return []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}
}

// Dial connects to a server: it starts the process or reaches the address, and finds out
// which revision the server speaks. It first sends a stateless server/discover; a server
// that does not understand or answer it gets initialize (field notes 2). ctx bounds dialing
// only.
//
// Errors: [ErrServer], [ErrUnreachable], [ErrVersion], [ErrLost] when the process
// ended, [*HTTPError], *wire.Error, [ErrCut], [ErrAnswer], the error of ctx.
func Dial(ctx context.Context, server event.Server, opts Options) (*Session, error) {
	opts = opts.withDefaults()
	s, err := dial(ctx, server, opts, (*Session).greet)
	if shared := server.Command != "" || socketURL(server.URL); shared && errors.Is(err, ErrLost) && !errors.Is(err, ErrFraming) && ctx.Err() == nil {
		// Some servers close the connection on any request before initialize.
		s, err = dial(ctx, server, opts, (*Session).handshake)
	}
	if server.Transport == "" && legacyWorthTrying(err) && ctx.Err() == nil && !socketURL(server.URL) {
		legacy := server
		legacy.Transport = event.TransportSSE
		if old, again := dial(ctx, legacy, opts, (*Session).handshake); again == nil {
			s, err = old, nil
		} else {
			opts.Log.Debug("the server does not speak HTTP+SSE either", "error", again)
		}
	}
	return s, opts.Redact.Error(err)
}

func dial(ctx context.Context, server event.Server, opts Options, greet func(*Session, context.Context) error) (*Session, error) {
	s := newSession(opts)
	if err := s.connect(ctx, server); err != nil {
		s.end(err)
		return nil, err
	}
	if s.info.Transport == TransportLegacy {
		greet = (*Session).handshake // these transports are older than the stateless era
	}
	transport := s.info.Transport
	if err := greet(s, ctx); err != nil {
		if lost := s.Err(); lost != nil {
			err = lost
		}
		s.Close()
		if l, ok := s.link.(*processLink); ok {
			if sample := l.sample.Load(); sample != nil {
				err = fmt.Errorf("%w; what it writes to standard output is not JSON-RPC, e.g. %v", err, *sample)
			}
		}
		return nil, err
	}
	s.info.Transport = transport
	if l, ok := s.link.(interface{ version() string }); ok {
		s.info.HTTP = l.version()
	}
	s.info.redact(opts.Redact)
	s.listen()
	return s, nil
}

// connect chooses the transport and makes its link.
func (s *Session) connect(ctx context.Context, server event.Server) (err error) {
	if server.Command != "" {
		s.info.Transport = TransportPipe
		s.link, err = startProcess(server, s.opts, s.unsolicited, s.end)
		return err
	}
	if socketURL(server.URL) {
		s.info.Transport = TransportSocket
		s.link, err = dialSocket(ctx, server, s.opts, s.unsolicited, s.end)
		return err
	}
	w, err := newWeb(server, s.opts)
	if err != nil {
		return err
	}
	if server.Transport != event.TransportSSE {
		s.info.Transport = TransportHTTP
		s.link = newHTTPLink(w, s.unsolicited, s.end)
		return nil
	}
	s.info.Transport = TransportLegacy
	bounded, cancel := context.WithTimeoutCause(ctx, s.opts.ProbeTimeout, errNoEndpoint)
	defer cancel()
	if s.link, err = dialLegacy(bounded, w, s.opts, s.unsolicited, s.end); err != nil {
		w.client.CloseIdleConnections()
	}
	return err
}

// handshake is greet for a server that is known to be of the handshake era.
func (s *Session) handshake(ctx context.Context) error {
	return s.initialize(ctx, handshakeVersions()[0])
}

// greet finds out the era of the server and enters it.
func (s *Session) greet(ctx context.Context) error {
	version, err := s.discover(ctx)
	if err == nil && version == "" {
		return nil
	}
	if err != nil && !worthInitialize(ctx, s, err) {
		return err
	}
	if version == "" {
		version = handshakeVersions()[0]
	}
	silent := errors.Is(err, context.DeadlineExceeded)
	err = s.initialize(ctx, version)
	if silent && err != nil && wire.NameFrom(err) != "" {
		// It was slow to start, and is stateless after all.
		if version, again := s.discover(ctx); again == nil && version == "" {
			return nil
		}
	}
	return err
}

// discover sends server/discover. It returns a handshake version if the server names one
// that it speaks instead.
func (s *Session) discover(ctx context.Context) (handshake string, err error) {
	s.era.Store(&era{modern: true, version: versionStateless})
	bounded, cancel := context.WithTimeout(ctx, s.opts.ProbeTimeout)
	defer cancel()
	raw, err := s.Call(bounded, methodDiscover, nil)
	if err != nil {
		if supported, ok := supportedVersions(err); ok {
			return common(supported), err
		}
		return "", err
	}
	g := readGreeting(raw)
	if !g.known {
		return "", fmt.Errorf("%s: %w: %v", methodDiscover, ErrAnswer, head(raw))
	}
	if len(g.supported) > 0 && !slices.Contains(g.supported, versionStateless) {
		if version := common(g.supported); version != "" {
			return version, nil
		}
	}
	s.info = g.info
	s.info.Era, s.info.Version = EraStateless, versionStateless
	return "", nil
}

// initialize makes the handshake, and repeats it once if the server names another version.
func (s *Session) initialize(ctx context.Context, version string) error {
	s.era.Store(&era{})
	raw, err := s.callInitialize(ctx, version)
	if supported, ok := supportedVersions(err); ok {
		other := common(supported)
		if other == "" || other == version {
			return fmt.Errorf("%w: %w", ErrVersion, err)
		}
		version = other
		raw, err = s.callInitialize(ctx, version)
	}
	if err != nil {
		return err
	}
	g := readGreeting(raw)
	if !g.known {
		return fmt.Errorf("%s: %w: %v", methodInitialize, ErrAnswer, head(raw))
	}
	if g.version != "" {
		version = g.version // a server may answer with another
	}
	s.info = g.info
	s.info.Era, s.info.Version = EraHandshake, version
	s.era.Store(&era{version: version})

	frame, err := wire.EncodeNotification(noteInitialized, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", noteInitialized, err)
	}
	ctx, cancel := context.WithTimeout(ctx, s.opts.CallTimeout)
	defer cancel()
	if err := s.link.tell(ctx, *s.era.Load(), noteInitialized, frame); err != nil {
		if errors.Is(err, ErrUnreachable) || ctx.Err() != nil || s.Err() != nil {
			return fmt.Errorf("%s: %w", noteInitialized, err)
		}
		s.opts.Log.Warn("server refused the end of the handshake; going on", "error", err)
	}
	return nil
}

func (s *Session) callInitialize(ctx context.Context, version string) (json.RawMessage, error) {
	return s.Call(ctx, methodInitialize, map[string]any{
		"protocolVersion": version,
		"capabilities":    handshakeCapabilities(),
		"clientInfo":      s.opts.clientInfo(),
	})
}

// worthInitialize reports whether a server that answered server/discover with err may still
// be one of the handshake era.
func worthInitialize(ctx context.Context, s *Session, err error) bool {
	if ctx.Err() != nil || s.Err() != nil || errors.Is(err, ErrUnreachable) {
		return false
	}
	var refused *HTTPError
	if !errors.As(err, &refused) {
		return true
	}
	switch refused.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusTooManyRequests,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return false
	}
	return true
}

// supportedVersions returns the versions that a refusal names in data.supported.
func supportedVersions(err error) (versions []string, ok bool) {
	var e *wire.Error
	if !errors.As(err, &e) {
		return nil, false
	}
	raw, ok := object(e.Data)["supported"]
	if !ok {
		return nil, false
	}
	read(raw, &versions)
	return versions, true
}

// common returns the newest handshake revision among versions, or "".
func common(versions []string) string {
	for _, v := range handshakeVersions() {
		if slices.Contains(versions, v) {
			return v
		}
	}
	return ""
}
