package external

import (
	"os"
	"path/filepath"
	"testing"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/widget"
)

func TestTabCompletesThePathOfAFile(t *testing.T) {
	home := t.TempDir()
	t.Chdir(home)
	for _, name := range []string{"events.csv", "events-1.csv", "notes/märz.md", "notes/mär2.md", ".hidden", "bad\x1b[2J.md"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	x := New(&tuitest.Screen{}, environment([]string{"HOME=" + home}), nil)
	for _, c := range []struct{ typed, want, offers string }{
		{"no", "notes/", ""},
		{"ev", "events", "events-1.csv   events.csv"},
		{"events.", "events.csv", ""},
		{"~/notes/", "~/notes/mär", "mär2.md   märz.md"},
		{home + "/.h", home + "/.hidden", ""},
		{"", "", "events-1.csv   events.csv   notes/"},
		{"bad", "bad", "no file has a name that begins like this"},
	} {
		p := &widget.Prompt{}
		x.CompletePath(p)
		p.Insert(c.typed)
		cmd, _ := p.Key(tea.KeyPressMsg{Code: tea.KeyTab})
		tuitest.Run(cmd)
		if got := p.Field.Text(); got != c.want || p.Offers != c.offers || p.Problem != "" {
			t.Errorf("%q becomes %q, with %q and %q", c.typed, got, p.Offers, p.Problem)
		}
		if p.Insert("x"); p.Offers != "" {
			t.Errorf("after a key %q is still offered", p.Offers)
		}
	}
}

func TestTabIsIgnoredAfterTheTextChanged(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("notes", 0o700); err != nil {
		t.Fatal(err)
	}
	p := &widget.Prompt{}
	New(&tuitest.Screen{}, environment(nil), nil).CompletePath(p)
	p.Insert("no")
	cmd, _ := p.Key(tea.KeyPressMsg{Code: tea.KeyTab})
	p.Insert("w")
	if tuitest.Run(cmd); p.Field.Text() != "now" {
		t.Errorf("it is %q", p.Field.Text())
	}
	p.Insert("here/")
	cmd, _ = p.Key(tea.KeyPressMsg{Code: tea.KeyTab})
	if tuitest.Run(cmd); p.Problem == "" {
		t.Error("a directory that is not there is not told")
	}
}
