package runtimes

import "golang.org/x/sys/unix"

const (
	ioctlGetModes = unix.TCGETS
	ioctlSetModes = unix.TCSETSW
)
