// Package proxy finds the proxy that the environment names for a request.
package proxy

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpproxy"
)

// errProxy: the environment names a proxy in a way that makes no sense. Its value is
// not told: it may hold a password.
var errProxy = errors.New("is no URL of a proxy; write it as http://host:port, or unset it")

// FromEnvironment is [http.ProxyFromEnvironment], but for a proxy that cannot be read: that one
// passes over it, and a request would go around the proxy that the operator wants. It fails
// with the name of the variable here, without its value.
func FromEnvironment(req *http.Request) (*url.URL, error) {
	if err := checkProxy(httpproxy.FromEnvironment(), req.URL); err != nil {
		return nil, err
	}
	return http.ProxyFromEnvironment(req)
}

// checkProxy tells of the proxy that a request to u would use and that is no URL.
func checkProxy(c *httpproxy.Config, u *url.URL) error {
	name, value := "HTTP_PROXY", &c.HTTPProxy
	if u.Scheme == "https" {
		name, value = "HTTPS_PROXY", &c.HTTPSProxy
	}
	if *value == "" || isProxy(*value) || !strings.Contains(*value, "://") && isProxy("http://"+*value) {
		return nil
	}
	*value = "http://proxy.invalid"
	if to, err := c.ProxyFunc()(u); err == nil && to == nil {
		return nil // NO_PROXY takes this address out
	}
	return fmt.Errorf("%s %w", name, errProxy)
}

func isProxy(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme != "" && u.Host != ""
}
