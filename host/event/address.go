package event

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"net/url"
	"slices"
	"strings"
)

// PublicAddress returns an address without what is secret in it: the user, the
// values of those members of the query that are secret by their name or look random, and
// in addresses of the web the parts of the path that are keys: those that look random,
// and what follows the path of a webhook whose address is its key.
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

// keyPaths lead to what is a key in the addresses of webhooks, whatever it looks like.
var keyPaths = []string{"/services/", "/webhook/", "/webhooks/", "/hooks/"}

// leastPathKey is how many bytes a key in a path has at least that is known by its place.
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

// isKeyText reports whether a text is letters and digits, capitals among them, with
// nothing that words are joined by.
func isKeyText(text string) bool {
	return strings.ContainsAny(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") && !strings.ContainsAny(text, "-_.~% ")
}

// isHidden reports whether a part stands for one that was hidden: here, or by what masks
// texts.
func isHidden(part string) bool { return part == secretHere || part == "***" }

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

// AddressName returns the name of a server that is given by its address: the address.
// One that holds secrets is named without them, and with a hash under a key, so that the
// same address has the same name and another secret another one.
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

// PublicWords returns the words of a command without what is secret in them: what
// follows a flag or a name that says so, addresses, values of headers, keys.
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

// isSecret reports whether a value is secret, by its name or its looks. What names a
// variable is not, nor what was hidden before.
func isSecret(name, value string) bool {
	return value != "" && !isHidden(value) && !strings.HasPrefix(value, "${") && (SecretName(name) || LooksRandom(value))
}
