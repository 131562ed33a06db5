package bus

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"regexp"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/access/credential"
)

// Options say which server is used and how long things are kept there.
type Options struct {
	// URL of an external server (nats://host:port, tls://host:port, several
	// separated by commas); "" runs the embedded server on Data.
	URL string
	// Data is the folder of the embedded server. It is created with mode 0700.
	Data string
	// ServerName must stay the same over restarts; "" = "jaque".
	ServerName string
	// ClientName is shown by an external server; "" = "jaque".
	ClientName string
	// Prefix lets several installations share one external server; "" = none.
	// Lower-case letters, digits and "-".
	Prefix string
	// Listen opens the embedded server to other processes; nil = it listens nowhere.
	Listen *Listener
	// Door opens the socket owner.sock in the data folder, over which commands of the
	// same user reach the embedded server.
	Door bool
	// Bulk leaves the syncing of each write out: what is filled so is synced as a whole
	// by whoever fills it, and thrown away if that fails.
	Bulk bool
	// Through is the data folder of a running process whose embedded server is reached
	// over that socket; Bare is meant.
	Through string
	// Cluster makes the embedded server a member of a cluster; nil = it stands alone.
	Cluster *Cluster
	// Credentials say who this process is towards an external server; nil = nobody.
	Credentials *credential.Credentials
	// TLS settings for tls:// URLs; nil = the system's defaults.
	TLS *tls.Config
	// Inbox is the prefix of the subjects on which answers arrive; "" = the
	// client's common one. With rights of its own a process must use its own.
	Inbox string
	// Heartbeat is the TTL of the heartbeats that this process keeps up over the connection
	// to an external server; 0 = none. One that was lost is made again soon enough for them.
	Heartbeat time.Duration
	// Attach says that another process declares what stands on the external server:
	// Open waits until it is there and changes nothing.
	Attach bool
	// Waiting is told, with Attach and in a cluster, what Open waits for whenever that
	// changes; nil = nobody is.
	Waiting func(string)
	// Peered is called in a member of a cluster as soon as its server peers and Conn can be
	// used: Open then goes on to wait for the others, for as long as that takes. Until Open
	// returns nothing but Conn, Status, Trouble, Barred, Remove and RemoveLost may be used.
	// nil = nobody wants to know.
	Peered func(*Bus)
	// Bare says that nothing is expected on the external server: the connection
	// alone is wanted.
	Bare bool

	Retention Retention

	Logger     *slog.Logger          // nil = discard
	Registerer prometheus.Registerer // nil = metrics are kept but not shown

	// Tests set these.
	free    func(folder string) (int64, error) // bytes
	started func()                             // called when the embedded server has restored its streams
	answers time.Duration                      // bound of the embedded server's answers to a start
	news    time.Duration                      // how often a start says that it goes on
}

// Retention says how long the two streams are kept. Zero fields take
// defaults, a stream that exists keeps its bound of bytes.
type Retention struct {
	Log          time.Duration // decisions; 400 days
	Results      time.Duration // measurements; 48 h
	ResultsBytes int64         // bound of all measurements on disk; half the disk's room, 8 GiB at most
}

// Default retention.
const (
	DefaultLogAge       = 400 * 24 * time.Hour
	DefaultResultsAge   = 48 * time.Hour
	DefaultResultsBytes = 8 << 30
)

var prefixForm = regexp.MustCompile(`^[a-z0-9-]*$`)

// checked returns the options with their defaults, or what is wrong with them.
func (o Options) checked() (Options, error) {
	if o.Through != "" {
		o.Bare = true
	}
	if o.URL == "" && o.Data == "" && o.Through == "" {
		return o, fmt.Errorf("open bus: no data folder for the embedded server; name one with -data")
	}
	if o.Cluster != nil && (o.URL != "" || o.ServerName == "") {
		return o, fmt.Errorf("open bus: only an embedded server with a name of its own can be in a cluster; name it with -engine-id and leave -eventlog as it is")
	}
	if !prefixForm.MatchString(o.Prefix) {
		return o, fmt.Errorf("open bus: prefix %q; write lower-case letters, digits and - only", o.Prefix)
	}
	if o.ServerName == "" {
		o.ServerName = "jaque"
	}
	if o.ClientName == "" {
		o.ClientName = "jaque"
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Retention.Log == 0 {
		o.Retention.Log = DefaultLogAge
	}
	if o.Retention.Results == 0 {
		o.Retention.Results = DefaultResultsAge
	}
	if o.free == nil {
		o.free = freeBytes
	}
	if o.started == nil {
		o.started = func() {}
	}
	if o.answers == 0 {
		o.answers = restoreTimeout
	}
	if o.news == 0 {
		o.news = startNews
	}
	return o, nil
}
