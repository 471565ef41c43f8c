package packaging

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/test/testkit"
)

const chart = "packaging/helm/edgeproxy"

// usualValues are what every release of the chart has to say.
const usualValues = "config: {origins: {app: {servers: [\"http://app:9000\"]}}}\n"

// diskValues switch the disk tier on.
const diskValues = "config: {cache: {disk: {path: /var/cache/edgeproxy, max_bytes: 5GiB}}}\nvolume: {size: 8Gi, storageClass: fast}\n"

// helmBuilt is helm, built once for all tests of this process.
var helmBuilt struct {
	once sync.Once
	path string
	out  []byte
	err  error
}

// helm returns a command of the program that tools/helm pins.
func helm(t *testing.T, arguments ...string) *exec.Cmd {
	t.Helper()
	beside := testkit.Built(t) // and not within once: it may leave the test out
	testkit.Changed(t, "packaging/helm", "packaging/docker", "tools/helm", "test/packaging/helm_test.go", "config")
	b := &helmBuilt
	b.once.Do(func() {
		b.path = filepath.Join(filepath.Dir(beside), "helm")
		build := exec.Command("go", "build", "-trimpath", "-o", b.path, "helm.sh/helm/v4/cmd/helm")
		build.Dir = filepath.Join(root, "tools", "helm")
		b.out, b.err = build.CombinedOutput()
	})
	if b.err != nil {
		t.Fatalf("build helm: %v\n%s", b.err, b.out)
	}
	cmd := exec.Command(b.path, arguments...)
	cmd.Env = append(cmd.Environ(), "HELM_CACHE_HOME="+t.TempDir(), "HELM_CONFIG_HOME="+t.TempDir(), "HELM_DATA_HOME="+t.TempDir())
	return cmd
}

// object is one of what the chart makes: its kind, its name, and what it was decoded from.
type object struct {
	Kind     string
	Metadata struct{ Name string }
	Data     map[string]string
	Spec     spec
}

type spec struct {
	ServiceName          string                 `yaml:"serviceName"`
	Selector             any                    `yaml:"selector"`
	Template             struct{ Spec podSpec } `yaml:"template"`
	VolumeClaimTemplates []struct {
		Metadata struct{ Name string }
		Spec     struct {
			StorageClassName string `yaml:"storageClassName"`
			Resources        struct{ Requests map[string]string }
		}
	} `yaml:"volumeClaimTemplates"`
	Ports []struct {
		Name       string
		TargetPort string `yaml:"targetPort"`
		Port       int
	}
	ClusterIP string `yaml:"clusterIP"`
	Replicas  *int
	Rules     []struct {
		Host        string
		BackendRefs []struct {
			Name string
			Port int
		} `yaml:"backendRefs"`
	}
	ParentRefs     []struct{ Name string }       `yaml:"parentRefs"`
	TLS            []struct{ SecretName string } `yaml:"tls"`
	MaxUnavailable int                           `yaml:"maxUnavailable"`
	MaxReplicas    int                           `yaml:"maxReplicas"`
	ScaleTargetRef struct{ Kind, Name string }   `yaml:"scaleTargetRef"`
	Endpoints      []struct{ Port string }       `yaml:"endpoints"`
}

type podSpec struct {
	Spread []struct {
		TopologyKey string `yaml:"topologyKey"`
	} `yaml:"topologySpreadConstraints"`
	SecurityContext map[string]any `yaml:"securityContext"`
	Containers      []struct {
		Args            []string
		SecurityContext map[string]any `yaml:"securityContext"`
		Ports           []struct {
			Name          string
			ContainerPort int `yaml:"containerPort"`
		}
		ReadinessProbe probe `yaml:"readinessProbe"`
		LivenessProbe  probe `yaml:"livenessProbe"`
		VolumeMounts   []struct {
			Name      string
			MountPath string `yaml:"mountPath"`
			SubPath   string `yaml:"subPath"`
		} `yaml:"volumeMounts"`
	}
}

type probe struct {
	HTTPGet struct{ Path, Port string } `yaml:"httpGet"`
}

// rendered returns what the chart makes of the values, each of a file; of two the later one wins.
func rendered(t *testing.T, values ...string) map[string]object {
	t.Helper()
	arguments := []string{"template", "site", filepath.Join(root, chart)}
	for _, v := range values {
		arguments = append(arguments, "--values", write(t, "values.yaml", v))
	}
	var stderr bytes.Buffer
	cmd := helm(t, arguments...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	all := map[string]object{}
	for text := range strings.SplitSeq(string(out), "\n---\n") {
		var o object
		if err := yaml.Unmarshal([]byte(strings.TrimPrefix(text, "---\n")), &o); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if o.Kind != "" {
			all[o.Kind+" "+o.Metadata.Name] = o
		}
	}
	return all
}

func names(all map[string]object) (out []string) {
	for name := range all {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// wantChecked has the program check the file that the pods get.
func wantChecked(t *testing.T, all map[string]object) {
	t.Helper()
	file := all["ConfigMap site-edgeproxy"].Data["edgeproxy.yaml"]
	file = strings.ReplaceAll(file, "/var/cache/edgeproxy", t.TempDir()) // where the pod has a volume
	if out, err := exec.Command(testkit.Built(t), "check", "-c", write(t, "edgeproxy.yaml", file)).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\n%s", err, out, file)
	}
}

func TestTheChartPassesItsLinter(t *testing.T) {
	t.Parallel()
	for _, values := range []string{usualValues, usualValues + "serviceMonitor: {enabled: true}\n", usualValues + everyPart} {
		run(t, helm(t, "lint", "--strict", filepath.Join(root, chart), "--values", write(t, "values.yaml", values)))
	}
}

func TestTheChartIsADeploymentWithoutADisk(t *testing.T) {
	t.Parallel()
	all := rendered(t, usualValues)
	want := []string{"ConfigMap site-edgeproxy", "Deployment site-edgeproxy", "Service site-edgeproxy", "Service site-edgeproxy-pods"}
	if diff := cmp.Diff(want, names(all)); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	wantChecked(t, all)
	pod := all["Deployment site-edgeproxy"].Spec.Template.Spec
	wantClosed(t, pod)
	c := pod.Containers[0]
	if c.ReadinessProbe.HTTPGet.Path != "/readyz" || c.LivenessProbe.HTTPGet.Path != "/livez" || c.ReadinessProbe.HTTPGet.Port != "metrics" || c.LivenessProbe.HTTPGet.Port != "metrics" {
		t.Errorf("probes: got %+v and %+v", c.ReadinessProbe, c.LivenessProbe)
	}
	ports := map[string]int{}
	for _, p := range c.Ports {
		ports[p.Name] = p.ContainerPort
	}
	if diff := cmp.Diff(map[string]int{"http": 8080, "metrics": 9981}, ports); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if len(c.VolumeMounts) != 1 || c.VolumeMounts[0].MountPath != "/etc/edgeproxy" || c.VolumeMounts[0].SubPath != "" || !slices.Equal(c.Args, []string{"serve", "-c", "/etc/edgeproxy/edgeproxy.yaml"}) {
		t.Errorf("got %+v with %q", c.VolumeMounts, c.Args)
	}
}

// wantClosed: a numeric user, a root that is read only, and no rights.
func wantClosed(t *testing.T, pod podSpec) {
	t.Helper()
	if s := pod.SecurityContext; s["runAsNonRoot"] != true || s["runAsUser"] != uint64(65532) || s["fsGroup"] != uint64(65532) {
		t.Errorf("the pod: got %v", s)
	}
	drops := map[string]any{"drop": []any{"ALL"}}
	if s := pod.Containers[0].SecurityContext; s["readOnlyRootFilesystem"] != true || s["allowPrivilegeEscalation"] != false || !cmp.Equal(s["capabilities"], any(drops)) {
		t.Errorf("the container: got %v", s)
	}
}

func TestTheChartIsAStatefulSetWithADisk(t *testing.T) {
	t.Parallel()
	all := rendered(t, usualValues, diskValues)
	set, ok := all["StatefulSet site-edgeproxy"]
	if _, other := all["Deployment site-edgeproxy"]; !ok || other {
		t.Fatalf("got %q", names(all))
	}
	wantChecked(t, all)
	wantClosed(t, set.Spec.Template.Spec)
	claims := set.Spec.VolumeClaimTemplates
	if len(claims) != 1 || claims[0].Spec.Resources.Requests["storage"] != "8Gi" || claims[0].Spec.StorageClassName != "fast" {
		t.Fatalf("got %+v", claims)
	}
	mounts := set.Spec.Template.Spec.Containers[0].VolumeMounts
	if len(mounts) != 2 || mounts[1].Name != claims[0].Metadata.Name || mounts[1].MountPath != "/var/cache/edgeproxy" {
		t.Errorf("got %+v", mounts)
	}
	if _, ok := all["Service "+set.Spec.ServiceName]; !ok {
		t.Errorf("serviceName %s is no service", set.Spec.ServiceName)
	}
}

// The ports of services and probes are those of the file.
func TestThePortsOfTheChartAreThoseOfTheFile(t *testing.T) {
	t.Parallel()
	all := rendered(t, usualValues, "config: {listen: [{address: \":9090\"}], metrics: {address: \"0.0.0.0:9191\"}}\nserviceMonitor: {enabled: true}\n")
	wantChecked(t, all)
	ports := map[string]int{}
	for _, p := range all["Deployment site-edgeproxy"].Spec.Template.Spec.Containers[0].Ports {
		ports[p.Name] = p.ContainerPort
	}
	if diff := cmp.Diff(map[string]int{"http": 9090, "metrics": 9191}, ports); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if m := all["ServiceMonitor site-edgeproxy"]; len(m.Spec.Endpoints) != 1 || m.Spec.Endpoints[0].Port != "metrics" || all["Service site-edgeproxy-pods"].Spec.Ports[0].Port != 9191 {
		t.Errorf("got %+v", m)
	}
}

// everyPart turns on all that is off by default.
const everyPart = `
ingress: {enabled: true, className: nginx, hosts: [www.example.com, example.com], tlsSecret: site-tls}
gatewayRoute: {enabled: true, parents: [{name: public}], hosts: [www.example.com]}
podDisruptionBudget: {enabled: true}
autoscaling: {enabled: true}
spread: true
`

func TestThePartsOfTheChartThatAreOffByDefault(t *testing.T) {
	t.Parallel()
	all := rendered(t, usualValues, diskValues, everyPart)
	in, route := all["Ingress site-edgeproxy"].Spec, all["HTTPRoute site-edgeproxy"].Spec
	if len(in.Rules) != 2 || in.Rules[1].Host != "example.com" || len(in.TLS) != 1 {
		t.Errorf("the ingress: got %+v", in)
	}
	if len(route.ParentRefs) != 1 || route.ParentRefs[0].Name != "public" || len(route.Rules) != 1 || len(route.Rules[0].BackendRefs) != 1 || route.Rules[0].BackendRefs[0].Port != 80 {
		t.Errorf("the route: got %+v", route)
	}
	if budget := all["PodDisruptionBudget site-edgeproxy"].Spec; budget.MaxUnavailable != 1 {
		t.Errorf("the budget: got %+v", budget)
	}
	set := all["StatefulSet site-edgeproxy"].Spec
	if scaler := all["HorizontalPodAutoscaler site-edgeproxy"].Spec; scaler.ScaleTargetRef.Kind != "StatefulSet" || scaler.MaxReplicas != 6 || set.Replicas != nil {
		t.Errorf("the scaler: got %+v of %v replicas", scaler, set.Replicas)
	}
	if spread := set.Template.Spec.Spread; len(spread) != 2 || spread[0].TopologyKey != "kubernetes.io/hostname" {
		t.Errorf("spread: got %+v", spread)
	}
}

func TestTheChartRefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	f := func(want string, values ...string) {
		t.Helper()
		arguments := []string{"template", "site", filepath.Join(root, chart)}
		for _, v := range values {
			arguments = append(arguments, "--values", write(t, "values.yaml", v))
		}
		if out, err := helm(t, arguments...).CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
			t.Errorf("got %v, %s, want %q", err, out, want)
		}
	}
	f("config.origins: needs one")
	f("config.metrics.address: needs one", usualValues, "config: {metrics: {address: \"\"}}\n")
	f("ingress.hosts: needs one", usualValues, "ingress: {enabled: true}\n")
	f("gatewayRoute.parents: needs a gateway", usualValues, "gatewayRoute: {enabled: true}\n")
	f("config.cache.disk.path: must be one path", usualValues, "config: {cache: {disk: {path: [/a, /b]}}}\n")
}
