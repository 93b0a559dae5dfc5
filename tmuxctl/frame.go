package tmuxctl

import (
	"encoding/binary"
	"errors"
)

// The frames of tmux's protocol 8, that of every version from 3.2a to 3.8: type, length
// with header, protocol and process, in the machine's byte order. The top of the length word marks
// a message that comes with a file: its bit 16 in older versions, its bit 31 in newer.
const (
	frameHeader = 16
	frameMax    = 16384
	protocol    = 8

	identifyFlags     = 100 // MSG_IDENTIFY_FLAGS
	identifyTerm      = 101 // MSG_IDENTIFY_TERM
	identifyTTY       = 102 // MSG_IDENTIFY_TTYNAME
	identifyDone      = 106 // MSG_IDENTIFY_DONE
	identifyPID       = 107 // MSG_IDENTIFY_CLIENTPID
	identifyDir       = 108 // MSG_IDENTIFY_CWD
	identifyFeatures  = 109 // MSG_IDENTIFY_FEATURES
	identifyLongFlags = 111 // MSG_IDENTIFY_LONGFLAGS
	identifyLast      = 199 // commands start at 200

	msgCommand = 200 // MSG_COMMAND
	msgExit    = 203 // MSG_EXIT
	msgExiting = 205 // MSG_EXITING

	msgWriteOpen  = 303 // MSG_WRITE_OPEN
	msgWrite      = 304 // MSG_WRITE
	msgWriteReady = 305 // MSG_WRITE_READY
	msgWriteClose = 306 // MSG_WRITE_CLOSE
)

// errFrame is the cause of bytes that are no message of the protocol.
var errFrame = errors.New("not a message of tmux's protocol 8")

// frame is one message.
type frame struct {
	kind  uint32
	data  []byte // with its header
	filed bool   // a file comes with it
}

// cutFrame takes the first message off data; ok is false while it is not complete.
func cutFrame(data []byte) (f frame, rest []byte, ok bool, err error) {
	if len(data) < frameHeader {
		return frame{}, data, false, nil
	}
	word := binary.NativeEndian.Uint32(data[4:])
	size := int(word & 0xffff)
	f = frame{kind: binary.NativeEndian.Uint32(data), filed: word&(1<<16|1<<31) != 0}
	peer := binary.NativeEndian.Uint32(data[8:])
	if size < frameHeader || size > frameMax || peer&0xff != protocol {
		return frame{}, data, false, errFrame
	}
	if len(data) < size {
		return frame{}, data, false, nil
	}
	f.data = data[:size]
	return f, data[size:], true, nil
}

// appendFrame adds a message without a file to data. The parts of its body must fit
// into frameMax together.
func appendFrame(data []byte, kind uint32, body ...[]byte) []byte {
	size := frameHeader
	for _, b := range body {
		size += len(b)
	}
	for _, word := range []uint32{kind, uint32(size), protocol, 0} {
		data = binary.NativeEndian.AppendUint32(data, word)
	}
	for _, b := range body {
		data = append(data, b...)
	}
	return data
}
