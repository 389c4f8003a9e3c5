package session

import (
	"bytes"
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

// A value may be cut off with its frame.
var (
	secretMember = regexp.MustCompile(`("(?:secret|webhookSecret|client_secret|resumeToken|access_token|refresh_token|id_token)"\s*:\s*")((?:[^"\\]|\\.)*)("|\\?$)`)
	// The secret of SEP-1803 is an object with a value or a key.
	secretObject = regexp.MustCompile(`"webhookSecret"\s*:\s*\{(?:[^"{}]|"(?:[^"\\]|\\.)*(?:"|\\?$))*`)
	secretInside = regexp.MustCompile(`("(?:value|key)"\s*:\s*")((?:[^"\\]|\\.)*)("|\\?$)`)
	secretText   = regexp.MustCompile(`whsec_[A-Za-z0-9+/=\\_-]+`)
)

// One of these stands in every frame that holds a secret. Nearly all frames hold
// none, and to find that out must cost next to nothing.
var secretSigns = [][]byte{[]byte("whsec_"), []byte(`ecret"`), []byte(`oken"`)}

// maskMembers masks the values of the members that a pattern finds.
func maskMembers(pattern *regexp.Regexp, text []byte) []byte {
	return pattern.ReplaceAllFunc(text, func(m []byte) []byte {
		part := pattern.FindSubmatch(m)
		return []byte(string(part[1]) + event.NewSecret(string(part[2])).String() + string(part[3]))
	})
}

// maskFrame returns the frame with every secret in it masked: webhook secrets
// wherever they stand, and the members that hold one in whatever form.
func maskFrame(frame []byte) trust.Text {
	suspect := false
	for _, sign := range secretSigns {
		suspect = suspect || bytes.Contains(frame, sign)
	}
	if !suspect {
		return trust.Untrusted(string(frame))
	}
	masked := maskMembers(secretMember, frame)
	masked = secretObject.ReplaceAllFunc(masked, func(m []byte) []byte { return maskMembers(secretInside, m) })
	masked = secretText.ReplaceAllFunc(masked, func(m []byte) []byte {
		return []byte(event.NewSecret(string(m)).String())
	})
	return trust.Untrusted(string(masked))
}
