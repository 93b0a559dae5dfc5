package runtimes

import (
	"io/fs"
	"syscall"
)

// stampOf takes a file's stamp. Both supported systems give the inode.
func stampOf(st fs.FileInfo) fileStamp {
	s := fileStamp{size: st.Size(), mtime: st.ModTime()}
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		s.inode = sys.Ino
	}
	return s
}

// ownedByUs reports whether a file belongs to the user that runs this process.
func ownedByUs(st fs.FileInfo, uid int) bool {
	sys, ok := st.Sys().(*syscall.Stat_t)
	return ok && int(sys.Uid) == uid
}
