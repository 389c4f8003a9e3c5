package react

import (
	"math"
	"math/big"
	"testing"
)

func TestCosts(t *testing.T) {
	for _, c := range []struct {
		price Price
		usage Usage
		want  int64
	}{
		{Price{}, Usage{In: math.MaxInt64, Out: math.MaxInt64}, 0},
		{Price{In: 3_000_000, Out: 15_000_000}, Usage{In: 10, Out: 5}, 105},
		{Price{In: 1, Out: 1}, Usage{In: 1, Out: 1}, 2}, // each rounded up
		{Price{In: 150_000}, Usage{In: 7}, 2},           // 1.05
		{Price{In: 1_000_000}, Usage{In: 7, Out: 7}, 7},
		{Price{In: 1_000_000}, Usage{In: -7, Out: -7}, 0},
		{Price{In: math.MaxInt64}, Usage{In: math.MaxInt64}, math.MaxInt64},
		{Price{In: math.MaxInt64, Out: math.MaxInt64}, Usage{In: 1_000_000, Out: 1_000_000}, math.MaxInt64},
	} {
		if got := c.price.Cost(c.usage); got != c.want {
			t.Errorf("%+v at %+v costs %d, want %d", c.usage, c.price, got, c.want)
		}
	}
	if got := (*Price)(nil).Cost(Usage{In: 1e9}); got != 0 {
		t.Errorf("without a price: %d", got)
	}
	if Sum(math.MaxInt64, 1) != math.MaxInt64 || Sum(1, 2) != 3 || Sum(math.MaxInt64, 0) != math.MaxInt64 {
		t.Error("sums do not end at the largest number")
	}
}

func FuzzCost(f *testing.F) {
	f.Add(int64(3_000_000), int64(15_000_000), int64(10), int64(5))
	f.Add(int64(math.MaxInt64), int64(1), int64(math.MaxInt64), int64(1))
	f.Fuzz(func(t *testing.T, in, out, tin, tout int64) {
		if in < 0 || out < 0 || tin < 0 || tout < 0 {
			return
		}
		part := func(price, tokens int64) *big.Int {
			n := new(big.Int).Mul(big.NewInt(price), big.NewInt(tokens))
			n.Add(n, big.NewInt(999_999))
			return n.Div(n, big.NewInt(1_000_000))
		}
		want := new(big.Int).Add(part(in, tin), part(out, tout))
		if !want.IsInt64() {
			want = big.NewInt(math.MaxInt64)
		}
		if got := (&Price{In: in, Out: out}).Cost(Usage{In: tin, Out: tout}); got != want.Int64() {
			t.Errorf("%d, want %d", got, want)
		}
	})
}

func TestTheWorstCostOfARule(t *testing.T) {
	task := func(change func(*Rule)) *Rule {
		r := fullRules()[4]
		r.Limits.Spend, r.Limits.Tokens = 0, 100_000
		change(&r)
		return &r
	}
	for what, c := range map[string]struct {
		rule *Rule
		want int64
	}{
		"twelve answers":             {task(func(*Rule) {}), (100_000-12*4096)*3 + 12*4096*15},
		"one answer":                 {task(func(r *Rule) { r.Do.Task.Tools = nil }), (100_000-4096)*3 + 4096*15},
		"tokens end it":              {task(func(r *Rule) { r.Limits.Tokens = 1000 }), 1000 * 15},
		"what is read is dearer":     {task(func(r *Rule) { r.Do.Task.Model.Price = &Price{In: 2_000_000, Out: 1_000_000} }), 100_000 * 2},
		"the limit of what is spent": {task(func(r *Rule) { r.Limits.Spend = 500 }), 500},
		"no price":                   {task(func(r *Rule) { r.Do.Task.Model.Price = &Price{} }), 0},
		"a choice":                   {task(func(r *Rule) { r.Do.Task, r.Do.Choice = nil, someChoice() }), (100_000-4096)*3 + 4096*15},
		"a note":                     {task(func(r *Rule) { r.Do.Task, r.Do.Note = nil, "n" }), 0},
	} {
		if got := c.rule.WorstCost(); got != c.want {
			t.Errorf("%s: %d, want %d", what, got, c.want)
		}
	}
}
