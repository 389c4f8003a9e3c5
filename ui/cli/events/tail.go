package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/export"
	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
	"eventdeck/ui/cli/plain"
	"eventdeck/ui/cli/program"
	"eventdeck/ui/form"
)

// tailFlags are the flags of tail.
type tailFlags struct {
	args     []string
	argsJSON string
	mode     string
	from     string
	maxAge   time.Duration
	end      string
	ends     *time.Time // end, once it is read
	count    uint64
	limit    time.Duration
	filter   string
	until    string
	failOn   string
	format   formatFlags
	trace    bool
}

// formatFlags choose how records are printed.
type formatFlags struct {
	plain bool
	raw   bool
}

func (a *commands) tailCommand() *cobra.Command {
	var f tailFlags
	cmd := &cobra.Command{
		Use:   "tail SERVER TYPE",
		Short: "Subscribe and print what arrives",
		Long: `tail subscribes to one event type and prints what arrives, as JSON when standard output is no terminal.
With --data the subscription stays and --from saved goes on after the last printed record,
also when the server cannot list its types just now; without it everything is undone at the end.
When another process has DIR open, that one subscribes, also to servers that were added only there: a subscription
that runs there is printed as it is, one that is new stays there. One process keeps the position for --from saved: the first that prints.

--filter, --until and --fail-on take a filter: pool exhausted, sev:P1, .n>5, !test, a | b; see docs/filter.md.
--for bounds all of it, connecting included: failures that may pass (no connection, a quota, 429, 5xx) are retried
until then. Without it a first connection has 10 s.

It ends with
  0  --count or --until met; --for over without both, and the server confirmed; a planned end; Ctrl+C
  1  --fail-on met; the subscription ended with an error; nothing can be stored; no first connection, without --for
  2  a mistake in the command line
  3  --for over before --count, --until, or any confirmation by the server; silence is none
  4  refused for lack of rights, or a sign-in is needed, also while it runs

On standard error it tells deliveries that were refused, errors that the server reports, and possible gaps:
one line for each and minute, and at the end how many deliveries were refused in all.`,
		Example:           "eventdeck tail pager incident.created --arg severity=P1 --count 10\neventdeck tail stdio:'./server --verbose' build.done --mode poll --json | jq .data\neventdeck tail ci build.done --until '.branch=main .status=passed' --fail-on .status=failed --for 10m",
		Args:              plain.ExactArgs(2),
		ValidArgsFunction: a.CompleteServer,
		Run: a.Run(func(cmd *cobra.Command, args []string) error {
			return a.tail(cmd.Context(), args[0], args[1], f)
		}),
	}
	s := cmd.Flags()
	s.StringArrayVar(&f.args, "arg", nil, "argument key=value, typed by the schema; repeat it for lists")
	s.StringVar(&f.argsJSON, "args", "", "arguments as a JSON object")
	s.StringVar(&f.mode, "mode", "auto", "how events come: auto, poll, push or webhook")
	s.StringVar(&f.from, "from", "now", "begin at now, saved, or a cursor")
	plain.DurationFlag(s, &f.maxAge, "max-age", "replay nothing older than this")
	s.Uint64Var(&f.count, "count", 0, "end after this number of events")
	s.StringVar(&f.end, "end", "", "end the subscription then: a time such as 20:00 or 2026-03-14T20:00:00Z, or how long from now")
	plain.DurationFlag(s, &f.limit, "for", "end after this time, connecting included")
	s.StringVar(&f.filter, "filter", "", "print only records that match this filter")
	s.StringVar(&f.until, "until", "", "end after the first record that matches this filter")
	s.StringVar(&f.failOn, "fail-on", "", "end with 1 after the first record that matches this filter")
	s.BoolVar(&f.trace, "trace", false, "show the wire on standard error, with secrets masked")
	addFormat(cmd, &f.format)
	plain.CompleteValues(cmd, "mode", "auto", "poll", "push", "webhook")
	plain.CompleteValues(cmd, "from", "now", "saved")
	return cmd
}

// addFormat adds the flags that tail and events share.
func addFormat(cmd *cobra.Command, f *formatFlags) {
	cmd.Flags().BoolVar(&f.plain, "plain", false, "print lines for a person, also when standard output is no terminal")
	cmd.Flags().BoolVar(&f.raw, "raw", false, "add the exact bytes as base64 (JSON only)")
}

// format chooses between lines of JSON and lines for a person.
func (a *commands) format(f formatFlags) (func([]byte, event.Record) []byte, error) {
	if f.plain && (a.Flags.JSON || f.raw) {
		return nil, plain.UsageErrorf("--plain goes with neither --json nor --raw")
	}
	if f.plain || a.StdoutTerminal && !a.Flags.JSON && !f.raw {
		return func(b []byte, r event.Record) []byte { return plain.AppendRecord(b, r, a.Now()) }, nil
	}
	return func(b []byte, r event.Record) []byte { return export.AppendLine(b, &r, f.raw) }, nil
}

// check reads what depends on the time, and refuses values of flags that make no sense.
func (f *tailFlags) check(now time.Time) error {
	switch event.Mode(f.mode) {
	case event.ModeAuto, event.ModePoll, event.ModePush, event.ModeWebhook:
	default:
		return plain.UsageErrorf("--mode %q: must be auto, poll, push or webhook", f.mode)
	}
	if f.end != "" {
		at, err := form.Until(f.end, now)
		if err != nil {
			return plain.UsageErrorf("--end %w", err)
		}
		f.ends = &at
	}
	if f.maxAge < 0 {
		return plain.UsageErrorf("--max-age must not be negative")
	}
	if f.limit < 0 {
		return plain.UsageErrorf("--for must not be negative")
	}
	return nil
}

func (f tailFlags) position() host.From {
	switch f.from {
	case "now":
		return host.From{}
	case "saved":
		return host.From{Saved: true}
	}
	return host.From{Cursor: event.At(trust.Untrusted(f.from))}
}

// target is what the command line asks for, as far as it is known before the server is asked.
type target struct {
	flags   tailFlags
	server  event.Server
	typ     trust.Text
	args    []argument
	members []strict.Member
}

func (a *commands) tail(ctx context.Context, server, typ string, f tailFlags) error {
	if err := f.check(a.Now()); err != nil {
		return err
	}
	format, err := a.format(f.format)
	if err != nil {
		return err
	}
	filters, err := f.filters(a.Now())
	if err != nil {
		return err
	}
	a.Hint("filter", f.filter)
	a.Hint("until", f.until)
	a.Hint("fail-on", f.failOn)
	w := target{flags: f, typ: trust.Untrusted(typ)}
	if w.args, err = splitArgs(f.args); err != nil {
		return err
	}
	if w.members, err = parseArgsJSON(f.argsJSON); err != nil {
		return err
	}
	found, err := a.FindServer(ctx, server)
	if err != nil {
		return err
	}
	o := a.KeptOrTemporary()
	o.Stays = true
	if s := program.SessionOf(found); s != nil && o.Temporary {
		return plain.UsageErrorf("only process %d has the server %q; with --data %s that process subscribes", s.PID, server, s.Dir)
	}
	servers := []event.Server{found}
	d, err := a.Open(ctx, o, f.trace)
	if err != nil {
		return err
	}
	if err := d.Named(ctx, servers); err != nil {
		return d.Finish(err)
	}
	w.server = servers[0]
	p := &printer{opened: d, out: program.Until(ctx, a.Stdout), format: format, filters: filters, limit: f.limit, tell: NewWarner(a.Say), say: a.Say, keep: !o.Temporary}
	ctx, cancel := d.Within(ctx)
	defer cancel()
	return d.Finish(a.follow(ctx, p, w))
}

// follow subscribes and prints until something ends it.
func (a *commands) follow(ctx context.Context, p *printer, w target) error {
	within, cancel := w.flags.bound(ctx)
	defer cancel()
	if err := a.subscribe(within, p, w); err != nil {
		return w.early(within, err)
	}
	if !a.Flags.JSON && a.StdoutTerminal {
		a.Say("subscribed to %s of %s by %s, as %s", plain.Text(p.sub.Key.Type), plain.Safe(w.server.Name), p.sub.Mode, p.sub.ID)
	}
	err := ignoreStop(ctx, p.run(ctx, within, w.flags.count))
	if v := p.view(p.sub.ID); v.ID == p.sub.ID {
		p.tell.look(v)
	}
	p.tell.end()
	return errors.Join(err, p.end(ctx))
}

// Pauses between attempts to subscribe, until --for is over.
const (
	firstPause = 500 * time.Millisecond
	mostPause  = 5 * time.Second
)

// subscribe begins the subscription that follow prints. With --for it retries transient
// failures until that is over.
func (a *commands) subscribe(ctx context.Context, p *printer, w target) error {
	p.opened.AddServer(w.server)
	for pause := firstPause; ; pause = min(2*pause, mostPause) {
		err := a.trySubscribe(ctx, p, w)
		if err == nil || w.flags.limit == 0 || !host.Transient(err) {
			return err
		}
		wait := max(pause, host.RetryAfter(err))
		if host.ReasonOf(err) == event.ReasonQuota {
			p.tell.throttled(w.server.Name, time.Now().Add(wait), plain.Message(err))
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

func (a *commands) trySubscribe(ctx context.Context, p *printer, w target) error {
	// Another process has its own connection, and a subscription that runs there goes
	// on without it.
	if p.opened.Client == nil {
		if _, err := p.opened.Connect(ctx, w.server.Name); err != nil {
			return err
		}
	}
	request, err := w.request(ctx, p.opened, p.tell)
	if err != nil {
		return err
	}
	if err = p.begin(ctx, request); !errors.Is(err, host.ErrNoEvents) {
		return err
	}
	// It may have events all the same, and the operator wants it to be asked.
	_, err = p.opened.EventTypes(ctx, w.server.Name)
	p.tell.Asked(p.opened, w.server.Name)
	if err != nil {
		return err
	}
	return p.begin(ctx, request)
}

// bound ends ctx when --for is over.
func (f tailFlags) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if f.limit > 0 {
		return context.WithTimeout(ctx, f.limit)
	}
	return context.WithCancel(ctx)
}

// early says why nothing was printed: --for was over, or the reason that [ignoreStop] returns.
func (w target) early(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, host.ErrRefused):
		return err // more time would change nothing
	case !timedOut(ctx):
		return ignoreStop(ctx, err)
	}
	return unconfirmed(w.flags.limit, w.server.Name, err)
}

// unconfirmed says that --for was over before the server confirmed the subscription, and why,
// if that is known.
func unconfirmed(limit time.Duration, server string, err error) error {
	what := fmt.Sprintf("--for %v was over before %s confirmed the subscription", limit, plain.Safe(server))
	if err == nil || errors.Is(err, program.ErrStopped) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %s", program.ErrNotMet, what)
	}
	return fmt.Errorf("%w: %s: %w", program.ErrNotMet, what, err)
}

// timedOut reports whether ctx ended by its deadline, and not by an interruption.
func timedOut(ctx context.Context) bool { return errors.Is(ctx.Err(), context.DeadlineExceeded) }

// ignoreStop returns nil for an interruption by the operator, which is no failure.
func ignoreStop(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, program.ErrStopped) {
		return nil
	}
	return err
}

// request makes the request. It asks for the types of the server if an --arg needs its schema.
func (w target) request(ctx context.Context, d *program.OpenHost, tell *Warner) (host.Request, error) {
	args, err := w.arguments(ctx, d, tell)
	if err != nil {
		return host.Request{}, err
	}
	return host.Request{
		Server: w.server.Name,
		Type:   w.typ,
		Args:   args,
		Mode:   event.Mode(w.flags.mode),
		From:   w.flags.position(),
		MaxAge: w.flags.maxAge,
		Ends:   w.flags.ends,
	}, nil
}

func (w target) arguments(ctx context.Context, d *program.OpenHost, tell *Warner) (json.RawMessage, error) {
	if len(w.args) == 0 {
		return buildArgs(w.members, nil, nil)
	}
	types, err := w.types(ctx, d)
	tell.Asked(d, w.server.Name)
	if err != nil {
		if args, ok := w.savedArgs(ctx, d.Store, err); ok {
			return args, nil
		}
		return nil, err
	}
	t, err := findType(types, w.typ.Raw())
	if err != nil {
		return nil, err
	}
	return buildArgs(w.members, w.args, t.InputSchema)
}

// types lists the event types of the server, which it may have to connect to first.
func (w target) types(ctx context.Context, d *program.OpenHost) ([]event.Type, error) {
	if err := d.Reached(ctx, w.server.Name); err != nil {
		return nil, err
	}
	return d.EventTypes(ctx, w.server.Name)
}
