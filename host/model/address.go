package model

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"

	"crypto/tls"
)

// errAddress: a name leads where no model is asked.
var errAddress = errors.New("the address leads to")

// address reads the address of a model: https, or http to this machine.
func address(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "":
		return nil, errors.New("\"url\" is no address; write it as https://host/v1")
	case u.User != nil:
		return nil, errors.New("\"url\" holds a user name; the key stands in \"key\"")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, errors.New("\"url\" has a query or a fragment; write it up to the path of the call alone")
	case u.Scheme == "https":
	case u.Scheme == "http" && isLoopback(u.Hostname()):
	default:
		return nil, fmt.Errorf("\"url\" begins with %q; write https, or http for a model on this machine (127.0.0.1, ::1 or localhost)", u.Scheme)
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil {
		if err := mayDial(ip, isLoopback(u.Hostname())); err != nil {
			return nil, err
		}
	}
	return u, nil
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}

// mayDial says where a name may lead: an address of this machine stays on it, and no other
// leads there, nor to where clouds give out keys. A private network may be meant: the
// certificate proves that it is the one that the operator named.
func mayDial(ip netip.Addr, loopback bool) error {
	ip = ip.Unmap().WithZone("")
	switch {
	case ip.IsLinkLocalUnicast(), ip.IsMulticast(), ip.IsUnspecified(), ip == metadata:
		return fmt.Errorf("%w %s, which is link-local, for many, or none; no model is asked there", errAddress, ip)
	case ip.IsLoopback() != loopback:
		return fmt.Errorf("%w %s; a model on this machine is named by 127.0.0.1, ::1 or localhost", errAddress, ip)
	}
	return nil
}

// metadata is where Amazon's machines give out keys over IPv6.
var metadata = netip.MustParseAddr("fd00:ec2::254")

// httpClient returns a client for one call. It follows no redirect, and looks at every
// address that it dials itself; where the environment names a proxy, that one is dialed.
func (c *Client) httpClient() *http.Client {
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: c.o.Roots, MinVersion: tls.VersionTLS12},
		DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: maxHeaders,
	}
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: c.endpoint})
	if err != nil || proxy == nil {
		loopback := isLoopback(c.endpoint.Hostname())
		dialer := &net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil {
				return fmt.Errorf("%w %q", errAddress, address)
			}
			return mayDial(to.Addr(), loopback)
		}}
		transport.DialContext = dialer.DialContext
	}
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
