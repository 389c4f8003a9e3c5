package strict

import "testing"

func TestSummary(t *testing.T) {
	for raw, want := range map[string]string{
		`{"id":7,"title":"A\u001b[2J"}`:                       "A\x1b[2J",
		`{"subject":"","body":"b"}`:                           "b",
		`{"issue":{"title":"nested"},"n":1}`:                  "nested",
		`{"eventId":"e","name":"x.y","data":{"message":"m"}}`: "m",
		`{"a":[1, 2]}`:                      `{"a":[1,2]}`,
		`{"title":{"x":1}}`:                 `{"title":{"x":1}}`,
		`{"user":"mira","presence":"away"}`: "user mira, presence away",
		`{"deploy":"d-1","share":0.1,"x":null,"y":{},"phase":"\u001bq"}`: "deploy d-1, share 0.1, phase \x1bq",
		`{"eventId":"e","data":{"n":1,"tags":["a"]}}`:                    "n 1",
		`{"first":"a long first value","second":"b","third":"c"}`:        "first a long first value, secon" + "…",
		`{"status":503}`: "status 503",
		`{"a":1,"a":2}`:  `{"a":1,"a":2}`,
		`not json`:       `"not json"`,
		`{"title":"äääääääääääääääääääääääääääääääääääää"}`: "äääääääääääääää" + "…",
	} {
		if got := Summary([]byte(raw), 31); got.Raw() != want {
			t.Errorf("Summary(%s) = %q, want %q", raw, got.Raw(), want)
		}
	}
}
