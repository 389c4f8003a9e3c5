package host

import "testing"

func TestTidyAfterManyOpenings(t *testing.T) {
	open := func(n int) *tidy {
		d := new(tidy)
		for range n {
			d.begin()
		}
		for range n {
			d.end()
		}
		return d
	}
	if d := open(tidyFrom - 1); d.timer != nil {
		t.Error("memory is given back after a few openings")
	}
	d := open(tidyFrom)
	if d.timer == nil {
		t.Fatal("memory is not given back after many openings")
	}
	d.begin()
	if d.timer != nil {
		t.Error("memory is given back while a subscription is being opened")
	}
	d.end()
	d.close()
	if d.timer != nil {
		t.Error("memory is given back after the end")
	}
}
