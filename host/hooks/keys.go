package hooks

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/receiver"
	"eventdeck/host/session"
	"eventdeck/host/trust"
)

// ErrServerKeys: the operator demands that a server signs with keys of its own, and these
// cannot be read.
var ErrServerKeys = errors.New("the server's signing keys")

// Times of the keys that servers publish.
const (
	keysTimeout  = 10 * time.Second   // of one request
	keysPause    = time.Minute        // between two requests to the same server
	keysFor      = 24 * time.Hour     // then they are asked for again
	keysOutdated = 7 * 24 * time.Hour // then they are no longer accepted
)

// settingKeys begins the settings in which keys are kept; the server's name follows.
const settingKeys = "host.serverkeys/"

// serverKeys are the keys with which servers sign deliveries. They are read from the server's
// own origin only, pinned in the store, and read again when a delivery is signed by another
// key, or when they are a day old and a delivery comes or a lease is refreshed.
type serverKeys struct {
	deps  Deps
	queue chan event.Server // bounded; when it is full the next delivery asks again
	turn  chan struct{}     // one slot, held during a request: one is made at a time

	mu   sync.Mutex
	sets map[string]*keySet
}

// keySet holds the keys that one server published. It is immutable.
type keySet struct {
	Origin string              `json:"origin"`
	At     time.Time           `json:"at"`
	Keys   []ed25519.PublicKey `json:"keys"`

	// The newest request: its time, its address, and why it failed.
	tried  time.Time
	asked  string
	failed error
}

func newServerKeys(d Deps) *serverKeys {
	return &serverKeys{
		deps:  d,
		queue: make(chan event.Server, 16),
		turn:  make(chan struct{}, 1),
		sets:  map[string]*keySet{},
	}
}

// get returns the known keys of a server, and whether they were read within the last minute. It
// does not wait: old keys are requested in the background.
func (k *serverKeys) get(spec event.Server) (keys []ed25519.PublicKey, fresh bool) {
	from, err := keysAddress(spec)
	if err != nil {
		return nil, true
	}
	set := k.pinned(spec.Name)
	now := k.deps.Now()
	age := now.Sub(set.At)
	if set.Origin != from || age > keysFor {
		k.request(spec)
	}
	if set.Origin != from || age > keysOutdated {
		return nil, false
	}
	return set.Keys, age < keysPause
}

// request has run read the keys of a server.
func (k *serverKeys) request(spec event.Server) {
	select {
	case k.queue <- spec:
	default:
	}
}

// pinned returns the newest keys of a server.
func (k *serverKeys) pinned(server string) keySet {
	k.mu.Lock()
	set := k.sets[server]
	k.mu.Unlock()
	if set != nil {
		return *set
	}
	set = &keySet{}
	text, err := k.deps.Store.Setting(settingKeys + server)
	if err == nil && json.Unmarshal([]byte(text), set) != nil {
		set = &keySet{} // unreadable: they are asked for again
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if have := k.sets[server]; have != nil {
		return *have
	}
	k.sets[server] = set
	return *set
}

// run asks the servers of the queue for their keys until ctx ends.
func (k *serverKeys) run(ctx context.Context) {
	for {
		select {
		case spec := <-k.queue:
			if err := k.read(ctx, spec); err != nil && ctx.Err() == nil {
				k.deps.Log.Warn("the keys with which a server signs deliveries could not be read", "server", spec.Name, "err", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// ensure reads the keys of a server unless they are known.
//
// Error: [ErrServerKeys].
func (k *serverKeys) ensure(ctx context.Context, spec event.Server) error {
	if !spec.RequireServerKey {
		return nil
	}
	if keys, _ := k.get(spec); len(keys) > 0 {
		return nil
	}
	if err := k.read(ctx, spec); err != nil {
		return fmt.Errorf(`%w of %s: %w; take "requireServerKey" out of its entry to do without`, ErrServerKeys, spec.Name, err)
	}
	return nil
}

// read reads and pins the keys of a server. Within a minute of a request it returns the outcome
// of that request.
func (k *serverKeys) read(ctx context.Context, spec event.Server) error {
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	from, err := keysAddress(spec)
	if err != nil {
		return err
	}
	old, now := k.pinned(spec.Name), k.deps.Now()
	if gone := now.Sub(old.tried); old.asked == from && gone >= 0 && gone < keysPause {
		return old.failed
	}
	keys, err := k.fetch(ctx, spec, from)
	if err != nil {
		tried := old
		tried.tried, tried.asked = now, from
		tried.failed = fmt.Errorf("%w (it is asked again at %s)", err, now.Add(keysPause).UTC().Format(time.RFC3339))
		k.set(spec.Name, tried)
		return err
	}
	set := keySet{Origin: from, At: now.UTC(), Keys: keys, tried: now, asked: from}
	text, err := json.Marshal(set)
	if err != nil {
		return err
	}
	if err := k.deps.Store.SetSetting(ctx, settingKeys+spec.Name, string(text)); err != nil {
		return err
	}
	k.set(spec.Name, set)
	if !slices.EqualFunc(old.Keys, keys, func(a, b ed25519.PublicKey) bool { return bytes.Equal(a, b) }) {
		e := event.Act(now, event.ActorServer, "signing keys changed", event.Subscription{Key: event.Key{Server: spec.Name}})
		e.Detail = trust.Untrusted(fingerprints(keys))
		k.deps.Note(ctx, e)
	}
	return nil
}

func (k *serverKeys) set(server string, set keySet) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sets[server] = &set
}

func fingerprints(keys []ed25519.PublicKey) string {
	words := make([]string, len(keys))
	for i, key := range keys {
		sum := sha256.Sum256(key)
		words[i] = "sha256 " + hex.EncodeToString(sum[:8])
	}
	return strings.Join(words, ", ")
}

// keysAddress returns the address at which a server publishes its keys: on the origin that the
// operator configured, over TLS unless that is loopback.
func keysAddress(spec event.Server) (string, error) {
	u, err := url.Parse(spec.URL)
	if err != nil || u.Host == "" {
		return "", errors.New("it has no address at which keys could be published")
	}
	switch u.Scheme {
	case "https", "wss":
		u.Scheme = "https"
	case "http", "ws":
		if !event.IsLoopback(u.Hostname()) {
			return "", errors.New("keys are read over https only")
		}
		u.Scheme = "http"
	default:
		return "", fmt.Errorf("keys cannot be read over %s", u.Scheme)
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: receiver.WellKnownKeys}).String(), nil
}

func (k *serverKeys) fetch(ctx context.Context, spec event.Server, from string) ([]ed25519.PublicKey, error) {
	transport, err := session.BaseTransport(spec, nil, k.deps.Log)
	if err != nil {
		return nil, err
	}
	defer transport.CloseIdleConnections()
	if dial := k.deps.Dial; dial != nil {
		transport.Proxy, transport.DialContext = nil, dial
	}
	client := &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	ctx, cancel := context.WithTimeout(ctx, keysTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %d", from, resp.StatusCode)
	}
	set, err := io.ReadAll(io.LimitReader(resp.Body, receiver.MaxKeySet+1))
	if err != nil {
		return nil, err
	}
	return receiver.ParseKeys(set)
}

// keepKeys has old keys of a subscription's server read again, even while nothing is delivered,
// so that a withdrawn key is not accepted for long.
func (s *Service) keepKeys(id event.SubID) {
	if spec, ok := s.serverOf(id); ok && spec.RequireServerKey {
		s.keys.get(spec)
	}
}

// unknownKey handles a delivery that was signed by an unknown key.
func (s *Service) unknownKey(id event.SubID) {
	if spec, ok := s.serverOf(id); ok {
		s.keys.request(spec)
	}
}

// serverOf returns the server of a subscription, if both are still there.
func (s *Service) serverOf(id event.SubID) (event.Server, bool) {
	sub, err := s.deps.Store.Subscription(id)
	if err != nil {
		return event.Server{}, false
	}
	spec, err := s.deps.Server(sub.Key.Server)
	return spec, err == nil
}
