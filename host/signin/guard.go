package signin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/internal/proxy"
)

var (
	errRedirected = errors.New("it redirects, which is not followed")
	errNotPublic  = errors.New("is not on the public network, and the server is")
)

// newClient returns a client that follows no redirect and, for a server on the public network,
// dials only public addresses: metadata of a server must not make the host send requests into its
// own network.
func newClient(base *http.Transport, private func() bool) *http.Client {
	if base == nil {
		base = &http.Transport{Proxy: proxy.FromEnvironment, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second}
	}
	t := base.Clone()
	t.DisableKeepAlives = true // requests are rare, and no connection is to be left open
	t.MaxResponseHeaderBytes = 64 << 10
	proxies := proxyHosts(t)
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		d := &net.Dialer{Timeout: 10 * time.Second}
		if !slices.Contains(proxies, address) {
			d.Control = func(_, dialled string, _ syscall.RawConn) error {
				to, err := netip.ParseAddrPort(dialled)
				if err != nil {
					return err
				}
				if !event.IsPublicIP(to.Addr()) && !private() {
					return fmt.Errorf("%s %w", to.Addr(), errNotPublic)
				}
				return nil
			}
		}
		return d.DialContext(ctx, network, address)
	}
	return &http.Client{
		Transport:     t,
		Timeout:       requestTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirected },
	}
}

// proxyHosts returns the addresses of the proxies that t would use.
func proxyHosts(t *http.Transport) (hosts []string) {
	if t.Proxy == nil {
		return nil
	}
	for _, target := range []string{"http://public.invalid/", "https://public.invalid/"} {
		req, err := http.NewRequest(http.MethodGet, target, nil)
		if err != nil {
			continue
		}
		if u, err := t.Proxy(req); err == nil && u != nil {
			port := u.Port()
			if port == "" {
				port = map[string]string{"https": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme]
			}
			if port == "" {
				port = "80"
			}
			hosts = append(hosts, net.JoinHostPort(u.Hostname(), port))
		}
	}
	return hosts
}

// onPrivateNetwork reports whether a host has an address that is not public.
func onPrivateNetwork(host string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	return err == nil && slices.ContainsFunc(ips, func(ip netip.Addr) bool { return !event.IsPublicIP(ip) })
}

// checkAddress demands https, or http to loopback if the server is on a private network itself.
func (a *Account) checkAddress(address string) error {
	u, err := url.Parse(address)
	switch {
	case address == "":
		return errors.New("there is none")
	case err != nil || u.Host == "":
		return fmt.Errorf("%v is no address", words(address))
	case strings.ContainsFunc(address, func(r rune) bool { return r < 0x21 || r > 0x7e }):
		return fmt.Errorf("%v is no address: it holds more than visible ASCII", words(address))
	case u.User != nil:
		return errors.New("the address holds a user name")
	case strings.Contains(address, "#"):
		// An added query would become part of the fragment, which a browser does not send (RFC
		// 6749, sections 3.1 and 3.2).
		return fmt.Errorf("%v has a fragment", words(address))
	case u.Scheme == "https":
	case u.Scheme == "http" && event.IsLoopback(u.Hostname()):
	default:
		return fmt.Errorf("%v is not https", words(address))
	}
	if event.IsLoopback(u.Hostname()) && !a.private() {
		return fmt.Errorf("%v is on this machine, and the server is not", words(address))
	}
	return nil
}

// ask makes a request and reads a JSON response of at most 1 MiB. status is 0 if there was no
// response. The error is meant for the operator.
func (a *Account) ask(req *http.Request) (status int, body []byte, err error) {
	resp, err := a.client.Do(req)
	if err != nil {
		var outer *url.Error
		if errors.As(err, &outer) {
			err = outer.Err
		}
		return 0, nil, err
	}
	defer resp.Body.Close()
	const limit = 1 << 20
	body, err = io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return resp.StatusCode, nil, fmt.Errorf("the answer was cut off: %w", err)
	}
	if len(body) > limit {
		return resp.StatusCode, nil, errors.New("the answer has more than 1 MiB")
	}
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		if len(strings.TrimSpace(string(body))) == 0 {
			return resp.StatusCode, nil, fmt.Errorf("it answers HTTP %d without a word", resp.StatusCode)
		}
		return resp.StatusCode, nil, fmt.Errorf("it answers HTTP %d with %v, not with JSON", resp.StatusCode, words(resp.Header.Get("Content-Type")))
	}
	return resp.StatusCode, body, nil
}

// unanswered reports whether a request failed because the network brought no response.
func unanswered(err error) bool {
	var failed net.Error
	return !errors.Is(err, errNotPublic) && (errors.As(err, &failed) || errors.Is(err, io.EOF))
}

// noting is a transport that notes the address and the error of the newest request, which must be its
// only one at a time. The SDK hides them in a text.
type noting struct {
	http.RoundTripper
	asked string
	err   error
}

// RoundTrip implements [http.RoundTripper].
func (n *noting) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	resp, err = n.RoundTripper.RoundTrip(r)
	n.asked, n.err = r.URL.String(), err
	return resp, err
}
