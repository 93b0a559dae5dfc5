package tui

// The sizes at which the picture changes, in columns and rows, with the reason
// for each. Nothing else in the package compares a size of the terminal.
const (
	minCols = 40 // below, a row cannot hold a name and a state
	minRows = 12 // below, the list is shorter than its frame

	stackCols = 60  // a live pane under the list is worth reading
	splitCols = 110 // list and live pane fit side by side

	previewRows = 18 // a stacked preview leaves the list at least eight rows
	recentRows  = 30 // what changed last fits below the list
	facetRows   = 20 // a dialog can have air around it
	sideCols    = 4  // less than this beside a dialog says nothing
)

// shape is how the screen is divided.
type shape int

const (
	shapeTiny  shape = iota // too small: a note only
	shapeList               // the list alone
	shapeStack              // the list, and what is selected below it
	shapeSplit              // the list, and what is selected at its right
)

// shapeOf picks the division for a terminal.
func shapeOf(w, h int) shape {
	switch {
	case w < minCols || h < minRows:
		return shapeTiny
	case w >= splitCols:
		return shapeSplit
	case w >= stackCols && h >= previewRows:
		return shapeStack
	}
	return shapeList
}

// splitAt gives the width of the left side of a split screen: the list keeps its
// columns, the rest goes to the pane.
func splitAt(w int) int {
	return max(min(w*3/5, w-44), 62)
}

// stackAt gives the height of the upper part of a stacked screen.
func stackAt(h, want int) int {
	return min(max(want, h/3), h*3/5)
}

// dialogSize gives the outer size of a dialog that would like to be w by h. Where it
// would leave next to nothing at its sides it takes that too.
func dialogSize(w, h, cols, rows int) (int, int) {
	if cols-w < 2*sideCols {
		w = cols
	}
	air := 2
	if rows < facetRows {
		air = 0
	}
	return w, min(h, rows-air)
}
