package client

// What the API says, as far as the commands need it. Unknown members are passed
// over, so that an older command line works with a newer jaque.

// problem is an error.
type problem struct {
	Detail string   `json:"detail"`
	Known  []string `json:"known"`
	Column int      `json:"column"` // in the filter, from 1
	Field  string   `json:"field"`  // of the command
	Total  *int     `json:"total"`  // objects, where their number is the problem
}

// accepted is what became of a command.
type accepted struct {
	ID      string    `json:"id"`
	Total   int       `json:"total"`
	Failed  int       `json:"failed"`
	Results []outcome `json:"results"`
}

// outcome is what became of a command for one object; "" = what the
// command names instead of objects.
type outcome struct {
	Object  string `json:"object"`
	Outcome string `json:"outcome"` // done, refused or failed
	Detail  string `json:"detail"`
}

// preview is what a command would do.
type preview struct {
	Total int    `json:"total"`
	Note  string `json:"note"` // whether a downtime is also for what is added later
	Items []struct {
		Object string `json:"object"`
	} `json:"items"`
	Occurrences []occurrence `json:"occurrences"`
}

// occurrence is one time of a recurring downtime.
type occurrence struct {
	Start      string `json:"start"`
	LocalStart string `json:"local_start"`
	LocalEnd   string `json:"local_end"`
	Length     int64  `json:"length"` // seconds
	DST        string `json:"dst"`    // what the change of the clocks does to it
}
