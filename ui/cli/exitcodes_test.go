package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"eventdeck/host"
	"eventdeck/ui/cli/program"
)

// Every command ends as the table of exit codes in docs/commands.md says.
func TestExitCodesOfEveryCommand(t *testing.T) {
	const never = -1 // the command does not need that
	rows := map[string]struct {
		wrong   string // arguments that are wrong; "" only for the root
		right   string // arguments that are right
		unkept  int    // the exit code of right, where nothing is kept
		unmet   int    // where no directory is at --data
		away    int    // where the server cannot be reached
		refuses int    // where it asks for a sign-in
	}{
		"":                {"nosuch", "", never, never, never, never},
		"approve":         {"", "x", exitError, exitError, never, never},
		"ask":             {"x what", "1 what", exitError, exitError, never, never},
		"audit":           {"x", "", exitDone, exitError, never, never},
		"ca":              {"x", "", exitDone, exitDone, never, never},
		"completion":      {"klingon", "bash", exitDone, exitDone, never, never},
		"completion bash": {"x", "", never, never, never, never},
		"demo":            {"x", "", never, never, never, never},
		"demo-server":     {"klingon", "pager", exitDone, exitDone, never, never},
		"deny":            {"", "x", exitError, exitError, never, never},
		"diff":            {"1 x", "1 2", exitError, exitError, never, never},
		"events":          {"x y", "", exitDone, exitError, never, never},
		"events SUB":      {"x --since y", "x", exitError, exitError, never, never},
		"export":          {"--format klingon", "", exitDone, exitError, never, never},
		"export SUB":      {"x y", "x", exitError, exitError, never, never},
		"gate":            {"", "x", exitUsage, exitUsage, never, never}, // its token is not set
		"help":            {"nosuch", "tail", exitDone, exitDone, never, never},
		"mcp":             {"x", "", never, never, never, never},
		"models":          {"klingon", "", exitUsage, exitUsage, never, never},
		"models list":     {"x", "", exitDone, exitDone, never, never},
		"models test":     {"nosuch", "", exitUsage, exitUsage, never, never},
		"react":           {"klingon", "", exitUsage, exitUsage, never, never},
		"react go":        {"x", "", exitError, exitError, never, never},
		"react run":       {"x", "", never, never, never, never},
		"react stop":      {"x", "", exitError, exitError, never, never},
		"report":          {"x y", "x", exitError, exitError, never, never},
		"rules":           {"klingon", "", exitUsage, exitUsage, never, never},
		"rules arm":       {"", "x", exitError, exitError, never, never},
		"rules check":     {"x y", "none.json", exitError, exitError, never, never},
		"rules disarm":    {"", "x", exitError, exitError, never, never},
		"rules list":      {"x", "", exitDone, exitDone, never, never},
		"rules schema":    {"x", "", exitDone, exitDone, never, never},
		"rules show":      {"", "x", exitError, exitError, never, never},
		"rules silence":   {"x soon", "x 1h", exitError, exitError, never, never},
		"rules test":      {"nosuch", "", exitNotMet, exitError, never, never},
		"rules unsilence": {"", "x", exitError, exitError, never, never},
		"runs":            {"klingon", "", exitUsage, exitUsage, never, never},
		"runs list":       {"--state klingon", "", exitError, exitError, never, never},
		"runs out":        {"", "x", exitError, exitError, never, never},
		"runs retry":      {"", "x", exitError, exitError, never, never},
		"runs settle":     {"x klingon", "x done", exitError, exitError, never, never},
		"runs show":       {"", "x", exitError, exitError, never, never},
		"scan":            {"x y", "/nosuch/file", exitError, exitError, never, never},
		"schema":          {"klingon", "servers", exitDone, exitDone, never, never},
		"servers":         {"nosuch", "", exitDone, exitDone, exitError, exitRefused},
		"servers SERVER":  {"ftp://h", "pager", exitDone, exitDone, exitError, exitRefused},
		"servers import":  {"nosuch", "", exitDone, exitDone, never, never},
		"sign-in":         {"nosuch", "pager", never, never, never, never},
		"sign-out":        {"nosuch", "pager", never, never, never, never},
		"store":           {"klingon", "", exitDone, exitError, never, never},
		"store backup":    {"", "copy", exitError, exitError, never, never},
		"store check":     {"x", "", exitError, exitError, never, never},
		"store compact":   {"x", "", exitError, exitError, never, never},
		"store import":    {"", "/nosuch/file", exitError, exitError, never, never},
		"store info":      {"x", "", exitDone, exitError, never, never},
		"store keep":      {"x", "", never, never, never, never},
		"store key":       {"klingon", "file", exitError, exitError, never, never},
		"store recover":   {"x", "", exitError, exitError, never, never},
		"store restore":   {"", "copy", never, never, never, never},
		"subs":            {"klingon", "", exitUsage, exitUsage, never, never},
		"subs end":        {"x soon", "x never", exitError, exitError, never, never},
		"subs failover":   {"x maybe", "x on", exitError, exitError, never, never},
		"subs list":       {"x", "", exitDone, exitError, never, never},
		"subs mode":       {"x pull", "x push", exitError, exitError, never, never},
		"subs pause":      {"", "x", exitError, exitError, never, never},
		"subs refresh":    {"", "x", exitError, exitError, never, never},
		"subs resume":     {"", "x", exitError, exitError, never, never},
		"subs rm":         {"", "x", exitError, exitError, never, never},
		"subs rotate":     {"", "x", exitError, exitError, never, never},
		"tail":            {"nosuch t", "pager t", never, never, exitError, exitRefused},
		"tail for":        {"pager t --for soon", "pager t --for 10ms", never, never, exitNotMet, exitRefused},
		"top":             {"x", ".a", exitDone, exitError, never, never},
		"types":           {"nosuch", "pager", exitDone, exitDone, exitError, exitRefused},
		"version":         {"x", "", exitDone, exitDone, never, never},
	}
	var walk func(c *cobra.Command, path string)
	walk = func(c *cobra.Command, path string) {
		if _, there := rows[path]; !there {
			t.Errorf("no row for %q", path)
		}
		for _, below := range c.Commands() {
			if !below.Hidden {
				walk(below, strings.TrimSpace(path+" "+below.Name()))
			}
		}
	}
	walk((&app{&program.App{Program: newBench(t).p}}).root(), "")
	for name, row := range rows {
		var command []string
		for word := range strings.FieldsSeq(name) {
			if word == strings.ToLower(word) && word != "for" {
				command = append(command, word)
			}
		}
		for state, want := range map[string]struct {
			args string
			code int
			err  error
		}{
			"wrong":       {row.wrong, exitUsage, nil},
			"nothing":     {row.right, row.unkept, nil},
			"no data":     {row.right + " --data /nosuch/directory", row.unmet, nil},
			"unreachable": {row.right, row.away, fmt.Errorf("%w: connection refused", host.ErrUnreachable)},
			"sign-in":     {row.right, row.refuses, fmt.Errorf("%w: HTTP 401", host.ErrRefused)},
		} {
			if want.code == never {
				continue
			}
			t.Run(name+"/"+state, func(t *testing.T) {
				b := newBench(t)
				b.standIn.connect = func(context.Context, string) error { return want.err }
				args := append(append([]string{}, command...), strings.Fields(want.args)...)
				t.Chdir(filepath.Dir(b.p.Home))
				if code := b.run(t, args...); code != want.code {
					t.Errorf("%q: code %d, says %q; want %d", args, code, b.err.String(), want.code)
				}
			})
		}
	}
}
