package receiver

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// Errors of [New] and [Server.Listen].
var (
	// ErrOptions: a required option is missing.
	ErrOptions = errors.New("receiver")
	// ErrPlain: without TLS the receiver listens on loopback only.
	ErrPlain = errors.New("plain HTTP is taken on loopback only: listen on 127.0.0.1, or serve HTTPS")
)

// Options of a [Server]. Book, Sink, and either Certificate or AllowPlain are
// required; the zero value of the others works.
type Options struct {
	Book Book
	Sink Sink

	// Refused is called with every request that was not taken, before it is
	// answered. It must not block.
	Refused func(event.Refusal)
	// Challenged is called for every verification that is answered, with the
	// server's id for the subscription (may be empty). It must not block.
	Challenged func(sub event.SubID, server trust.Text)

	// Hosts are the names under which the receiver may be addressed besides
	// those of loopback: the host of the callback URL, without a port.
	Hosts []string

	// Certificate makes the receiver speak HTTPS: see [CA.GetCertificate].
	Certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// AllowPlain makes a receiver without Certificate speak plain HTTP, on
	// loopback only: for a proxy that ends TLS.
	AllowPlain bool

	// Proxies are the addresses of proxies whose X-Forwarded-For names the sender: else all
	// senders behind one count as one source.
	Proxies []netip.Prefix

	// Bind opens the listener; default net.Listen.
	Bind func(network, address string) (net.Listener, error)

	// Prefix is the path of the callback URL, which a proxy removes before the paths of the
	// Book. The document at [WellKnown] contains it.
	Prefix string

	// UnknownKey is called for a subscription whose server signed with a key that is
	// not among [Entry.Keys]. It must not block.
	UnknownKey func(event.SubID)

	// TooLarge is called for a delivery to a known path whose body is longer than
	// [MaxBody], with the id that its sender gave it (may be empty), before it is refused
	// for good. After an error the sender is told to retry. It must return when ctx ends.
	TooLarge func(ctx context.Context, sub event.SubID, webhookID trust.Text) error

	Limits Limits

	Now func() time.Time // default time.Now
	Log *slog.Logger     // default: discarded; never gets headers or bodies
}

// Server is the endpoint that takes deliveries. It takes [Server.Listen],
// [Server.Start], [Server.Shutdown], each once and in this order.
type Server struct {
	http     *http.Server
	handler  *handler
	plain    bool
	abandon  context.CancelFunc // ends deliveries that were begun
	listener net.Listener

	stopping func() bool // detaches the server from Start's context
	served   sync.WaitGroup
	serveErr error // valid after served
	conns    conns
}

// New makes a server that does not listen yet.
//
// Errors: [ErrOptions].
func New(o Options) (*Server, error) {
	switch {
	case o.Book == nil || o.Sink == nil:
		return nil, fmt.Errorf("%w: Book and Sink are required", ErrOptions)
	case o.Certificate == nil && !o.AllowPlain:
		return nil, fmt.Errorf("%w: a certificate is required, or plain HTTP must be allowed", ErrOptions)
	}
	if o.Refused == nil {
		o.Refused = func(event.Refusal) {}
	}
	if o.Challenged == nil {
		o.Challenged = func(event.SubID, trust.Text) {}
	}
	if o.Bind == nil {
		o.Bind = net.Listen
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.UnknownKey == nil {
		o.UnknownKey = func(event.SubID) {}
	}
	if o.TooLarge == nil {
		o.TooLarge = func(context.Context, event.SubID, trust.Text) error { return nil }
	}
	o.Limits = o.Limits.withDefaults()
	base, giveUp := context.WithCancel(context.Background())
	h := &handler{o: o, gate: &gate{max: o.Limits.InFlight}, bad: newLimiter(o.Limits.Bad, maxBuckets), base: base}
	s := &Server{
		handler: h,
		abandon: giveUp,
		plain:   o.Certificate == nil,
		http: &http.Server{
			Handler:                      h,
			DisableGeneralOptionsHandler: true,
			ReadHeaderTimeout:            readHeaderTimeout,
			ReadTimeout:                  readTimeout,
			WriteTimeout:                 writeTimeout,
			IdleTimeout:                  idleTimeout,
			MaxHeaderBytes:               maxHeaderBytes,
			HTTP2:                        &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
			ErrorLog:                     slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
		},
	}
	s.http.ConnState, s.http.ConnContext = s.conns.stateChanged, s.conns.opened
	if !s.plain {
		s.http.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: o.Certificate}
	}
	return s, nil
}

// Listen binds the address, by default 127.0.0.1 and a free port. No request is
// answered before [Server.Start].
//
// Errors: [ErrPlain], or what the system says, e.g. that the address is in use.
func (s *Server) Listen(addr string) error {
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	listener, err := s.handler.o.Bind(event.Network(addr), addr)
	if err != nil {
		return fmt.Errorf("receiver cannot listen on %s: %w; free the address or choose another", addr, err)
	}
	if tcp, ok := listener.Addr().(*net.TCPAddr); s.plain && (!ok || !tcp.IP.IsLoopback()) {
		return errors.Join(fmt.Errorf("receiver cannot listen on %s: %w", addr, ErrPlain), listener.Close())
	}
	s.listener = listener
	return nil
}

// Addr returns the address that [Server.Listen] bound, as host:port, or an
// empty string before it.
func (s *Server) Addr() string {
	if s.listener == nil {
		return ""
	}
	return s.listener.Addr().String()
}

// Start begins to answer. When ctx ends, the server closes at once; for an orderly end call
// [Server.Shutdown].
//
// Errors: [ErrOptions], when nothing listens.
func (s *Server) Start(ctx context.Context) error {
	if s.listener == nil {
		return fmt.Errorf("%w: Start before Listen", ErrOptions)
	}
	s.stopping = context.AfterFunc(ctx, func() {
		if err := s.close(); err != nil {
			s.handler.o.Log.Warn("receiver did not close cleanly", "err", err)
		}
	})
	limited := newLimitedListener(s.listener, s.handler.o.Limits.Connections, &s.conns)
	s.served.Go(func() {
		var err error
		if s.plain {
			err = s.http.Serve(limited)
		} else {
			err = s.http.ServeTLS(limited, "", "")
		}
		if !errors.Is(err, http.ErrServerClosed) {
			s.serveErr = fmt.Errorf("receiver on %s stopped: %w", s.Addr(), err)
			s.handler.o.Log.Error("receiver stopped", "err", err)
		}
	})
	return nil
}

// Wait returns when the server has stopped accepting, with the reason if it was
// neither [Server.Shutdown] nor the end of Start's context.
func (s *Server) Wait() error {
	s.served.Wait()
	return s.serveErr
}

// Shutdown takes no new delivery and finishes those under way. When ctx ends first, it gives
// them up unacknowledged and returns the cause.
func (s *Server) Shutdown(ctx context.Context) error {
	s.handler.gate.close()
	if s.stopping == nil {
		s.abandon()
		if s.listener == nil {
			return nil
		}
		return s.listener.Close()
	}
	s.conns.close()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = fmt.Errorf("receiver gave up deliveries in flight: %w", errors.Join(err, s.close()))
	}
	s.stopping()
	s.abandon()
	return errors.Join(err, s.Wait())
}

// close ends everything without waiting for deliveries.
func (s *Server) close() error {
	s.handler.gate.close()
	s.abandon()
	return s.http.Close()
}
