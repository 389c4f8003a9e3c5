package event

import (
	"net/netip"
	"strings"
)

// special are the ranges that are unicast, of IPv6 within [global], and still not reached over the Internet, beside
// those that package netip tells by itself (IANA special-purpose registries).
var special = [...]netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("192.88.99.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("3fff::/20"),
}

// global is what IANA gave out of the addresses of IPv6.
var global = netip.MustParsePrefix("2000::/3")

// IsPublicIP reports whether an address is routed on the Internet: not loopback, private,
// link-local or reserved. Requests that a stranger has a say in go to such addresses only.
func IsPublicIP(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if ip.Is6() && !global.Contains(ip) || !ip.IsGlobalUnicast() || ip.IsPrivate() {
		return false
	}
	for _, r := range special {
		if r.Contains(ip) {
			return false
		}
	}
	return true
}

// IsLoopback reports whether a host is this machine by its name or address, without looking
// the name up.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}
