package specs

import (
	"slices"

	"rig/engine"
)

// workspace builds the workspace block: repository names are unique and the
// default is one of them.
func (c *checker) workspace(m mapping) *engine.WorkspaceSpec {
	if !m.present() {
		return nil
	}
	w := &engine.WorkspaceSpec{
		Root: m.text("workspace_root"), DefaultRepo: m.text("default_repo"), KnowledgeRoot: m.text("knowledge_root"),
	}
	seen := map[string]place{}
	var names []string
	for _, r := range m.subs("repos") {
		repo := engine.RepoSpec{Name: r.text("name"), Path: r.text("path"), Kind: r.text("kind")}
		if repo.Name != "" {
			c.once(seen, repo.Name, r.at("name"), "repo")
			names = append(names, repo.Name)
		}
		w.Repos = append(w.Repos, repo)
	}
	if w.DefaultRepo != "" && !slices.Contains(names, w.DefaultRepo) {
		c.oneOf(m.raw("default_repo"), m.at("default_repo"), names)
	}
	return w
}

func (c *checker) continuity(m mapping) *engine.ContinuityPolicy {
	if !m.present() {
		return nil
	}
	enabled, _ := m.flag("enabled")
	kept, back := m.sub("artifacts"), m.sub("restore_protocol")
	return &engine.ContinuityPolicy{
		Enabled:      enabled,
		SyncTriggers: m.texts("sync_triggers"),
		Artifacts: engine.ContinuityArtifacts{
			SessionLog: kept.flagPtr("session_log"), RestoreBrief: kept.flagPtr("restore_brief"), Quiz: kept.flagPtr("quiz"),
		},
		RestoreProtocol: engine.ContinuityProtocol{
			PeerDriven: back.flagPtr("peer_driven"), VerifyViaQuiz: back.flagPtr("verify_via_quiz"),
		},
	}
}

func (c *checker) policies(m mapping) engine.Policies {
	p := m.sub("claude_compaction")
	if !p.present() {
		return engine.Policies{}
	}
	enabled, _ := p.flag("enabled")
	tell, _ := p.flag("tell_neighbours")
	cc := &engine.ClaudeCompaction{
		Enabled:               enabled,
		PreCompactInstruction: p.text("pre_compact_instruction"),
		CompactInstruction:    p.text("compact_instruction"),
		MessageInline:         p.text("message_inline"),
		MessageFilePath:       p.text("message_file_path"),
		PostRestoreAudit:      p.text("post_restore_audit_instruction"),
		TellNeighbours:        tell,
	}
	if v, ok := p.number("threshold_percent"); ok {
		percent := int(v)
		cc.ThresholdPercent = &percent
	}
	if v, ok := p.number("threshold_tokens"); ok {
		cc.ThresholdTokens = &v
	}
	return engine.Policies{ClaudeCompaction: cc}
}
