package demo

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// Every event of the demo has a summary and a severity, and the story is complete and in order
// within a minute.
func TestScriptTellsItsStory(t *testing.T) {
	story := []string{"is deployed", "error rate above 5 %", "Checkout fails for one buyer in ten", "is called by phone", "Acknowledged", "Retry loop suspected", "is rolled back", "error rate normal", "Resolved"}
	for _, s := range append(script(3), filings(3)...) {
		var data struct{ Title, Text, Severity string }
		if err := json.Unmarshal([]byte(s.data), &data); err != nil || data.Title+data.Text == "" || data.Severity == "" {
			t.Errorf("%s says too little: %s (%v)", s.kind, s.data, err)
		}
		if len(story) > 0 && strings.Contains(data.Title, story[0]) {
			story = story[1:]
		}
		if s.at >= period || period > time.Minute {
			t.Errorf("%s comes at %v", s.kind, s.at)
		}
	}
	if len(story) > 0 {
		t.Errorf("the story does not tell %q", story)
	}
}
