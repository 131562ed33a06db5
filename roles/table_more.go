package roles

// delivers is the reason of the roles that deliver no notification.
const delivers = "it delivers no notifications and holds no secret for them"

// notifyRules refuse a flag of delivery where nothing is delivered.
func notifyRules() Rules { return because(delivers, Worker, UI, Sink) }

func notifyFlags() []Flag {
	return []Flag{
		{
			Name: "smtp-host", Arg: "HOST", Meaning: "mail server", Refused: notifyRules(),
			Parse: func(s *Settings) func(string) error { return text(&s.Notify.SMTPHost) },
		},
		{
			Name: "smtp-port", Arg: "PORT", Default: "587", Meaning: "port of the mail server", Refused: notifyRules(),
			Parse: func(s *Settings) func(string) error { return count(&s.Notify.SMTPPort, 1, 65535) },
		},
		{
			Name: "smtp-user", Arg: "NAME", Meaning: "user at the mail server", Refused: notifyRules(),
			Parse: func(s *Settings) func(string) error { return text(&s.Notify.SMTPUser) },
		},
		{
			Name: "smtp-password-file", Arg: "FILE", Meaning: "file that holds the password at the mail server",
			Refused: notifyRules(),
			Parse:   func(s *Settings) func(string) error { return text(&s.Notify.SMTPPasswordFile) },
		},
		{
			Name: "smtp-from", Arg: "ADDRESS", Meaning: "sender of mails", Refused: notifyRules(),
			Parse: func(s *Settings) func(string) error { return text(&s.Notify.SMTPFrom) },
		},
		{
			Name: "smtp-tls", Arg: "MODE", Default: "starttls", Meaning: "encryption of mail: starttls, tls, none",
			Refused: notifyRules(),
			Parse:   func(s *Settings) func(string) error { return oneOf(&s.Notify.SMTPTLS, "starttls", "tls", "none") },
		},
		{
			Name: "telegram-token", Arg: "TOKEN", Secret: true, Meaning: "token of the Telegram bot", Refused: notifyRules(),
			Parse: func(s *Settings) func(string) error { return text(&s.Notify.TelegramToken) },
		},
		{
			Name: "notify-delivery", Arg: "WHO", Default: "local", Meaning: "who delivers notifications: local or notifier",
			Refused: because("only all and engine decide who delivers", Worker, UI, Sink).and(
				because("a notifier is the delivery target and has nothing to decide", Notifier)),
			Parse: func(s *Settings) func(string) error { return oneOf(&s.Notify.Delivery, "local", "notifier") },
		},
		{
			Name: "notify-workers", Arg: "N", Default: "8", Meaning: "deliveries at the same time", Refused: notifyRules(),
			Parse: func(s *Settings) func(string) error { return count(&s.Notify.Workers, 1, 1000) },
		},
		{
			Name: "notify-queue", Arg: "N", Default: "1000", Meaning: "due deliveries that may wait for a place; more are told of as overflow, none is lost", Refused: notifyRules(),
			Parse: func(s *Settings) func(string) error { return count(&s.Notify.Queue, 1, 1_000_000) },
		},
	}
}

func natsFlags() []Flag {
	noServer := because("it embeds no server", Worker, UI, Sink, Notifier)
	return []Flag{
		{
			Name: "nats-listen", Arg: "HOST:PORT", Meaning: "client address of the embedded server; without it the server listens nowhere",
			Refused: noServer, Parse: func(s *Settings) func(string) error { return address(&s.NATS.Listen) },
		},
		{
			Name: "cluster-name", Arg: "NAME", Meaning: "name of the cluster of embedded servers", Refused: noServer,
			Parse: func(s *Settings) func(string) error { return identifier(&s.NATS.ClusterName) },
		},
		{
			Name: "cluster-listen", Arg: "HOST:PORT", Meaning: "address at which the embedded server meets its peers",
			Refused: noServer, Parse: func(s *Settings) func(string) error { return address(&s.NATS.ClusterListen) },
		},
		{
			Name: "cluster-peers", Arg: "HOST:PORT,…", Meaning: "cluster addresses of the other embedded servers",
			Refused: noServer, Parse: func(s *Settings) func(string) error { return list(&s.NATS.ClusterPeers, checkPeer) },
		},
		{
			Name: "nats-creds", Arg: "FILE", Meaning: "credentials file with which this process authenticates to a NATS server",
			Parse: func(s *Settings) func(string) error { return text(&s.NATS.Creds) },
		},
		{
			Name: "nats-tls-ca", Arg: "FILE", Meaning: "certificates of the authorities that sign NATS servers",
			Parse: func(s *Settings) func(string) error { return text(&s.NATS.TLSCA) },
		},
		{
			Name: "nats-tls-cert", Arg: "FILE", Meaning: "certificate of this process towards NATS",
			Parse: func(s *Settings) func(string) error { return text(&s.NATS.TLSCert) },
		},
		{
			Name: "nats-tls-key", Arg: "FILE", Meaning: "key of -nats-tls-cert",
			Parse: func(s *Settings) func(string) error { return text(&s.NATS.TLSKey) },
		},
	}
}

func checkPeer(v string) error {
	var ignored string
	return address(&ignored)(v)
}
