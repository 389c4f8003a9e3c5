package eventserver

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/receiver"
)

const (
	sendTimeout = 10 * time.Second
	maxAnswer   = 64 << 10 // bytes that are read of a response
	maxWait     = 5 * time.Minute
)

// ErrBlocked: deliveries may not go to the address.
var ErrBlocked = errors.New("the callback's address is not publicly routable")

// Outcome is the result of one attempt.
type Outcome struct {
	OK       bool
	Answered bool          // with whatever status
	Final    bool          // not to be retried: 410 and 413
	Category string        // of SEP-3415's lastError
	Wait     time.Duration // Retry-After
	Body     []byte        // of the response, if WantBody was set
}

// Sender makes the HTTP requests of webhook deliveries. It follows no redirect, uses no proxy, and
// checks each address when it dials it, so that neither a changed name nor a redirect can lead it
// elsewhere.
type Sender struct {
	// Key is the server's own key, which signs deliveries too; nil: there is none.
	Key ed25519.PrivateKey

	client    *http.Client
	transport *http.Transport
}

// NewSender returns a sender that keeps perHost idle connections. allowLoopback allows callbacks on
// loopback. caFile names PEM certificates that are trusted beside the system's; it is read for each
// connection, and may not exist yet.
func NewSender(allowLoopback bool, caFile string, perHost int) *Sender {
	dialer := &net.Dialer{
		Timeout: sendTimeout,
		Control: func(_, address string, _ syscall.RawConn) error { return CheckAddress(address, allowLoopback) },
	}
	tr := &http.Transport{
		MaxIdleConnsPerHost: perHost,
		IdleConnTimeout:     time.Minute,
		DialTLSContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return dialTLS(ctx, dialer, network, addr, caFile)
		},
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			return nil, fmt.Errorf("%w: only https is delivered to", ErrBlocked)
		},
	}
	return &Sender{transport: tr, client: &http.Client{
		Transport:     tr,
		Timeout:       sendTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close closes the idle connections.
func (s *Sender) Close() { s.transport.CloseIdleConnections() }

func dialTLS(ctx context.Context, dialer *net.Dialer, network, addr, caFile string) (net.Conn, error) {
	raw, err := dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		raw.Close()
		return nil, err
	}
	conn := tls.Client(raw, &tls.Config{ServerName: host, RootCAs: roots(caFile), MinVersion: tls.VersionTLS12})
	if err := conn.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, fmt.Errorf("%w: %w", errTLS, err)
	}
	return conn, nil
}

var errTLS = errors.New("no TLS connection")

// roots returns the system's certificates and those of the file, which may not exist yet. Nil means
// only the system's.
func roots(caFile string) *x509.CertPool {
	if caFile == "" {
		return nil
	}
	pem, err := os.ReadFile(caFile)
	if err != nil {
		return nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	pool.AppendCertsFromPEM(pem)
	return pool
}

// CheckAddress refuses every address that is not globally routable.
func CheckAddress(address string, allowLoopback bool) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s", ErrBlocked, address)
	}
	ip := ap.Addr().Unmap().WithZone("")
	if ip.IsLoopback() && allowLoopback {
		return nil
	}
	if !event.IsPublicIP(ip) {
		return fmt.Errorf("%w: %s", ErrBlocked, ip)
	}
	return nil
}

// Delivery is one signed request.
type Delivery struct {
	URL, SubID, WebhookID string
	Body                  []byte
	Secrets               []event.Secret // the newest first; each signs
	WantBody              bool           // read the body of the response
}

// Send makes one attempt, of at most 10 s. Every status but 2xx is a failure. The outcome has the
// body of the response only if the delivery asks for it.
func (s *Sender) Send(ctx context.Context, d Delivery) Outcome {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL, bytes.NewReader(d.Body))
	if err != nil {
		return Outcome{Category: "connection_refused"}
	}
	now := time.Now()
	signatures, err := s.signatures(d, now)
	if err != nil {
		return Outcome{Category: "connection_refused"}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(receiver.HeaderID, d.WebhookID)
	req.Header.Set(receiver.HeaderTimestamp, strconv.FormatInt(now.Unix(), 10))
	req.Header.Set(receiver.HeaderSignature, strings.Join(signatures, " "))
	req.Header.Set(receiver.HeaderSubscription, d.SubID)
	res, err := s.client.Do(req)
	if err != nil {
		return Outcome{Category: categoryOf(err)}
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil && d.WantBody {
		return Outcome{Category: categoryOf(err)}
	}
	return judge(res, answer, d.WantBody)
}

func judge(res *http.Response, answer []byte, wantBody bool) Outcome {
	o := Outcome{Answered: true}
	if wantBody {
		o.Body = answer
	}
	if s, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && s > 0 {
		o.Wait = min(time.Duration(s)*time.Second, maxWait)
	}
	switch code := res.StatusCode; {
	case code >= 200 && code < 300:
		o.OK = true
	case code >= 500:
		o.Category = "http_5xx"
	default:
		o.Category = "http_4xx" // redirects too
		o.Final = code == http.StatusGone || code == http.StatusRequestEntityTooLarge
	}
	return o
}

func categoryOf(err error) string {
	var timeout net.Error
	switch {
	case errors.Is(err, errTLS):
		return "tls_error"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	}
	return "connection_refused"
}
