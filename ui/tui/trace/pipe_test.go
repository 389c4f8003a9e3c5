package trace

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// TestMain is also the command that the tests run.
func TestMain(m *testing.M) {
	switch os.Getenv("EVENTDECK_PIPE_TEST") {
	case "flood":
		for {
			if _, err := os.Stdout.WriteString(strings.Repeat("x", 4096) + "\n"); err != nil {
				os.Exit(0)
			}
		}
	case "sleep":
		time.Sleep(time.Hour)
	case "copy":
		b := make([]byte, 1024)
		n, _ := os.Stdin.Read(b)
		_, _ = os.Stdout.Write(b[:n])
		os.Exit(3)
	}
	os.Exit(m.Run())
}

func TestArgs(t *testing.T) {
	getenv := func(name string) string { return map[string]string{"PAGER": "less -R", "ODD": `"x`}[name] }
	for line, want := range map[string]string{
		"jq .data":     "jq|.data",
		"$PAGER -X":    "less|-R|-X",
		`grep "a b" $`: "grep|a b|$",
		"x; rm -rf /":  "x;|rm|-rf|/",
		"$NONE":        "",
		"":             "",
		`"not closed`:  "",
		"x $ODD":       "",
	} {
		got, err := PipeArgs(line, getenv)
		if strings.Join(got, "|") != want || (err != nil) != (want == "") {
			t.Errorf("%s: %q, %v", line, got, err)
		}
	}
}

func TestRunIsBounded(t *testing.T) {
	t.Setenv("EVENTDECK_PIPE_TEST", "flood")
	text, err := RunPipe(t.Context(), []string{os.Args[0]}, nil)
	if len(text) != outputMax || err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	t.Setenv("EVENTDECK_PIPE_TEST", "sleep")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := RunPipe(ctx, []string{os.Args[0]}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("it runs on: %v", err)
	}
	t.Setenv("EVENTDECK_PIPE_TEST", "copy")
	if text, err := RunPipe(t.Context(), []string{os.Args[0]}, []byte("hello")); string(text) != "hello" || err == nil {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := RunPipe(t.Context(), []string{"no-such-command-here"}, nil); err == nil || !strings.Contains(err.Error(), "no-such-command-here") {
		t.Errorf("%v", err)
	}
}

func TestShellCharactersAreFound(t *testing.T) {
	for line, want := range map[string]string{
		"jq .data; rm": ";", "jq . > file": ">", "a | b": "|", "echo $(id)": "$", "echo $PAGER": "", `jq '.a > 1 | .b'`: "", "": "",
	} {
		if got := ShellSign(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
