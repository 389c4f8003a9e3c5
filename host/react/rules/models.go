package rules

import (
	"fmt"
	"slices"
	"strings"

	"eventdeck/host/react"
)

// Defaults and bounds of models.
const (
	maxModels     = 50
	defaultOutput = 4096          // tokens of an answer
	maxPrice      = 1_000_000_000 // micro-dollars per million tokens
)

func (p *parser) models(m member) []react.Model {
	var models []react.Model
	for _, m := range p.entries(m, maxModels, "models") {
		models = append(models, p.model(m))
	}
	return models
}

func (p *parser) model(m member) react.Model {
	to := react.Model{Name: m.Key, Output: defaultOutput, Where: p.Where(m.At)}
	what := fmt.Sprintf("model %q", m.Key)
	p.name(m, "a model")
	members, ok := p.object(m, what, "wire", "url", "model", "key", "price", "output")
	if !ok {
		return to
	}
	for _, m := range members {
		switch m.Key {
		case "wire":
			choice(p, m, &to.Wire, react.WireChat, react.WireMessages)
		case "url":
			if text, ok := p.text(m, "an https address"); ok {
				_, err := react.ParseModelURL(text)
				p.address(m, text, err)
				to.URL = strings.TrimRight(text, "/")
			}
		case "model":
			if to.Model, _ = p.text(m, "the name that the provider gives the model"); len(to.Model) > maxValue {
				p.wrong(m.Start, fmt.Sprintf("at most %d bytes", maxValue), `"model" has %d bytes`, len(to.Model))
			}
		case "key":
			const shape = `"${NAME}", with the key in the variable NAME, or "keyring"`
			if to.Key, _ = p.text(m, shape); to.Key != "" && to.Key != "keyring" {
				p.variable(m, to.Key, shape)
			}
		case "price":
			to.Price = p.price(m)
		case "output":
			p.number(m, &to.Output, 1, react.MaxOutput)
		}
	}
	p.needs(m, members, what, "wire", `"wire": "chat" or "messages"`)
	p.needs(m, members, what, "url", `"url": "https://…"`)
	p.needs(m, members, what, "model", `"model": "NAME"`)
	return to
}

// price parses the price of a million tokens: 0, or dollars for input and output.
func (p *parser) price(m member) *react.Price {
	const shape = `0, or {"in": "3.00", "out": "15.00"}, dollars a million tokens`
	switch raw := p.Value(m); {
	case string(raw) == "0":
		return &react.Price{}
	case len(raw) == 0 || raw[0] != '{':
		p.wrong(m.Start, shape, `"price" is %s`, short(raw))
		return nil
	}
	to := &react.Price{}
	members, _ := p.object(m, `"price"`, "in", "out")
	for _, m := range members {
		if m.Key == "in" {
			p.money(m, &to.In, maxPrice)
		} else {
			p.money(m, &to.Out, maxPrice)
		}
	}
	if len(members) < 2 {
		p.wrong(m.Start, shape, `"price" needs both "in" and "out"`)
	}
	return to
}

// use finds a model by name. It needs a price: there is always a spend limit, which could not be
// enforced without one.
func (p *parser) use(m member) react.Model {
	name, ok := p.text(m, "the name of a model")
	if !ok {
		return react.Model{}
	}
	i := slices.IndexFunc(p.named, func(known react.Model) bool { return known.Name == name })
	if i < 0 {
		names := make([]string, len(p.named))
		for i, known := range p.named {
			names[i] = known.Name
		}
		write := nearest(name, names)
		if write == "" {
			write = `one of "models"; there is none yet`
		}
		p.wrong(m.Start, write, "there is no model %s", short([]byte(quoted(name))))
		return react.Model{}
	}
	found := p.named[i]
	if found.Price == nil {
		p.wrong(m.Start, fmt.Sprintf(`"price": 0 at %s for one that costs nothing, or {"in": "3.00", "out": "15.00"}, dollars a million tokens`, found.Where),
			"what a run spends is limited, and model %q has no price", name)
	}
	return found
}
