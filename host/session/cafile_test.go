package session

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eventdeck/host/event"
)

// The error for a file without certificate authorities names it; nothing is sent.
func TestInvalidCertificateFilesAreNamed(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for path, says := range map[string]string{
		file("empty", ""):                                "holds no PEM certificate",
		file("binary", "\x00\xff\x30\x82"):               "holds no PEM certificate",
		file("cut", "-----BEGIN CERTIFICATE-----\nMIIB"): "holds no PEM certificate",
		file("garbage", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"): "holds no PEM certificate",
		file("key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"):     "holds no PEM certificate",
		filepath.Join(dir, "none"): "none",
		dir:                        "is not a regular file",
		os.DevNull:                 "is not a regular file",
	} {
		_, err := BaseTransport(event.Server{CAFile: path}, nil, nil)
		if !errors.Is(err, ErrServer) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
