package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The demo has a model at its address of this run, unless the rules were changed.
func TestDemoHasAModel(t *testing.T) {
	dir := t.TempDir()
	for _, address := range []string{"http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"} {
		a := &App{}
		a.Flags.DemoModel = address
		path, err := a.demoRulesIn(dir)
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(content), `"url": "`+address+`"`) || !strings.Contains(string(content), demoModel) {
			t.Errorf("%s", content)
		}
	}
	path := filepath.Join(dir, demoRules)
	if err := os.WriteFile(path, []byte(`{"rules":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (&App{}).demoRulesIn(dir); err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != `{"rules":{}}` {
		t.Errorf("%v, %s", err, content)
	}
}
