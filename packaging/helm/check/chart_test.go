package check

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the golden files anew")

// render returns the manifests that helm template prints, and the notes.
func render(values string) (manifests, notes string, err error) {
	c, err := loader.Load(filepath.Join("..", "jaque"))
	if err != nil {
		return "", "", err
	}
	given, err := chartutil.ReadValues([]byte(values))
	if err != nil {
		return "", "", err
	}
	release := chartutil.ReleaseOptions{Name: "site", Namespace: "monitoring", Revision: 1, IsInstall: true}
	all, err := chartutil.ToRenderValues(c, given, release, chartutil.DefaultCapabilities)
	if err != nil {
		return "", "", err
	}
	out, err := engine.Render(c, all)
	if err != nil {
		return "", "", err
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(out)) {
		switch {
		case strings.HasSuffix(name, "NOTES.txt"):
			notes = out[name]
		case strings.TrimSpace(out[name]) != "":
			fmt.Fprintf(&text, "---\n# Source: %s\n%s\n", name, strings.TrimSpace(out[name]))
		}
	}
	return text.String(), notes, nil
}

const common = `
image: {repository: site/jaque, tag: "1"}
config: {files: {site.cue: "package site\n"}}
`

const split = common + `
deploymentMode: split
nats: {url: "tls://nats:4222", credentialsSecret: nats-users, ca: true}
`

// shapes are the values that have a golden file.
var shapes = map[string]string{
	"standalone": common,
	"standalone-everything": common + `
apiTokenSecret: site-api
persistence: {size: 50Gi, storageClass: fast}
delivery: {secret: site-mail, telegram: true, smtp: {host: mail.example.com, user: jaque, from: jaque@example.com}}
heartbeatTTL: 20s
standalone: {env: [{name: JAQUE_LIVESTATUS_LISTEN, value: "0.0.0.0:6557"}], resources: {requests: {memory: 128Mi}}}
service: {type: LoadBalancer, port: 8080, annotations: {note: "yes"}}
podMonitor: {enabled: true, labels: {release: prometheus}}
podAnnotations: {note: "yes"}
nodeSelector: {disk: ssd}
tolerations: [{key: monitoring, operator: Exists}]
netRaw: true
`,
	"split-1": split,
	"split-2": split + `
engine: {replicas: 2}
`,
	"split-3": split + `
engine: {replicas: 3}
heartbeatTTL: 7.5s
apiTokenSecret: site-api
workers:
  - {name: default, zones: [default], replicas: 3}
  - {name: dmz, zones: [dmz, lab]}
sink: {enabled: true, replicas: 2}
notifier: {enabled: true, replicas: 2}
delivery: {secret: site-mail, smtp: {host: mail.example.com, user: jaque, from: jaque@example.com}}
netRaw: true
`,
	"split-plain": common + `
deploymentMode: split
nats: {url: "nats://nats:4222"}
ui: {enabled: false}
workers: []
`,
}

// production are the values that the chart comes with as an example.
func production(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "production.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// S074, S076, S085: one process, and one for each role with one, two and three engines;
// the example is the usual shape of production.
func TestTheChartRendersEachShape(t *testing.T) {
	all := maps.Clone(shapes)
	all["production"] = production(t)
	for name, values := range all {
		t.Run(name, func(t *testing.T) {
			got, _, err := render(values)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name+".yaml")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("the chart renders something else than %s; look at it, and take it with go test . -update:\n%s", path, got)
			}
		})
	}
}

// S082: more engines are the same split; nothing else differs.
func TestMoreEnginesChangeNothingButTheEngines(t *testing.T) {
	one, two := kinds(t, split), kinds(t, split+"\nengine: {replicas: 2}\n")
	for name, text := range one {
		switch {
		case name == "StatefulSet/site-jaque-engine":
			if text == two[name] {
				t.Error("two engines are rendered as one")
			}
		case text != two[name]:
			t.Errorf("%s differs between one engine and two:\n%s\n%s", name, text, two[name])
		}
	}
	for name := range two {
		if _, ok := one[name]; !ok && name != "PodDisruptionBudget/site-jaque-engine" {
			t.Errorf("a second engine brings %s", name)
		}
	}
}

// kinds returns the manifests of values by kind and name.
func kinds(t *testing.T, values string) map[string]string {
	t.Helper()
	text, _, err := render(values)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for doc := range strings.SplitSeq(text, "---\n") {
		var m struct {
			Kind     string
			Metadata struct{ Name string }
		}
		if err := yaml.Unmarshal([]byte(doc), &m); err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
		if m.Kind == "" {
			continue
		}
		if key := m.Kind + "/" + m.Metadata.Name; all[key] != "" {
			t.Errorf("%s stands twice", key)
		} else {
			all[key] = doc
		}
	}
	return all
}

// What is rendered are fields that Kubernetes knows, and selectors find their pods.
func TestManifestsHaveNoUnknownFields(t *testing.T) {
	for name, values := range shapes {
		var pods []corev1.PodTemplateSpec
		var selectors []map[string]string
		for key, doc := range kinds(t, values) {
			kind, _, _ := strings.Cut(key, "/")
			strict := func(into any) {
				if err := yaml.UnmarshalStrict([]byte(doc), into); err != nil {
					t.Errorf("%s: %s: %v", name, key, err)
				}
			}
			switch kind {
			case "StatefulSet":
				var s appsv1.StatefulSet
				strict(&s)
				pods = append(pods, s.Spec.Template)
				selectors = append(selectors, s.Spec.Selector.MatchLabels)
			case "Deployment":
				var d appsv1.Deployment
				strict(&d)
				pods = append(pods, d.Spec.Template)
				selectors = append(selectors, d.Spec.Selector.MatchLabels)
			case "Service":
				var s corev1.Service
				strict(&s)
				selectors = append(selectors, s.Spec.Selector)
			case "PodDisruptionBudget":
				var p policyv1.PodDisruptionBudget
				strict(&p)
				selectors = append(selectors, p.Spec.Selector.MatchLabels)
			case "ConfigMap":
				strict(&corev1.ConfigMap{})
			case "PodMonitor": // not a kind of Kubernetes itself
			default:
				t.Errorf("%s: nobody has thought of %s", name, key)
			}
		}
		for _, want := range selectors {
			if !slices.ContainsFunc(pods, func(p corev1.PodTemplateSpec) bool { return holds(p.Labels, want) }) {
				t.Errorf("%s: %v selects no pod", name, want)
			}
		}
		for _, p := range pods {
			mounts(t, name, &p)
		}
	}
}

// holds tells whether labels hold all that is wanted.
func holds(labels, want map[string]string) bool {
	for k, v := range want {
		if labels[k] != v {
			return false
		}
	}
	return true
}

// mounts checks that each volume is mounted, and each mount has a volume.
func mounts(t *testing.T, shape string, p *corev1.PodTemplateSpec) {
	t.Helper()
	var have, used []string
	for _, v := range p.Spec.Volumes {
		have = append(have, v.Name)
	}
	for _, m := range p.Spec.Containers[0].VolumeMounts {
		used = append(used, m.Name)
	}
	slices.Sort(have)
	slices.Sort(used)
	// The volume of the log comes from a claim.
	if role := p.Labels["app.kubernetes.io/component"]; role == "standalone" {
		have = append(have, "data")
		slices.Sort(have)
	}
	if !slices.Equal(have, used) {
		t.Errorf("%s: volumes %v, mounts %v", shape, have, used)
	}
}

// S086: which pod holds which secret.
func TestEachRoleHoldsItsOwnSecretsOnly(t *testing.T) {
	want := map[string][]string{
		"StatefulSet/site-jaque-engine":        {"nats-users/ca.crt", "nats-users/engine-0.creds", "nats-users/engine-1.creds", "nats-users/engine-2.creds", "site-api/token"},
		"Deployment/site-jaque-worker-default": {"nats-users/ca.crt", "nats-users/worker-default.creds"},
		"Deployment/site-jaque-worker-dmz":     {"nats-users/ca.crt", "nats-users/worker-dmz.creds"},
		"Deployment/site-jaque-ui":             {"nats-users/ca.crt", "nats-users/ui.creds", "site-api/token"},
		"Deployment/site-jaque-sink":           {"nats-users/ca.crt", "nats-users/sink.creds"},
		"Deployment/site-jaque-notifier":       {"nats-users/ca.crt", "nats-users/notifier.creds", "site-mail/smtp-password"},
	}
	found := 0
	for key, doc := range kinds(t, shapes["split-3"]) {
		var w struct {
			Spec struct{ Template corev1.PodTemplateSpec }
		}
		kind, _, _ := strings.Cut(key, "/")
		if kind != "StatefulSet" && kind != "Deployment" {
			continue
		}
		found++
		if err := yaml.Unmarshal([]byte(doc), &w); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range w.Spec.Template.Spec.Volumes {
			if v.Secret != nil {
				t.Errorf("%s mounts all of %s", key, v.Secret.SecretName)
			}
			if v.Projected == nil {
				continue
			}
			for _, s := range v.Projected.Sources {
				for _, item := range s.Secret.Items {
					got = append(got, s.Secret.Name+"/"+item.Key)
				}
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want[key]) {
			t.Errorf("%s holds %v, want %v", key, got, want[key])
		}
	}
	if found != len(want) {
		t.Errorf("%d kinds of pods, want %d", found, len(want))
	}
}

func TestWrongValuesAreRefusedWithWhatToWrite(t *testing.T) {
	for name, c := range map[string]struct{ values, say string }{
		"no image":                         {"config: {existingConfigMap: site}", "packaging/helm/Containerfile"},
		"no configuration":                 {"image: {repository: x}", "config.existingConfigMap"},
		"two configurations":               {common + "\nconfig: {existingConfigMap: x, files: {a.cue: x}}", "leave one out"},
		"a file that is not CUE":           {"image: {repository: x}\nconfig: {files: {site.txt: x}}", "site.txt"},
		"another mode":                     {common + "\ndeploymentMode: cluster", "deploymentMode"},
		"split without server":             {common + "\ndeploymentMode: split", "nats.url"},
		"an address without a scheme":      {common + "\ndeploymentMode: split\nnats: {url: \"nats:4222\"}", "nats"},
		"a server for one process":         {common + "\nnats: {url: \"nats://n:4222\"}", "write deploymentMode split"},
		"engines in one process":           {common + "\nengine: {replicas: 2}", "write deploymentMode split"},
		"no engine":                        {split + "\nengine: {replicas: 0}", "replicas"},
		"two workers of a name":            {split + "\nworkers: [{name: a, zones: [a]}, {name: a, zones: [b]}]", "called a"},
		"a worker without a zone":          {split + "\nworkers: [{name: a, zones: []}]", "zones"},
		"a TTL that is none":               {common + "\nheartbeatTTL: ten seconds", "heartbeatTTL"},
		"a misspelt key":                   {common + "\nreplicas: 3", "replicas"},
		"a user without password":          {common + "\ndelivery: {smtp: {host: h, user: u}}", "delivery.secret"},
		"an authority without credentials": {common + "\ndeploymentMode: split\nnats: {url: \"tls://n:4222\", ca: true}", "nats.credentialsSecret"},
	} {
		_, _, err := render(c.values)
		if err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v, want a word of %q", name, err, c.say)
		}
	}
}

func TestNotesSayWhatIsOpen(t *testing.T) {
	for values, say := range map[string]string{
		common:                            "nobody may send commands",
		split:                             "while it is away nothing is checked",
		split + "\nengine: {replicas: 3}": "3 engines that share the objects",
	} {
		_, notes, err := render(values)
		if err != nil || !strings.Contains(notes, say) {
			t.Errorf("%v; the notes lack %q:\n%s", err, say, notes)
		}
	}
	_, notes, err := render(shapes["split-3"])
	if err != nil || strings.Contains(notes, "WARNING") || strings.Contains(notes, "<no value>") {
		t.Errorf("%v; notes:\n%s", err, notes)
	}
}
