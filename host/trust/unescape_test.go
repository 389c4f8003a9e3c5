package trust

import (
	"errors"
	"fmt"
	"testing"
)

// An error that prints a text is escaped once, however often it is converted to a text and
// an error again.
func TestErrorsAreEscapedOnce(t *testing.T) {
	for _, raw := range []string{
		"red \x1b[31m", `C:\new\x`, `literal \x1b and \\u0041`, "bell\a\\\a", "bidi \u202e tag \U000e0041", "bytes \x9b\xff", `plain`, `a\`, `\`, "",
	} {
		first := fmt.Errorf("server answered %v, so there", Untrusted(raw))
		again := first
		for range 3 {
			again = fmt.Errorf("%v", Unescaped(again.Error()))
		}
		if again.Error() != first.Error() {
			t.Errorf("%q is shown as %s, and later as %s", raw, first, again)
		}
	}
}

// Unescaping a text and showing it again gives the same text, or escapes it once more.
func FuzzUnescaped(f *testing.F) {
	for _, s := range []string{`\x1b`, `\\x1b`, `\u202e`, `\U0010ffff`, `\Uffffffff`, `\xc3\xa9`, `\ud800`, `‹+5 tag›\x1b`, `\x0`, "\x1b\\x1b", `\\`, `\n`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Line(Unescaped(s)).Plain()
		if got != s && got != Line(Untrusted(s)).Plain() {
			t.Errorf("%q is shown as %q", s, got)
		}
	})
}

// Joined errors are one line, without the escape of a line end.
func TestOfErrorIsOneLine(t *testing.T) {
	err := errors.Join(errors.New("first"), fmt.Errorf("second %v", Untrusted("a\x1bb")))
	if got := Line(OfError(err)).Plain(); got != `first; second a\x1bb` {
		t.Errorf("%q", got)
	}
}
