package host_test

import (
	"crypto/tls"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"eventdeck/host/receiver"
)

func unix(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

// client trusts the local authority of the rig.
func (r *rig) client() *http.Client {
	r.t.Helper()
	pool, err := receiver.Pool(filepath.Join(r.dir, "ca", "ca.pem"))
	if err != nil {
		r.t.Fatal(err)
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
}
