package session

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/internal/proxy"
)

// newTransport returns a transport that bounds the time to connect, and not that of a
// response. HTTP/2 pings detect a dead peer; over HTTP/1.1 TCP's keep-alive does.
//
// Error: [ErrServer], for certificate authorities that cannot be read.
func newTransport(server event.Server, opts Options) (proxy.Plain, error) {
	t, err := BaseTransport(server, opts.TLS, opts.Log)
	if err != nil {
		return proxy.Plain{}, err
	}
	if opts.Dial != nil {
		t.Proxy, t.DialContext = nil, opts.Dial
	}
	if u, err := url.Parse(server.URL); err != nil || u.Scheme != "http" || !event.IsLoopback(u.Hostname()) {
		return proxy.Plain{Base: t}, nil
	}
	two := t.Clone()
	two.Protocols = new(http.Protocols)
	two.Protocols.SetUnencryptedHTTP2(true)
	p := &cleartext{one: t, two: two}
	p.settled.Store(server.Transport == event.TransportH2C)
	p.useTwo.Store(server.Transport == event.TransportH2C)
	return proxy.Plain{Base: p}, nil
}

// BaseTransport returns the transport of every request about a server: with its certificate
// authorities beside the system's, and the proxies of the environment. base and log may be
// nil.
//
// Error: [ErrServer], for certificate authorities that cannot be read.
func BaseTransport(server event.Server, base *tls.Config, log *slog.Logger) (*http.Transport, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	config, err := tlsConfig(server, base, log)
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy:                  proxy.FromEnvironment,
		DialContext:            dialer.DialContext,
		TLSClientConfig:        config,
		TLSHandshakeTimeout:    10 * time.Second,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 256 << 10,
	}, nil
}

// cleartext speaks HTTP/1.1 without TLS, and HTTP/2 with servers that support nothing else.
// The first response decides; the first request only asks, so that it may be sent twice.
type cleartext struct {
	one, two *http.Transport
	settled  atomic.Bool
	useTwo   atomic.Bool
}

// RoundTrip implements [http.RoundTripper].
func (p *cleartext) RoundTrip(req *http.Request) (*http.Response, error) {
	if p.useTwo.Load() {
		return p.two.RoundTrip(req)
	}
	resp, err := p.one.RoundTrip(req)
	if err == nil {
		p.settled.Store(true)
		return resp, nil
	}
	var dial *net.OpError
	if p.settled.Load() || req.Context().Err() != nil || errors.As(err, &dial) && dial.Op == "dial" {
		return nil, err
	}
	again := req.Clone(req.Context())
	if req.GetBody != nil {
		body, bodyErr := req.GetBody()
		if bodyErr != nil {
			return nil, err
		}
		again.Body = body
	}
	resp, second := p.two.RoundTrip(again)
	if second != nil {
		return nil, err // the first error says more
	}
	p.settled.Store(true)
	p.useTwo.Store(true)
	return resp, nil
}

// CloseIdleConnections implements the optional method of [http.Client]'s transport.
func (p *cleartext) CloseIdleConnections() {
	p.one.CloseIdleConnections()
	p.two.CloseIdleConnections()
}

// tlsConfig adds certificate authorities to those of base: the file of the
// server's description, and SSL_CERT_FILE where Go does not heed it by itself.
//
// Error: [ErrServer], when the server's file cannot be used.
func tlsConfig(server event.Server, base *tls.Config, log *slog.Logger) (*tls.Config, error) {
	config := base.Clone()
	var extra []byte
	if file := os.Getenv("SSL_CERT_FILE"); file != "" && !heedsCertFile(runtime.GOOS) {
		pem, err := os.ReadFile(file)
		if err != nil {
			log.Warn("SSL_CERT_FILE cannot be read; going on with the system's authorities", "error", err)
		}
		extra = append(pem, '\n')
	}
	if server.CAFile != "" {
		// A device or a pipe may never end.
		info, err := os.Stat(server.CAFile)
		if err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%w: certificate authorities: %s is not a regular file; name a file of PEM certificates", ErrServer, server.CAFile)
		}
		pem, err := os.ReadFile(server.CAFile)
		if err != nil {
			return nil, fmt.Errorf("%w: certificate authorities: %w", ErrServer, err)
		}
		if !x509.NewCertPool().AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%w: certificate authorities: %s holds no PEM certificate", ErrServer, server.CAFile)
		}
		extra = append(extra, pem...)
	}
	if len(extra) == 0 {
		return config, nil
	}
	if config == nil {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if config.RootCAs != nil {
		config.RootCAs = config.RootCAs.Clone()
	} else if pool, err := x509.SystemCertPool(); err == nil {
		config.RootCAs = pool
	} else {
		log.Warn("the system's certificate authorities cannot be read", "error", err)
		config.RootCAs = x509.NewCertPool()
	}
	config.RootCAs.AppendCertsFromPEM(extra)
	return config, nil
}

// heedsCertFile reports whether Go reads SSL_CERT_FILE on a system. It does not where it
// uses the system's verifier.
func heedsCertFile(goos string) bool {
	return goos != "windows" && goos != "darwin" && goos != "ios"
}
