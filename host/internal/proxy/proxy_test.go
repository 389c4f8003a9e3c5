package proxy

import (
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/http/httpproxy"
)

// No request bypasses an invalid proxy.
func TestInvalidProxiesAreRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		http, https, not string
		to               string
		says             string
	}{
		"none":            {"", "", "", "http://h/", ""},
		"host and port":   {"proxy:3128", "", "", "http://h/", ""},
		"a URL":           {"http://u:p@proxy:3128", "", "", "http://h/", ""},
		"no brackets":     {"http://[x", "", "", "http://h/", "HTTP_PROXY is no URL of a proxy; write it as http://host:port, or unset it"},
		"control":         {"http://pro\nxy", "", "", "http://h/", "HTTP_PROXY is no URL"},
		"port":            {"", "http://u:s3cret@proxy:many", "", "https://h/", "HTTPS_PROXY is no URL"},
		"of another kind": {"http://[x", "", "", "https://h/", ""},
		"taken out":       {"http://[x", "", "h", "http://h/", ""},
		"loopback":        {"http://[x", "", "", "http://127.0.0.1:1/", ""},
	} {
		to, err := url.Parse(tt.to)
		if err != nil {
			t.Fatal(err)
		}
		err = checkProxy(&httpproxy.Config{HTTPProxy: tt.http, HTTPSProxy: tt.https, NoProxy: tt.not}, to)
		if (tt.says == "") != (err == nil) || err != nil && (!strings.HasPrefix(err.Error(), tt.says) || strings.Contains(err.Error(), "s3cret")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
