package wire

// Problem is an error as the API says it (RFC 9457, application/problem+json).
type Problem struct {
	Type   string   `json:"type"` // always about:blank: Status says the kind
	Title  string   `json:"title"`
	Status int      `json:"status"`
	Detail string   `json:"detail,omitempty"` // what is wrong and what would be right
	Known  []string `json:"known,omitempty"`  // what may be written instead
	Near   string   `json:"did_you_mean,omitempty"`
	Column int      `json:"column,omitempty"` // in the filter, from 1
	Field  string   `json:"field,omitempty"`  // of the command
	Total  *int     `json:"total,omitempty"`  // objects that the command touches, where their number is the problem
}
