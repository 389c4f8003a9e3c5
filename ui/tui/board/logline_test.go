package board

import (
	"log/slog"
	"testing"

	"eventdeck/host"
)

func TestLogLinesAreSplit(t *testing.T) {
	for text, want := range map[string][3]string{
		"disk full": {"WARN", "disk full", ""},
		"the stream ended err=<nil> again_in=681.686702ms":                                 {"WARN", "the stream ended", "again_in=682ms"},
		"cannot connect err=dial tcp 127.0.0.1:9: connect: refused attempt=3 wait=1m5s":    {"WARN", "cannot connect", "err=dial tcp 127.0.0.1:9: connect: refused attempt=3 wait=1m5s"},
		`time=2026-03-14T14:03:05.000Z level=INFO msg="chat is \"ready\"" a.b="x y=1" n=4`: {"INFO", `chat is "ready"`, `a.b="x y=1" n=4`},
		"time=2026-03-14T14:03:05.000Z level=loud msg=ready":                               {"WARN", "ready", "level=loud"},
		"GET http://127.0.0.1/?a=b took=12.345678s":                                        {"WARN", "GET http://127.0.0.1/?a=b", "took=12.3s"},
		`msg="cut off in the mid`:                                                          {"WARN", `"cut off in the mid`, ""},
		"a=1 b=2":                                                                          {"WARN", "a=1 b=2", ""},
		"":                                                                                 {"WARN", "", ""},
	} {
		level, message, attributes := splitLine(&host.LogLine{Level: slog.LevelWarn, Text: text})
		if got := [3]string{level.String(), message, attributes}; got != want {
			t.Errorf("%s\nis %q\nnot %q", text, got, want)
		}
	}
}
