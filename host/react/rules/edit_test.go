package rules

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

func fromScreen() react.Rule {
	r := react.Rule{Name: "page-p1", On: react.Source{Server: "pager", Types: react.Types{"incident.created"}, Kind: event.KindEvent}, When: `.severity="P 1"`,
		Key: []string{".service"}, Wait: defaultWait, Age: defaultAge, Mode: react.ModeShadow,
		Once: react.Once{By: []string{".id"}, For: 36 * time.Hour}, Do: react.Do{Command: &react.Command{Argv: []string{"/bin/echo"}, Stdin: react.StdinEnvelope}}}
	r.Limits = defaultRule(r.Do)
	r.Limits.Running = 2
	return r
}

func TestAddAndRemoveARule(t *testing.T) {
	for name, text := range map[string]string{
		"no file":  "",
		"empty":    "{}\n",
		"others":   "{\n  // mine\n  \"rules\": {\n    \"a\": {\"on\": {\"server\": \"s\", \"type\": \"t\"}, \"do\": {\"note\": \"n\"}}, // one\n  },\n  \"limits\": {\"runs\": \"9/h\"} // all\n}\n",
		"one line": `{"rules":{"a":{"on":{"server":"s","type":"t"},"do":{"note":"n"}}}}`,
		"marked":   "\ufeff{\"rules\": {}}",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "new", "rules.json")
			if text != "" {
				if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o640)); err != nil {
					t.Fatal(err)
				}
			}
			r := fromScreen()
			if err := Add(path, r); err != nil {
				t.Fatal(err)
			}
			f, err := Load(path, Known{})
			if err != nil {
				t.Fatal(err)
			}
			if got := f.Rules[len(f.Rules)-1]; string(got.Freeze()) != string(r.Freeze()) {
				t.Errorf("added %s, read %s", r.Freeze(), got.Freeze())
			}
			if err := Add(path, r); !errors.Is(err, ErrTaken) {
				t.Errorf("twice: %v", err)
			}
			raw, _ := os.ReadFile(path)
			if strings.Contains(string(raw), `"age"`) || strings.Contains(string(raw), `"queue"`) {
				t.Errorf("defaults are written:\n%s", raw)
			}
			if err := Remove(path, r.Name); err != nil {
				t.Fatal(err)
			}
			back, _ := os.ReadFile(path)
			if strings.Contains(text, "\"rules\"") && string(back) != text {
				t.Errorf("became\n%s\nwas\n%s", back, text)
			}
			if err := Remove(path, r.Name); !errors.Is(err, ErrUnknown) {
				t.Errorf("removed twice: %v", err)
			}
		})
	}
}

func TestInvalidRuleIsNotWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rules.json")
	r := fromScreen()
	r.Do.Command.Argv[0] = "echo"
	var faulty *Faulty
	if err := Add(path, r); !errors.As(err, &faulty) {
		t.Error(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file was made")
	}
	if err := os.WriteFile(path, []byte(`{"rules": {`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Add(path, fromScreen()); !errors.Is(err, ErrFile) {
		t.Errorf("a file that is half written: %v", err)
	}
}

// A rule that says nothing of limits gets the defaults.
func TestAddARuleWithoutLimits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rules.json")
	for _, do := range []react.Do{{Note: "look at this"}, {Command: &react.Command{Argv: []string{"/bin/echo"}, Stdin: react.StdinEnvelope}}} {
		r := fromScreen()
		r.Name, r.Do, r.Limits = "n"+strings.ToLower(do.Note[:min(1, len(do.Note))]), do, react.Limits{}
		if err := Add(path, r); err != nil {
			t.Fatal(err)
		}
		f, err := Load(path, Known{})
		if err != nil || f.Rules[len(f.Rules)-1].Limits != defaultRule(do) {
			t.Errorf("%v: %+v", err, f.Rules)
		}
	}
}

// What is shown before a rule is written stands in the file then, byte for byte.
func TestWrittenIsWhatAddWrites(t *testing.T) {
	for name, before := range map[string]string{"no file": "", "a file": "{\n\t// mine\n\t\"rules\": {\n\t\t\"other\": {\"on\": {\"server\": \"s\", \"type\": \"t\"}, \"do\": {\"note\": \"x\"}}\n\t}\n}\n"} {
		path := filepath.Join(t.TempDir(), "rules.json")
		if before != "" {
			if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r := react.Rule{Name: "mine", On: react.Source{Server: "pager", Types: react.Types{"incident.created"}, Kind: event.KindEvent}, Wait: 10 * time.Second, Age: 15 * time.Minute, Mode: react.ModeAsk, Do: react.Do{Note: "look"}}
		shown, err := Written(path, r)
		if err != nil {
			t.Fatal(err)
		}
		if err := Add(path, r); err != nil {
			t.Fatal(err)
		}
		after, err := os.ReadFile(path)
		if err != nil || !strings.HasPrefix(shown, `"mine": {`) || !strings.HasSuffix(shown, "}") || !strings.Contains(string(after), shown) || strings.Contains(shown, "wait") {
			t.Errorf("%s: shown is %s\nwritten is %s", name, shown, after)
		}
		if _, err := Written(path, r); !errors.Is(err, ErrTaken) {
			t.Errorf("%s: a second time: %v", name, err)
		}
	}
}
