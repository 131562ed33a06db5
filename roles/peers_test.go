package roles

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/cluster"
)

func TestFlagsOfAClusterBelongTogether(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		nats NATS
		want string // "" = no cluster and no error
	}{
		{"no cluster is asked for", NATS{}, ""},
		{"an address without a name", NATS{ClusterListen: "127.0.0.1:6222"}, "-cluster-name too"},
		{"peers without a name", NATS{ClusterPeers: []string{"a:6222"}}, "-cluster-name too"},
		{"a name without an address", NATS{ClusterName: "site"}, "-cluster-listen HOST:PORT too"},
		{"nothing by which the members know each other", NATS{ClusterName: "site", ClusterListen: "127.0.0.1:6222"}, "-nats-tls-cert"},
	} {
		a := &appliance{s: Settings{NATS: c.nats, EngineID: "e"}}
		var b bus.Options
		err := a.joinPeers(&b)
		if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) || b.Cluster != nil {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestAnEngineOnAMembersFolderUsesTheClustersLog(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if err := cluster.Found(data, cluster.Member{Cluster: "site", ID: "node1", Listen: "10.0.0.1:4248"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, args, want string }{
		{"as a member", "", ""},
		{"with a log in memory", "-eventlog memory", "-eventlog is memory and " + data + " belongs to member node1 of cluster site"},
		{"an engine with a log in memory", "-target engine -queue memory -eventlog memory", "leave the flag out, or name another folder with -data"},
		{"with another server's log", "-eventlog nats://u:hunter2@log:4222", "-eventlog is nats://"},
		{"a dashboard beside it", "-target ui -eventlog nats://log:4222", ""},
	} {
		args := append(strings.Fields(c.args), "-config", "x")
		if !strings.Contains(c.args, "ui") {
			args = append(args, "-data", data)
		}
		s, err := Parse(args, world(nil))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		err = s.asMember()
		if (c.want == "") != (err == nil) || err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2")) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestACoordinationThatIsNotFollowedIsToldWhereItWasWritten(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]bool{"": false, "-coordination memory": true} {
		s, err := Parse(append(strings.Fields(args), "-config", "x"), world(nil))
		if err != nil {
			t.Fatal(err)
		}
		s.EventLog = "nats://127.0.0.1:1"
		var log strings.Builder
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		a := &appliance{s: s, p: Process{Logger: slog.New(slog.NewTextHandler(&log, nil))}, reg: prometheus.NewRegistry()}
		if err := a.openCoordination(ctx); err == nil {
			t.Error("there is no server")
		}
		if got := strings.Contains(log.String(), "-coordination memory is not followed"); got != want {
			t.Errorf("%q: the log says %s", args, log.String())
		}
	}
}

func TestAClusterWithoutAServerOfItsOwnIsNotIgnoredInSilence(t *testing.T) {
	t.Parallel()
	s := Settings{EventLog: "nats://log:4222", NATS: NATS{ClusterName: "site"}}
	if got := s.idle(); len(got) != 1 || !strings.Contains(got[0], "embeds no server") {
		t.Errorf("idle = %q", got)
	}
	if s.EventLog = "embedded"; len(s.idle()) != 0 {
		t.Errorf("idle = %q", s.idle())
	}
}
