package browser

import (
	"errors"
	"slices"
	"testing"
)

func TestCommand(t *testing.T) {
	screen := func(name string) string { return map[string]string{"DISPLAY": ":0"}[name] }
	none := func(string) string { return "" }
	for _, c := range []struct {
		system string
		env    func(string) string
		want   []string
	}{
		{"linux", screen, []string{"xdg-open", "https://h/?a=1&b=$(x)"}},
		{"linux", none, nil},
		{"darwin", none, []string{"open", "https://h/?a=1&b=$(x)"}},
		{"windows", none, []string{"rundll32", "url.dll,FileProtocolHandler", "https://h/?a=1&b=$(x)"}},
	} {
		got, err := command(c.system, c.env, "https://h/?a=1&b=$(x)")
		if !slices.Equal(got, c.want) || (c.want == nil) != errors.Is(err, ErrNone) {
			t.Errorf("%s: %q, %v", c.system, got, err)
		}
	}
	for _, bad := range []string{"", "file:///etc/passwd", "javascript:alert(1)", "-h", "https://"} {
		if got, err := command("linux", screen, bad); err == nil {
			t.Errorf("%q is opened by %q", bad, got)
		}
	}
}
