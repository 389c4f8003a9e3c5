package signin_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"eventdeck/host/event"
	"eventdeck/host/signin"
	"eventdeck/host/signin/signintest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// vault keeps secrets in memory.
type vault struct {
	mu     sync.Mutex
	kept   map[string]event.Secret
	locked error
}

func (v *vault) Credential(name string) (event.Secret, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if s, ok := v.kept[name]; ok {
		return s, v.locked
	}
	return event.Secret{}, event.ErrNotFound
}

func (v *vault) SetCredential(_ context.Context, name string, s event.Secret) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.kept[name] = s; s.IsZero() {
		delete(v.kept, name)
	}
	return nil
}

// rig is a protected server, its authorization server and the host's account.
type rig struct {
	t         *testing.T
	authority *signintest.Authority
	server    *httptest.Server
	scope     string // required by the server
	vault     *vault
	spec      event.Server
	account   *signin.Account

	mu  sync.Mutex
	now time.Time
}

func newRig(t *testing.T, configure func(*rig)) *rig {
	r := &rig{t: t, authority: signintest.New(), vault: &vault{kept: map[string]event.Secret{}}, now: time.Now()}
	t.Cleanup(r.authority.Close)
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.authority.Protect("/mcp", r.scope, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, req)
	}))
	t.Cleanup(r.server.Close)
	r.spec = event.Server{Name: "files", URL: r.server.URL + "/mcp?key=hunter2"}
	if configure != nil {
		configure(r)
	}
	r.open()
	return r
}

// open makes the account anew, as another run of the host does.
func (r *rig) open() {
	r.account = signin.New(signin.Options{Server: r.spec, Vault: r.vault, Now: r.clock})
}

func (r *rig) clock() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

func (r *rig) later(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = r.now.Add(d)
}

func (r *rig) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	r.t.Cleanup(cancel)
	return ctx
}

// use makes a request as a session does, and returns the last status.
func (r *rig) use() (status int, err error) {
	r.t.Helper()
	for again := false; ; again = true {
		token, err := r.account.Token(r.ctx())
		if err != nil {
			return 0, err
		}
		req, err := http.NewRequest(http.MethodPost, r.spec.URL, nil)
		if err != nil {
			r.t.Fatal(err)
		}
		if !token.IsZero() {
			req.Header.Set("Authorization", "Bearer "+token.Reveal())
		}
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		resp, err := client.Do(req)
		if err != nil {
			r.t.Fatal(err)
		}
		resp.Body.Close()
		if again || resp.StatusCode/100 == 2 {
			return resp.StatusCode, nil
		}
		more, err := r.account.Refused(r.ctx(), token, resp.StatusCode, resp.Header.Values("WWW-Authenticate"))
		if err != nil || !more {
			return resp.StatusCode, err
		}
	}
}

func (r *rig) want(status int) {
	r.t.Helper()
	if got, err := r.use(); err != nil || got != status {
		r.t.Fatalf("HTTP %d, %v; want %d; need %q", got, err, status, r.account.Need())
	}
}

// signIn signs in as an operator with a browser does.
func (r *rig) signIn() error {
	r.t.Helper()
	flow, err := r.account.Begin(r.ctx())
	if err != nil {
		return err
	}
	if flow.URL != "" {
		if err := signintest.Visit(flow.URL); err != nil {
			flow.Close()
			return err
		}
	}
	return flow.Wait(r.ctx())
}

func (r *rig) mustSignIn() {
	r.t.Helper()
	if err := r.signIn(); err != nil {
		r.t.Fatal(err)
	}
}
