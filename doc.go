// Package rig is the root of the module and holds no code: the program is in cmd/rig, its rooms are described in
// docs/developing.md, and the tests beside this file keep those rooms and the rules of the house.
package rig
