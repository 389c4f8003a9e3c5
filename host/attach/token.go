package attach

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// fileToken holds the token that proves that a process can read the data directory. Belonging to
// the same user is not enough: a confined command of a reaction does too, and can reach the socket,
// but cannot read the data directory. Without the token no session is opened, and without a session
// no verb is answered.
const fileToken = "attach.token"

// newToken writes a new token to a data directory, in place of one that was left there.
func newToken(dir string) (string, error) {
	path := filepath.Join(dir, fileToken)
	if err := removeFile(path); err != nil {
		return "", err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	token := rand.Text()
	_, err = f.WriteString(token)
	return token, errors.Join(err, f.Close())
}

// readToken returns the token of a data directory, "" if there is none.
func readToken(dir string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, fileToken))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("the token of the process with the store: %w", err)
	}
	return string(text), nil
}

// isToken reports whether a client has the token. A server without one has no clients.
func (s *Server) isToken(given string) bool {
	return s.token != "" && subtle.ConstantTimeCompare([]byte(s.token), []byte(given)) == 1
}
