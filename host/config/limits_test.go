package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Each limit below its least value, at both ends of its range, and above.
func TestLimitsAreReadWithinTheirRange(t *testing.T) {
	for _, k := range new(Limits).all() {
		for _, n := range []int{k.least, k.least + 1, k.most - 1, k.most} {
			for _, value := range k.spellings(n) {
				l, err := limitsOf(t, fmt.Sprintf(`{"limits": {%q: %s}}`, k.name, value))
				if got := *named(&l, k.name).to; err != nil || got != n {
					t.Errorf("%s %s: %d, %v", k.name, value, got, err)
				}
			}
		}
		for _, value := range []string{fmt.Sprint(k.least - 1), fmt.Sprint(k.most + 1), "-1", "0", "1.5", "1e999", "99999999999999999999", `"many"`, `""`, `"1e300GiB"`, "null", "true", "[]", "{}"} {
			l, err := limitsOf(t, fmt.Sprintf("{\n\"limits\": {%q: %s}}", k.name, value))
			if !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), "s.json:2:") || !strings.Contains(err.Error(), k.name) || !strings.Contains(err.Error(), "from "+k.words(k.least)+" to "+k.words(k.most)) {
				t.Errorf("%s %s: %v", k.name, value, err)
			}
			if l != (Limits{}) {
				t.Errorf("%s %s: %+v", k.name, value, l)
			}
		}
	}
}

// spellings are those of a value in a file.
func (k limit) spellings(n int) []string {
	all := []string{fmt.Sprint(n)}
	if k.bytes {
		all = append(all, fmt.Sprintf(`"%d"`, n), fmt.Sprintf(`"%d B"`, n))
	}
	return all
}

func named(l *Limits, name string) limit {
	for _, k := range l.all() {
		if k.name == name {
			return k
		}
	}
	return limit{}
}

func limitsOf(t *testing.T, text string) (Limits, error) {
	t.Helper()
	s, err := ParseSettings("s.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s.Limits()
}

func TestOtherLimitsAreReadDespiteAWrongOne(t *testing.T) {
	l, err := limitsOf(t, `{"keys": {}, "limits": {"payload": "4MiB", "subscription": 5, "depth": "deep", "servers": 7, "servers": 8, "zzz": 1}}`)
	if l != (Limits{Payload: 4 << 20, Servers: 7}) {
		t.Errorf("%+v", l)
	}
	for _, want := range []string{
		`s.json:1:44: there is no limit "subscription"; did you mean "subscriptions"?`, `limit "depth": it must be a whole number from 10 to 5000`,
		`limit "servers" is there twice, first on line 1`, `there is no limit "zzz"; there are ["servers"`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	if l, err := limitsOf(t, `{"limits": [1]}`); l != (Limits{}) || !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), `"limits" must be an object`) {
		t.Errorf("%+v, %v", l, err)
	}
	if l, err := new(Settings).Limits(); l != (Limits{}) || err != nil {
		t.Errorf("nothing was chosen: %+v, %v", l, err)
	}
}

func TestNamesAndAddressesAreBounded(t *testing.T) {
	for _, n := range []int{1, maxName - 1, maxName, maxName + 1} {
		name := strings.Repeat("n", n)
		_, err := Parse("f.json", fmt.Appendf(nil, `{"mcpServers": {%q: {"command": "x"}}}`, name), nil)
		draft := Draft{Name: name, Command: "x"}.Check()
		if n <= maxName && (err != nil || draft != nil) {
			t.Errorf("a name of %d bytes: %v, %v", n, err, draft)
		}
		if n > maxName && (!errors.Is(err, ErrFile) || !strings.Contains(err.Error(), "f.json:1:17: the name of a server has 256 bytes, must be at most 255") || !errors.Is(draft, ErrDraft)) {
			t.Errorf("a name of %d bytes: %v, %v", n, err, draft)
		}
	}
	for _, begin := range []string{"https://h/", "stdio:x "} {
		for _, n := range []int{maxAddress - 1, maxAddress, maxAddress + 1} {
			_, err := new(File).Find(begin + strings.Repeat("a", n-len(begin)))
			if n <= maxAddress && err != nil || n > maxAddress && (!errors.Is(err, ErrAddress) || !strings.Contains(err.Error(), "must be at most 4096")) {
				t.Errorf("%s of %d bytes: %v", begin, n, err)
			}
		}
	}
}
