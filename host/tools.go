package host

import (
	"io"

	"eventdeck/host/event"
	"eventdeck/host/receiver"
)

// CA opens the local certificate authority, makes it on first use, and returns
// the path of its certificate. An empty dir is the user's state directory.
//
// Errors: [receiver.ErrCA].
func CA(dir string) (certPath string, err error) {
	if dir == "" {
		if dir, err = receiver.DefaultCADir(); err != nil {
			return "", err
		}
	}
	ca, err := receiver.OpenCA(dir, nil)
	if err != nil {
		return "", err
	}
	return ca.CertPath(), nil
}

// DemoOptions configure a demo server.
type DemoOptions struct {
	Listen string       // address of pager; empty: 127.0.0.1:8931
	Speed  float64      // times faster than life; 0: 1
	Seed   int64        // fixes content and timing
	Rate   int          // events a second of load.tick; 0: the type is not offered
	Token  event.Secret // bearer that pager demands; zero: none
	CAFile string       // certificates to trust for deliveries; empty: the local authority

	// Implied where pager listens on loopback.
	AllowLoopback     bool // callbacks on loopback are allowed
	TrustCA           bool // CAFile is used
	LoopbackPrincipal bool // a caller on loopback needs no token

	In       io.Reader // of chat: standard input
	Out, Err io.Writer // standard output and error
}
