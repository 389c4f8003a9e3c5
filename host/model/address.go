package model

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"syscall"

	"eventdeck/host/event"
	"eventdeck/host/internal/proxy"
	"eventdeck/host/react"
)

// httpClient returns a client for one call. It follows no redirects, and checks every IP address
// that it dials; if the environment names a proxy, the proxy is dialed.
func (c *Client) httpClient() *http.Client {
	transport := &http.Transport{
		Proxy: proxy.FromEnvironment, TLSClientConfig: &tls.Config{RootCAs: c.o.Roots, MinVersion: tls.VersionTLS12},
		DisableKeepAlives: true, MaxResponseHeaderBytes: maxHeaders,
	}
	asked, err := proxy.FromEnvironment(&http.Request{URL: c.endpoint})
	if err != nil || asked == nil {
		local := event.IsLoopback(c.endpoint.Hostname())
		dialer := &net.Dialer{Control: func(_, dialed string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(dialed)
			if err != nil {
				return err
			}
			return react.CheckModelIP(to.Addr(), local)
		}}
		transport.DialContext = dialer.DialContext
	}
	return &http.Client{
		Transport:     proxy.Plain{Base: transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
