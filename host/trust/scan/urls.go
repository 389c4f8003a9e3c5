package scan

import (
	"bytes"
	"slices"
	"strings"
)

// activeSchemes open something other than a page.
var activeSchemes = []string{"javascript", "vbscript", "data", "file", "vscode", "msdt", "ms-msdt", "ms", "search-ms", "smb", "jar", "intent"}

// activeScheme reports whether a link with the scheme opens a program or a file.
func activeScheme(scheme []byte) bool {
	for _, s := range activeSchemes {
		if len(s) == len(scheme) && bytes.EqualFold(scheme, []byte(s)) {
			return true
		}
	}
	return false
}

// Update is [Scan] for the update of a resource (base MCP): its address, and those of its contents,
// say what changed and are no links. A file is an ordinary resource.
func Update(raw []byte) Report {
	r := Scan(raw)
	if !r.Has("url.scheme") || len(r.Spans) >= MaxSpans {
		return r
	}
	r.Spans = slices.DeleteFunc(r.Spans, func(s Span) bool {
		return s.Flag == "url.scheme" && s.Start == 0 && isAddress(s.Path.Raw()) &&
			(bytes.HasPrefix(raw[s.at+1:], []byte("file://")) || bytes.HasPrefix(raw[s.at+1:], []byte(`file:\/\/`)))
	})
	if !slices.ContainsFunc(r.Spans, func(s Span) bool { return s.Flag == "url.scheme" }) {
		r.Flags = slices.DeleteFunc(r.Flags, func(f Flag) bool { return f == "url.scheme" })
	}
	return r
}

// isAddress reports whether a JSON pointer leads to the address of a resource in its update.
func isAddress(pointer string) bool {
	if rest, ok := strings.CutPrefix(pointer, "/contents/"); ok {
		_, pointer, _ = strings.Cut(rest, "/")
		pointer = "/" + pointer
	}
	return pointer == "/uri"
}

// urls flags the misleading links of a field.
func (s *scanner) urls(f *field) {
	text := f.text
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == ':':
			s.link(f, i)
		case text[i] == '(' && i > 0 && text[i-1] == ']':
			s.markdownLink(f, i)
		}
	}
}

func isSchemeByte(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'
}

// link scans the link whose scheme ends at the colon at i.
func (s *scanner) link(f *field, i int) {
	text := f.text
	start := i
	for start > 0 && i-start < 20 && isSchemeByte(text[start-1]) {
		start--
	}
	scheme := strings.ToLower(text[start:i])
	mark := func(flag Flag) {
		if s.flag(flag); len(s.spans) < MaxSpans {
			s.span(flag, f, start, start+urlLength(text[start:]))
		}
	}
	if !strings.HasPrefix(text[i:], "://") {
		switch scheme {
		case "javascript", "vbscript":
			mark("url.scheme")
		case "data":
			if strings.HasPrefix(text[i:], ":text/html") || strings.HasPrefix(text[i:], ":image/svg") {
				mark("url.scheme")
			}
		}
		return
	}
	switch {
	case scheme == "http" || scheme == "https":
	case activeScheme([]byte(scheme)):
		mark("url.scheme")
		return
	default:
		return
	}
	host, user := authority(text[i+3 : i+3+authorityLength(text[i+3:])])
	if user {
		mark("url.userinfo")
	}
	if strings.HasPrefix(host, "xn--") || strings.Contains(host, ".xn--") {
		mark("url.punycode")
	}
}

// maxLink bounds the part of a link that is read, in bytes.
const maxLink = 2048

// urlLength returns the length of a link.
func urlLength(s string) int {
	for i := range len(s) {
		if endsLink(s[i]) || i == maxLink {
			return i
		}
	}
	return len(s)
}

func endsLink(c byte) bool {
	return c <= ' ' || c == '"' || c == '<' || c == '>' || c == ')' || c == ']'
}

// authorityLength returns the length of the authority of a link.
func authorityLength(s string) int {
	for i := range len(s) {
		if c := s[i]; endsLink(c) || c == '/' || c == '?' || c == '#' || c == '\\' || i == maxLink {
			return i
		}
	}
	return len(s)
}

// linkEnds finds the ends of the Markdown links of one field. It caches the last one, so
// that many starts before one end do not cost quadratic time.
type linkEnds struct {
	text  string
	at    int
	known bool
}

// end returns the end of the target that starts at i.
func (e *linkEnds) end(text string, i int) int {
	if !e.known || e.text != text || e.at < i {
		n := strings.IndexAny(text[i:], ")\n")
		if n < 0 {
			n = len(text) - i
		}
		*e = linkEnds{text: text, at: i + n, known: true}
	}
	return e.at
}

// authority returns the host of a link after its "://", in lower case, and whether a user
// name that looks like a host precedes it.
func authority(s string) (host string, user bool) {
	if i := strings.IndexAny(s, "/?#\\"); i >= 0 {
		s = s[:i]
	}
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		s, user = s[i+1:], true
	}
	if i := strings.LastIndexByte(s, ':'); i >= 0 {
		s = s[:i]
	}
	return strings.ToLower(s), user
}

// markdownLink compares the text of a link with its target. The parenthesis
// of the target is at i.
func (s *scanner) markdownLink(f *field, i int) {
	text := f.text
	open := strings.LastIndexByte(text[max(0, i-300):i-1], '[')
	if open < 0 {
		return
	}
	open += max(0, i-300)
	end := s.closing.end(text, i+1)
	if end-i > maxLink {
		return
	}
	label, target := text[open+1:i-1], text[i+1:end]
	_, after, ok := strings.Cut(target, "://")
	if !ok {
		return
	}
	if open > 0 && text[open-1] == '!' && carriesData(after) {
		s.raise(hit{flag: "inj.exfil", weight: 3}, f, open-1, end)
	}
	if _, shown, ok := strings.Cut(label, "://"); ok {
		a, _ := authority(shown)
		b, _ := authority(after)
		if a != "" && !sameSite(a, b) {
			s.span("url.mismatch", f, open, end)
		}
	}
}

// sameSite reports whether one host is the other or a subdomain of it.
func sameSite(a, b string) bool {
	a, b = strings.TrimPrefix(a, "www."), strings.TrimPrefix(b, "www.")
	return a == b || strings.HasSuffix(b, "."+a) || strings.HasSuffix(a, "."+b)
}

// carriesData reports whether the address of an image has a place for text that a model
// would fill in.
func carriesData(url string) bool {
	_, query, ok := strings.Cut(url, "?")
	if !ok {
		query = url
	}
	query = strings.ToLower(query[:min(len(query), 512)])
	for _, hole := range []string{"{{", "${", "%7b%7b", "<data>", "[data", "{data", "your_", "session_token", "$secret"} {
		if strings.Contains(query, hole) {
			return true
		}
	}
	return false
}
