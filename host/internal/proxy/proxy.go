// Package proxy finds the proxy of a request in the environment.
package proxy

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpproxy"
)

// errProxy: the environment names an invalid proxy. The error omits its value, which may
// contain a password.
var errProxy = errors.New("is no URL of a proxy; write it as http://host:port, or unset it")

// FromEnvironment is [http.ProxyFromEnvironment], except for an invalid proxy: the standard
// library ignores it, and requests would bypass the proxy that the operator wants. Here it
// is an error with the name of the variable, without its value.
func FromEnvironment(req *http.Request) (*url.URL, error) {
	if err := checkProxy(httpproxy.FromEnvironment(), req.URL); err != nil {
		return nil, err
	}
	return http.ProxyFromEnvironment(req)
}

// checkProxy refuses a proxy for u that is not a URL.
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
		return nil // NO_PROXY excludes this address
	}
	return fmt.Errorf("%s %w", name, errProxy)
}

func isProxy(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme != "" && u.Host != ""
}
