// Package specs reads RigSpec and AgentSpec YAML: it parses, checks and resolves
// them into the engine's own form, prints that form back, describes it as a JSON
// Schema, and holds the built-in starters.
//
// Every fault of a file is reported at file:line:column, all in one run, and
// nothing is guessed: a key that is not known, a key given twice, an unquoted
// word that YAML would turn into something else, an anchor, a tag or a second
// document is an error, never a different rig than the author meant. One table
// (tables_*.go) says which keys exist; the checks, the suggestions and the schema
// all come from it.
//
// Checking a text is pure. Only Loader touches the file system, and it only reads.
package specs
