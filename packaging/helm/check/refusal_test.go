package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// What pods are called is part of the engines' credentials: a name is taken whole or not at all.
func TestNamesAreNeverCut(t *testing.T) {
	long := strings.Repeat("a", 36)
	for _, c := range []struct{ release, values, name, say string }{
		{"site", "", "site-jaque", ""},
		{"my-jaque", "", "my-jaque", ""},
		{"site", "fullnameOverride: " + long, long, ""},
		{long[:30], "", long[:30] + "-jaque", ""},
		{long, "", "", "set fullnameOverride"},
		{long, "fullnameOverride: jaque", "jaque", ""},
		{"site", "fullnameOverride: " + long + "a", "", "room for 36"},
		{"site", "nameOverride: " + long, "", "set fullnameOverride"},
		{"site", "nameOverride: Jaque", "", "set fullnameOverride"},
		{"1st", "", "", "set fullnameOverride"},
		{"site.one", "", "", "set fullnameOverride"},
		{"site", "fullnameOverride: Jaque", "", "fullnameOverride"},
		{"site", "fullnameOverride: a.b", "", "fullnameOverride"},
		{"site", "fullnameOverride: \"123\"", "", "fullnameOverride"},
		{"site", "fullnameOverride: a-", "", "fullnameOverride"},
	} {
		text, _, err := renderAs(c.release, common+"\n"+c.values)
		switch {
		case c.say != "":
			if err == nil || !strings.Contains(err.Error(), c.say) {
				t.Errorf("%s, %s: %v, want a word of %q", c.release, c.values, err, c.say)
			}
		case err != nil:
			t.Errorf("%s, %s: %v", c.release, c.values, err)
		case !strings.Contains(text, fmt.Sprintf("name: %q\n", c.name)):
			t.Errorf("%s, %s: nothing is called %s", c.release, c.values, c.name)
		}
	}
}

// A Secret with the authority stands next to credentials, or alone.
func TestAnAuthorityNeedsNoCredentials(t *testing.T) {
	for name, c := range map[string]struct {
		nats string
		want []string
	}{
		"none":                     {`url: "tls://n:4222"`, nil},
		"alone":                    {`url: "tls://n:4222", caSecret: a`, []string{"a/ca.crt"}},
		"next to credentials":      {`url: "tls://n:4222", caSecret: a, credentialsSecret: c`, []string{"c/worker-default.creds", "a/ca.crt"}},
		"in that of credentials":   {`url: "tls://n:4222", ca: true, credentialsSecret: c`, []string{"c/worker-default.creds", "c/ca.crt"}},
		"credentials of their own": {`url: "tls://n:4222", credentialsSecret: c`, []string{"c/worker-default.creds"}},
	} {
		var w workload
		load(t, kinds(t, common+"\ndeploymentMode: split\nnats: {"+c.nats+"}")["Deployment/site-jaque-worker-default"], &w)
		var got []string
		for _, v := range w.Spec.Template.Spec.Volumes {
			if v.Projected == nil {
				continue
			}
			for _, s := range v.Projected.Sources {
				for _, item := range s.Secret.Items {
					got = append(got, s.Secret.Name+"/"+item.Key)
				}
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: the worker holds %v, want %v", name, got, c.want)
		}
		trusts := slices.Contains(w.Spec.Template.Spec.Containers[0].Args, "-nats-tls-ca=/run/jaque/ca.crt")
		if want := slices.ContainsFunc(c.want, func(s string) bool { return strings.HasSuffix(s, "/ca.crt") }); trusts != want {
			t.Errorf("%s: the worker trusts an authority of its own: %v, want %v", name, trusts, want)
		}
	}
}

func TestWrongValuesAreRefusedWithWhatToWrite(t *testing.T) {
	for name, c := range map[string]struct{ values, say string }{
		"no image":                         {"config: {existingConfigMap: site}", "packaging/helm/Containerfile"},
		"an image without a tag":           {"image: {repository: x}\nconfig: {existingConfigMap: site}", "write the tag that you gave the image"},
		"no configuration":                 {"image: {repository: x, tag: \"1\"}", "config.existingConfigMap"},
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
		"a TTL that is none":               {common + "\nheartbeatTTL: ten seconds", "as in 10s or 1m30s"},
		"a TTL of another unit":            {common + "\nheartbeatTTL: 1x", `heartbeatTTL "1x" is no time above 0`},
		"a misspelt key":                   {common + "\nreplicas: 3", "replicas"},
		"a user without password":          {common + "\ndelivery: {smtp: {host: h, user: u}}", "delivery.secret"},
		"an authority without credentials": {common + "\ndeploymentMode: split\nnats: {url: \"tls://n:4222\", ca: true}", "nats.caSecret"},
		"two authorities":                  {split + "\nnats: {url: \"tls://n:4222\", credentialsSecret: a, ca: true, caSecret: b}", "leave one out"},
		"a password in the address":        {common + "\ndeploymentMode: split\nnats: {url: \"nats://u:p@h:4222\"}", "nats.credentialsSecret"},
		"a user in the address":            {common + "\ndeploymentMode: split\nnats: {url: \"tls://token@h:4222\"}", "nats.credentialsSecret"},
		"an authority for one process":     {common + "\nnats: {caSecret: a}", "nats.caSecret"},
		"ca.crt for one process":           {common + "\nnats: {ca: true}", "nats.ca "},
		"replicas of one process":          {common + "\nstandalone: {replicas: 2}", "replicas"},
		"one process that is off":          {common + "\nstandalone: {enabled: false}", "enabled"},
		"engines that are off":             {split + "\nengine: {enabled: false}", "enabled"},
		"a sink in one process":            {common + "\nsink: {enabled: true}", "write deploymentMode split"},
		"a notifier in one process":        {common + "\nnotifier: {enabled: true}", "write deploymentMode split"},
		"env of a ui in one process":       {common + "\nui: {env: [{name: A, value: b}]}", "write standalone.env"},
		"resources of an engine in one":    {common + "\nengine: {resources: {limits: {cpu: 1}}}", "write standalone.resources"},
		"env of one process in the split":  {split + "\nstandalone: {env: [{name: A, value: b}]}", "write engine.env"},
		"a volume in the split":            {split + "\npersistence: {storageClass: fast}", "persistence.storageClass"},
		"a sender without a server":        {common + "\ndelivery: {smtp: {from: a@b}}", "delivery.smtp.from"},
		"a mail user without a server":     {common + "\ndelivery: {secret: s, smtp: {user: a}}", "delivery.smtp.user"},
		"a secret that nothing reads":      {common + "\ndelivery: {secret: s}", "delivery.telegram"},
		"a TTL of 0":                       {common + "\nheartbeatTTL: 0s", "as in 10s or 1m30s"},
		"a TTL of 0 in parts":              {common + "\nheartbeatTTL: 0h0.0s", "as in 10s or 1m30s"},
		"a number in env":                  {common + "\nenv: [{name: A, value: 1}]", "/env/0/value"},
		"a switch in env of a role":        {common + "\nstandalone: {env: [{name: A, value: true}]}", "/standalone/env/0/value"},
		"a number in env of a worker":      {split + "\nworkers: [{name: a, zones: [a], env: [{name: A, value: 1}]}]", "/workers/0/env/0/value"},
		"env without a value":              {common + "\nenv: [{name: A}]", "value"},
		"env with two values":              {common + "\nenv: [{name: A, value: b, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]", "/env/0"},
		"a name that is none in env":       {common + "\nenv: [{name: \"a b\", value: c}]", "/env/0/name"},
		"a misspelt key in env":            {common + "\nenv: [{name: A, vlaue: c}]", "vlaue"},
		"the pod's name in env":            {common + "\nenv: [{name: POD_NAME, value: x}]", "the chart sets it"},
		"the pod's name in env of a role":  {split + "\nengine: {env: [{name: POD_NAME, value: x}]}", "engine.env has POD_NAME"},
		"the pod's name for a worker":      {split + "\nworkers: [{name: a, zones: [a], env: [{name: POD_NAME, value: x}]}]", "the entry a of workers has POD_NAME"},
		"a flag of the chart in env":       {common + "\nenv: [{name: JAQUE_LOG_LEVEL, value: debug}]", "write logLevel"},
		"a worker's flag in one process":   {common + "\nenv: [{name: JAQUE_ZONES, value: dmz}]", "env has JAQUE_ZONES, which a process of role all refuses"},
		"an engine's flag for everybody":   {split + "\nenv: [{name: JAQUE_ENGINE_ID, value: a}]", "env has JAQUE_ENGINE_ID"},
		"an engine's flag for a worker":    {split + "\nworkers: [{name: a, zones: [a], env: [{name: JAQUE_DATA, value: x}]}]", "the entry a of workers has JAQUE_DATA, which a process of role worker refuses"},
		"a number as an annotation":        {common + "\npodAnnotations: {note: 1}", "/podAnnotations/note"},
		"a switch as an annotation":        {common + "\nservice: {annotations: {note: true}}", "/service/annotations/note"},
		"a switch to select nodes":         {common + "\nnodeSelector: {ssd: true}", "/nodeSelector/ssd"},
		"a number as a label":              {common + "\npodMonitor: {labels: {a: 1}}", "/podMonitor/labels/a"},
		"a zone that is two":               {split + "\nworkers: [{name: a, zones: [\"a,b\"]}]", "/workers/0/zones/0"},
		"a Secret that cannot be":          {common + "\napiTokenSecret: \"my secret\"", "apiTokenSecret"},
		"a volume without a size":          {common + "\npersistence: {size: \"\"}", "/persistence/size"},
		"a tag in the repository":          {common + "\nimage: {repository: \"h:5000/x:1\"}", "image.tag"},
		"a digest in the repository":       {common + "\nimage: {repository: \"x@sha256:" + digest + "\"}", "image.digest"},
		"a digest as a tag":                {common + "\nimage: {repository: x, tag: \"sha256:" + digest + "\"}", "image.digest"},
		"a tag and a digest":               {common + "\nimage: {repository: x, tag: \"1\", digest: \"sha256:" + digest + "\"}", "leave one out"},
		"a digest that is none":            {common + "\nimage: {repository: x, digest: \"sha256:12\"}", "/image/digest"},
	} {
		_, _, err := render(c.values)
		if err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v, want a word of %q", name, err, c.say)
		}
		// A password that is refused is not shown either.
		if err != nil && strings.Contains(err.Error(), "u:p@") {
			t.Errorf("%s: %v", name, err)
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
