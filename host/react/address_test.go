package react

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
)

func TestAddresses(t *testing.T) {
	const public, local, private, metadata, none = "https://example.com/v1", "http://127.0.0.1:1/v1", "https://10.0.0.7/v1", "https://169.254.169.254/v1", "no address"
	for text, want := range map[string][3]bool{ // a model, a webhook, one that may be private
		public:                          {true, true, true},
		local:                           {true, false, true},
		"http://localhost:1/":           {true, false, true},
		"http://LOCALHOST/":             {true, false, true},
		"http://[::1]/":                 {true, false, true},
		"http://[::ffff:127.0.0.1]/":    {true, false, true},
		"https://127.0.0.1/":            {true, false, true},
		private:                         {true, false, true},
		metadata:                        {},
		"https://[fe80::1%25eth0]/":     {},
		"https://[fd00:ec2::254]/":      {},
		"https://[::ffff:a9fe:a9fe]/":   {},
		"https://0.0.0.0/":              {},
		"https://[ff02::1]/":            {},
		"http://example.com/":           {},
		"http://10.0.0.7/":              {},
		"ftp://example.com/":            {},
		"https://user:s3cret@a.b/":      {},
		"https://a.b/?key=s3cret":       {false, true, true},
		"https://a.b/?":                 {false, true, true},
		"https://a.b/#s3cret":           {},
		"https:///v1":                   {},
		"https://:443/":                 {},
		none:                            {},
		"":                              {},
		strings.Repeat("s", 500) + ":/": {},
	} {
		_, model := ParseModelURL(text)
		_, hook := ParseWebhookURL(text, false)
		_, inside := ParseWebhookURL(text, true)
		for i, err := range []error{model, hook, inside} {
			var wrong *EndpointError
			if (err == nil) != want[i] || err != nil && (!errors.As(err, &wrong) || wrong.Wrong == "" || wrong.Write == "") {
				t.Errorf("%.60s, %d: %v", text, i, err)
			}
			if err != nil && (strings.Contains(err.Error(), "s3cret") || len(err.Error()) > 200) {
				t.Errorf("%.60s is told as %v", text, err)
			}
		}
	}
}

// What a name leads to is judged as what stands in an address.
func TestDialedAddresses(t *testing.T) {
	for text, want := range map[string][4]bool{ // a model, one of this machine, a webhook, one that may be private
		"93.184.216.34":    {true, false, true, true},
		"10.0.0.7":         {true, false, false, true},
		"127.0.0.1":        {false, true, false, true},
		"::ffff:127.0.0.1": {false, true, false, true},
		"169.254.169.254":  {},
		"fe80::1%eth0":     {},
		"fd00:ec2::254":    {},
		"::":               {},
		"224.0.0.1":        {},
	} {
		ip := netip.MustParseAddr(text)
		for i, err := range []error{CheckModelIP(ip, false), CheckModelIP(ip, true), CheckWebhookIP(ip, false), CheckWebhookIP(ip, true)} {
			if (err == nil) != want[i] {
				t.Errorf("%s, %d: %v", text, i, err)
			}
		}
	}
}
