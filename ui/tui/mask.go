package tui

import (
	"encoding/json"
	"regexp"
	"strings"
)

// Masking is for showing the screen to others: see [Options.Present]. It hides
//
//   - the values of members whose name is in personal or ends like one of
//     personalEnds, whatever is inside of them;
//   - in every other text: mail addresses, telephone numbers that begin with +,
//     the user part of URLs, bearer tokens, and tokens with a known beginning.
//
// It reads JSON by its tokens alone, so that text that is no valid JSON is masked
// as well. It is a help, not a promise: a name in running text stays.

// masked stands for a text that is hidden.
const masked = "***"

// personal are names of members, in lower case and without - and _.
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

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// isPersonal tells whether the value of a member with this name is hidden.
func isPersonal(name string) bool {
	name = strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(name))
	if personal[name] {
		return true
	}
	for _, end := range personalEnds {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

var (
	// patterns are what is hidden inside of any text.
	patterns = regexp.MustCompile(strings.Join([]string{
		`[A-Za-z0-9._%+\-]+@[A-Za-z0-9\-]+(?:\.[A-Za-z0-9\-]+)+`,
		`\+[0-9][0-9 ().\-/]{6,}[0-9]`,
		`(?i:bearer|basic)\s+[A-Za-z0-9._~+/=\-]{6,}`,
		`(?:whsec_|whsk_|gh[opsur]_|github_pat_|glpat-|xox[abeprs]-|sk[-_]|pk_live_|rk_live_|AKIA|ASIA|AIza|ya29\.|npm_|eyJ)[A-Za-z0-9_.+/=\-]{8,}`,
		`-----BEGIN [A-Z ]+-----`,
	}, "|"))
	userInfo = regexp.MustCompile(`(://)[^/\s@"]+@`)
)

// maskText hides what is personal or secret by its shape, until nothing of such a
// shape is left: what one pattern hides can complete the shape of another.
func maskText(s string) string {
	for {
		hidden := userInfo.ReplaceAllString(s, "${1}"+masked+"@")
		hidden = patterns.ReplaceAllString(hidden, masked)
		if hidden == s {
			return s
		}
		s = hidden
	}
}

// maskJSON hides what is personal or secret in a JSON text. Everything else stays
// byte for byte. What is no JSON is masked as text as well.
func maskJSON(raw []byte) []byte {
	m := masker{in: raw, out: make([]byte, 0, len(raw)), hideAt: -1}
	for m.at < len(m.in) {
		m.token()
	}
	if !json.Valid(raw) {
		return []byte(maskText(string(m.out)))
	}
	return m.out
}

// masker goes over JSON by its tokens.
type masker struct {
	in, out []byte
	at      int
	depth   int
	hideAt  int  // depth at which a hidden value ends, -1 if none is open
	hideOne bool // the next value is hidden
}

func (m *masker) token() {
	switch b := m.in[m.at]; {
	case b == '"':
		m.text()
	case b == '{' || b == '[':
		if m.hideOne && m.hideAt < 0 {
			m.hideAt = m.depth
		}
		m.hideOne = false
		m.depth++
		m.copy(1)
	case b == '}' || b == ']':
		m.depth--
		if m.depth <= m.hideAt {
			m.hideAt = -1
		}
		m.copy(1)
	case b == '-' || '0' <= b && b <= '9':
		m.number()
	case b == ',':
		m.hideOne = false
		m.copy(1)
	default:
		m.copy(1)
	}
}

func (m *masker) copy(n int) {
	m.out = append(m.out, m.in[m.at:m.at+n]...)
	m.at += n
}

// text takes a string: the name of a member, or a value.
func (m *masker) text() {
	end := m.at + 1
	for end < len(m.in) && m.in[end] != '"' {
		if m.in[end] == '\\' {
			end++
		}
		end++
	}
	end = min(end+1, len(m.in))
	token := m.in[m.at:end]
	next := end
	for next < len(m.in) && strings.IndexByte(" \t\r\n", m.in[next]) >= 0 {
		next++
	}
	if next < len(m.in) && m.in[next] == ':' {
		m.out = append(m.out, m.in[m.at:next+1]...)
		m.at = next + 1
		m.hideOne = isPersonal(unquoted(token))
		return
	}
	m.at = end
	if m.hideOne || m.hideAt >= 0 {
		m.out = append(m.out, `"`+masked+`"`...)
		m.hideOne = false
		return
	}
	plain := unquoted(token)
	if shown := maskText(plain); shown != plain {
		quoted, err := json.Marshal(shown)
		if err != nil {
			quoted = []byte(`"` + masked + `"`)
		}
		m.out = append(m.out, quoted...)
		return
	}
	m.out = append(m.out, token...)
}

// number keeps a hidden number a number, so that the schema still fits.
func (m *masker) number() {
	end := m.at + 1
	for end < len(m.in) && strings.IndexByte("0123456789.eE+-", m.in[end]) >= 0 {
		end++
	}
	if m.hideOne || m.hideAt >= 0 {
		m.out = append(m.out, '0')
		m.at, m.hideOne = end, false
		return
	}
	m.copy(end - m.at)
}

// unquoted returns what a string token says; of one that is broken, its bytes.
func unquoted(token []byte) string {
	var s string
	if json.Unmarshal(token, &s) == nil {
		return s
	}
	return strings.Trim(string(token), `"`)
}
