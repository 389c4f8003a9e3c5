//go:build unix && !darwin

package seal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"
)

// Names of the Secret Service API, https://specifications.freedesktop.org/secret-service/
const (
	serviceName     = "org.freedesktop.secrets"
	servicePath     = dbus.ObjectPath("/org/freedesktop/secrets")
	serviceIface    = "org.freedesktop.Secret.Service"
	collectionIface = "org.freedesktop.Secret.Collection"
	itemIface       = "org.freedesktop.Secret.Item"
	promptIface     = "org.freedesktop.Secret.Prompt"
	noObject        = dbus.ObjectPath("/")
)

// systemKeyring is the Secret Service on the session bus that runs: neither a bus nor a service is
// started.
type systemKeyring struct{}

func (systemKeyring) Get(ctx context.Context, service, account string) (string, error) {
	return onSessionBus(ctx, func(s secretService) (string, error) { return s.get(service, account) })
}

func (systemKeyring) Set(ctx context.Context, service, account, secret string) error {
	_, err := onSessionBus(ctx, func(s secretService) (string, error) { return "", s.set(service, account, secret) })
	return err
}

func (systemKeyring) Delete(ctx context.Context, service, account string) error {
	_, err := onSessionBus(ctx, func(s secretService) (string, error) { return "", s.remove(service, account) })
	return err
}

func (systemKeyring) Unlock(ctx context.Context, service, account string) error {
	_, err := onSessionBus(ctx, func(s secretService) (string, error) { return "", s.unlock(service, account) })
	return err
}

// onSessionBus calls do with the Secret Service on the session bus.
func onSessionBus(ctx context.Context, do func(secretService) (string, error)) (string, error) {
	return bounded(ctx, func() (string, error) {
		address, err := busAddress()
		if err != nil {
			return "", err
		}
		late, cut := context.WithCancel(context.WithoutCancel(ctx))
		defer cut()
		defer context.AfterFunc(ctx, func() { time.AfterFunc(leaveWithin, cut) })()
		conn, err := dbus.Connect(address, dbus.WithContext(late))
		if err != nil {
			return "", fmt.Errorf("%w: session bus %s: %w", ErrNoKeyring, address, err)
		}
		defer conn.Close()
		return do(secretService{ctx, conn})
	})
}

// busAddress returns the address of the session bus. The library would start one where there is
// none.
//
// Error: [ErrNoKeyring].
func busAddress() (string, error) {
	if address := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); address != "" {
		return address, nil
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		path := filepath.Join(dir, "bus")
		if _, err := os.Stat(path); err == nil {
			return "unix:path=" + dbus.EscapeBusAddressValue(path), nil
		}
	}
	return "", fmt.Errorf("%w: no session bus in DBUS_SESSION_BUS_ADDRESS or $XDG_RUNTIME_DIR/bus", ErrNoKeyring)
}

// secretService calls a Secret Service until ctx ends.
type secretService struct {
	ctx  context.Context
	conn *dbus.Conn
}

// secret is a secret on the wire.
type secret struct {
	Session     dbus.ObjectPath
	Parameters  []byte
	Value       []byte
	ContentType string
}

// call calls a method and stores its results.
func (s secretService) call(path dbus.ObjectPath, method string, results []any, args ...any) error {
	err := s.conn.Object(serviceName, path).CallWithContext(s.ctx, method, dbus.FlagNoAutoStart, args...).Store(results...)
	var reply dbus.Error
	if !errors.As(err, &reply) {
		return err
	}
	switch reply.Name {
	case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner":
		return fmt.Errorf("%w: no keyring service is running", ErrNoKeyring)
	case "org.freedesktop.Secret.Error.IsLocked":
		return ErrRingLocked
	}
	return fmt.Errorf("the keyring: %s: %w", method[strings.LastIndexByte(method, '.')+1:], err)
}

func attributes(service, account string) map[string]string {
	return map[string]string{"service": service, "username": account} // as other programs find them
}

// find returns the item of an account.
//
// Errors: [ErrRingLocked], with the item if the keyring tells it; [ErrNoKey], others.
func (s secretService) find(service, account string) (dbus.ObjectPath, error) {
	var open, locked []dbus.ObjectPath
	err := s.call(servicePath, serviceIface+".SearchItems", []any{&open, &locked}, attributes(service, account))
	switch {
	case err != nil:
		return "", err
	case len(open) > 0:
		return open[0], nil
	case len(locked) > 0:
		return locked[0], ErrRingLocked
	}
	if _, err := s.collection(); errors.Is(err, ErrRingLocked) {
		return "", err // not every service searches in a locked collection
	}
	return "", ErrNoKey
}

// collection returns the default collection, also with ErrRingLocked.
//
// Errors: [ErrNoKeyring] if none exists, [ErrRingLocked], others.
func (s secretService) collection() (dbus.ObjectPath, error) {
	var path dbus.ObjectPath
	if err := s.call(servicePath, serviceIface+".ReadAlias", []any{&path}, "default"); err != nil {
		return "", err
	}
	if path == noObject {
		return "", fmt.Errorf("%w: the keyring has no default collection", ErrNoKeyring)
	}
	var locked bool
	if err := s.call(path, "org.freedesktop.DBus.Properties.Get", []any{&locked}, collectionIface, "Locked"); err != nil {
		return "", err
	}
	if locked {
		return path, ErrRingLocked
	}
	return path, nil
}

// open opens a session, in which secrets pass as they are: the bus is private to the user.
func (s secretService) open() (session dbus.ObjectPath, err error) {
	var output dbus.Variant
	err = s.call(servicePath, serviceIface+".OpenSession", []any{&output, &session}, "plain", dbus.MakeVariant(""))
	return session, err
}

func (s secretService) get(service, account string) (string, error) {
	item, err := s.find(service, account)
	if err != nil {
		return "", err
	}
	session, err := s.open()
	if err != nil {
		return "", err
	}
	var got secret
	err = s.call(item, itemIface+".GetSecret", []any{&got}, session)
	return string(got.Value), err
}

func (s secretService) set(service, account, text string) error {
	collection, err := s.collection()
	if err != nil {
		return err
	}
	session, err := s.open()
	if err != nil {
		return err
	}
	properties := map[string]dbus.Variant{
		itemIface + ".Label":      dbus.MakeVariant(service + " " + account),
		itemIface + ".Attributes": dbus.MakeVariant(attributes(service, account)),
	}
	var item, prompt dbus.ObjectPath
	err = s.call(collection, collectionIface+".CreateItem", []any{&item, &prompt},
		properties, secret{session, []byte{}, []byte(text), "text/plain; charset=utf8"}, true)
	return s.unprompted(prompt, err)
}

func (s secretService) remove(service, account string) error {
	item, err := s.find(service, account)
	if err != nil {
		return err
	}
	var prompt dbus.ObjectPath
	err = s.call(item, itemIface+".Delete", []any{&prompt})
	return s.unprompted(prompt, err)
}

// unprompted refuses a result that waits for the operator.
func (s secretService) unprompted(prompt dbus.ObjectPath, err error) error {
	if err != nil || prompt == noObject {
		return err
	}
	return errors.Join(ErrRingLocked, s.call(prompt, promptIface+".Dismiss", nil))
}

// unlock unlocks the item of an account, or the default collection if there is no such item.
func (s secretService) unlock(service, account string) error {
	object, err := s.find(service, account)
	if object == "" {
		object, err = s.collection()
	}
	if !errors.Is(err, ErrRingLocked) {
		return err
	}
	var unlocked []dbus.ObjectPath
	var prompt dbus.ObjectPath
	if err := s.call(servicePath, serviceIface+".Unlock", []any{&unlocked, &prompt}, []dbus.ObjectPath{object}); err != nil || prompt == noObject {
		return err
	}
	return s.prompt(prompt)
}

// prompt shows a prompt of the keyring and waits for its end; at the end of ctx it dismisses it.
func (s secretService) prompt(prompt dbus.ObjectPath) error {
	defer func() {
		if s.ctx.Err() != nil {
			s.conn.Object(serviceName, prompt).Call(promptIface+".Dismiss", dbus.FlagNoAutoStart|dbus.FlagNoReplyExpected)
		}
	}()
	signals := make(chan *dbus.Signal, 1)
	s.conn.Signal(signals)
	if err := s.conn.AddMatchSignalContext(s.ctx, dbus.WithMatchObjectPath(prompt), dbus.WithMatchInterface(promptIface)); err != nil {
		return err
	}
	if err := s.call(prompt, promptIface+".Prompt", nil, ""); err != nil {
		return err
	}
	for {
		select {
		case signal := <-signals:
			if signal == nil { // the connection has ended
				return ErrNoKeyring
			}
			if signal.Path != prompt || len(signal.Body) == 0 {
				continue
			}
			if dismissed, ok := signal.Body[0].(bool); ok && dismissed {
				return ErrRingLocked
			}
			return nil
		case <-s.ctx.Done():
			return context.Cause(s.ctx)
		}
	}
}
