package redact

import (
	"regexp"
	"slices"
	"strings"

	"eventdeck/host/event"
)

// shapes describe secrets that are masked without being known: values of members with
// certain names, and patterns in any text.
type shapes struct {
	// suspects reports whether a text is worth a closer look.
	suspects func(text string) bool
	// member reports whether the value of a member is masked, by its name in lower case
	// without separators.
	member func(name string) bool
	// within has the members of a masked object that are masked; nil: all of them.
	within map[string]bool
	// text masks patterns in a text without escapes.
	text func(text string) string
	// value returns the replacement of a masked string.
	value func(text string) string
	// number replaces a masked number; "": numbers are not masked by the name of their
	// member.
	number string
	// names says that patterns are masked in names of members too.
	names bool
}

var separators = strings.NewReplacer("_", "", "-", "", ".", "", " ", "")

// plainName returns a member's name in the spelling of [shapes]: peers spell names in many
// ways.
func plainName(name string) string { return strings.ToLower(separators.Replace(name)) }

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

var (
	secretMembers = wordSet(`secret webhooksecret clientsecret resumetoken accesstoken refreshtoken idtoken`)

	// secretText matches a webhook secret (Standard Webhooks).
	secretText = regexp.MustCompile(`wh(?:sec|sk)_[A-Za-z0-9+/=%_-]+`)
	// addressText matches an address, which may contain secrets.
	addressText = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>\\]+`)
	// namedText matches a variable with a secret name and its value, as shells and
	// environments write it.
	namedText = regexp.MustCompile(`\b((?:[A-Z0-9]+_)*(?:TOKEN|SECRET|KEY|PASSWORD|PASSWD|CREDENTIALS?)(?:_[A-Z0-9]+)*=["']?)([^\s"'\\]{4,})`)
	// keyText matches a key with the prefix of its issuer.
	keyText = regexp.MustCompile(`\b(?:gh[opsur]_|github_pat_|glpat-|xox[abeprs]-|sk-|[sr]k_live_|AKIA|ASIA|AIza|npm_|eyJ)[A-Za-z0-9_.+/=-]{12,}`)

	nameSigns = []string{"TOKEN", "SECRET", "KEY", "PASSW", "CREDENTIAL"}
	keySigns  = []string{"ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_", "glpat-", "xox", "sk-", "k_live_", "AKIA", "ASIA", "AIza", "npm_", "eyJ"}
)

func hasAny(text string, signs []string) bool {
	return slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(text, sign) })
}

// secretShapes are the shapes of secrets. Nearly all frames contain none, and finding that
// out must be cheap.
var secretShapes = shapes{
	suspects: func(text string) bool {
		// The last one finds escaped spellings.
		for _, sign := range []string{"whsec_", "whsk_", "ecret", "oken", "://", `\u00`} {
			if strings.Contains(text, sign) {
				return true
			}
		}
		return hasAny(text, keySigns) || hasAny(text, nameSigns)
	},
	member: func(name string) bool { return secretMembers[name] },
	within: map[string]bool{"value": true, "key": true}, // the secret of SEP-1803 is an object
	text: func(text string) string {
		if strings.Contains(text, "wh") {
			text = secretText.ReplaceAllStringFunc(text, func(s string) string { return event.NewSecret(s).String() })
		}
		if strings.Contains(text, "://") {
			text = addressText.ReplaceAllStringFunc(text, event.PublicAddress)
		}
		if hasAny(text, nameSigns) {
			text = namedText.ReplaceAllString(text, "${1}…")
		}
		if hasAny(text, keySigns) {
			text = keyText.ReplaceAllStringFunc(text, func(s string) string { return event.NewSecret(s).String() })
		}
		return text
	},
	value: func(text string) string { return event.NewSecret(text).String() },
	names: true,
}
