package observe

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestLogIsRotated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l, err := OpenLog(path)
	if err != nil {
		t.Fatal(err)
	}
	l.max = 10
	for _, line := range []string{"one\n", "two\n", "three\n", "four\n", "five\n", "six\n", "a line that is longer\n", "seven\n", "eight\n"} {
		if _, err := l.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(l.Close(), l.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Write([]byte("late")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
	for name, want := range map[string]string{"": "eight\n", ".1": "seven\n", ".2": "a line that is longer\n", ".3": "six\n", ".4": ""} {
		text, err := os.ReadFile(path + name)
		if string(text) != want || (err != nil) != (want == "") {
			t.Errorf("log%s holds %q, %v; want %q", name, text, err, want)
		}
	}
	if l, err = OpenLog(path); err != nil || l.size != 6 {
		t.Fatalf("the existing lines are not counted: %v", err)
	}
	l.Close()
	if _, err := OpenLog(filepath.Join(path, "no")); err == nil {
		t.Error("a path below a file was opened")
	}
}

func TestProfilesAreForLoopback(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", "example.com:80", "6060", ":0"} {
		if _, _, err := ServeProfiles(address); !errors.Is(err, ErrNotLoopback) {
			t.Errorf("%s: %v", address, err)
		}
	}
	bound, stop, err := ServeProfiles("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}()
	for host, want := range map[string]int{bound: http.StatusOK, "evil.example": http.StatusMisdirectedRequest} {
		r, err := http.NewRequest(http.MethodGet, "http://"+bound+"/debug/pprof/goroutine?debug=1", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host, r.Close = host, true
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != want || want == http.StatusOK && !strings.Contains(string(text), "goroutine profile") {
			t.Errorf("%s: %d %.80s", host, answer.StatusCode, text)
		}
	}
}

func environment(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

func TestExportFromTheEnvironment(t *testing.T) {
	for name, c := range map[string]struct {
		env  []string
		ok   bool
		says string
		to   string
	}{
		"nothing":      {nil, false, "", ""},
		"base":         {[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://h:4318/"}, true, "", "http://h:4318/v1/metrics"},
		"metrics":      {[]string{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "https://h/m", "OTEL_EXPORTER_OTLP_ENDPOINT", "http://x"}, true, "", "https://h/m"},
		"off":          {[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://h", "OTEL_SDK_DISABLED", "TRUE"}, false, "", ""},
		"no metrics":   {[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://h", "OTEL_METRICS_EXPORTER", "none"}, false, "", ""},
		"no URL":       {[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", "h:4317"}, false, "no http or https URL", ""},
		"interval":     {[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://h", "OTEL_METRIC_EXPORT_INTERVAL", "soon"}, false, "OTEL_METRIC_EXPORT_INTERVAL", ""},
		"headers":      {[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://h", "OTEL_EXPORTER_OTLP_HEADERS", "token"}, false, "key=value", ""},
		"protobuf":     {[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://h", "OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"}, false, `"http/protobuf", and metrics are sent as http/json only`, ""},
		"of metrics":   {[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://h", "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "http/json"}, true, "", "http://h/v1/metrics"},
		"no export":    {[]string{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}, false, "", ""},
		"attributes":   {[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://h", "OTEL_RESOURCE_ATTRIBUTES", "team"}, false, "OTEL_RESOURCE_ATTRIBUTES must look like key=value", ""},
		"their values": {[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://h", "OTEL_EXPORTER_OTLP_HEADERS", "a=%zz"}, false, "URL-encoded", ""},
	} {
		e, ok, err := ExportFrom(environment(c.env...))
		if ok != c.ok || (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
		if ok && (e.Endpoint != c.to || e.Resource["service.name"] != "eventdeck") {
			t.Errorf("%s: %s", name, e.Endpoint)
		}
	}
}

// collector receives exported metrics.
type collector struct {
	got    chan map[string]any
	header chan http.Header
	status atomic.Int64
}

func (c *collector) RoundTrip(r *http.Request) (*http.Response, error) {
	var m map[string]any
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		return nil, err
	}
	c.got <- m
	c.header <- r.Header
	w := httptest.NewRecorder()
	w.WriteHeader(int(c.status.Load()))
	return w.Result(), nil
}

func TestMetricsAreSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &collector{got: make(chan map[string]any, 9), header: make(chan http.Header, 9)}
		c.status.Store(http.StatusOK)
		e, ok, err := ExportFrom(environment("OTEL_EXPORTER_OTLP_ENDPOINT", "http://h", "OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b, x=y",
			"OTEL_RESOURCE_ATTRIBUTES", "service.name=deck,team=on%20call"))
		if !ok || err != nil {
			t.Fatal(err)
		}
		e.Client, e.Version, e.Started = &http.Client{Transport: c}, "1.2", time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		var failures []error
		done := make(chan struct{})
		go func() {
			defer close(done)
			e.Run(ctx, func() []Metric {
				return []Metric{{Name: "events", Unit: "{event}", Value: 7, Count: true}, {Name: "lag", Unit: "s", Value: 0.5}}
			}, func(err error) { failures = append(failures, err) })
		}()
		begun := time.Now()
		m := <-c.got
		if waited := time.Since(begun); waited != time.Minute {
			t.Errorf("the first numbers came after %v", waited)
		}
		h := <-c.header
		if h.Get("Api-Key") != "a b" || h.Get("X") != "y" || h.Get("Content-Type") != "application/json" {
			t.Errorf("headers: %v", h)
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{`{"key":"service.name","value":{"stringValue":"deck"}},{"key":"service.version","value":{"stringValue":"1.2"}},{"key":"team","value":{"stringValue":"on call"}}`, `"aggregationTemporality":2`, `"isMonotonic":true`, `"asDouble":7`, `"gauge":{"dataPoints":[{"asDouble":0.5`} {
			if !strings.Contains(string(text), part) {
				t.Errorf("%s is not in %s", part, text)
			}
		}
		synctest.Wait() // the first answer is read
		c.status.Store(http.StatusInternalServerError)
		cancel()
		<-done
		if len(c.got) != 1 || len(failures) != 1 || !errors.Is(failures[0], ErrExport) {
			t.Errorf("at the end: %d messages, %v", len(c.got), failures)
		}
	})
}
