package redact

import (
	"regexp"
	"slices"
	"strings"

	"eventdeck/host/event"
)

// Audience returns the set for a screen that is shown to others. It masks personal data and
// secrets by their shapes:
//
//   - the values of members whose name is in personal or ends like one of
//     personalEnds, whatever is inside of them;
//   - in every other text: mail addresses, telephone numbers that begin with +,
//     the user part of URLs and the keys in their paths and queries, bearer tokens, and
//     tokens with a known beginning.
//
// It is an aid, not a guarantee: a name in running text stays.
func Audience() *Set { return &Set{shapes: &personalShapes} }

var personalShapes = shapes{
	suspects: func(string) bool { return true },
	member:   isPersonal,
	text:     maskPersonal,
	value:    func(string) string { return Shown },
	number:   "0", // so that the value still fits its schema
}

// personal has names of members, in lower case and without - and _.
var personal = wordSet(`
	email mail emailaddress emails
	user username userid login actor author assignee assignees reporter requester owner customer contact member
	participant participants recipient recipients sender person people createdby updatedby assignedto ackedby
	fullname firstname lastname givenname familyname surname displayname nickname realname
	phone phonenumber phones tel telephone mobile cell fax
	address street zip zipcode postcode postalcode birthday birthdate dateofbirth dob gender
	ssn nationalid passport iban bic card cardnumber creditcard cvv cvc account accountnumber
	ip ipaddress clientip remoteip remoteaddr
	token tokens secret secrets password passwd pwd passphrase apikey credential credentials privatekey
	authorization auth cookie cookies setcookie session sessionid signature otp pin
`)

// personalEnds are endings of such names.
var personalEnds = []string{"email", "phone", "token", "password", "secret", "username", "apikey", "fullname"}

// isPersonal reports whether the value of a member with this name is masked.
func isPersonal(name string) bool {
	return personal[name] || slices.ContainsFunc(personalEnds, func(end string) bool { return strings.HasSuffix(name, end) })
}

var (
	// patterns are masked in every text.
	patterns = regexp.MustCompile(strings.Join([]string{
		`[A-Za-z0-9._%+\-]+@[A-Za-z0-9\-]+(?:\.[A-Za-z0-9\-]+)+`,
		`\+[0-9][0-9 ().\-/]{6,}[0-9]`,
		`(?i:bearer|basic)\s+[A-Za-z0-9._~+/=\-]{6,}`,
		`(?:whsec_|whsk_|gh[opsur]_|github_pat_|glpat-|xox[abeprs]-|sk[-_]|pk_live_|rk_live_|AKIA|ASIA|AIza|ya29\.|npm_|eyJ)[A-Za-z0-9_.+/=\-]{8,}`,
		`-----BEGIN [A-Z ]+-----`,
	}, "|"))
	userInfo = regexp.MustCompile(`(://)[^/\s@"]+@`)
)

// maskPersonal masks personal data and secrets by their shapes until no shape is left:
// masking one pattern can complete another.
func maskPersonal(s string) string {
	for {
		hidden := addressText.ReplaceAllStringFunc(s, event.PublicAddress)
		hidden = userInfo.ReplaceAllString(hidden, "${1}"+Shown+"@")
		hidden = patterns.ReplaceAllString(hidden, Shown)
		if hidden == s {
			return s
		}
		s = hidden
	}
}
