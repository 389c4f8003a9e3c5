package toolbox

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"

	"eventdeck/host/session"
	"eventdeck/host/wire"
)

// refused reports whether an error of a call is one after which the tool is certain to do
// nothing any more: the server said no, or was never reached. A server that answers with an
// error may have begun; like a tool that failed, it has said how it ended.
func refused(err error) bool {
	var answer *wire.Error
	if errors.As(err, &answer) {
		return true
	}
	var status *session.HTTPError
	if errors.As(err, &status) {
		// What stands before the server says 408 and 5xx also when the server goes on.
		return status.Status < 500 && status.Status != http.StatusRequestTimeout
	}
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return true
	}
	var certificate *tls.CertificateVerificationError
	return errors.As(err, &certificate) || errors.Is(err, session.ErrForgotten)
}
