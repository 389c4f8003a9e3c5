package events

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/trust"
)

// Problems are reported on standard error in one line per cause and minute.
func TestOneLineForEachCauseAndMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		tell := NewWarner(func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) })
		view := host.SubscriptionView{}
		view.Key.Server = "pager"
		s := &view.Status
		s.Refused = event.Refused{Count: 3, Reason: "signature wrong"} // and one accepted, before this command
		tell.look(view)

		refuse := func(reason string) {
			s.Refused = event.Refused{Count: s.Refused.Count + 1, Last: time.Now(), Reason: reason}
			tell.look(view)
		}
		fault := func(words string) {
			time.Sleep(time.Millisecond)
			s.Fault, s.FaultAt = trust.Untrusted(words), time.Now()
			tell.look(view)
		}
		refuse("signature wrong")
		refuse("signature wrong")
		refuse("clock off by 400 seconds")
		fault("slow\x1b down")
		fault("slow down")
		tell.gap(event.Gap{Cause: event.CauseTruncated, Certain: true})
		tell.gap(event.Gap{Cause: event.CauseUnproved})
		tell.gap(event.Gap{Cause: event.CauseUnproved})
		time.Sleep(tellEvery)
		tell.look(view)
		tell.look(view)
		time.Sleep(tellEvery)
		tell.look(view)

		s.State, s.Throttled, s.Error = event.StateThrottled, time.Now().Add(20*time.Second), trust.Untrusted("slow\x1b down")
		until := s.Throttled.Local().Format(time.TimeOnly)
		tell.look(view)
		tell.look(view)
		s.State = event.StateLive
		tell.look(view)

		refuse("signature wrong")
		refuse("body changed")
		tell.end()
		tell.end()

		if want := []string{
			"1 delivery was refused, the last one: signature wrong",
			`pager reports: slow\x1b down`,
			"possible gap: events may be missing (unproved)",
			"2 deliveries were refused, the last one: clock off by 400 seconds",
			"pager reports: slow down",
			`pager is throttled until ` + until + `: slow\x1b down`,
			"1 delivery was refused, the last one: signature wrong",
			"5 deliveries were refused in all, the last one: body changed",
		}; !slices.Equal(said, want) {
			t.Errorf("said %q", said)
		}
	})
}

// A subscription whose deliveries are refused already when a command first looks at it is
// reported.
func TestEarlierRefusalsAreReported(t *testing.T) {
	said := 0
	tell := NewWarner(func(string, ...any) { said++ })
	view := host.SubscriptionView{}
	view.Status.State, view.Status.Refused = event.StateRefused, event.Refused{Count: 3, Reason: "signature wrong"}
	tell.look(view)
	if said != 1 {
		t.Errorf("%d lines", said)
	}
}

// Of what a server logs, its errors since the command began are reported, once a minute.
func TestErrorsThatAServerLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		tell := NewWarner(func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) })
		log := eventlog.NewRing[host.LogLine](9, 1<<10)
		add := func(l host.LogLine) {
			log.Add(l, len(l.Text))
			tell.logged(log, "pager")
		}
		line := host.LogLine{At: time.Now(), Server: "pager", Level: slog.LevelError, Text: "too early", Told: true}
		add(line)
		time.Sleep(time.Second)
		line.At = time.Now()
		for _, change := range []func(*host.LogLine){
			func(l *host.LogLine) { l.Text, l.Told = "of the program", false },
			func(l *host.LogLine) { l.Text, l.Level = "a warning", slog.LevelWarn },
			func(l *host.LogLine) { l.Text, l.Server = "of another", "chat" },
			func(l *host.LogLine) { l.Text = "disk full" },
			func(l *host.LogLine) { l.Text = "disk still full" },
		} {
			l := line
			change(&l)
			add(l)
		}
		if want := []string{"pager logs: disk full"}; !slices.Equal(said, want) {
			t.Errorf("said %q, want %q", said, want)
		}
	})
}
