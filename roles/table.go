package roles

import "slices"

// Flags returns the table of flags in the order of help and documentation. It
// is the only place that knows which role takes which flag.
func Flags() []Flag {
	all := slices.Concat(
		commonFlags(), logFlags(), memberFlags(), workFlags(),
		surfaceFlags(), notifyFlags(), natsFlags(), processFlags())
	for i := 0; i < len(all); i++ {
		if all[i].Secret {
			all = slices.Insert(all, i+1, secretFile(all[i]))
		}
	}
	return all
}

func commonFlags() []Flag {
	return []Flag{
		{
			Name: "target", Arg: "ROLE", Default: "all", Meaning: "the role of this process: " + names(),
			Parse: func(s *Settings) func(string) error {
				return func(v string) (err error) { s.Role, err = parseRole(v); return err }
			},
		},
		{
			Name: "config", Arg: "PATH", Meaning: "CUE file or folder (a package) with hosts, services, contacts, policies, sinks and views",
			Required: because("it declares what is monitored", All, Engine).and(
				because("it holds the labels, the views and the dependency graph", UI)).and(
				because("it declares the sinks", Sink)).and(
				because("contacts and policies come from it", Notifier)),
			Refused: because("a worker executes what an engine sends and holds no config", Worker),
			Parse:   func(s *Settings) func(string) error { return text(&s.Config) },
		},
		{
			Name: "data", Arg: "FOLDER", Default: defaultDataText,
			Meaning: "where the embedded server keeps its streams",
			Refused: because("it embeds no server and keeps nothing on disk", Worker, UI, Sink, Notifier),
			Parse:   func(s *Settings) func(string) error { return text(&s.Data) },
		},
		{
			Name: "listen", Arg: "HOST:PORT", Default: DefaultListen,
			Meaning: "HTTP address: dashboard, API, /metrics, /healthz and /readyz in all, engine and ui, only the last three elsewhere",
			Parse:   func(s *Settings) func(string) error { return address(&s.Listen) },
		},
	}
}

func logFlags() []Flag {
	return []Flag{
		{
			Name: "eventlog", Arg: "WHERE", Default: "embedded",
			Meaning: "the event log: embedded, memory (development), or nats://host:port or tls://host:port of another server",
			Required: because("it follows a log that another process serves; write nats://host:port",
				UI, Sink, Notifier),
			Refused: because("a worker has no event log", Worker),
			Parse:   func(s *Settings) func(string) error { return server(&s.EventLog, "embedded", "memory") },
			Fits:    needsOwnLog,
		},
		{
			Name: "queue", Arg: "WHERE",
			Meaning: "where checks wait for workers: memory (development), embedded, or nats://host:port",
			Required: because("an engine never runs a check itself, it publishes each to a queue", Engine).and(
				because("the queue is where its work comes from", Worker)),
			Refused: because("there is no second process to dispatch to", All).and(
				because("it never schedules or runs a check", UI, Sink, Notifier)),
			Parse: func(s *Settings) func(string) error { return server(&s.Queue, "memory", "embedded") },
			Fits: func(r Role, v string) string {
				if r.Name == Worker && !external(v) {
					return "no engine in another process can reach it; write nats://host:port"
				}
				return ""
			},
		},
		{
			Name: "coordination", Arg: "WHERE", Default: "memory",
			Meaning: "where engines announce themselves: memory (in this process), embedded, or nats://host:port",
			Refused: because("a worker owns nothing and joins no membership", Worker),
			Parse:   func(s *Settings) func(string) error { return server(&s.Coordination, "memory", "embedded") },
			Fits: func(r Role, v string) string {
				if v == "embedded" {
					return needsOwnLog(r, v)
				}
				return ""
			},
		},
		{
			Name: "heartbeat-ttl", Arg: "DURATION", Default: "10s",
			Meaning: "how long a missed heartbeat is tolerated; each member refreshes at a third of it",
			Refused: because("it joins no membership and has no heartbeat", Worker, UI),
			Parse:   func(s *Settings) func(string) error { return duration(&s.HeartbeatTTL) },
		},
	}
}

// needsOwnLog refuses a server inside the process to roles that embed none.
func needsOwnLog(r Role, v string) string {
	if r.OwnLog || external(v) {
		return ""
	}
	return "it embeds no server; write nats://host:port"
}

func memberFlags() []Flag {
	const noSink = "no sink has a process of its own here"
	return []Flag{
		{
			Name: "engine-id", Arg: "ID", Default: "host name", Meaning: "the engine's id in its bucket",
			Refused: because("it is no engine", Worker, UI, Sink, Notifier),
			Parse:   func(s *Settings) func(string) error { return identifier(&s.EngineID) },
		},
		{
			Name: "sink-id", Arg: "ID", Default: "host name", Meaning: "the sink process's id in its bucket",
			Refused: because(noSink, All, Engine, Worker, UI, Notifier),
			Parse:   func(s *Settings) func(string) error { return identifier(&s.SinkID) },
		},
		{
			Name: "notifier-id", Arg: "ID", Default: "host name", Meaning: "the notifier's id in its bucket",
			Refused: because("there is no separate notifier to name", All, Engine, Worker, UI, Sink),
			Parse:   func(s *Settings) func(string) error { return identifier(&s.NotifierID) },
		},
		{
			Name: "zones", Arg: "ZONE,…", Default: "default", Meaning: "the zones a worker serves",
			Refused: because("every zone runs in this process", All).and(
				because("an engine publishes to the zone of each object, only a worker serves zones", Engine)).and(
				because("it runs no checks", UI, Sink, Notifier)),
			Parse: func(s *Settings) func(string) error { return list(&s.Zones, notEmpty) },
		},
		{
			Name: "sinks", Arg: "NAME,…", Meaning: "entries of the config's sinks that this process runs; empty = all",
			Refused: because("it always runs every sink of its config", All).and(
				because(noSink, Engine, Worker, UI, Notifier)),
			Parse: func(s *Settings) func(string) error { return orEmpty(list(&s.Sinks, notEmpty)) },
		},
	}
}

func workFlags() []Flag {
	const notDeciding = "only a process that decides writes and takes these (all, engine)"
	return []Flag{
		{
			Name: "command-file", Arg: "FIFO", Meaning: "Nagios external-command pipe to read",
			Refused: because("it applies no commands, only all and engine do", Worker, UI, Sink, Notifier),
			Parse:   func(s *Settings) func(string) error { return text(&s.CommandFile) },
		},
		{
			Name: "events-out", Arg: "FILE", Meaning: "every event appended as one JSON line; - = standard output",
			Refused: because(notDeciding, Worker, UI, Sink, Notifier),
			Parse:   func(s *Settings) func(string) error { return text(&s.EventsOut) },
		},
		{
			Name: "livestatus-socket", Arg: "PATH", Meaning: "Livestatus on a unix socket",
			Refused: because("it opens no Livestatus listener", Worker, UI, Sink, Notifier),
			Parse:   func(s *Settings) func(string) error { return text(&s.LivestatusSocket) },
		},
		{
			Name: "livestatus-listen", Arg: "HOST:PORT", Meaning: "Livestatus on a TCP address",
			Refused: because("it opens no Livestatus listener", Worker, UI, Sink, Notifier),
			Parse:   func(s *Settings) func(string) error { return address(&s.LivestatusListen) },
		},
	}
}

func surfaceFlags() []Flag {
	return []Flag{
		{
			Name: "snapshot-out", Arg: "FILE", Meaning: "the folded state written as JSON, atomically, on a timer and at exit",
			Refused: because("it holds no folded state of all objects", Worker, Sink, Notifier),
			Parse:   func(s *Settings) func(string) error { return text(&s.SnapshotOut) },
		},
		{
			Name: "api-token", Arg: "TOKEN", Secret: true, Meaning: "bearer token for the API's writes",
			Refused: because("it opens no API", Worker, Sink, Notifier),
			Parse:   func(s *Settings) func(string) error { return text(&s.APIToken) },
		},
	}
}

func processFlags() []Flag {
	return []Flag{
		{
			Name: "log-level", Arg: "LEVEL", Default: "info", Meaning: "least level of log lines: debug, info, warn, error",
			Parse: func(s *Settings) func(string) error { return oneOf(&s.LogLevel, "debug", "info", "warn", "error") },
		},
		{
			Name: "log-format", Arg: "FORMAT", Default: "text", Meaning: "form of log lines on standard error: text, json",
			Parse: func(s *Settings) func(string) error { return oneOf(&s.LogFormat, "text", "json") },
		},
		{
			Name: "version", NoEnv: true, Meaning: "print the version and end",
			Parse: func(s *Settings) func(string) error { return yes(&s.Version) },
		},
		{
			Name: "help", NoEnv: true, Meaning: "print this text and end; with -target, only that role's flags",
			Parse: func(s *Settings) func(string) error { return yes(&s.Help) },
		},
	}
}
