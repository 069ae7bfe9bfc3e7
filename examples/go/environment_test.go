package dropin

import (
	"net/http"
	"os"
	"strings"
	"testing"
)

func TestConfigMap(t *testing.T) {
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		t.Fatal("KUBEBUILDER_ASSETS does not name the folder of etcd and kube-apiserver")
	}
	var environment Environment
	defer environment.Stop()
	if err := environment.Start(assets, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	configMaps := "/api/v1/namespaces/default/configmaps"
	body := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"first"},"data":{"greeting":"hello"}}`
	expect(t, &environment, "POST", configMaps, body, http.StatusCreated, `"greeting":"hello"`)
	expect(t, &environment, "POST", configMaps, body, http.StatusConflict, `"reason":"AlreadyExists"`)
	expect(t, &environment, "GET", configMaps+"/first", "", http.StatusOK, `"greeting":"hello"`)
}

func expect(t *testing.T, environment *Environment, method, path, body string, status int, part string) {
	t.Helper()
	got, answer, err := environment.Do(method, path, body)
	if err != nil || got != status || !strings.Contains(answer, part) {
		t.Fatalf("%s %s: status %d, expected %d; error %v; the answer has to contain %s: %s", method, path, got, status, err, part, answer)
	}
}
