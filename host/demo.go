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
	ca, err := receiver.OpenCA(dir, nil)
	if err != nil {
		return "", err
	}
	return ca.CertPath(), nil
}

// DemoOptions configure a demo server.
type DemoOptions struct {
	Listen string       // address of all but chat; empty: 127.0.0.1 and a port of the server's own
	Speed  float64      // how many times faster than real time; 0: 1
	Seed   int64        // fixes content and timing
	Rate   int          // events a second of load.tick; 0: the type is not offered
	Token  event.Secret // bearer that all but chat demand; zero: none
	CAFile string       // certificates to trust for deliveries; empty: the local authority

	ServerKey bool // pager also signs deliveries with a published key

	// Faults are what pager or chat does wrong on purpose: names of [DemoFaults], some
	// with "=" and a duration.
	Faults []string

	Hijacked bool // model obeys what it reads in untrusted text

	// Implied where the server listens on loopback.
	AllowLoopback     bool // callbacks on loopback are allowed
	TrustCA           bool // CAFile is used
	LoopbackPrincipal bool // a caller on loopback needs no token

	In       io.Reader // of chat: standard input
	Out, Err io.Writer // standard output and error
}

// DemoServers are the names of the demo servers: four servers of events, and a stand-in for
// a language model.
func DemoServers() []string { return []string{"pager", "chat", "archive", "digest", "model"} }

// DemoFault is a fault that pager or chat can show on purpose.
type DemoFault struct{ Name, Sentence string }

// DemoFaults returns all faults.
func DemoFaults() (all []DemoFault) {
	for _, f := range demo.Faults() {
		all = append(all, DemoFault{f.Name, f.Sentence})
	}
	return all
}

// ErrDemoOptions is the root of every reason for which a demo server does not start with
// the options that it got.
var ErrDemoOptions = demo.ErrOptions

// DemoServer runs one of the [DemoServers] until ctx ends, which is no error; chat,
// which speaks on o.In and o.Out, also ends with its input. The first line that the
// others write to o.Err is "listening on" and their complete URL.
//
// Errors: [ErrDemoOptions], [receiver.ErrCA], and those of the connections.
func DemoServer(ctx context.Context, name string, o DemoOptions) error {
	if o.CAFile == "" {
		// The file need not exist yet: servers read it at each delivery.
		var err error
		if o.CAFile, err = receiver.DefaultCertPath(); err != nil && name != "chat" {
			return err
		}
	}
	others := demo.ServerOptions{
		Listen: o.Listen, Speed: o.Speed, Seed: o.Seed, Rate: o.Rate, Token: o.Token, CAFile: o.CAFile,
		AllowLoopback: o.AllowLoopback, TrustCA: o.TrustCA, LoopbackPrincipal: o.LoopbackPrincipal,
		Stderr: o.Err,
	}
	if len(o.Faults) > 0 && name != "pager" && name != "chat" {
		return fmt.Errorf("%w: %s has no faults, pager and chat have", demo.ErrOptions, name)
	}
	if o.Hijacked && name != "model" {
		return fmt.Errorf("%w: only model can be hijacked", demo.ErrOptions)
	}
	switch name {
	case "model":
		return demo.RunModel(ctx, demo.ModelOptions{ServerOptions: others, Hijacked: o.Hijacked})
	case "archive":
		return demo.RunArchive(ctx, others)
	case "digest":
		return demo.RunDigest(ctx, others)
	case "pager":
		return demo.RunPager(ctx, demo.PagerOptions{ServerOptions: others, ServerKey: o.ServerKey, Faults: o.Faults})
	case "chat":
		return demo.RunChat(ctx, demo.ChatOptions{Speed: o.Speed, Seed: o.Seed, Rate: o.Rate, Faults: o.Faults}, o.In, o.Out, o.Err)
	}
	return fmt.Errorf("%w: there is no server %q", demo.ErrOptions, name)
}
