package eventserver

import "testing"

// Deliveries go to addresses that are globally routable, and to loopback where that is
// allowed.
func TestCheckAddress(t *testing.T) {
	for _, a := range []string{"127.0.0.1:443", "[::1]:443", "10.1.2.3:443", "172.16.0.1:443", "192.168.1.1:443", "169.254.169.254:80", "100.64.0.1:443",
		"192.0.0.1:443", "198.18.0.1:443", "224.0.0.1:443", "240.0.0.1:443", "255.255.255.255:443", "0.0.0.0:443", "[::]:443", "[fc00::1]:443", "[fe80::1%eth0]:443",
		"[64:ff9b::7f00:1]:443", "[::ffff:127.0.0.1]:443", "[::ffff:10.0.0.1]:443", "[2001:db8::1]:443", "[ff02::1]:443", "nonsense"} {
		if CheckAddress(a, false) == nil {
			t.Errorf("%s was let through", a)
		}
	}
	for _, a := range []string{"8.8.8.8:443", "[2606:4700::1]:443"} {
		if err := CheckAddress(a, false); err != nil {
			t.Error(err)
		}
	}
	for _, a := range []string{"127.0.0.1:443", "[::ffff:127.0.0.1]:443"} {
		if err := CheckAddress(a, true); err != nil {
			t.Error(err)
		}
	}
}
