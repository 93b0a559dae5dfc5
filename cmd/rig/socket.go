package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"rig/engine"
)

// codeSocketForeign refuses a tmux socket that may be another user's.
const codeSocketForeign engine.Code = "socket_foreign"

// codeHomeForeign refuses a RIG_HOME that is another user's.
const codeHomeForeign engine.Code = "home_foreign"

// checkSocket refuses a tmux socket that another user has made, or could have
// made or can replace: whoever answers there would get our launches and sees what
// is typed. tmux itself checks only the folder of sockets that it was given by
// name. A socket and a folder that are not there yet are fine. uid is our own.
func checkSocket(path string, uid int) error {
	refuse := func(what, why string) error {
		return engine.Errorf(codeSocketForeign, "%s %s", what, why).On("tmux", path).
			WithHint("look at who made it; RIG_TMUX_SOCKET names another socket")
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return engine.Errorf(engine.CodeUnavailable, "the tmux socket cannot be looked at").On("tmux", path).Wrap(err).WithHint("check the permissions of its folder")
	case info.Mode().Type() != fs.ModeSocket:
		return engine.Errorf(engine.CodeInvalid, "this is not a socket").On("tmux", path).WithHint("RIG_TMUX_SOCKET takes a name, or the path of a socket")
	case ownerOf(info) != uid:
		return refuse("the tmux socket", "belongs to another user")
	}
	dir := filepath.Dir(path)
	info, err = os.Stat(dir)
	switch {
	case err != nil:
		return nil //nolint:nilerr // it is made when it is needed, or the server says what is wrong
	case ownerOf(info) != uid && ownerOf(info) != 0 && info.Mode()&fs.ModeSticky == 0:
		return refuse("the folder of the tmux socket, "+dir+",", "belongs to another user")
	case info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0:
		return refuse("the folder of the tmux socket, "+dir+",", "can be written by others")
	}
	return nil
}

// ownerOf gives the user id of a file's owner.
func ownerOf(info os.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}

// ownHome takes RIG_HOME away from other users: it holds resume tokens, and who
// may write there could plant what we follow. One of another user is refused; one
// that is not there yet is made private later.
func ownHome(dir string, uid int) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return engine.Errorf(engine.CodeUnavailable, "RIG_HOME cannot be looked at").On("home", dir).Wrap(err).WithHint("check the permissions of the folders above it")
	case !info.IsDir():
		return engine.Errorf(engine.CodeInvalid, "RIG_HOME is not a folder").On("home", dir).WithHint("set RIG_HOME to a folder of yours")
	case ownerOf(info) != uid:
		return engine.Errorf(codeHomeForeign, "RIG_HOME belongs to another user").On("home", dir).WithHint("set RIG_HOME to a folder of yours")
	case info.Mode().Perm()&0o077 != 0:
		_ = os.Chmod(dir, info.Mode().Perm()&^0o077) // on a read-only disk nobody can write there either
	}
	return nil
}
