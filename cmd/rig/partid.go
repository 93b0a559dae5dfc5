package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rig/engine"
)

// Ids are long, and a person copies their beginning or their end.
const (
	wholeID   = 26 // characters of an id
	leastOfID = 6  // that must be given
)

// idsOf gives all ids of a kind, which is named as in namesOf.
var idsOf = map[string]func(r engine.Reader, rec *engine.Record, take func(id string)) error{
	"op": func(r engine.Reader, _ *engine.Record, take func(string)) error {
		return eachOf(take, func(op engine.Operation) string { return op.ID })(r.Operations(engine.OperationFilter{}))
	},
	"discovered-id": func(r engine.Reader, _ *engine.Record, take func(string)) error {
		return eachOf(take, func(d engine.DiscoveredSession) string { return d.ID })(r.AllDiscovered())
	},
	"work": func(r engine.Reader, rec *engine.Record, take func(string)) (err error) {
		for i := 0; i < len(rec.Seats) && err == nil; i++ {
			err = eachOf(take, func(it engine.WorkItem) string { return it.ID })(r.Work(rec.Seats[i].ID))
		}
		return err
	},
	"snapshot": func(r engine.Reader, rec *engine.Record, take func(string)) (err error) {
		for i := 0; i < len(rec.Rigs) && err == nil; i++ {
			err = eachOf(take, func(s engine.SnapshotRow) string { return s.ID })(r.Snapshots(rec.Rigs[i].ID))
		}
		return err
	},
}

func eachOf[T any](take func(string), id func(T) string) func([]T, error) error {
	return func(list []T, err error) error {
		for _, v := range list {
			take(id(v))
		}
		return err
	}
}

// wholeIDs completes the ids among the words of a verb, where its usage line asks for
// one. A word that no id begins or ends with stays what it is: the verb refuses it,
// and says what is wrong with a record that cannot be read.
func wholeIDs(cmd *cobra.Command, words []string) ([]string, error) {
	use, _, _ := strings.Cut(cmd.Use, " --")
	for i, asked := range askedWord().FindAllString(use, -1) {
		kind := strings.Trim(asked, "[]<>…")
		if kind == "id" {
			kind = cmd.Parent().Name()
		}
		if idsOf[kind] == nil || i >= len(words) || len(words[i]) < leastOfID || len(words[i]) >= wholeID {
			continue
		}
		part := strings.ToUpper(words[i])
		ids, err := onRecord(cmd.Context(), nil, func(r engine.Reader, _ []string) (ids []string, err error) {
			rec, err := r.Record()
			if err == nil {
				err = idsOf[kind](r, rec, func(id string) {
					if strings.HasPrefix(id, part) || strings.HasSuffix(id, part) {
						ids = append(ids, id)
					}
				})
			}
			return ids, err
		})
		if len(ids) > 1 && err == nil {
			return nil, engine.Errorf("ambiguous_id", "%d ids begin or end with %s", len(ids), words[i]).WithHint("give more of it").With("matches", ids)
		}
		if len(ids) == 1 && err == nil {
			words = slices.Clone(words)
			words[i] = ids[0]
		}
	}
	return words, nil
}
