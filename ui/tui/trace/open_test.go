package trace_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/trace"
)

// opened opens the dialog of a command that writes wrote and its input, and returns fails. end is
// the end of the command, again has the lines that were asked for again.
func opened(t *testing.T, wrote string, fails error) (s *tuitest.Screen, end tea.Cmd, again *[]string) {
	t.Helper()
	s, again = &tuitest.Screen{}, &[]string{}
	pipe := trace.Pipe{
		Again: func(line, problem string) { *again = append(*again, line+": "+problem) },
		Run: func(_ context.Context, args []string, input []byte) ([]byte, error) {
			return []byte(wrote + strings.ToUpper(string(input))), fails
		},
	}
	end = trace.OpenPipe(&trace.Env{Env: tuitest.Env(), Screen: s}, pipe, "jq .", []string{"jq", "."}, func(context.Context) ([]byte, error) { return []byte("in"), nil })
	return s, end, again
}

func TestOutputIsShownAsUntrustedText(t *testing.T) {
	s, end, again := opened(t, "red\x1b[31m\n"+strings.Repeat("line\n", 30), nil)
	if text := s.Text(60, 10); s.Dialog.Title() != "Output of jq ." || !strings.Contains(text, "running") || s.Dialog.Hints()[1] != "kill it" {
		t.Errorf("before it ends:\n%s", text)
	}
	s.Press("e")
	if tuitest.Run(end); len(*again) != 0 {
		t.Error("the line can be changed while the command runs")
	}
	text := s.Text(60, 10)
	if !strings.Contains(text, "done") || !strings.Contains(text, "not trusted") || !strings.Contains(text, "red") || strings.Contains(text, "\x1b") {
		t.Errorf("it shows\n%q", text)
	}
	s.Press("G")
	if text := s.Text(60, 10); !strings.Contains(text, "IN") || strings.Contains(text, "red") {
		t.Errorf("at the end it shows\n%s", text)
	}
	if s.Press("e"); s.Dialog != nil || len(*again) != 1 || (*again)[0] != "jq .: " {
		t.Errorf("the line is not asked for again: %q", *again)
	}
}

// After a command that failed without output its line is asked for again. Output is shown, also of
// a command that failed.
func TestFailedCommands(t *testing.T) {
	s, end, again := opened(t, "", errors.New("exit status 2"))
	if tuitest.Run(end); len(*again) != 0 { // the input was written back
		t.Errorf("asked again for %q", *again)
	}
	if text := s.Text(60, 10); !strings.Contains(text, "failed: exit status 2") {
		t.Errorf("it shows\n%s", text)
	}
	pipe := trace.Pipe{Again: func(line, problem string) { *again = append(*again, line+": "+problem) }}
	none := errors.New("the records are gone")
	tuitest.Run(trace.OpenPipe(&trace.Env{Env: tuitest.Env(), Screen: s}, pipe, "wc", []string{"wc"}, func(context.Context) ([]byte, error) { return nil, none }))
	if s.Dialog != nil || len(*again) != 1 || (*again)[0] != "wc: the records are gone" {
		t.Errorf("asked again for %q", *again)
	}
}

func TestClosingKillsTheCommand(t *testing.T) {
	s := &tuitest.Screen{}
	began, asked := make(chan struct{}), false
	pipe := trace.Pipe{Run: func(ctx context.Context, _ []string, _ []byte) ([]byte, error) {
		close(began)
		<-ctx.Done()
		return nil, ctx.Err()
	}, Again: func(string, string) { asked = true }}
	cmd := trace.OpenPipe(&trace.Env{Env: tuitest.Env(), Screen: s}, pipe, "sleep 9", []string{"sleep", "9"}, func(context.Context) ([]byte, error) { return nil, nil })
	ended := make(chan tea.Msg, 1)
	go func() { ended <- cmd() }()
	<-began
	s.Press("esc")
	if msg := <-ended; s.Dialog != nil {
		t.Errorf("%v, shown %v", msg, s.Dialog)
	} else if tuitest.Run(func() tea.Msg { return msg }); asked {
		t.Error("the line of a command that was killed is asked for again")
	}
}
