package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/trust"
)

// copyMax bounds what goes to the clipboard, in bytes: terminals refuse or cut
// longer sequences, and a server decides how long its payload is.
const copyMax = 48 << 10

// copyPayload copies the payload with everything escaped that could act.
func (a *app) copyPayload() tea.Cmd {
	r, _ := a.payload()
	return a.copy("the payload, escaped", string(trust.CompactJSON(payloadOf(&r))))
}

// copyID copies the event's id, escaped.
func (a *app) copyID() tea.Cmd {
	r, _ := a.payload()
	if r.EventID.IsZero() {
		a.tell("this record has no event id")
		return nil
	}
	return a.copy("the event id, escaped", trust.Line(r.EventID).Plain())
}

// copyRaw copies the bytes as they came. The terminal gets them in base64; what
// they do where they are pasted is up to that place.
func (a *app) copyRaw() tea.Cmd {
	r, _ := a.payload()
	return a.copy("the RAW bytes: they may act where they are pasted", string(payloadOf(&r)))
}

// copy hands text to the terminal for the clipboard (OSC 52). Whether the
// terminal took it cannot be known.
func (a *app) copy(what, text string) tea.Cmd {
	if len(text) > copyMax {
		a.fail("not copied", fmt.Errorf("%s bytes are more than the %d KiB that a terminal takes; use eventdeck events --raw", number(uint64(len(text))), copyMax>>10))
		return nil
	}
	a.tell(fmt.Sprintf("copied %s (%s)", what, count(len(text), "byte")))
	return tea.SetClipboard(text)
}
