package check

import (
	"bytes"
	"encoding/json"
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

// render returns the manifests that helm template site prints, and the notes.
func render(values string) (manifests, notes string, err error) { return renderAs("site", values) }

// renderAs is render for a release of another name.
func renderAs(name, values string) (manifests, notes string, err error) {
	c, err := loader.Load(filepath.Join("..", "jaque"))
	if err != nil {
		return "", "", err
	}
	given, err := chartutil.ReadValues([]byte(values))
	if err != nil {
		return "", "", err
	}
	release := chartutil.ReleaseOptions{Name: name, Namespace: "monitoring", Revision: 1, IsInstall: true}
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
	// An authority of its own without credentials, and an image by digest.
	"split-authority": `
image: {repository: "images.example.net:5000/jaque", digest: "sha256:` + digest + `"}
config: {existingConfigMap: site}
deploymentMode: split
nats: {url: "tls://nats:4222", caSecret: nats-authority}
`,
	// What YAML or the kubelet would read as something else.
	"odd":            odd,
	"odd-standalone": oddStandalone,
}

const digest = "0123456789012345678901234567890123456789012345678901234567890123"

// oddMail has a colon, a sign that starts a comment, a quote and what the kubelet expands.
const oddMail = `{host: "123", user: "$(POD_NAME)", from: "Jaque: \"ops\" #1 $$(HOME) $ <a@b>"}`

const odd = `
image: {repository: site/jaque, tag: "1", pullSecrets: ["1", "true"]}
config: {existingConfigMap: "123"}
apiTokenSecret: "true"
deploymentMode: split
nats: {url: "tls://nats:4222", credentialsSecret: "null", caSecret: "1e3"}
workers: [{name: "1", zones: ["a: b", "#2", "c'd"]}]
notifier: {enabled: true}
delivery: {secret: "0x1", smtp: ` + oddMail + `}
podMonitor: {enabled: true, interval: "30", labels: {release: "1"}}
podAnnotations: {note: "true"}
service: {annotations: {note: "1"}}
`

const oddStandalone = `
image: {repository: site/jaque, tag: "1"}
config: {existingConfigMap: "on"}
fullnameOverride: "null"
persistence: {size: "10", storageClass: "-"}
delivery: {secret: "0x1", smtp: ` + oddMail + `}
`

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
		load(t, doc, &m)
		if m.Kind == "" {
			continue
		}
		if m.Metadata.Name == "" {
			t.Errorf("a %s has no name:\n%s", m.Kind, doc)
		}
		if key := m.Kind + "/" + m.Metadata.Name; all[key] != "" {
			t.Errorf("%s stands twice", key)
		} else {
			all[key] = doc
		}
	}
	return all
}

// decode reads a manifest as Kubernetes does: a number is no string. yaml.Unmarshal would make
// one of it.
func decode(doc string, into any, known bool) error {
	text, err := yaml.YAMLToJSONStrict([]byte(doc))
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if known {
		d.DisallowUnknownFields()
	}
	return d.Decode(into)
}

// load is decode for a part of a manifest.
func load(t *testing.T, doc string, into any) {
	t.Helper()
	if err := decode(doc, into, false); err != nil {
		t.Fatalf("%v in\n%s", err, doc)
	}
}

// What is rendered are fields that Kubernetes knows, and selectors find their pods.
func TestManifestsHaveNoUnknownFields(t *testing.T) {
	for name, values := range shapes {
		var pods []corev1.PodTemplateSpec
		var selectors []map[string]string
		for key, doc := range kinds(t, values) {
			kind, _, _ := strings.Cut(key, "/")
			strict := func(into any) {
				if err := decode(doc, into, true); err != nil {
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
		load(t, doc, &w)
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

// workload is a StatefulSet or Deployment.
type workload struct {
	Spec struct {
		Template             corev1.PodTemplateSpec
		VolumeClaimTemplates []corev1.PersistentVolumeClaim
	}
}

// expand is what the kubelet makes of an argument: $$ is one $, and $(NAME) a variable.
func expand(arg string) string {
	var out strings.Builder
	for arg != "" {
		switch end := strings.Index(arg, ")"); {
		case strings.HasPrefix(arg, "$$"):
			out.WriteByte('$')
			arg = arg[2:]
		case strings.HasPrefix(arg, "$(") && end > 0:
			out.WriteString("<" + arg[2:end] + ">")
			arg = arg[end+1:]
		default:
			out.WriteByte(arg[0])
			arg = arg[1:]
		}
	}
	return out.String()
}

// What the user writes arrives as it is written, whatever YAML and the kubelet read in it.
func TestOddValuesArriveAsTheyAreWritten(t *testing.T) {
	mail := []string{"-smtp-host=123", "-smtp-port=587", "-smtp-tls=starttls", `-smtp-from=Jaque: "ops" #1 $$(HOME) $ <a@b>`, "-smtp-user=$(POD_NAME)"}
	for _, c := range []struct {
		shape, key string
		args       []string
		secrets    []string
		config     string
	}{
		{
			"odd", "StatefulSet/site-jaque-engine",
			[]string{"-nats-creds=/run/jaque/<POD_NAME>.creds", "-nats-tls-ca=/run/jaque/ca.crt", "-engine-id=<POD_NAME>"},
			[]string{"null", "1e3", "true"},
			"123",
		},
		{"odd", "Deployment/site-jaque-worker-1", []string{"-zones=a: b,#2,c'd", "-nats-tls-ca=/run/jaque/ca.crt"}, []string{"null", "1e3"}, ""},
		{"odd", "Deployment/site-jaque-notifier", mail, []string{"null", "1e3", "0x1"}, "123"},
		{"odd-standalone", "StatefulSet/null", mail, []string{"0x1"}, "on"},
	} {
		var w workload
		doc := kinds(t, shapes[c.shape])[c.key]
		if doc == "" {
			t.Errorf("there is no %s", c.key)
			continue
		}
		load(t, doc, &w)
		pod := w.Spec.Template.Spec
		var args []string
		for _, a := range pod.Containers[0].Args {
			args = append(args, expand(a))
		}
		for _, want := range c.args {
			if !slices.Contains(args, want) {
				t.Errorf("%s: %q lacks %q", c.key, args, want)
			}
		}
		var secrets []string
		config := ""
		for _, v := range pod.Volumes {
			if v.ConfigMap != nil {
				config = v.ConfigMap.Name
			}
			if v.Projected == nil {
				continue
			}
			for _, s := range v.Projected.Sources {
				secrets = append(secrets, s.Secret.Name)
			}
		}
		if !slices.Equal(secrets, c.secrets) || config != c.config {
			t.Errorf("%s reads %q and the ConfigMap %q, want %q and %q", c.key, secrets, config, c.secrets, c.config)
		}
		if c.shape == "odd" && !slices.Equal(pod.ImagePullSecrets, []corev1.LocalObjectReference{{Name: "1"}, {Name: "true"}}) {
			t.Errorf("%s pulls with %v", c.key, pod.ImagePullSecrets)
		}
		for _, claim := range w.Spec.VolumeClaimTemplates {
			if class := claim.Spec.StorageClassName; class == nil || *class != "" {
				t.Errorf("the class of a volume made by hand is %v, want an empty one", class)
			}
			if size := claim.Spec.Resources.Requests.Storage().String(); size != "10" {
				t.Errorf("the volume has %s", size)
			}
		}
	}
	// The kinds of Prometheus are not typed here.
	var monitor struct {
		Metadata struct{ Labels map[string]string }
		Spec     struct {
			PodMetricsEndpoints []struct{ Interval string }
		}
	}
	load(t, kinds(t, odd)["PodMonitor/site-jaque"], &monitor)
	if e := monitor.Spec.PodMetricsEndpoints; len(e) != 1 || e[0].Interval != "30" || monitor.Metadata.Labels["release"] != "1" {
		t.Errorf("Prometheus is told %+v", monitor)
	}
	// A release may have a name that YAML reads as a number.
	text, _, err := renderAs("123", common+"\nfullnameOverride: jaque")
	if err != nil {
		t.Fatal(err)
	}
	for doc := range strings.SplitSeq(text, "---\n") {
		var m struct {
			Metadata struct{ Labels map[string]any }
		}
		load(t, doc, &m)
		if got := m.Metadata.Labels["app.kubernetes.io/instance"]; m.Metadata.Labels != nil && got != "123" {
			t.Errorf("the instance is %v (%T) in\n%s", got, got, doc)
		}
	}
}

// The kubelet of the test above reads arguments as Kubernetes says it does.
func TestExpandIsTheKubeletsRule(t *testing.T) {
	for arg, want := range map[string]string{
		"$(A)": "<A>", "$$(A)": "$(A)", "$$$(A)": "$<A>", "$$$$(A)": "$$(A)", "$": "$", "a$b": "a$b", "$(A": "$(A", "a)$(B)": "a)<B>",
	} {
		if got := expand(arg); got != want {
			t.Errorf("%s becomes %s, want %s", arg, got, want)
		}
	}
}
