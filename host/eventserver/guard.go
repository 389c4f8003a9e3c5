package eventserver

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"eventdeck/host/event"
)

// Guard decides which callers may talk to a server over HTTP.
type Guard struct {
	Realm string       // named when a token is demanded
	Token event.Secret // if set, every request must have it as bearer token

	// Loopback: the server listens on loopback only. Requests must name loopback, which keeps a web
	// page from reaching the server through a name of its own (DNS rebinding). If no token is set,
	// callers on loopback are admitted.
	Loopback bool
	// Local: if no token is set, callers on loopback are admitted wherever the server listens.
	Local bool
	// Anonymous: if no token is set, all callers are admitted.
	Anonymous bool
}

// Admit reports whether the caller is admitted. If not, it has answered: 403 to a request that
// names another host, 401 to one without the token.
func (g Guard) Admit(w http.ResponseWriter, r *http.Request) bool {
	if g.Loopback && !namesLoopback(r) {
		http.Error(w, "this server answers to loopback names only", http.StatusForbidden)
		return false
	}
	admitted := g.Anonymous || (g.Loopback || g.Local) && FromLoopback(r)
	if !g.Token.IsZero() {
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		admitted = strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare([]byte(given), []byte(g.Token.Reveal())) == 1
	}
	if !admitted {
		w.Header().Set("WWW-Authenticate", `Bearer realm="`+g.Realm+`"`)
		http.Error(w, "a bearer token is needed", http.StatusUnauthorized)
	}
	return admitted
}

// OnLoopback reports whether the address of a listener is on loopback.
func OnLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// FromLoopback reports whether a request came over loopback.
func FromLoopback(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && peer.Addr().Unmap().IsLoopback()
}

// namesLoopback reports whether the host of a request is loopback, and its origin too, if any.
func namesLoopback(r *http.Request) bool {
	if !loopbackHost(r.Host) {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && loopbackHost(u.Host)
}

func loopbackHost(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.Unmap().IsLoopback()
}
