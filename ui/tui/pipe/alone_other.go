//go:build !unix

package pipe

import "os/exec"

// alone does nothing: there are no process groups here.
func alone(*exec.Cmd) {}
