package hooks

import "slices"

// maxPast bounds the paths that a [pastPaths] keeps, as the store bounds its list of ended
// subscriptions. A forgotten path is answered as one that never existed.
const maxPast = 1_000

// pastPaths keeps what is known of the newest paths that subscriptions had. The caller holds the lock.
type pastPaths[V any] struct {
	values map[string]V
	order  []string // of the paths, the oldest first
}

func (p *pastPaths[V]) get(path string) (v V, known bool) {
	v, known = p.values[path]
	return v, known
}

// put makes a path the newest one, and forgets the oldest if there are too many.
func (p *pastPaths[V]) put(path string, v V) {
	p.forget(path)
	if len(p.order) == maxPast {
		p.forget(p.order[0])
	}
	if p.values == nil {
		p.values = map[string]V{}
	}
	p.values[path] = v
	p.order = append(p.order, path)
}

func (p *pastPaths[V]) forget(path string) {
	if _, known := p.values[path]; !known {
		return
	}
	delete(p.values, path)
	p.order = slices.DeleteFunc(p.order, func(other string) bool { return other == path })
}
