package host

import (
	"context"
	"fmt"
	"io"

	"eventdeck/host/demo"
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

// DemoServer runs the demo server "pager" or "chat" until ctx ends, which is no
// error; chat also ends with its standard input. The first line that pager
// writes to o.Err is "listening on" and its complete URL.
//
// Errors: [demo.ErrOptions], [receiver.ErrCA], and those of the connections.
func DemoServer(ctx context.Context, name string, o DemoOptions) error {
	switch name {
	case "pager":
		if o.CAFile == "" {
			// It need not be there yet: pager reads it at each delivery.
			var err error
			if o.CAFile, err = receiver.DefaultCertPath(); err != nil {
				return err
			}
		}
		return demo.RunPager(ctx, demo.PagerOptions{
			Listen: o.Listen, Speed: o.Speed, Seed: o.Seed, Rate: o.Rate, Token: o.Token, CAFile: o.CAFile,
			AllowLoopback: o.AllowLoopback, TrustCA: o.TrustCA, LoopbackPrincipal: o.LoopbackPrincipal,
			Stderr: o.Err,
		})
	case "chat":
		return demo.RunChat(ctx, demo.ChatOptions{Speed: o.Speed, Seed: o.Seed, Rate: o.Rate}, o.In, o.Out, o.Err)
	}
	return fmt.Errorf("%w: there is no server %q", demo.ErrOptions, name)
}
