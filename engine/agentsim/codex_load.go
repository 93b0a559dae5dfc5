package agentsim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// codexRow is one record of a rollout, with what the stand-in needs of it.
type codexRow struct {
	raw     []byte
	end     int64  // byte offset behind the record
	Type    string `json:"type"`
	Ordinal int    `json:"ordinal"`
	Stamp   string `json:"timestamp"`
	Payload struct {
		Type       string `json:"type"`
		ID         string `json:"id"`
		Role       string `json:"role"`
		CWD        string `json:"cwd"`
		ForkedFrom string `json:"forked_from_id"`
		TurnID     string `json:"turn_id"`
		Message    string `json:"message"`
		Took       int    `json:"duration_ms"`
		Base       *struct {
			Thread string `json:"thread_id"`
			Before int    `json:"end_ordinal_exclusive"`
		} `json:"history_base"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		Passthrough struct {
			Kinds []string `json:"content_item_kinds"`
		} `json:"internal_chat_message_metadata_passthrough"`
		Error *struct {
			Message string `json:"message"`
		} `json:"error"`
		Item struct {
			Type    string `json:"type"`
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
			Command []string `json:"command"`
		} `json:"item"`
		Window struct {
			ID string `json:"window_id"`
		} `json:"context_window"`
		WindowID string `json:"window_id"`
		Info     struct {
			Total codexUsage `json:"total_token_usage"`
			Last  codexUsage `json:"last_token_usage"`
		} `json:"info"`
	} `json:"payload"`
	Metadata struct {
		Sequence int `json:"history_sequence"`
		Order    int `json:"user_input_order"`
	} `json:"metadata"`
}

// clock is the time of day of a record, as the screen shows it.
func (r *codexRow) clock(at *time.Location) string {
	t, err := time.Parse(time.RFC3339, r.Stamp)
	if err != nil {
		return ""
	}
	return " • " + t.In(at).Format("15:04")
}

// codexUsage is a token count.
type codexUsage struct {
	Input  int `json:"input_tokens"`
	Cached int `json:"cached_input_tokens"`
	Writes int `json:"cache_write_input_tokens"`
	Output int `json:"output_tokens"`
	Reason int `json:"reasoning_output_tokens"`
	Total  int `json:"total_tokens"`
}

func (u codexUsage) plus(v codexUsage) codexUsage {
	return codexUsage{u.Input + v.Input, u.Cached + v.Cached, 0, u.Output + v.Output, 0, u.Total + v.Total}
}

func readCodexRows(path string) []codexRow {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var out []codexRow
	at := int64(0)
	for _, l := range bytes.SplitAfter(b, []byte("\n")) {
		at += int64(len(l))
		var r codexRow
		if l = bytes.TrimSpace(l); len(l) == 0 || json.Unmarshal(l, &r) != nil {
			continue
		}
		r.raw, r.end = l, at
		out = append(out, r)
	}
	return out
}

// findRollout looks for a session by id.
func findRollout(home, id string) (path string, archived, ok bool) {
	if !isUUID(id) {
		return "", false, false
	}
	if all, _ := filepath.Glob(filepath.Join(home, "sessions", "*", "*", "*", "rollout-*-"+id+".jsonl")); len(all) > 0 {
		return all[0], false, true
	}
	if all, _ := filepath.Glob(filepath.Join(home, "archived_sessions", "rollout-*-"+id+".jsonl")); len(all) > 0 {
		return all[0], true, true
	}
	return "", false, false
}

// codexNames gives the id of each session name, the newest where two have the
// same, and the name of each id.
func codexNames(home string) (byName, byID map[string]string) {
	byName, byID = map[string]string{}, map[string]string{}
	b, err := os.ReadFile(filepath.Join(home, "session_index.jsonl"))
	if err != nil {
		return byName, byID
	}
	for _, l := range bytes.Split(b, []byte("\n")) {
		var r struct {
			ID   string `json:"id"`
			Name string `json:"thread_name"`
		}
		if json.Unmarshal(l, &r) == nil && r.ID != "" {
			byName[r.Name], byID[r.ID] = r.ID, r.Name
		}
	}
	return byName, byID
}

// lineage reads a rollout and what it builds on. A fork holds only what came
// after it: when the parent's file is gone, so is the conversation.
func lineage(home, path string, depth int) ([]codexRow, error) {
	rows := readCodexRows(path)
	if len(rows) == 0 {
		return nil, fmt.Errorf("empty rollout")
	}
	base := rows[0].Payload.Base
	if base == nil {
		return rows, nil
	}
	from, _, ok := findRollout(home, base.Thread)
	if !ok || depth > 50 {
		return nil, fmt.Errorf("invalid paginated history lineage for %s: missing source rollout", base.Thread)
	}
	older, err := lineage(home, from, depth+1)
	if err != nil {
		return nil, err
	}
	var out []codexRow
	for _, r := range older {
		if r.Ordinal < base.Before {
			out = append(out, r)
		}
	}
	return append(out, rows...), nil
}

// codexRemembered turns records into what the model would see.
func codexRemembered(rows []codexRow) []said {
	var out []said
	for _, r := range rows {
		if r.Type == "compacted" {
			var users []said
			for _, s := range out {
				if s.role == "user" {
					users = append(users, s)
				}
			}
			out = append(users, said{"summary", r.Payload.Message})
			continue
		}
		if r.Type != "response_item" || r.Payload.Type != "message" {
			continue
		}
		role := codexRole(r)
		if role == "" {
			continue
		}
		for _, c := range r.Payload.Content {
			out = append(out, said{role, c.Text})
		}
	}
	return out
}

func codexRole(r codexRow) string {
	kinds := strings.Join(r.Payload.Passthrough.Kinds, " ")
	switch {
	case r.Payload.Role == "assistant":
		return "assistant"
	case strings.Contains(kinds, "hooks.additional_context"):
		return "hook"
	case r.Payload.Role == "user" && strings.Contains(kinds, "user.text"):
		return "user"
	}
	return ""
}
