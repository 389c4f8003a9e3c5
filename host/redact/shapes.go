package redact

import (
	"regexp"
	"slices"
	"strings"

	"eventdeck/host/event"
)

// shapes are what is hidden without being known: values of members with certain names,
// and what has a certain form wherever it stands.
type shapes struct {
	// suspects reports whether a text is worth a closer look.
	suspects func(text string) bool
	// member reports whether the value of a member is hidden, by its name in lower case
	// without separators.
	member func(name string) bool
	// within are the members of a hidden object that are hidden; nil: all of them.
	within map[string]bool
	// text masks what has a form, in a text in which nothing is escaped.
	text func(text string) string
	// value is what stands for a hidden string.
	value func(text string) string
	// number stands for a hidden number; "": numbers are not hidden by their member.
	number string
	// names: what has a form is masked in names of members too.
	names bool
}

var separators = strings.NewReplacer("_", "", "-", "", ".", "", " ", "")

// plainName is a member's name as [shapes] has it: peers spell names in many ways.
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

	// secretText is a webhook secret (Standard Webhooks).
	secretText = regexp.MustCompile(`wh(?:sec|sk)_[A-Za-z0-9+/=%_-]+`)
	// addressText is an address, in which secrets may stand.
	addressText = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>\\]+`)
	// namedText is a variable that its name calls secret, with its value, as shells and
	// environments have it, and credentials as a header has them.
	namedText = regexp.MustCompile(`\b((?:[A-Z0-9]+_)*(?:TOKEN|SECRET|KEY|PASSWORD|PASSWD|CREDENTIALS?)(?:_[A-Z0-9]+)*=["']?)([^\s"'\\]{4,})`)
	// keyText is a key with the beginning that its issuer gives to all of them.
	keyText = regexp.MustCompile(`\b(?:gh[opsur]_|github_pat_|glpat-|xox[abeprs]-|sk-|[sr]k_live_|AKIA|ASIA|AIza|npm_|eyJ)[A-Za-z0-9_.+/=-]{12,}`)

	nameSigns = []string{"TOKEN", "SECRET", "KEY", "PASSW", "CREDENTIAL"}
	keySigns  = []string{"ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_", "glpat-", "xox", "sk-", "k_live_", "AKIA", "ASIA", "AIza", "npm_", "eyJ"}
)

func hasAny(text string, signs []string) bool {
	return slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(text, sign) })
}

// secretShapes are the shapes of secrets. Nearly all frames hold none, and to find that
// out must cost next to nothing.
var secretShapes = shapes{
	suspects: func(text string) bool {
		// The last where it is spelled with escapes.
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
