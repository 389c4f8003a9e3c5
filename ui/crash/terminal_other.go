//go:build !unix

package crash

import (
	"encoding/json"
	"os"
	"os/signal"
	"syscall"
)

// readTerminal reads nothing: the console restores its modes when the program ends.
func readTerminal(*os.File) (json.RawMessage, error) { return nil, nil }

func restoreTerminal(*os.File, json.RawMessage) {}

func ignoreSignals() { signal.Ignore(os.Interrupt) }

func apart() *syscall.SysProcAttr { return nil }
