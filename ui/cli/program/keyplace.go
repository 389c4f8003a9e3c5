package program

import (
	"eventdeck/host/config"
	"eventdeck/ui/cli/plain"
)

// keyVariable names where a new store keeps its sealing key, before the settings do.
const keyVariable = "EVENTDECK_KEY"

// KeyPlace returns where the operator wants new stores to keep their sealing key; "": nowhere in
// particular. A mistake in the settings is reported once, and means "" too.
//
// Error: a usage error for another value of the variable.
func (a *App) KeyPlace() (string, error) {
	switch place, _ := a.Env(keyVariable); place {
	case "":
		a.settingsRead.Do(a.readKeyPlace)
		return a.keyPlace, nil
	case "file", "keyring":
		return place, nil
	default:
		return "", plain.UsageErrorf("%s is %q; it can be file or keyring", keyVariable, place)
	}
}

// readKeyPlace reads the operator's file of settings.
func (a *App) readKeyPlace() {
	path := a.SettingsFile()
	if path == "" {
		return
	}
	s, err := config.LoadSettings(path)
	if err == nil {
		a.keyPlace, err = s.KeyPlace()
	}
	if err != nil {
		a.Say("%s; the default holds in its place", plain.Message(err))
	}
}
