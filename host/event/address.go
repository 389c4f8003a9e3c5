package event

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"net/url"
	"slices"
	"strings"
)

// PublicAddress returns an address with its secrets masked: the user; query parameters whose
// name says secret or whose value looks random; and, in http and ws addresses, keys in the
// path: segments that look random, and those after a path that webhooks use. A text that is
// no address, and an address without secrets, is returned unchanged.
func PublicAddress(address string) string {
	public, _ := splitAddress(address)
	return public
}

// secretHere masks a secret in an address.
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
	if at := strings.LastIndexByte(host, '@'); at >= 0 && !isHidden(host[:at]) {
		secrets = append(secrets, host[:at])
		host = secretHere + host[at:]
	}
	var b strings.Builder
	b.WriteString(scheme + "://" + host)
	if hasPath {
		if isWeb(scheme) {
			var keys []string
			path, keys = splitPath(path)
			secrets = append(secrets, keys...)
		}
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
			case named && isSecret(name, value):
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

func isWeb(scheme string) bool {
	return slices.Contains([]string{"http", "https", "ws", "wss"}, strings.ToLower(scheme))
}

// keyPaths come before the key in the addresses of webhooks, whatever the key looks like.
var keyPaths = []string{"/services/", "/webhook/", "/webhooks/", "/hooks/"}

// leastPathKey is the least length, in bytes, of a key after one of the keyPaths.
const leastPathKey = 20

// splitPath returns the public form of a path, and its keys.
func splitPath(path string) (public string, keys []string) {
	keyed := slices.ContainsFunc(keyPaths, func(p string) bool { return strings.Contains("/"+path, p) })
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if isHidden(part) || !LooksRandom(part) && !(keyed && len(part) >= leastPathKey && isKeyText(part)) {
			continue
		}
		keys = append(keys, part)
		parts[i] = secretHere
	}
	return strings.Join(parts, "/"), keys
}

// isKeyText reports whether a text has a capital or a digit, and nothing that joins words.
func isKeyText(text string) bool {
	return strings.ContainsAny(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") && !strings.ContainsAny(text, "-_.~% ")
}

// isHidden reports whether a part was masked before: here, or by the redactor.
func isHidden(part string) bool { return part == secretHere || part == "***" }

// secretWords occur in names of secrets, secretWhole are whole names. Both are in lower case
// and without separators.
var (
	secretWords = []string{"token", "secret", "passw", "pwd", "apikey", "accesskey", "privatekey", "credential", "authorization", "signature", "session", "cookie", "jwt", "bearer"}
	secretWhole = []string{"auth", "key", "sig", "code", "sid", "pass", "xauth", "xkey"}
)

// SecretName reports whether a query parameter, a header or an environment variable of this
// name holds a secret.
func SecretName(name string) bool {
	plain := strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(name))
	return slices.Contains(secretWhole, plain) || slices.ContainsFunc(secretWords, func(w string) bool { return strings.Contains(plain, w) })
}

// LooksRandom reports whether a text holds letters and digits without a break that are
// long and mixed enough to be a key.
func LooksRandom(text string) bool {
	run, digits, letters := 0, false, false
	for _, c := range []byte(text) {
		switch {
		case c >= '0' && c <= '9':
			digits = true
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			letters = true
		default:
			run, digits, letters = 0, false, false
			continue
		}
		if run++; run >= 16 && digits && letters {
			return true
		}
	}
	return false
}

// AddressSecrets returns the secrets that [PublicAddress] masks in an address, as they are
// written and URL-decoded.
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

// AddressName returns the name of a server that is given by its address: the address itself
// or, if it holds secrets, its public form with a keyed hash of the whole. The same address
// always has the same name, and another secret gives another name.
func AddressName(address string, key []byte) string {
	public, secrets := splitAddress(address)
	if len(secrets) == 0 {
		return address
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(address))
	return public + nameMark + strings.ToLower(base32.StdEncoding.EncodeToString(mac.Sum(nil)[:nameHash]))
}

// IsAddressName reports whether a text is a name that [AddressName] made of an address
// with secrets. It is no address that can be used.
func IsAddressName(text string) bool {
	at := strings.LastIndex(text, nameMark)
	return at >= 0 && len(text)-at-len(nameMark) == nameHash*8/5 && strings.Contains(text[:at], secretHere) && strings.Contains(text[:at], "://")
}

const (
	nameMark = "#" // no server is sent what follows it
	nameHash = 5   // bytes of the hash
)

// PublicWords returns the words of a command with their secrets masked: values of flags and
// variables whose names say secret, secrets in addresses and headers, keys.
func PublicWords(words []string) []string {
	out := make([]string, len(words))
	flag := "" // before the word, if it says that a secret follows
	for i, word := range words {
		out[i] = publicWord(word)
		if flag != "" && !strings.HasPrefix(word, "-") && isSecret(flag, word) {
			out[i] = secretHere
		}
		flag = ""
		if strings.HasPrefix(word, "-") && !strings.Contains(word, "=") && SecretName(strings.TrimLeft(word, "-")) {
			flag = strings.TrimLeft(word, "-")
		}
	}
	return out
}

func publicWord(word string) string {
	if public := PublicAddress(word); public != word {
		return public
	}
	if i := strings.IndexAny(word, "=:"); i >= 0 && !strings.HasPrefix(word[i:], "://") {
		name, value := word[:i+1], word[i+1:]
		if strings.HasPrefix(value, " ") {
			name, value = name+" ", value[1:]
		}
		if isSecret(strings.TrimLeft(word[:i], "-"), value) {
			return name + secretHere
		}
		return word
	}
	if LooksRandom(word) && !strings.ContainsAny(word, "./@") {
		return secretHere
	}
	return word
}

// isSecret reports whether a value is secret by its name or its form. A reference to a
// variable (${…}) and a masked value are not.
func isSecret(name, value string) bool {
	return value != "" && !isHidden(value) && !strings.HasPrefix(value, "${") && (SecretName(name) || LooksRandom(value))
}
