package object

// CheckKind names how an object is checked.
type CheckKind string

// The kinds of check. More kinds come with later releases.
const (
	CheckNone      CheckKind = "none" // a host without a check of its own
	CheckPlugin    CheckKind = "plugin"
	CheckHTTP      CheckKind = "http"
	CheckTCP       CheckKind = "tcp"
	CheckICMP      CheckKind = "icmp"
	CheckDNS       CheckKind = "dns"
	CheckTLS       CheckKind = "tls"
	CheckDummy     CheckKind = "dummy"
	CheckPassive   CheckKind = "passive"
	CheckAggregate CheckKind = "aggregate"
)

// Check says what one execution does. Exactly the field that belongs to Kind is
// set. Every string may contain macros ("$HOSTADDRESS$"), expanded per object
// right before the execution.
type Check struct {
	Kind      CheckKind
	Plugin    []string // argv; the first word is looked up in the plugin path
	Shell     string   // instead of Plugin: a line for /bin/sh -c
	HTTP      *HTTPCheck
	TCP       *TCPCheck
	ICMP      *ICMPCheck
	DNS       *DNSCheck
	TLS       *TLSCheck
	Dummy     *DummyCheck
	Aggregate *AggregateCheck
}

// HTTPCheck requests a URL. Durations are Go durations as text ("2s").
type HTTPCheck struct {
	URL      string
	Method   string            // default GET
	Headers  map[string]string // values may hold macros
	Body     string
	Status   []int  // accepted status codes; empty = any below 400
	Contains string // the body (first 1 MiB) must contain it
	Insecure bool   // do not verify the server's certificate
	Redirect int    // redirects followed; 0 = none, the redirect is the answer
	Warn     string // threshold range over the response time in seconds
	Crit     string
}

// TCPCheck opens a connection, optionally sends a line and expects an answer.
type TCPCheck struct {
	Address string // host:port; a host of "" means $HOSTADDRESS$
	Send    string
	Expect  string // the answer (first 4 KiB) must contain it
	Warn    string // threshold range over the connect time in seconds
	Crit    string
}

// ICMPCheck sends echo requests.
type ICMPCheck struct {
	Address  string // default $HOSTADDRESS$
	Count    int    // default 3
	WarnLoss string // threshold range over lost packets in percent
	CritLoss string
	WarnRTT  string // threshold range over the mean round trip in milliseconds
	CritRTT  string
}

// DNSCheck asks a name server.
type DNSCheck struct {
	Name   string
	Type   string // A, AAAA, CNAME, MX, NS, TXT, SOA, SRV, PTR; default A
	Server string // host or host:port; default the system's
	Expect []string
	Warn   string // threshold range over the answer time in seconds
	Crit   string
}

// TLSCheck looks at a certificate's remaining life.
type TLSCheck struct {
	Address    string // host:port
	ServerName string
	Insecure   bool   // expiry only, do not verify the chain
	WarnDays   string // threshold range over days left; default "14:"
	CritDays   string // default "3:"
}

// DummyCheck answers without doing anything; States makes it step through a
// list, one per execution, which is how the demo flips on purpose.
type DummyCheck struct {
	State  State
	Text   string
	States []State
	Period string // with States: how long each state lasts, by the wall clock
}

// AggregateCheck judges other objects: at least so many must be fine.
type AggregateCheck struct {
	Members []ID // host or host!service
	// Thresholds over the number of members that are not OK/UP.
	Warn string
	Crit string
}
