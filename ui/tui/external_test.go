package tui

import (
	"strings"
	"testing"
)

func TestEditedArgumentsAreTakenOver(t *testing.T) {
	a, f := openedForm(t, orders(), 120, 40)
	settle(a, f.TakeOver(`{"team":"core","level":3,"more":[1]}`))
	if got := string(f.Model().JSON()); got != `{"more":[1],"team":"core","level":3}` {
		t.Error(got)
	}
	settle(a, f.TakeOver("{"))
	if got := string(f.Model().JSON()); got != `{"more":[1],"team":"core","level":3}` || !strings.Contains(screenOf(a), "nothing was taken over") {
		t.Errorf("%s\n%s", got, screenOf(a))
	}
}
