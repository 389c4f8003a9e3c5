package event

import (
	"net/netip"
	"slices"
	"strings"
)

// special are the unicast ranges (of IPv6 within [global]) that are not reached over the
// Internet and that package netip does not know (IANA special-purpose registries).
var special = [...]netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("192.88.99.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("3fff::/20"),
}

// global are the IPv6 addresses that IANA has allocated.
var global = netip.MustParsePrefix("2000::/3")

// IsPublicIP reports whether an address is routed on the Internet: not loopback, private,
// link-local or reserved. A request to an address that an untrusted party chose goes to public
// addresses only.
func IsPublicIP(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if ip.Is6() && !global.Contains(ip) || !ip.IsGlobalUnicast() || ip.IsPrivate() {
		return false
	}
	return !slices.ContainsFunc(special[:], func(r netip.Prefix) bool { return r.Contains(ip) })
}

// Network returns the network on which to listen at an address: tcp4 for one of IPv4. On "tcp" a
// listener at 0.0.0.0 takes connections over IPv6 too, which nobody asked for.
func Network(address string) string {
	if ap, err := netip.ParseAddrPort(address); err == nil && ap.Addr().Is4() {
		return "tcp4"
	}
	return "tcp"
}

// IsLoopback reports whether a host is this machine by its name or address, without looking
// the name up.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}
