//go:build unix

package session

import "syscall"

const terminate = syscall.SIGTERM
