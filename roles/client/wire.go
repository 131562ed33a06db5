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
	Rule    string    `json:"rule"` // id of the downtime for many that was made, "" = none
	Results []outcome `json:"results"`
}

// outcome is what became of a command for one object; "" = a downtime for many, or
// what the command names instead of objects.
type outcome struct {
	Object  string `json:"object"`
	Rule    string `json:"rule"`    // id of the downtime for many that was cancelled
	Outcome string `json:"outcome"` // done, submitted, refused, unconfirmed or failed
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
	End        string `json:"end"`
	LocalStart string `json:"local_start"`
	LocalEnd   string `json:"local_end"`
	Length     int64  `json:"length"` // seconds
	DST        string `json:"dst"`    // what the change of the clocks does to it
}

// rule is a downtime for many objects or times.
type rule struct {
	ID          string       `json:"id"`
	Target      string       `json:"target"`  // in words
	Objects     int          `json:"objects"` // that have a downtime made from it
	Author      string       `json:"author"`
	Comment     string       `json:"comment"`
	Start       string       `json:"start"`
	End         string       `json:"end"`
	Flexible    float64      `json:"flexible"` // seconds; 0 = fixed
	Ranges      []string     `json:"ranges"`   // none = once
	Timezone    string       `json:"timezone"`
	Occurrences []occurrence `json:"occurrences"`
}

// failure is an error for programs.
type failure struct {
	Error   string `json:"error"`
	Command string `json:"command"`
	Status  int    `json:"status"` // of the exit
}
