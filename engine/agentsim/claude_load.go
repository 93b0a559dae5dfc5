package agentsim

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// claudeFound is a session on disk.
type claudeFound struct {
	path, id, name, prompt string
	at                     time.Time
}

func (f claudeFound) label() string {
	switch {
	case f.name != "":
		return printable(f.name)
	case f.prompt != "":
		return clipText(strings.ReplaceAll(printable(f.prompt), "\n", " "), 80)
	}
	return f.id
}

// findClaude looks for a session by id in every project, the one of dir first.
func (p claudePaths) findClaude(id, dir string) (string, bool) {
	if !isUUID(id) {
		return "", false
	}
	own := filepath.Join(p.dir, "projects", claudeSlug(dir), id+".jsonl")
	if _, err := os.Stat(own); err == nil {
		return own, true
	}
	all, _ := filepath.Glob(filepath.Join(p.dir, "projects", "*", id+".jsonl"))
	if len(all) == 0 {
		return "", false
	}
	return all[0], true
}

// listClaude lists the sessions of a folder, newest first.
func (p claudePaths) listClaude(dir string) []claudeFound {
	paths, _ := filepath.Glob(filepath.Join(p.dir, "projects", claudeSlug(dir), "*.jsonl"))
	var out []claudeFound
	for _, path := range paths {
		st, err := os.Stat(path)
		if err != nil {
			continue
		}
		f := claudeFound{path: path, id: strings.TrimSuffix(filepath.Base(path), ".jsonl"), at: st.ModTime()}
		for _, r := range readRows(path) {
			if r.CustomTitle != "" {
				f.name = r.CustomTitle
			}
			if r.LastPrompt != "" {
				f.prompt = r.LastPrompt
			}
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b claudeFound) int { return b.at.Compare(a.at) })
	return out
}

// claudeRow is one record of a transcript, with what the stand-in needs of it.
type claudeRow struct {
	raw         []byte
	Type        string  `json:"type"`
	Subtype     string  `json:"subtype"`
	UUID        string  `json:"uuid"`
	Parent      *string `json:"parentUuid"`
	Side        bool    `json:"isSidechain"`
	Meta        bool    `json:"isMeta"`
	Summary     bool    `json:"isCompactSummary"`
	APIError    bool    `json:"isApiErrorMessage"`
	CustomTitle string  `json:"customTitle"`
	LastPrompt  string  `json:"lastPrompt"`
	Slug        string  `json:"slug"`
	Took        int     `json:"durationMs"`
	Stamp       string  `json:"timestamp"`
	CWD         string  `json:"cwd"`
	Message     struct {
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
		Usage   struct {
			In, Created, Read, Out int
			Input                  int `json:"input_tokens"`
			CacheNew               int `json:"cache_creation_input_tokens"`
			CacheRead              int `json:"cache_read_input_tokens"`
			Output                 int `json:"output_tokens"`
		} `json:"usage"`
	} `json:"message"`
	Attachment struct {
		Type    string          `json:"type"`
		Content json.RawMessage `json:"content"`
	} `json:"attachment"`
	Compact struct {
		Preserved struct {
			Head   string `json:"headUuid"`
			Anchor string `json:"anchorUuid"`
			Tail   string `json:"tailUuid"`
		} `json:"preservedSegment"`
		Dropped int `json:"cumulativeDroppedTokens"`
	} `json:"compactMetadata"`
	Position struct {
		Prompt int `json:"promptIndex"`
		Turn   int `json:"turnIndex"`
	} `json:"turnPosition"`
}

// readRows reads a transcript; lines that do not parse are left out.
func readRows(path string) []claudeRow {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var out []claudeRow
	for _, l := range bytes.Split(b, []byte("\n")) {
		var r claudeRow
		if len(l) == 0 || json.Unmarshal(l, &r) != nil {
			continue
		}
		r.raw = l
		out = append(out, r)
	}
	return out
}

// activeBranch is the conversation that the client would go on with: from the
// newest record back to the start or to the last compaction, in order. A kept
// segment that a compaction moved behind its summary is put there; parents
// maps the records whose parent differs from what their line says.
func activeBranch(rows []claudeRow) (branch []claudeRow, parents map[string]string) {
	byID, parents := map[string]int{}, map[string]string{}
	leaf := ""
	for i, r := range rows {
		if r.UUID == "" || r.Side {
			continue
		}
		byID[r.UUID] = i
		if r.Type == "user" || r.Type == "assistant" || r.Type == "attachment" || r.Type == "system" {
			leaf = r.UUID
		}
	}
	for i, r := range rows {
		if keep := r.Compact.Preserved; r.Subtype == "compact_boundary" && keep.Head != "" {
			parents[keep.Head] = keep.Anchor
			for _, c := range rows[i:] {
				if c.Parent != nil && *c.Parent == keep.Anchor && c.UUID != keep.Head {
					parents[c.UUID] = keep.Tail
				}
			}
		}
	}
	seen := map[string]bool{}
	for leaf != "" && !seen[leaf] {
		seen[leaf] = true
		i, ok := byID[leaf]
		if !ok {
			break
		}
		branch = append(branch, rows[i])
		leaf = ""
		if p, ok := parents[rows[i].UUID]; ok {
			leaf = p
		} else if rows[i].Parent != nil {
			leaf = *rows[i].Parent
		}
	}
	slices.Reverse(branch)
	return branch, parents
}

// texts gives the text blocks of a message or of a hook's context.
func texts(raw json.RawMessage) []string {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}
	}
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return list
	}
	list = nil
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &blocks) != nil {
		return nil
	}
	for _, b := range blocks {
		if b.Type == "text" {
			list = append(list, b.Text)
		}
	}
	return list
}

// remembered turns a branch into what the model would see.
func remembered(branch []claudeRow) []said {
	var out []said
	for _, r := range branch {
		role, raw := "", r.Message.Content
		switch {
		case r.Summary:
			role = "summary"
		case r.Type == "user" && !r.Meta:
			role = "user"
		case r.Type == "assistant" && !r.APIError:
			role = "assistant"
		case r.Attachment.Type == "hook_additional_context":
			role, raw = "hook", r.Attachment.Content
		}
		if role == "" {
			continue
		}
		for _, t := range texts(raw) {
			out = append(out, said{role, t})
		}
	}
	return out
}

// forkLine rewrites a record for a fork: the session is the new one, while the
// snake-case id keeps naming the parent.
func forkLine(r claudeRow, parent string, reparent bool, from, to string) []byte {
	l := bytes.Clone(r.raw)
	for _, sep := range []string{`:`, `: `} {
		l = bytes.Replace(l, []byte(`"sessionId"`+sep+`"`+from+`"`), []byte(`"sessionId"`+sep+`"`+to+`"`), 1)
		if reparent && r.Parent != nil {
			l = bytes.Replace(l, []byte(`"parentUuid"`+sep+`"`+*r.Parent+`"`), []byte(`"parentUuid"`+sep+`"`+parent+`"`), 1)
		}
		if r.Type == "assistant" && !bytes.Contains(l, []byte(`"requestSessionId"`)) && r.Message.Model != "" {
			l = bytes.Replace(l, []byte(`,"userType"`), []byte(`,"requestSessionId":"`+from+`","userType"`), 1)
		}
	}
	return append(l, '\n')
}
