// Package tui is the screen: a tree of servers, event types and subscriptions, the stream of
// arriving records, and the chosen event in full. It uses the host through [host.API] only, and
// keeps no state that must not be lost.
//
// # Rules of the screen
//
// Update and View never call the host: each read or write is a command ([Jobs.Do]), since in
// an attached process it is a round trip. The fake host of the tests panics otherwise. One step runs
// behind every message, app.reconcile: it starts the work that is due. A pane caches its lines with
// their inputs and draws them again when these change.
package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"eventdeck/host"
	"eventdeck/host/config"
	"eventdeck/host/eventlog"
	"eventdeck/host/react"
	"eventdeck/ui/internal/browser"
	"eventdeck/ui/tui/board"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/edges"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/external"
	"eventdeck/ui/tui/filterbar"
	"eventdeck/ui/tui/form"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/notify"
	"eventdeck/ui/tui/palette"
	"eventdeck/ui/tui/persist"
	"eventdeck/ui/tui/present"
	"eventdeck/ui/tui/query"
	reactions "eventdeck/ui/tui/react"
	"eventdeck/ui/tui/stream"
	"eventdeck/ui/tui/timeline"
	"eventdeck/ui/tui/trace"
	"eventdeck/ui/tui/tree"
	"eventdeck/ui/tui/widget"
)

// Options configure the screen. API is required; the zero value of every other field works.
type Options struct {
	API     host.API
	Demo    bool      // the host has the demo servers: empty panes say so
	Input   io.Reader // nil: standard input
	Output  io.Writer // nil: standard output
	NoColor bool      // attributes only; NO_COLOR does the same
	Theme   string    // name of a theme; "": the saved one, else one for the background
	// ThemeDir is the directory of the operator's themes; "": there is none.
	ThemeDir string
	Session  string // a name of this run in the window title; "" for none
	View     string // name of a saved view to open; "": the state of the last run
	Glyphs   string // "ascii" or "unicode"; "": EVENTDECK_GLYPHS, else the saved set, else the locale decides
	// Present is for an audience: it masks personal and secret values, puts room between rows, and
	// shows captions.
	Present bool
	// ReadOnly hides and refuses every action that changes what servers or the store hold.
	ReadOnly bool
	// Settings is the path of the operator's settings file; "": there is none.
	Settings string
	// Servers is the configuration of servers; without a file none can be added.
	Servers config.Source
	// StartDemo starts the demo servers in this process and returns their names; nil: it is not
	// offered. The servers and their subscriptions end with the screen.
	StartDemo func(context.Context) (names []string, err error)
	// React is the engine of reactions; nil: none runs here, and key 6 says so.
	React react.Control
	// Rules writes rules of reactions; the zero value: none can be written from here.
	Rules  reactions.Writer
	Env    []string                   // as os.Environ; nil: that of the process
	Browse func(address string) error // opens an address; nil: in the operator's browser
	// Interrupts, if not nil, ignores interrupts while another program has the terminal.
	Interrupts *Interrupts
	Now        func() time.Time // nil: time.Now
	// Program has options for tests: window size, colour profile, signals.
	Program []tea.ProgramOption
}

// Interrupts ends the program at an interrupt, but not while another program has the terminal.
type Interrupts = external.Interrupts

// app is the state of the screen. Only Update changes it.
type app struct {
	cells.Env
	o Options
	Scheduler
	persist persist.Saver
	theming persist.Selector
	frame   layout.Frame
	input
	edges.Edges      // notes for the operator, and totals
	external.Outside // the operator's programs, the clipboard and files

	actions  palette.Table
	settings persist.UserFile
	demo     present.Demo // demo servers that the screen started

	snap   host.Snapshot
	feed   *query.Feed
	tree   tree.Tree
	stream stream.Pair
	strip  timeline.Strip // above the stream
	detail detail.Pane
	boards board.Boards
	rates  timeline.Rates

	filters  filterbar.Bar
	search   filterbar.Search
	trace    trace.Tracer
	react    *reactions.Pane
	choice   form.Choice
	notify   notify.Notifier
	views    filterbar.Views
	marks    filterbar.Marks
	audience present.Captions
}

func newApp(ctx context.Context, o Options) *app {
	if o.Present {
		o.API, o.React = presentedHost(o.API), present.MaskReactions(o.React)
		o.Rules.Add = present.MaskRule(o.Rules.Add)
	}
	a := &app{
		o: o, Env: cells.Env{Now: o.Now}, Scheduler: Scheduler{Jobs: NewJobs(ctx), Focused: true},
	}
	a.panes = layout.Screen{Shape: layout.Shape{Focus: layout.Stream, Subject: layout.Stream}, Entered: func() {
		if t := a.table(); t != nil {
			t.Load()
		}
	}}
	if a.Now == nil {
		a.Now = time.Now
	}
	if o.Browse == nil {
		a.o.Browse = browser.Open
	}
	a.demo = present.Demo{All: o.Demo, Start: o.StartDemo, Snap: &a.snap}
	a.initChoice()
	a.react = reactions.New(a.reactEnv(o.React))
	env := environment(o.Env)
	a.Outside = external.NewOutside(a, env, o.Interrupts, external.Source{
		Env: &a.Env, Snap: &a.snap, Log: func() eventlog.Records { return a.o.API.Log() }, Stream: &a.stream.Stream, Detail: &a.detail, Table: a.table, Word: a.demo.Word,
	})
	filters := a.filterbarEnv()
	a.search, a.filters, a.views, a.marks = filterbar.NewSearch(filters), filterbar.New(filters), filterbar.NewViews(filters), filterbar.NewMarks(filters, a.o.API)
	a.initIncident()
	a.initActions(o.ReadOnly)
	a.initEdges()
	a.persist = persist.New(persist.Settings{Screen: a, Host: a.o.API}, a.Clock)
	a.audience.On = o.Present
	a.rates = timeline.NewRates(&a.Env, a, &a.snap, a.o.API.Stats)
	a.strip, a.frame = timeline.NewStrip(&a.Env), layout.NewFrame(&a.Env, &a.panes)
	a.tree, a.stream = tree.New(&a.Env, a, &a.panes, &a.snap), stream.NewPair(a.streamEnv())
	a.tree.RecentCounts, a.tree.Lessons = a.rates.RecentCounts, a.noServers
	a.Scheduler.Slow = env("SSH_CONNECTION") != "" || env("SSH_TTY") != ""
	a.initTheme(o, env)
	a.initNotify(env)
	a.mouse.off = a.persist.Get(persist.Mouse) == "off"
	a.persist.GetJSON(stream.ColumnsSetting, &a.stream.Columns.By)
	a.feed = query.NewFeed(a.o.API, func() eventlog.Records { return a.o.API.Log() })
	a.arrived(a.feed.Latest(ctx))
	if len(a.snap.Subs) == 0 && !o.Demo {
		a.panes.Focus, a.panes.Subject = layout.Tree, layout.Tree
	}
	a.detail = detail.New(a.detailEnv())
	a.boards = board.New(a.boardEnv())
	a.views.Load()
	a.listItems()
	a.tree.Load(&a.snap)
	a.restore()
	a.startStreams()
	if o.View != "" {
		if _, err := a.views.Use(o.View); err != nil { // its command is not needed: the program reads the host when it starts
			a.TellBad(err.Error())
		}
	}
	a.settings = persist.NewUserFile(a.settingsEnv())
	a.settings.Load()
	return a
}

func (a *app) Init() tea.Cmd {
	return tea.Batch(a.awaitChange(), a.age(), tea.RequestBackgroundColor)
}

func (a *app) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := a.update(msg)
	return a, tea.Batch(cmd, a.reconcile())
}

// update handles a message, and notes when a dialog closed without a key or a click.
func (a *app) update(msg tea.Msg) tea.Cmd {
	shown := a.dialog != nil
	var alone tea.Cmd
	if _, mouse := msg.(tea.MouseMsg); mouse {
		alone = a.actions.Alone()
	}
	cmd := tea.Batch(alone, a.handle(msg))
	switch msg.(type) {
	case tea.KeyPressMsg, tea.MouseMsg:
	default:
		a.dialogClosed = a.dialogClosed || shown && a.dialog == nil
	}
	return cmd
}

// aloneFor is how long the first key of a sequence waits for a second one.
const aloneFor = time.Second

// aloneMsg says that the time for a second key is over; see [palette.Table.AwaitSecond].
type aloneMsg int

// awaitSecond returns a command that ends the sequence that was begun if no second key comes.
func (a *app) awaitSecond() tea.Cmd {
	if n, ok := a.actions.AwaitSecond(); ok {
		return a.Scheduler.After(aloneFor, aloneMsg(n))
	}
	return nil
}

// reconcile returns the commands that follow from a change: they read missing rows and records,
// draw ages again, and save the state of the screen.
func (a *app) reconcile() tea.Cmd {
	_, typing := a.filters.Typing()
	a.stream.Hold(a.actions.Chord != "" || a.dialog != nil || a.prompt != nil && !typing)
	a.aim()
	return tea.Batch(a.fetch(), a.rates.Work(a.Scheduler.Focused), a.detail.Work(), a.stripWork(), a.boardWork(), a.updateCaptions(), a.notifyOperator(), a.reactTick(), a.awaitSecond(), a.age(), a.turnSign(), a.persist.Save(a.state))
}

func (a *app) handle(msg tea.Msg) tea.Cmd {
	switch msg.(type) {
	case tea.MouseMsg, tea.PasteMsg, tea.FocusMsg, tea.BlurMsg, tea.WindowSizeMsg:
		a.react.Disturb()
	}
	switch msg := msg.(type) {
	case reactTickMsg:
		a.react.Tick()
	case tea.ModeReportMsg:
		if msg.Mode == ansi.ModeUnicodeCore {
			a.clusters = msg
			a.Env.Clusters = msg.Value == ansi.ModeReset || msg.Value == ansi.ModeSet || msg.Value == ansi.ModePermanentlySet // as the renderer decides
		}
	case tea.ResumeMsg: // the renderer turned the mode off, and turns it on at this answer alone
		if clusters := a.clusters; clusters != (tea.ModeReportMsg{}) {
			return func() tea.Msg { return clusters }
		}
	case aloneMsg:
		return a.actions.AloneAfter(int(msg))
	case tea.WindowSizeMsg:
		a.panes.W, a.panes.H = msg.Width, a.audience.Fit(msg.Height)
		a.Style++
	case tea.BackgroundColorMsg, tea.ColorProfileMsg:
		a.theming.Detect(msg)
	case tea.FocusMsg:
		a.Focused = true
		a.notify.SetFocused(true, a.snap.Last)
		return tea.Batch(a.theming.Reload(false), a.settings.Reload(false), a.Read())
	case tea.BlurMsg:
		a.Focused = false
		a.notify.SetFocused(false, a.snap.Last)
	case notifyMsg:
		a.notify.Waited()
	case tea.MouseWheelMsg, wheelMsg:
		return a.wheel()
	case tea.MouseClickMsg:
		a.Edges.Status.Hush()
		return a.click(msg.Mouse())
	case newsMsg:
		if !msg.woken.IsZero() {
			a.Scheduler.HostRead(msg.woken)
		}
		a.react.Take(msg.react)
		switch more := a.arrived(msg.News); {
		case more:
			return a.readOn(msg.awaited)
		case msg.awaited:
			return a.awaitChange()
		}
	case TickMsg:
		a.Scheduler.Ticked()
		a.Edges.Status.Expire()
		a.tree.Settle()
	case SpinMsg:
		a.Scheduler.Spun()
	case pageMsg:
		return a.fetched(query.Page(msg))
	case quitMsg:
		return tea.Quit
	case widget.Done:
		return a.done(msg)
	case widget.Then:
		return msg()
	case tea.KeyPressMsg:
		a.Scheduler.KeyPressed()
		return a.key(msg)
	case tea.PasteMsg:
		if d, ok := a.dialog.(widget.Paster); ok {
			return d.Paste(msg.Content)
		}
		if a.dialog == nil && a.prompt != nil {
			a.prompt.Insert(msg.Content)
		}
	}
	return nil
}

// key passes a key to what has the focus: a dialog, a prompt, or the actions.
func (a *app) key(k tea.KeyPressMsg) tea.Cmd {
	a.react.Key(k)
	name := k.String()
	if name == "ctrl+c" {
		return a.quit()
	}
	if name == "alt+esc" { // two in a row, when they come through tmux
		k.Mod = 0
		return tea.Batch(a.key(k), a.key(k))
	}
	if a.meantForDialog(name) {
		a.Tell("the dialog has closed by itself; esc again goes one step back")
		return nil
	}
	a.Edges.Status.Hush()
	if a.search.Running() && name != "esc" {
		a.search.Drop()
	}
	if _, cut := a.cut(); cut && name != "esc" {
		return nil
	}
	switch {
	case a.dialog != nil:
		a.audience.Typed(name, "in "+a.dialog.Title())
		return a.dialog.Key(k)
	case a.prompt != nil:
		a.audience.Typed(name, "in the filter")
		p := a.prompt
		cmd, open := p.Key(k)
		if !open && a.prompt == p {
			a.prompt = nil
		}
		return cmd
	}
	a.stream.ToShown()
	return a.actions.Press(a.actions.Name(k))
}

// done shows what the host did or what failed, and reads the host again.
func (a *app) done(msg widget.Done) tea.Cmd {
	what, err := evidence.Unconfirmed(msg.What, msg.Err)
	if msg.From != nil {
		msg.From.Answered()
		shown := a.dialog == widget.Dialog(msg.From)
		if err != nil && shown {
			msg.From.ShowError(err)
			return nil
		}
		if shown {
			a.Show(nil)
		}
	}
	switch {
	case errors.Is(err, form.ErrLate): // the dialog was closed meanwhile
		a.Tell(what + ": not confirmed yet, it goes on trying")
		return nil
	case err != nil:
		if !errors.Is(err, context.Canceled) {
			a.Edges.Status.TellFailed(what, err)
		}
		return nil
	}
	if msg.After != nil {
		msg.After()
	}
	if what != "" {
		a.Tell(what)
	}
	return a.Read()
}

// Ask returns a command that runs fn and shows what, or an error.
func (a *app) Ask(what string, fn func(context.Context) error) tea.Cmd {
	return a.Do(func(ctx context.Context) tea.Msg { return widget.Done{What: what, Err: fn(ctx)} })
}

// rescope limits the stream to the chosen node of the tree.
func (a *app) rescope() {
	if a.stream.Query.Node == a.tree.At {
		return
	}
	a.persist.Wanted = query.Node{} // the operator chose another node
	a.stream.Show(a.stream.Query.At(a.tree.At))
}

// Run shows the screen until the operator quits or ctx ends, and restores the terminal. The host
// stays open.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a := newApp(ctx, o)
	changed, stop := o.API.Changed()
	defer stop()
	a.Scheduler.Changed = changed

	// Signals end ctx. Bubble Tea's own handler would wait forever for a loop that ctx has ended.
	opts := []tea.ProgramOption{tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithFilter(a.filter)}
	if o.Input != nil {
		opts = append(opts, tea.WithInput(o.Input))
	}
	if o.Output != nil {
		opts = append(opts, tea.WithOutput(o.Output))
	}
	if o.Env != nil {
		opts = append(opts, tea.WithEnvironment(o.Env))
	}
	p := tea.NewProgram(a, append(opts, o.Program...)...)
	a.Outside.Stops.Watch(ctx, p.Send)
	_, err := p.Run()
	ended := ctx.Err() != nil
	cancel()
	a.Scheduler.Wait()
	a.persist.SaveAtEnd(context.WithoutCancel(ctx), a.state())
	switch {
	case err == nil, ended && errors.Is(err, tea.ErrProgramKilled), errors.Is(err, tea.ErrInterrupted):
		return nil
	}
	return fmt.Errorf("screen: %w", err)
}

func environment(env []string) func(string) string {
	if env == nil {
		env = os.Environ()
	}
	return func(name string) string {
		for i := len(env) - 1; i >= 0; i-- {
			if v, ok := strings.CutPrefix(env[i], name+"="); ok {
				return v
			}
		}
		return ""
	}
}
