//go:build !windows

package e2e

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// collector receives the metrics of a program over OpenTelemetry, and keeps the newest.
type collector struct {
	address string

	mu  sync.Mutex
	now map[string]float64
}

func newCollector(t *testing.T) *collector {
	c := &collector{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		type data struct{ DataPoints []struct{ AsDouble float64 } }
		var message struct {
			ResourceMetrics []struct {
				ScopeMetrics []struct {
					Metrics []struct {
						Name       string
						Sum, Gauge *data
					}
				}
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&message); err != nil {
			t.Error(err)
			return
		}
		now := map[string]float64{}
		for _, m := range message.ResourceMetrics[0].ScopeMetrics[0].Metrics {
			d := m.Gauge
			if d == nil {
				d = m.Sum
			}
			now[m.Name] = d.DataPoints[0].AsDouble
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.now = now
	}))
	t.Cleanup(s.Close)
	c.address = s.URL
	return c
}

// is reports whether metrics are there and have the wanted values.
func (c *collector) is(want map[string]float64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, value := range want {
		if got, ok := c.now[name]; !ok || got != value {
			return false
		}
	}
	return true
}

// The metrics of reactions are exported with those of events.
func TestReactionNumbersAreExported(t *testing.T) {
	r := newReacting(t, `{"rules":{"page":{ON,"when":".severity=P1","do":{"note":"have a look"}}}}`)
	c := newCollector(t)
	r.host("OTEL_EXPORTER_OTLP_ENDPOINT="+c.address, "OTEL_METRIC_EXPORT_INTERVAL=50")
	r.until("numbers before anything happened", func() bool {
		return c.is(map[string]float64{"eventdeck.react.asking": 0, "eventdeck.react.ended.denied": 0, "eventdeck.react.spend": 0, "eventdeck.react.spend.limit": 5})
	})
	r.server.send(`{"severity":"P1"}`)
	run := r.asking(1)[0]
	r.until("a run that asks", func() bool { return c.is(map[string]float64{"eventdeck.react.asking": 1}) })
	r.does("deny", run.ID, "--reason", "no")
	r.until("a run that ended", func() bool {
		return c.is(map[string]float64{"eventdeck.react.asking": 0, "eventdeck.react.ended.denied": 1, "eventdeck.react.ended.done": 0})
	})
}
