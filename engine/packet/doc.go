// Package packet writes, reads and validates restore packets, version 0: a
// directory with which another occupant, of any runtime, can take up the work
// of a seat without a person explaining it again.
//
// A packet is made from a client's own record of the conversation, which is
// only read. What a person and the model said goes in, tool payloads and
// reasoning stay out, secrets are replaced by a marker. A packet proves what
// was written and delivered. It never proves that anything was resumed or
// recovered; only measuring the successor does.
//
// [Redact] is also used by itself for anything that leaves the product as text.
package packet
