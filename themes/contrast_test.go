package themes

import "math"

// luminance returns the relative luminance of WCAG 2.2, 0 for black to 1 for white.
func (c colour) luminance() float64 {
	part := func(v colour) float64 {
		x := float64(v&255) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*part(c>>16) + 0.7152*part(c>>8) + 0.0722*part(c)
}

// contrast returns the contrast ratio of WCAG 2.2 between two RGB colours, 1 to 21.
func contrast(a, b colour) float64 {
	x, y := a.luminance(), b.luminance()
	if x < y {
		x, y = y, x
	}
	return (x + 0.05) / (y + 0.05)
}

// allRoles lists every role, in the order of their numbers.
func allRoles() []Role {
	out := make([]Role, roles)
	for i := range out {
		out[i] = Role(i)
	}
	return out
}
