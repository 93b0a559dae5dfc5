package main

// learnedMutants break what holds of a conversation that comes onto the record after
// the start of its client, or that is taken back to an earlier prompt.
var learnedMutants = []mutant{
	{
		"a stranger's id is not learned", "engine/learn_id.go",
		"e.d.Procs.Start).Verdict == VerdictMismatch\n", "e.d.Procs.Start).Verdict == VerdictMismatch && false\n",
		engineTests, "TestSnapshotLearnsOnlyWhatIsProven",
	},
	{
		"another occupant's id is not learned", "engine/learn_id.go",
		"err == nil && whose == \"\", err", "err == nil && whose != \"nobody\", err",
		engineTests, "TestSnapshotLearnsOnlyWhatIsProven",
	},
	{
		"what an operator put on record is not replaced by what a client says", "engine/learn_id.go",
		"id.Provenance.Rank() < last.Provenance.Rank():", "id.Provenance.Rank() < ProvenanceNone.Rank():",
		engineTests, "TestASeatComesBackToTheConversationThatItLeft",
	},
	{
		"a conversation that nobody wrote does not replace one", "engine/learn_id.go",
		"last.Homes).Exists != Present:", "last.Homes).Exists == Unknown:",
		engineTests, "TestASeatComesBackToTheConversationThatItLeft",
	},
	{
		"what a person took back is not handed on", "engine/packet/build.go",
		"	if m.Rewound {\n", "	if m.Rewound && false {\n",
		"./engine/packet", "TestRewoundConversation",
	},
	{
		"the newest file of a thread counts", "engine/transcript/locate_codex.go",
		"strings.Compare(filepath.Base(b), filepath.Base(a))", "strings.Compare(filepath.Base(a), filepath.Base(b))",
		"./engine/runtimes", "TestCodexTakenBack",
	},
}
