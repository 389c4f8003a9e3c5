package event

import (
	"net/url"
	"slices"
	"strings"
)

// PublicAddress returns an address without what is secret in it: the user, and the
// values of those members of the query that are secret by their name or look random.
// What is no address, and an address without secrets, is returned as it is.
func PublicAddress(address string) string {
	public, _ := splitAddress(address)
	return public
}

// secretHere stands for a secret of an address.
const secretHere = "…"

// splitAddress returns the public form of an address, and its secrets as they are
// spelled there.
func splitAddress(address string) (public string, secrets []string) {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok || strings.ContainsAny(scheme, " \t?#/") {
		return address, nil
	}
	rest, fragment, hasFragment := strings.Cut(rest, "#")
	rest, query, hasQuery := strings.Cut(rest, "?")
	host, path, hasPath := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(host, '@'); at >= 0 && host[:at] != secretHere {
		secrets = append(secrets, host[:at])
		host = secretHere + host[at:]
	}
	var b strings.Builder
	b.WriteString(scheme + "://" + host)
	if hasPath {
		b.WriteString("/" + path)
	}
	if hasQuery {
		b.WriteByte('?')
		for i, pair := range strings.Split(query, "&") {
			if i > 0 {
				b.WriteByte('&')
			}
			name, value, named := strings.Cut(pair, "=")
			switch {
			case named && value != "" && value != secretHere && (SecretName(name) || LooksRandom(value)):
				secrets = append(secrets, value)
				pair = name + "=" + secretHere
			case !named && LooksRandom(name):
				secrets = append(secrets, name)
				pair = secretHere
			}
			b.WriteString(pair)
		}
	}
	if hasFragment {
		b.WriteString("#" + fragment)
	}
	if len(secrets) == 0 {
		return address, nil
	}
	return b.String(), secrets
}

// secretWords are what names of secrets hold, in lower case and without separators;
// secretWhole are such names.
var (
	secretWords = []string{"token", "secret", "passw", "pwd", "apikey", "accesskey", "privatekey", "credential", "authorization", "signature", "session", "cookie", "jwt", "bearer"}
	secretWhole = []string{"auth", "key", "sig", "code", "sid", "pass", "xauth", "xkey"}
)

// SecretName reports whether what has this name is secret by its name: a member of a
// query, a header, a variable of the environment.
func SecretName(name string) bool {
	plain := strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(name))
	return slices.Contains(secretWhole, plain) || slices.ContainsFunc(secretWords, func(w string) bool { return strings.Contains(plain, w) })
}

// LooksRandom reports whether a text is long and mixed enough to be a key.
func LooksRandom(text string) bool {
	digits, letters := false, false
	for _, c := range []byte(text) {
		switch {
		case c >= '0' && c <= '9':
			digits = true
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			letters = true
		case strings.IndexByte("-_.~%+/=", c) < 0:
			return false
		}
	}
	return len(text) >= 16 && digits && letters
}

// AddressSecrets returns what [PublicAddress] leaves out of an address: as it stands
// there, and as a server reads it.
func AddressSecrets(address string) []Secret {
	_, spelled := splitAddress(address)
	var out []Secret
	for _, s := range spelled {
		out = append(out, NewSecret(s))
		if read, err := url.QueryUnescape(s); err == nil && read != s {
			out = append(out, NewSecret(read))
		}
	}
	return out
}
