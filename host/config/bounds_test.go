package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

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
