package form_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"eventdeck/host"
	"eventdeck/themes"
	"eventdeck/ui/internal/browser"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/form"
	"eventdeck/ui/tui/widget"
)

// screen runs nothing by itself: tests run the commands that they want.
type screen struct {
	shown widget.Dialog
	told  string
}

func (s *screen) Show(d widget.Dialog)        { s.shown = d }
func (s *screen) Shown() widget.Dialog        { return s.shown }
func (s *screen) Tell(text string)            { s.told = text }
func (s *screen) Fail(what string, err error) { s.told = what + ": " + err.Error() }
func (s *screen) Do(fn func(context.Context) tea.Msg) tea.Cmd {
	return func() tea.Msg { return fn(context.Background()) }
}
func (s *screen) Ask(what string, fn func(context.Context) error) tea.Cmd {
	return s.Do(func(ctx context.Context) tea.Msg { return widget.Done{What: what, Err: fn(ctx)} })
}
func (s *screen) EditText(string, func(string) tea.Cmd) tea.Cmd { return nil }
func (s *screen) Copy(what, _ string) tea.Cmd                   { s.told = "copied " + what; return nil }

// signingIn is a host that begins one sign-in.
type signingIn struct {
	form.Host
	flow host.SignIn
}

func (h signingIn) SignIn(context.Context, string) (host.SignIn, error) { return h.flow, nil }

func shown(d widget.Dialog, theme *themes.Theme) string {
	w, h := d.Size(120, 40)
	var c cells.Canvas
	c.Begin(theme, w)
	d.Draw(&c, h)
	return ansi.Strip(strings.Join(c.Rows(h, nil), "\n"))
}

func TestSignInShowsTheAddressUntilItIsOver(t *testing.T) {
	s := &screen{}
	ended := false
	flow := host.SignIn{URL: "https://as.example/authorize?xxx", Issuer: "https://as.example", Wait: func(ctx context.Context) error {
		ended = ctx.Err() != nil
		return ctx.Err()
	}}
	env := &cells.Env{Theme: themes.For(true, themes.NoColours), Glyphs: &cells.ASCIIGlyphs, Now: time.Now}
	e := &form.Env{Env: env, Screen: s, Host: signingIn{flow: flow}}
	opened, fails := "", error(browser.ErrNone)
	e.Browse = func(address string) error { opened = address; return fails }
	begun := form.OpenSignIn(e, "pager")().(widget.Then)()().(tea.BatchMsg)
	begun[0]().(widget.Then)()
	if s.shown == nil || opened != flow.URL {
		t.Fatalf("%v is shown, opened %q", s.shown, opened)
	}
	text := shown(s.shown, &env.Theme)
	for _, want := range []string{"asked by https://as.example", "There is no browser here", flow.URL} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not shown:\n%s", want, text)
		}
	}
	fails = errors.New("cannot start")
	s.shown.Key(tea.KeyPressMsg{Code: 'o', Text: "o"})().(widget.Then)()
	if text := shown(s.shown, &env.Theme); !strings.Contains(text, "cannot start") {
		t.Errorf("what the browser says is not shown:\n%s", text)
	}
	s.shown.Key(tea.KeyPressMsg{Code: tea.KeyEscape})
	begun[1]().(widget.Then)()
	if s.shown != nil || !ended || !strings.Contains(s.told, "given up") {
		t.Errorf("esc does not give up: %v is shown, told %q", s.shown, s.told)
	}
}
