package event

import (
	"net"
	"testing"
)

// A listener at 0.0.0.0 takes no connections over IPv6.
func TestNetworkOfAnAddress(t *testing.T) {
	for address, want := range map[string]string{
		"0.0.0.0:0": "tcp4", "127.0.0.1:80": "tcp4", "[::]:0": "tcp", "[::1]:80": "tcp", "localhost:80": "tcp", ":80": "tcp", "nonsense": "tcp",
	} {
		if got := Network(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
	ln, err := net.Listen(Network("0.0.0.0:0"), "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if ip := ln.Addr().(*net.TCPAddr).IP; ip.To4() == nil {
		t.Errorf("listens on %v", ip)
	}
}
