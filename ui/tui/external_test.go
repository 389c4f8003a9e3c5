package tui

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func TestEditedArgumentsAreTakenOver(t *testing.T) {
	a, f := openedForm(t, orders(), 120, 40)
	file, err := writeTemp([]byte(`{"team":"core","level":3,"more":[1]}`))
	if err != nil {
		t.Fatal(err)
	}
	msg := readBack(file, nil, f.TakeOver)
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Error("the file stays")
	}
	settle(a, a.edited(msg))
	if got := string(f.Model().JSON()); got != `{"more":[1],"team":"core","level":3}` {
		t.Error(got)
	}
	settle(a, a.edited(editedMsg{text: "{", then: msg.then}))
	if got := string(f.Model().JSON()); got != `{"more":[1],"team":"core","level":3}` || !strings.Contains(screenOf(a), "nothing was taken over") {
		t.Errorf("%s\n%s", got, screenOf(a))
	}
	settle(a, a.edited(editedMsg{err: errors.New("exit status 1"), then: msg.then}))
	if !a.note.bad {
		t.Error("a failed editor is not told")
	}
}
