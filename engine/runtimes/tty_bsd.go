//go:build !linux

package runtimes

import "golang.org/x/sys/unix"

const (
	ioctlGetModes = unix.TIOCGETA
	ioctlSetModes = unix.TIOCSETAW
)
