package react

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// The time of each start is kept: a rate cannot have any number of them.
func TestRatesAreBounded(t *testing.T) {
	if r, err := ParseRate(fmt.Sprint(MaxRate, "/d")); err != nil || r != (Rate{N: MaxRate, Per: 24 * time.Hour}) {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := ParseRate(fmt.Sprint(MaxRate+1, "/d")); err == nil {
		t.Errorf("%+v", r)
	} else if !strings.Contains(err.Error(), "shorter") {
		t.Error(err)
	}
}
