package roles

import "time"

// Settings are the checked values of one command line. Flags a role refuses
// keep their zero value, or their default where they have one.
type Settings struct {
	Role Role

	Config       string
	Data         string // folder of the embedded server
	Listen       string // host:port, port 0 = any free one
	EventLog     string // embedded, memory or a URL
	Queue        string // "", memory, embedded or a URL
	Coordination string // memory, embedded or a URL
	HeartbeatTTL time.Duration

	Host       string // name of this machine, as an id
	EngineID   string
	SinkID     string
	NotifierID string
	Zones      []string
	Sinks      []string // empty = all

	CommandFile      string
	EventsOut        string // file, "-" = stdout, "" = none
	SnapshotOut      string
	LivestatusSocket string
	LivestatusListen string
	APIToken         string // secret

	Notify Notify
	NATS   NATS

	LogLevel  string // debug, info, warn, error
	LogFormat string // text, json
	Version   bool   // print the version and end
	Help      bool   // print help and end

	// meetsGiven says that -coordination, or its environment twin, was written.
	meetsGiven bool

	member  bool     // the data folder belongs to a member of a cluster
	peersIn string   // the file that names the peers; "" = flags do
	lost    []string // members that an operator says never come back

	// Warnings are things that are odd but no error; the process logs them.
	Warnings []string
}

// Notify is how this process delivers notifications.
type Notify struct {
	Delivery string // local or notifier
	Workers  int
	Queue    int

	SMTPHost         string
	SMTPPort         int
	SMTPUser         string
	SMTPPasswordFile string
	SMTPFrom         string
	SMTPTLS          string // starttls, tls or none
	TelegramToken    string // secret
}

// NATS is how the embedded server is reached and peers, and how this process
// authenticates to a server.
type NATS struct {
	Listen        string
	ClusterName   string
	ClusterListen string
	ClusterPeers  []string
	Creds         string
	TLSCA         string
	TLSCert       string
	TLSKey        string
}
