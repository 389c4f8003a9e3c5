package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"eventdeck/host/react"
	"eventdeck/ui/cli/plain"
	"eventdeck/ui/observe"
)

// ObserveFlags are the flags of logging and profiling.
type ObserveFlags struct {
	Log   string
	Level string
	Pprof string
}

// LogLevels are the values of --log-level, the most verbose first.
var LogLevels = []string{"debug", "info", "warn", "error"}

// Logger returns the logger of --log and --log-level, and its file, which the caller
// closes. Without --log it discards everything.
//
// Errors: a usage error for the level; those of the file system.
func (a *App) Logger() (*slog.Logger, io.Closer, error) {
	o := &a.Flags.Observe
	if !slices.Contains(LogLevels, o.Level) {
		return nil, nil, plain.UsageErrorf("--log-level must be one of %s", strings.Join(LogLevels, ", "))
	}
	if o.Log == "" {
		return slog.New(slog.DiscardHandler), io.NopCloser(nil), nil
	}
	file, err := observe.OpenLog(o.Log)
	if err != nil {
		return nil, nil, fmt.Errorf("--log: %w", err)
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(o.Level)); err != nil {
		return nil, nil, errors.Join(plain.UsageErrorf("--log-level: %w", err), file.Close())
	}
	return slog.New(slog.NewTextHandler(file, &slog.HandlerOptions{Level: level})), file, nil
}

// observed serves profiles and exports metrics, as the flags and the environment say, until
// stop is called.
func (a *App) observed(d *OpenHost, log *slog.Logger) (stop func() error, err error) {
	var stops Endings
	stop = func() error { return stops.End() }
	if a.Flags.Observe.Pprof != "" {
		bound, end, err := observe.ServeProfiles(a.Flags.Observe.Pprof)
		if err != nil {
			return nil, plain.UsageErrorf("--pprof: %w", err)
		}
		stops = append(stops, end)
		a.Say("profiles are at http://%s/debug/pprof/", bound)
	}
	export, wanted, err := observe.ExportFrom(a.Env)
	if err != nil {
		return nil, errors.Join(plain.UsageErrorf("%w", err), stop())
	}
	if wanted {
		export.Version, export.Started = a.Version, time.Now()
		ctx, cancel := context.WithCancel(context.Background())
		var done sync.WaitGroup
		done.Go(func() {
			export.Run(ctx, func() []observe.Metric { return d.metrics() }, func(err error) { log.Warn("numbers could not be sent", "err", err) })
		})
		stops = append(stops, func() error {
			cancel()
			done.Wait()
			return nil
		})
	}
	return stop, nil
}

// metrics are the numbers of the host, under the names that the README documents.
func (d *OpenHost) metrics() []observe.Metric {
	s, info := d.Stats(), d.Snapshot().Store
	all := []observe.Metric{
		count("events", "{event}", s.Events),
		count("events.duplicate", "{event}", s.Duplicates),
		count("events.replayed", "{event}", s.Replayed),
		count("events.flagged", "{event}", s.Flagged),
		count("events.rejected", "{event}", s.Rejected),
		count("events.bytes", "By", s.Bytes),
		count("gaps", "{gap}", s.Gaps),
		count("webhook.refused", "{delivery}", s.Refusals),
		count("store.commits", "{commit}", s.Store.Commits),
		level("store.queue", "{record}", float64(s.Store.Queued)),
		level("store.commit.p95", "s", s.Store.CommitP95.Seconds()),
		level("store.records", "{record}", float64(info.Records)),
		level("store.bytes", "By", float64(info.FileBytes)),
		level("lag.p50", "s", s.Lag.P50.Seconds()),
		level("lag.p95", "s", s.Lag.P95.Seconds()),
		level("ingest.p95", "s", s.Ingest.P95.Seconds()),
	}
	if d.Reactions != nil {
		all = append(all, reactMetrics(d.Reactions.Reactions())...)
	}
	return all
}

// reactMetrics are the numbers of the reactions that run in this process.
func reactMetrics(v react.View) []observe.Metric {
	const perDollar = 1_000_000
	all := []observe.Metric{
		level("react.asking", "{run}", float64(v.Asking)),
		level("react.running", "{run}", float64(v.Running)),
		level("react.spend", "{USD}", float64(v.Spent)/perDollar),
		level("react.spend.limit", "{USD}", float64(v.SpendLimit)/perDollar),
	}
	for _, state := range react.Ends() {
		all = append(all, count("react.ended."+string(state), "{run}", v.Ended[state]))
	}
	return all
}

func count(name, unit string, n uint64) observe.Metric {
	return observe.Metric{Name: "eventdeck." + name, Unit: unit, Value: float64(n), Count: true}
}

func level(name, unit string, v float64) observe.Metric {
	return observe.Metric{Name: "eventdeck." + name, Unit: unit, Value: v}
}
