package react_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/eventlog"
	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/ui/internal/reacttest"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/layout"
	reactions "eventdeck/ui/tui/react"
)

// fixture is a screen of reactions with a clock and a terminal that tests set.
type fixture struct {
	tuitest.Screen
	*reactions.Pane
	engine  *reacttest.Engine
	log     tuitest.Log // of what new rules are tried on
	added   []react.Rule
	env     *reactions.Env
	cells   *cells.Env
	now     time.Time
	panes   layout.Screen
	rows    int // of the detail that a frame shows
	covered bool
}

// keyed is a screen with a key that approves.
type keyed struct{ *tuitest.Screen }

func (s keyed) KeyOf(action string) string {
	if action == reactions.ApproveAction {
		return "ctrl+y"
	}
	return s.Screen.KeyOf(action)
}

func newFixture() *fixture {
	d := &fixture{engine: reacttest.Reacting(), cells: tuitest.Env(), now: reacttest.Start, panes: layout.Screen{Shape: layout.Shape{W: 120, H: 40, Focus: layout.React}}, rows: 1000}
	d.cells.Now = func() time.Time { return d.now }
	d.env = &reactions.Env{
		Env: d.cells, Screen: keyed{&d.Screen}, Engine: d.engine, Panes: &d.panes,
		Covered: func() bool { return d.covered },
		Log:     func() eventlog.Records { return &d.log }, Chosen: func() (uint64, bool) { return 1, true },
	}
	d.env.Writer = reactions.Writer{
		Add:  func(_ string, r react.Rule) error { d.added = append(d.added, r); return nil },
		Text: func(_ string, r react.Rule) (string, error) { return "rule " + r.Name, nil },
		Remove: func(_, name string) error {
			d.added = slices.DeleteFunc(d.added, func(r react.Rule) bool { return r.Name == name })
			return nil
		},
	}
	d.Pane = reactions.New(d.env)
	d.frame()
	return d
}

// lines returns the lines of the detail pane, after all reading is done.
func (d *fixture) lines() []detail.Line {
	t := d.Board.Table()
	for range 3 {
		d.Exec(d.Work())
		d.Exec(t.Work())
		t.Load()
	}
	text := detail.Text{Env: d.cells}
	text.Begin(100)
	d.Other().Write(&text)
	return text.Lines
}

// frame draws the table and the detail of its chosen row.
func (d *fixture) frame() string {
	lines := d.lines()
	d.BeginFrame()
	d.Other().Drawn(0, min(d.rows, len(lines)), len(lines))
	d.EndFrame()
	var c cells.Canvas
	c.Begin(&d.cells.Theme, 100)
	for i := range lines {
		lines[i].Draw(&c, d.cells.Glyphs)
	}
	return tuitest.Plain(append(d.Board.Table().Draw(160, 20), c.All()...))
}

// rest lets time pass while the frame does not change.
func (d *fixture) rest(span time.Duration) {
	for end := d.now.Add(span); d.now.Before(end); {
		d.now = d.now.Add(reactions.TickEvery)
		d.Tick()
	}
}

// approve presses the key that approves.
func (d *fixture) approve() {
	d.Pane.Key(tea.KeyPressMsg{Code: 'y', Mod: tea.ModCtrl})
	d.Exec(d.Approve())
}

func (d *fixture) decided() int {
	return d.engine.Acts("approve") + d.engine.Acts("arm") + d.engine.Acts("grant")
}

func TestWaitingShowsRequests(t *testing.T) {
	d := newFixture()
	s := d.frame()
	for _, want := range []string{"page-p1", "/usr/local/bin/restart payments", "! noticed, late", "input of the act", "2 events; enter on a line shows it"} {
		if !strings.Contains(s, want) {
			t.Errorf("%q is not shown:\n%s", want, s)
		}
	}
	if strings.ContainsRune(s, 0x202e) {
		t.Errorf("a payload turns the text around:\n%s", s)
	}
	if ids := d.RunIDs(); !d.OnWaiting() || !d.Grantable() || d.OnRule() || d.OnEnded() || d.WaitingCount() != 2 || !slices.Equal(ids, []string{"r3aaaaaaaaaaaaaa", "r4bbbbbbbbbbbbbb"}) || d.RuleOf("r3aaaaaaaaaaaaaa") != "page-p1" || d.RuleOf("nope") != "" {
		t.Errorf("of what waits: %q", ids)
	}
	d.Exec(d.DenyRun("r3aaaaaaaaaaaaaa", "page-p1", "not now"))
	if d.Exec(d.Undo()); d.engine.Acts("deny r3aaaaaaaaaaaaaa not now") != 1 || d.engine.Acts("undeny r3aaaaaaaaaaaaaa") != 1 {
		t.Errorf("the engine did %q", d.engine.Did)
	}
	d.engine.View.Waiting, d.engine.View.Revision = nil, 9
	d.rest(2 * time.Second)
	if s := d.frame(); d.OnWaiting() || !strings.Contains(s, "Nothing waits for you.") {
		t.Errorf("when nothing waits:\n%s", s)
	}
}

func TestScreenTextsArePlain(t *testing.T) {
	d := newFixture()
	r := &d.engine.View.Waiting[0]
	r.Members.Top = map[string][]react.Count{".state": {{Value: trust.Untrusted("opened"), N: 1}}, ".service": {{Value: trust.Untrusted("payments"), N: 2}}}
	request := *r.Request
	request.Input, r.Request = nil, &request
	d.engine.View.Revision++
	d.rest(2 * time.Second)
	s := d.frame()
	for _, want := range []string{"WAITED", "opened, in 1 of them", "payments, in all of them", "The act gets no input."} {
		if !strings.Contains(s, want) {
			t.Errorf("%q is not shown:\n%s", want, s)
		}
	}
	d.ShowTab(reactions.Rules, "")
	for since, want := range map[uint64]string{0: "applies    to all records", 7: "applies    to records from number 7 on"} {
		d.engine.View.Rules[0].Since = since
		d.engine.View.Revision++
		d.rest(2 * time.Second)
		if s := d.frame(); !strings.Contains(s, "INVOLVES") || !strings.Contains(s, "input effects") || !strings.Contains(s, want) {
			t.Errorf("%q is not shown:\n%s", want, s)
		}
	}
}

func TestRunsAreFoundByStateAndWords(t *testing.T) {
	for words, want := range map[string][]string{
		"": {"r4bbbbbbbbbbbbbb", "r3aaaaaaaaaaaaaa", "r2cccccccccccccc", "r1dddddddddddddd"}, "done": {"r2cccccccccccccc"},
		"parked done": {"r2cccccccccccccc", "r1dddddddddddddd"}, "asking PAYMENTS": {"r4bbbbbbbbbbbbbb", "r3aaaaaaaaaaaaaa"}, "asking db": {"r4bbbbbbbbbbbbbb"}, "nosuchword": nil,
	} {
		d := newFixture()
		d.ShowTab(reactions.Runs, words)
		d.frame()
		var got []string
		for i := range d.Board.Table().Rows() {
			got = append(got, d.Board.Table().RowAt(i).Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q finds %q", words, got)
		}
	}
}

func TestActionsOnRuns(t *testing.T) {
	d := newFixture()
	d.ShowTab(reactions.Runs, "parked")
	if s := d.frame(); !d.OnParked() || d.OnWaiting() || !strings.Contains(s, "<react.settle> says what became of it") {
		t.Errorf("a parked run:\n%s", s)
	}
	d.Exec(d.SettleRun("r1dddddddddddddd", true, "seen"))
	d.Exec(d.RetryRun("r2cccccccccccccc"))
	if d.engine.Acts("settle r1dddddddddddddd true seen") != 1 || d.engine.Acts("retry r2cccccccccccccc") != 1 {
		t.Errorf("the engine did %q", d.engine.Did)
	}
	d.ShowTab(reactions.Runs, "done")
	if s := d.frame(); !d.OnEnded() || d.OnParked() || !strings.Contains(s, "restarted") || strings.ContainsRune(s, 0x1b) {
		t.Errorf("a run that is over:\n%s", s)
	}
	d.engine.Fails = errors.New("the engine is gone")
	if d.Exec(d.RetryRun("r2cccccccccccccc")); !errors.Is(d.Failed, d.engine.Fails) {
		t.Errorf("told is %q, %v", d.Told, d.Failed)
	}
}

func TestRulesAreShownAndDecided(t *testing.T) {
	d := newFixture()
	d.ShowTab(reactions.Rules, "")
	if s := d.frame(); !d.OnRule() || !strings.Contains(s, "note-deploys") || !strings.Contains(s, "it is not armed as it stands") {
		t.Errorf("the rules:\n%s", s)
	}
	if !d.Choose(reactions.Rules, "note-deploys") || d.Choose(reactions.Rules, "nope") || !slices.Equal(d.RuleNames(), []string{"page-p1", "note-deploys"}) {
		t.Errorf("there are %q", d.RuleNames())
	}
	d.frame()
	d.Exec(d.Disarm("note-deploys"))
	if d.Exec(d.Undo()); d.engine.Acts("disarm note-deploys") != 1 || d.engine.Acts("arm note-deploys h2") != 1 {
		t.Errorf("the engine did %q", d.engine.Did)
	}
	d.Exec(d.SilenceRule("note-deploys", 2*time.Hour))
	if d.engine.Acts("silence note-deploys 2h0m0s") != 1 {
		t.Errorf("the engine did %q", d.engine.Did)
	}
}

// A key approves a run or arms a rule only after all of it was visible, not covered, on a terminal
// that is large enough, and nothing has happened since.
func TestWhenAKeyMayApprove(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(d *fixture)
		says string // why not; "": it may
	}{
		"it has stood":      {func(*fixture) {}, ""},
		"a key before":      {func(d *fixture) { d.Pane.Key(tea.KeyPressMsg{Code: 'j', Text: "j"}) }, "wait a moment"},
		"a paste or click":  {func(d *fixture) { d.Disturb() }, "wait a moment"},
		"a held key":        {func(d *fixture) { d.Pane.Key(tea.KeyPressMsg{Code: 'y', Mod: tea.ModCtrl, IsRepeat: true}) }, "wait a moment"},
		"lines below":       {func(d *fixture) { d.rows = 3; d.again(); d.rest(2 * time.Second) }, "read on"},
		"a window over it":  {func(d *fixture) { d.covered = true; d.frame() }, "must be on the screen"},
		"a small terminal":  {func(d *fixture) { d.panes.W = reactions.MinWidth - 1; d.frame() }, "60 columns and 16 lines"},
		"for an audience":   {func(d *fixture) { d.env.Masked = true; d.frame() }, "masked for the audience"},
		"the program slept": {func(d *fixture) { d.again(); d.rest(reactions.Grace / 2); d.now = d.now.Add(time.Minute); d.Tick() }, "wait a moment"},
	} {
		for tab, act := range map[reactions.Tab]string{reactions.Waiting: "approve r3aaaaaaaaaaaaaa", reactions.Rules: "arm page-p1 h1"} {
			d := newFixture()
			d.ShowTab(tab, "")
			d.frame()
			d.rest(2 * time.Second)
			d.frame()
			d.rest(2 * time.Second)
			c.do(d)
			d.Told = ""
			d.approve()
			if c.says == "" && (d.engine.Acts(act) != 1 || d.decided() != 1) || c.says != "" && (d.decided() != 0 || !strings.Contains(d.Told, c.says)) {
				t.Errorf("%s, tab %v: the engine did %q, told %q, %v", name, tab, d.engine.Did, d.Told, d.Failed)
			}
			if d.approve(); d.decided() > 1 {
				t.Errorf("%s, tab %v: the same key again did %q", name, tab, d.engine.Did)
			}
		}
	}
}

// again starts with a new pane whose first frame is just drawn.
func (d *fixture) again() {
	tab := d.Tab()
	d.Pane = reactions.New(d.env)
	d.ShowTab(tab, "")
	d.frame()
	d.frame()
}

// The engine refuses to approve a changed request, and the operator is asked to read it again.
func TestChangedRequestsMustBeReadAgain(t *testing.T) {
	d := newFixture()
	d.frame()
	d.rest(2 * time.Second)
	d.engine.Fails = react.ErrChanged
	if d.approve(); !errors.Is(d.Failed, react.ErrChanged) || !strings.Contains(d.Failed.Error(), "read it again") {
		t.Errorf("told is %q, %v", d.Told, d.Failed)
	}
}

func TestWithoutAnEngine(t *testing.T) {
	d := newFixture()
	d.env.Engine = nil
	d.Pane = reactions.New(d.env)
	for _, tab := range []reactions.Tab{reactions.Waiting, reactions.Runs, reactions.Rules} {
		d.ShowTab(tab, "")
		if s := d.frame(); d.On() || d.OnWaiting() || d.Work() != nil || !strings.Contains(s, "No engine of reactions runs here") {
			t.Errorf("tab %v shows\n%s", tab, s)
		}
	}
}
