// Decides which addresses models and webhooks of rules may have: by the URL when
// a rule is read, and by the IP address when it is dialed.

package react

import (
	"fmt"
	"net/netip"
	"net/url"

	"eventdeck/host/event"
)

// EndpointError says what is wrong with an address, and what to write instead. It does not repeat the
// address, which may hold a secret.
type EndpointError struct{ Wrong, Write string }

// Error implements error.
func (e *EndpointError) Error() string { return fmt.Sprintf("it %s; write %s", e.Wrong, e.Write) }

// ParseModelURL parses the address of a model: https, or http to this machine.
//
// Error: [*EndpointError].
func ParseModelURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return nil, &EndpointError{"is no address", "https://HOST/v1"}
	}
	local := event.IsLoopback(u.Hostname())
	switch {
	case u.Scheme != "https" && (u.Scheme != "http" || !local):
		return nil, &EndpointError{"begins with " + scheme(u), "https://…, or http on this machine"}
	case u.User != nil || u.Fragment != "" || u.RawQuery != "" || u.ForceQuery:
		return nil, &EndpointError{"has a user, a question mark or a fragment", `the address without them, and the key as "key"`}
	}
	return u, literal(u, func(ip netip.Addr) error { return CheckModelIP(ip, local) })
}

// ParseWebhookURL parses the address of a webhook: https, or http to this machine if private addresses
// are allowed.
//
// Error: [*EndpointError].
func ParseWebhookURL(text string, private bool) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "":
		return nil, &EndpointError{"is no address", "https://HOST/PATH"}
	case u.Scheme != "https" && (u.Scheme != "http" || !private || !event.IsLoopback(u.Hostname())):
		return nil, &EndpointError{"begins with " + scheme(u), `https://…, or "private": true with http on this machine`}
	case u.User != nil || u.Fragment != "":
		return nil, &EndpointError{"has a user or a fragment", "the address without them"}
	}
	return u, literal(u, func(ip netip.Addr) error { return CheckWebhookIP(ip, private) })
}

func scheme(u *url.URL) string { return u.Scheme[:min(len(u.Scheme), 40)] + ":" }

// literal applies may to a host that is an IP address, not a name.
func literal(u *url.URL, may func(netip.Addr) error) error {
	ip, err := netip.ParseAddr(u.Hostname())
	if err != nil {
		return nil
	}
	return may(ip)
}

// CheckModelIP checks the IP address to which the host name of a model resolves. A name of this
// machine (local) must stay on it; no other may lead there, or to metadata services of clouds,
// which give out keys. Private networks are allowed: the certificate proves the name.
//
// Error: [*EndpointError].
func CheckModelIP(ip netip.Addr, local bool) error {
	ip = ip.Unmap().WithZone("")
	switch {
	case neverPermitted(ip):
		return leads(ip, "which is link-local, for many, or none", "the address of a model")
	case ip.IsLoopback() != local:
		return leads(ip, "which is on another side of this machine than its name says", "127.0.0.1, ::1 or localhost for a model on this machine, and no such address for another")
	}
	return nil
}

// CheckWebhookIP checks the IP address of a webhook: a public one, or a private one if those are
// allowed.
//
// Error: [*EndpointError].
func CheckWebhookIP(ip netip.Addr, private bool) error {
	ip = ip.Unmap().WithZone("")
	switch {
	case neverPermitted(ip):
		return leads(ip, "which is link-local, for many, or none", "the address of a receiver")
	case !private && !event.IsPublicIP(ip):
		return leads(ip, "which is not a public address", `"private": true if it is meant`)
	}
	return nil
}

func leads(ip netip.Addr, what, write string) error {
	return &EndpointError{fmt.Sprintf("leads to %s, %s", ip, what), write}
}

// neverPermitted reports whether an IP address is always refused: clouds give out keys at link-local
// addresses, and Amazon also at an IPv6 address.
func neverPermitted(ip netip.Addr) bool {
	return ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() || ip == metadataIP
}

var metadataIP = netip.MustParseAddr("fd00:ec2::254")
