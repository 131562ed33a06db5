package roles

import (
	"fmt"
	"slices"
	"strings"

	"jaque.sh/jaque/appliance/access"
	"jaque.sh/jaque/appliance/access/authority"
	"jaque.sh/jaque/appliance/access/credential"
	"jaque.sh/jaque/appliance/bus"
)

// identify reads the credentials of this process, if it has any, into the options of
// a connection. Answers arrive where only their holder may listen.
func (a *appliance) identify(b *bus.Options) error {
	if a.s.NATS.Creds == "" {
		return nil
	}
	c, err := credential.Read(a.s.NATS.Creds, a.p.Logger)
	if err != nil {
		return err
	}
	if role := string(a.s.Role.Name); c.Role != "" && c.Role != role && a.s.Role.Name != All {
		return fmt.Errorf("the credentials of -nats-creds %s are those of a process of role %s and allow nothing that role %s does; make others with \"jaque credentials %s\"",
			a.s.NATS.Creds, c.Role, role, role)
	}
	if c.Role == string(Engine) && c.ID != a.s.EngineID {
		return fmt.Errorf("the credentials of -nats-creds %s are those of engine %s and this is engine %s; make others with \"jaque credentials engine -id %s\", or write -engine-id %s",
			a.s.NATS.Creds, c.ID, a.s.EngineID, a.s.EngineID, c.ID)
	}
	for _, zone := range a.s.Zones {
		if c.Role == string(Worker) && !slices.Contains(c.Zones, zone) {
			return fmt.Errorf("the credentials of -nats-creds %s are for the zones %s, not for zone %s of -zones; make others with \"jaque credentials worker -zone %s\"",
				a.s.NATS.Creds, strings.Join(c.Zones, ","), zone, strings.Join(a.s.Zones, ","))
		}
	}
	b.Credentials, b.Inbox = c, c.Inbox()
	return nil
}

// listenForOthers opens the embedded server to other processes.
func (a *appliance) listenForOthers(b *bus.Options) error {
	if a.s.NATS.Listen == "" {
		return nil
	}
	l := &bus.Listener{Address: a.s.NATS.Listen, Users: access.In(a.s.Data).Source()}
	own, err := a.s.NATS.tlsConfig()
	if err != nil {
		return err
	}
	if own != nil && len(own.Certificates) > 0 {
		own.RootCAs = nil // those of servers that we call
		l.TLS = own
	} else {
		ca, err := authority.Open(a.s.Data)
		if err != nil {
			return err
		}
		if l.TLS, err = ca.Server(authority.Names(a.s.NATS.Listen)); err != nil {
			return err
		}
	}
	b.Listen = l
	return nil
}
