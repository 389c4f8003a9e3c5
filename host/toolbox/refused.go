package toolbox

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"

	"eventdeck/host/session"
	"eventdeck/host/wire"
)

// refused reports whether the tool will certainly do nothing after this error: the server refused
// the call, or was never reached. A server that answers with an error may have begun, but has
// said how the call ended, like a tool that failed.
func refused(err error) bool {
	var answer *wire.Error
	if errors.As(err, &answer) {
		return true
	}
	var status *session.HTTPError
	if errors.As(err, &status) {
		// A proxy returns 408 and 5xx even if the server behind it goes on.
		return status.Status < 500 && status.Status != http.StatusRequestTimeout
	}
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return true
	}
	var certificate *tls.CertificateVerificationError
	return errors.As(err, &certificate) || errors.Is(err, session.ErrForgotten)
}
