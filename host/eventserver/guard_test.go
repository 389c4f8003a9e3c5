package eventserver_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/eventserver"
)

func TestGuardAdmits(t *testing.T) {
	const near, far = "127.0.0.1:4711", "192.0.2.7:4711"
	token := event.NewSecret("letmein")
	for name, c := range map[string]struct {
		guard        eventserver.Guard
		peer, host   string
		origin, auth string
		status       int // 200: admitted
	}{
		"loopback":                       {eventserver.Guard{Loopback: true}, near, "localhost:80", "", "", 200},
		"loopback, by address":           {eventserver.Guard{Loopback: true}, near, "127.0.0.1:80", "http://[::1]:80", "", 200},
		"loopback, no port":              {eventserver.Guard{Loopback: true}, near, "LOCALHOST", "", "", 200},
		"loopback, IPv6 in IPv4":         {eventserver.Guard{Loopback: true}, "[::ffff:127.0.0.1]:9", "[::1]:80", "", "", 200},
		"another name":                   {eventserver.Guard{Loopback: true}, near, "evil.example", "", "", 403},
		"a name that begins as loopback": {eventserver.Guard{Loopback: true}, near, "127.0.0.1.evil.example", "", "", 403},
		"a page of another origin":       {eventserver.Guard{Loopback: true}, near, "localhost", "https://evil.example", "", 403},
		"a null origin":                  {eventserver.Guard{Loopback: true}, near, "localhost", "null", "", 403},
		"another name, with the token":   {eventserver.Guard{Loopback: true, Token: token}, near, "evil.example", "", "Bearer letmein", 403},
		"the token":                      {eventserver.Guard{Token: token}, far, "x.example", "", "Bearer letmein", 200},
		"no token":                       {eventserver.Guard{Token: token}, far, "x.example", "", "", 401},
		"no token, from loopback":        {eventserver.Guard{Token: token, Loopback: true, Local: true, Anonymous: true}, near, "localhost", "", "", 401},
		"a wrong token":                  {eventserver.Guard{Token: token}, far, "x.example", "", "Bearer letmei", 401},
		"the scheme in small letters":    {eventserver.Guard{Token: token}, far, "x.example", "", "bearer letmein", 200},
		"no scheme":                      {eventserver.Guard{Token: token}, far, "x.example", "", "letmein", 401},
		"another scheme":                 {eventserver.Guard{Token: token}, far, "x.example", "", "Basic letmein", 401},
		"not loopback":                   {eventserver.Guard{}, near, "x.example", "", "", 401},
		"local":                          {eventserver.Guard{Local: true}, near, "x.example", "", "", 200},
		"local, from elsewhere":          {eventserver.Guard{Local: true}, far, "x.example", "", "", 401},
		"loopback, from elsewhere":       {eventserver.Guard{Loopback: true}, far, "localhost", "", "", 401},
		"anonymous":                      {eventserver.Guard{Anonymous: true}, far, "x.example", "", "", 200},
		"a peer without address":         {eventserver.Guard{Loopback: true}, "pipe", "localhost", "", "", 401},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.RemoteAddr, r.Host = c.peer, c.host
		for header, value := range map[string]string{"Origin": c.origin, "Authorization": c.auth} {
			if value != "" {
				r.Header.Set(header, value)
			}
		}
		c.guard.Realm = "test"
		w := httptest.NewRecorder()
		if admitted := c.guard.Admit(w, r); w.Code != c.status || admitted != (c.status == 200) {
			t.Errorf("%s: %t, status %d, want %d", name, admitted, w.Code, c.status)
		}
		if got := w.Header().Get("WWW-Authenticate"); (got == `Bearer realm="test"`) != (c.status == 401) {
			t.Errorf("%s: challenge %q", name, got)
		}
	}
}

func TestOnLoopback(t *testing.T) {
	for addr, want := range map[net.Addr]bool{
		&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}: true,
		&net.TCPAddr{IP: net.IPv6loopback}:       true,
		&net.TCPAddr{IP: net.IPv4zero}:           false,
		&net.UnixAddr{Name: "/tmp/x"}:            false,
	} {
		if eventserver.OnLoopback(addr) != want {
			t.Errorf("%v: %t", addr, !want)
		}
	}
}
