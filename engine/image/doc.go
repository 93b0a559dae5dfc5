// Package image keeps the library of agent images: conversations that were kept
// as starting points for new seats. It is all files:
//
//	<root>/<name>/<version>/manifest.yaml   what it is; holds a native id, mode 0600
//	<root>/<name>/<version>/stats.json      what became of it
//	<root>/<name>/<version>/.pinned         when it was pinned
//	<root>/<name>/<version>/…               supplementary files
//
// A version has a folder of its own, so that two versions of a name stand side by
// side. A new image is written beside the library (.new-<operation>) and renamed
// into it; one that is removed is first renamed out of it (.aside-<operation>).
// Either is whole in the library or not in it. Symbolic links are shown and can
// be removed; none is ever followed.
//
// The package reads every root anew at each call. It judges nothing: what
// protects an image is the engine's to say.
package image
