package sample

import (
	"fmt"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// Hostile is a service name and Output an output that try to break pages.
const (
	Hostile       = `a/b%2F"><img src=x onerror=alert(1)>`
	HostileOutput = `<script>document.title="broken"</script> & "quotes" </td>`
)

func rule(name string, kind object.CheckKind) *object.Rule {
	return &object.Rule{
		Name: name, Check: object.Check{Kind: kind}, Interval: time.Minute, Retry: 15 * time.Second, Timeout: 30 * time.Second,
		Attempts: 3, Active: true, Passive: true, FlapDetection: true, Labels: map[string]string{"team": "platform"},
	}
}

// Office returns a small installation with something of everything.
func Office() *Site {
	s := New(office()...)
	s.history()
	return s
}

// office returns the objects of the office.
func office() []*object.Object {
	ping := rule("hosts", object.CheckICMP)
	web := rule("services.http", object.CheckHTTP)
	web.NotesURL, web.Notes = "https://wiki.example.com/shop", "The shop's front. Restart the pool first, then call the shop's team."
	disk, load := rule("services.disk", object.CheckPlugin), rule("services.load", object.CheckPlugin)
	backup := rule("services.backup", object.CheckPassive)
	backup.Freshness = 26 * time.Hour
	host := func(name, alias, address, role string, parents ...*object.Object) *object.Object {
		return &object.Object{
			ID: object.HostID(name), Name: name, Alias: alias, Address: address, Rule: ping, Zone: "default",
			Labels: map[string]string{"role": role, "os": "linux"}, Groups: []string{role + "-servers"}, Parents: parents,
		}
	}
	service := func(h *object.Object, name string, r *object.Rule) *object.Object {
		return &object.Object{ID: object.ServiceID(h.Name, name), Name: name, Host: h, Rule: r, Zone: h.Zone}
	}
	sw := host("sw1", "core switch", "192.0.2.1", "net")
	objects := []*object.Object{sw}
	for n := 1; n <= 4; n++ {
		h := host(fmt.Sprintf("web%02d", n), "shop front", fmt.Sprintf("192.0.2.%d", 10+n), "web", sw)
		objects = append(objects, h, service(h, "http", web), service(h, "disk", disk), service(h, "load", load))
	}
	db := host("db01", "orders", "192.0.2.30", "db", sw)
	mail := host("mail01", "", "192.0.2.40", "mail", sw)
	return append(objects, db, service(db, "backup", backup), service(db, "disk", disk), service(db, "replication", load),
		service(db, Hostile, load), mail, service(mail, "queue", load), service(mail, "imap", web))
}

// history folds what happened in the office.
func (s *Site) history() {
	day := 26 * time.Hour
	for _, o := range s.Set().Objects {
		if o.ID == "db01!backup" {
			continue
		}
		text, perf := "PING OK - 0.4 ms", "rta=0.4ms;100;500;0 pl=0%;20;60;0;100"
		if o.Kind() == object.Service {
			text, perf = o.Name+" OK", "value=1"
		}
		if o.Name == "disk" {
			text, perf = "DISK OK - / 61 % used", "/=61%;80;90 /var=34%;80;90 inodes=1200345;;;0;4000000"
		}
		s.Result(o.ID, object.OK, text, day, Text("", perf))
	}
	s.Append(event.Event{Kind: event.ConfigLoaded, Time: object.At(Now.Add(-5 * time.Hour)), Epoch: 3, Writer: "engine-1", Facts: map[string]string{"generation": "4f2a91"}})
	s.Result("web03!http", object.Warning, "HTTP 200 in 2.4 s", 9*time.Hour)
	s.Result("web03!http", object.OK, "HTTP 200 in 0.3 s", 8*time.Hour)
	s.Result("db01!disk", object.Warning, "DISK WARNING - /srv 84 % used", 3*time.Hour, Text("", "/=61%;80;90 /srv=84%;80;90"))
	s.Result("db01!replication", object.Critical, "replica is 340 s behind", 50*time.Minute, Ack("maria", "restored after the import, watching it"))
	s.Result(object.ServiceID("db01", Hostile), object.Unknown, HostileOutput, 42*time.Minute, Text("<b>more</b>\nsecond line", `'<i>'=3;1;2`))
	s.Result("web02!load", object.Warning, "load average: 6.20, 5.90, 5.10", 35*time.Minute, Downtime, Text("", "load1=6.2;6;10;0 load5=5.9;5;8;0"))
	s.Result("mail01", object.Down, "no answer to 3 packets within 3 s", 6*time.Minute, Text("", "pl=100%;20;60;0;100"))
	s.Result("mail01!imap", object.Critical, "connect: no route to host", 5*time.Minute)
	s.Result("mail01!queue", object.Unknown, "the plugin was killed after 30 s", 5*time.Minute, Flapping)
	s.Result("web01!http", object.Critical, "HTTP CRITICAL - 503 Service Unavailable, 0.812 s", 3*time.Minute,
		Text("upstream shop-pool: 0 of 4 backends alive\nlast good answer 11:56:58", "time=0.812s;1;3;0 size=512B;;;0"))
	s.Result("web01!disk", object.Critical, "DISK CRITICAL - / 97 % used, 1.1 GiB free", 2*time.Minute, Text("/ 97 %\n/var 41 %", "/=97%;80;90 /var=41%;80;90"))
	s.Result("web04!load", object.Critical, "load average: 22.10, 14.00, 9.30", 40*time.Second, Soft(1))
	for _, id := range []object.ID{"web01!http", "web01!disk"} {
		m := s.State(id).Measure
		s.Append(event.Event{
			Stream: event.Results, Kind: event.CheckResult, Object: id, Epoch: 3, Writer: "engine-1", Time: object.At(Now.Add(-20 * time.Second)),
			Measure: &event.Measure{
				Epoch: 3, N: m.N + 1, State: m.State, LastCheck: object.At(Now.Add(-20 * time.Second)), NextCheck: object.At(Now.Add(40 * time.Second)),
				Latency: 1200, Took: 812_000, Output: m.Output, Long: m.Long, Perfdata: m.Perfdata,
			},
		})
	}
}

// Many returns an installation with n services, ten on each host; every
// hundredth is CRITICAL.
func Many(n int) *Site {
	r := rule("services.load", object.CheckPlugin)
	objects := make([]*object.Object, 0, n+n/10)
	for len(objects) < n+n/10 {
		name := fmt.Sprintf("host%05d", len(objects)/11)
		h := &object.Object{ID: object.HostID(name), Name: name, Rule: r, Zone: "default", Labels: map[string]string{"role": "web"}}
		objects = append(objects, h)
		for i := range 10 {
			service := fmt.Sprintf("service%d", i)
			objects = append(objects, &object.Object{ID: object.ServiceID(name, service), Name: service, Host: h, Rule: r, Zone: "default"})
		}
	}
	s := New(objects...)
	for i, o := range s.Set().Objects {
		state := object.OK
		if o.Kind() == object.Service && i%100 == 7 {
			state = object.Critical
		}
		s.Result(o.ID, state, "load average: 0.20, 0.31, 0.28", time.Hour, Text("", "load1=0.2;4;8;0 load5=0.31;4;8;0"))
	}
	return s
}
