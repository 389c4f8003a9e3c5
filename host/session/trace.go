package session

import (
	"regexp"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// Direction says who sent a traced frame.
type Direction string

// The directions.
const (
	Sent     Direction = "sent"
	Received Direction = "received"
)

var (
	secretMember = regexp.MustCompile(`("(?:secret|webhookSecret|resumeToken)"\s*:\s*")((?:[^"\\]|\\.)*)(")`)
	secretText   = regexp.MustCompile(`whsec_[A-Za-z0-9+/=\\_-]+`)
)

// maskFrame returns the frame with every secret in it masked: webhook secrets
// wherever they stand, and the members that hold one in whatever form.
func maskFrame(frame []byte) trust.Text {
	masked := secretMember.ReplaceAllFunc(frame, func(m []byte) []byte {
		part := secretMember.FindSubmatch(m)
		return []byte(string(part[1]) + event.NewSecret(string(part[2])).String() + string(part[3]))
	})
	masked = secretText.ReplaceAllFunc(masked, func(m []byte) []byte {
		return []byte(event.NewSecret(string(m)).String())
	})
	return trust.Untrusted(string(masked))
}
