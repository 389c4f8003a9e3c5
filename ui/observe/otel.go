package observe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Metric is the value of one metric at one moment.
type Metric struct {
	Name  string
	Unit  string  // UCUM: "{event}", "By", "s"
	Value float64 // a count or a level
	Count bool    // it only grows, from the start of the program
}

// Export says where metrics are sent, as OTLP over HTTP in JSON (OpenTelemetry protocol
// exporter, environment variables).
type Export struct {
	Endpoint string // complete URL
	Headers  http.Header
	Every    time.Duration     // between two sends
	Timeout  time.Duration     // of one send
	Resource map[string]string // attributes of this program; service.version is added unless it is there
	Version  string
	Started  time.Time
	Now      func() time.Time
	Client   *http.Client
}

// ErrExport: the variables of OpenTelemetry are invalid, or a send failed.
var ErrExport = errors.New("OpenTelemetry")

// ExportFrom reads the standard OTEL_ variables. Without an endpoint, or if they disable the
// export, ok is false.
//
// Error: [ErrExport].
func ExportFrom(env func(string) (string, bool)) (e Export, ok bool, err error) {
	get := func(names ...string) string {
		for _, n := range names {
			if v, ok := env(n); ok && strings.TrimSpace(v) != "" {
				return strings.TrimSpace(v)
			}
		}
		return ""
	}
	e = Export{
		Endpoint: get("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"),
		Every:    time.Minute, Timeout: 10 * time.Second,
		Resource: map[string]string{"service.name": "eventdeck"}, Headers: http.Header{}, Now: time.Now, Client: http.DefaultClient,
	}
	if e.Endpoint == "" {
		if base := get("OTEL_EXPORTER_OTLP_ENDPOINT"); base != "" {
			e.Endpoint = strings.TrimSuffix(base, "/") + "/v1/metrics"
		}
	}
	if e.Endpoint == "" || strings.EqualFold(get("OTEL_SDK_DISABLED"), "true") || strings.EqualFold(get("OTEL_METRICS_EXPORTER"), "none") {
		return e, false, nil
	}
	if u, err := url.Parse(e.Endpoint); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return e, false, fmt.Errorf("%w: OTEL_EXPORTER_OTLP_ENDPOINT is no http or https URL", ErrExport)
	}
	for name, to := range map[string]*time.Duration{"OTEL_METRIC_EXPORT_INTERVAL": &e.Every, "OTEL_EXPORTER_OTLP_TIMEOUT": &e.Timeout} {
		if v := get(name); v != "" {
			ms, err := strconv.Atoi(v)
			if err != nil || ms < 1 {
				return e, false, fmt.Errorf("%w: %s is no number of milliseconds", ErrExport, name)
			}
			*to = time.Duration(ms) * time.Millisecond
		}
	}
	if p := get("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"); p != "" && p != "http/json" {
		return e, false, fmt.Errorf("%w: OTEL_EXPORTER_OTLP_PROTOCOL is %q, and metrics are sent as http/json only; name that and an endpoint that takes it, or set OTEL_METRICS_EXPORTER=none", ErrExport, p)
	}
	err = errors.Join(
		pairs("OTEL_EXPORTER_OTLP_HEADERS", get("OTEL_EXPORTER_OTLP_METRICS_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"), e.Headers.Set),
		pairs("OTEL_RESOURCE_ATTRIBUTES", get("OTEL_RESOURCE_ATTRIBUTES"), func(key, value string) { e.Resource[key] = value }))
	if name := get("OTEL_SERVICE_NAME"); name != "" {
		e.Resource["service.name"] = name
	}
	return e, err == nil, err
}

// pairs passes each pair of a text such as key=value,key=value to set. Values are URL-encoded.
// Error: [ErrExport], which names the variable.
func pairs(variable, text string, set func(key, value string)) error {
	for pair := range strings.SplitSeq(text, ",") {
		key, value, found := strings.Cut(strings.TrimSpace(pair), "=")
		if !found {
			if key != "" {
				return fmt.Errorf("%w: %s must look like key=value,key=value", ErrExport, variable)
			}
			continue
		}
		plain, err := url.PathUnescape(strings.TrimSpace(value))
		if err != nil {
			return fmt.Errorf("%w: a value in %s is not URL-encoded", ErrExport, variable)
		}
		set(strings.TrimSpace(key), plain)
	}
	return nil
}

// Run sends the metrics that read returns every e.Every until ctx ends, and once more then. failed
// is called with the error of a send, after which Run continues.
func (e Export) Run(ctx context.Context, read func() []Metric, failed func(error)) {
	tick := time.NewTicker(e.Every)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
		sending, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.Timeout)
		if err := e.Send(sending, read()); err != nil {
			failed(err)
		}
		cancel()
	}
}

// Send sends the metrics once.
//
// Error: [ErrExport].
func (e Export) Send(ctx context.Context, metrics []Metric) error {
	body, err := json.Marshal(e.message(metrics))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrExport, err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.Endpoint, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrExport, err)
	}
	r.Header = e.Headers.Clone()
	r.Header.Set("Content-Type", "application/json")
	answer, err := e.Client.Do(r)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrExport, err)
	}
	_, err = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10))
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return fmt.Errorf("%w: %w", ErrExport, err)
	}
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("%w: the collector answered %s", ErrExport, answer.Status)
	}
	return nil
}

// The parts of the message of opentelemetry-proto's metrics service that are used.
type (
	otlpMessage struct {
		Resources []otlpResource `json:"resourceMetrics"`
	}
	otlpResource struct {
		Resource struct {
			Attributes []otlpAttribute `json:"attributes"`
		} `json:"resource"`
		Scopes []otlpScope `json:"scopeMetrics"`
	}
	otlpAttribute struct {
		Key   string         `json:"key"`
		Value map[string]any `json:"value"`
	}
	otlpScope struct {
		Scope   map[string]string `json:"scope"`
		Metrics []otlpMetric      `json:"metrics"`
	}
	otlpMetric struct {
		Name  string    `json:"name"`
		Unit  string    `json:"unit,omitempty"`
		Sum   *otlpData `json:"sum,omitempty"`
		Gauge *otlpData `json:"gauge,omitempty"`
	}
	otlpData struct {
		Points      []otlpPoint `json:"dataPoints"`
		Temporality int         `json:"aggregationTemporality,omitempty"` // 2: cumulative
		Monotonic   bool        `json:"isMonotonic,omitempty"`
	}
	otlpPoint struct {
		Start string  `json:"startTimeUnixNano,omitempty"`
		Time  string  `json:"timeUnixNano"`
		Value float64 `json:"asDouble"`
	}
)

func (e Export) message(metrics []Metric) otlpMessage {
	nano := func(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }
	var r otlpResource
	attributes := map[string]string{"service.version": e.Version}
	maps.Copy(attributes, e.Resource)
	for _, key := range slices.Sorted(maps.Keys(attributes)) {
		r.Resource.Attributes = append(r.Resource.Attributes, otlpAttribute{key, map[string]any{"stringValue": attributes[key]}})
	}
	scope := otlpScope{Scope: map[string]string{"name": "eventdeck"}}
	for _, m := range metrics {
		point := otlpPoint{Time: nano(e.Now()), Value: m.Value}
		out := otlpMetric{Name: m.Name, Unit: m.Unit}
		if m.Count {
			point.Start = nano(e.Started)
			out.Sum = &otlpData{Points: []otlpPoint{point}, Temporality: 2, Monotonic: true}
		} else {
			out.Gauge = &otlpData{Points: []otlpPoint{point}}
		}
		scope.Metrics = append(scope.Metrics, out)
	}
	r.Scopes = []otlpScope{scope}
	return otlpMessage{[]otlpResource{r}}
}
