// Package orchtest controls a server that `orch up --control` has started: forks, users and faults for tests of controllers in Go.
package orchtest

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"testing"
)

// Control is the way to one server, as the file control.json of its data folder has it.
type Control struct {
	URL                  string `json:"url"`
	Token                string `json:"token"`
	CertificateAuthority string `json:"certificateAuthority"`
	client               *http.Client
}

// Open reads the file that the environment variable ORCH_CONTROL names; without it the test is skipped, and fails in `orch explore`.
func Open(t testing.TB) *Control {
	t.Helper()
	file := os.Getenv("ORCH_CONTROL")
	if _, isExplored := os.LookupEnv("ORCH_EXPLORE"); file == "" && isExplored {
		t.Fatal("ORCH_CONTROL names no control.json of orch up --control")
	}
	if file == "" {
		t.Skip("ORCH_CONTROL names no control.json of orch up --control")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	control := &Control{}
	if err := json.Unmarshal(text, control); err != nil {
		t.Fatal(err)
	}
	return control
}

// Call sends a body and reads the answer into result; either may be nil.
func (c *Control) Call(method, path string, body, result any) error {
	if c.client == nil {
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM([]byte(c.CertificateAuthority))
		c.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	if body == nil {
		text = nil
	}
	request, err := http.NewRequest(method, c.URL+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+c.Token)
	request.Header.Set("Content-Type", "application/json")
	answer, err := c.client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err = io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode >= 400 {
		return fmt.Errorf("%s %s: %d: %s", method, path, answer.StatusCode, text)
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(text, result)
}

func (c *Control) must(t testing.TB, method, path string, body, result any) {
	t.Helper()
	if err := c.Call(method, path, body, result); err != nil {
		t.Fatal(err)
	}
}

// Fork is a separate server, which begins at the present moment and ends with the test. `orch explore` gives it weather.
func (c *Control) Fork(t testing.TB) *Fork {
	t.Helper()
	fork := &Fork{}
	c.must(t, "POST", "/forks", M{"exploration": os.Getenv("ORCH_EXPLORE")}, fork)
	t.Cleanup(func() { _ = c.Call("DELETE", "/forks/"+fork.Name, nil, nil) })
	return fork
}

// Fork is a server with a control of its own.
type Fork struct {
	Name string `json:"name"`
	// The administrator's, which faults without a user do not spare.
	Kubeconfig string  `json:"kubeconfig"`
	Control    Control `json:"control"`
}

// User returns the kubeconfig of a user with all rights.
func (c *Control) User(t testing.TB, name string) []byte {
	t.Helper()
	user := struct {
		Kubeconfig string `json:"kubeconfig"`
	}{}
	c.must(t, "POST", "/users", map[string]any{"name": name}, &user)
	return []byte(user.Kubeconfig)
}

// M is an object of JSON.
type M = map[string]any

// AddFault adds a fault, as docs/reference/control.md has it, and returns its hits so far when it is asked for them.
func (c *Control) AddFault(t testing.TB, fault M) (hits func() int) {
	t.Helper()
	added := struct {
		Name string `json:"name"`
		Hits int    `json:"hits"`
	}{}
	c.must(t, "POST", "/faults", fault, &added)
	return func() int {
		c.must(t, "GET", "/faults/"+url.PathEscape(added.Name), nil, &added)
		return added.Hits
	}
}

// ClearFaults ends all weather.
func (c *Control) ClearFaults(t testing.TB) {
	t.Helper()
	c.must(t, "DELETE", "/faults", nil, nil)
}

// Requests returns the log of requests, chosen by parameters such as "user=operator&verb=create".
func (c *Control) Requests(t testing.TB, parameters string) []M {
	t.Helper()
	found := struct {
		Items []M `json:"items"`
	}{}
	c.must(t, "GET", "/requests?"+parameters, nil, &found)
	return found.Items
}

// Advance moves the clock of a server with --virtual-clock.
func (c *Control) Advance(t testing.TB, by string) {
	t.Helper()
	c.must(t, "POST", "/clock/advance", M{"by": by}, nil)
}

// Reset restores the state of the start.
func (c *Control) Reset(t testing.TB) {
	t.Helper()
	c.must(t, "POST", "/reset", nil, nil)
}

// Snapshot keeps the present moment under a name.
func (c *Control) Snapshot(t testing.TB, name string) {
	t.Helper()
	c.must(t, "POST", "/snapshots", M{"name": name}, nil)
}

// Restore restores a moment that was kept.
func (c *Control) Restore(t testing.TB, snapshot string) {
	t.Helper()
	c.must(t, "POST", "/restore", M{"snapshot": snapshot}, nil)
}

// Settled returns when the server has no work left.
func (c *Control) Settled(t testing.TB) {
	t.Helper()
	c.must(t, "GET", "/settled?within=60s", nil, nil)
}

// ExpectNoHotLoop observes a user for two seconds, in which nothing else may happen, and fails the test if the user does not come to rest.
func (c *Control) ExpectNoHotLoop(t testing.TB, user string) {
	t.Helper()
	for _, loop := range c.lines(t, "/hot-loops?user="+url.QueryEscape(user)) {
		t.Error(loop)
	}
}

// ExpectNoLeaks fails the test for each open watch, held lease, namespace and object that a finalizer holds.
func (c *Control) ExpectNoLeaks(t testing.TB) {
	t.Helper()
	for _, leak := range c.lines(t, "/leaks") {
		t.Error(leak)
	}
}

func (c *Control) lines(t testing.TB, path string) []string {
	t.Helper()
	found := struct {
		Items []struct {
			Text string `json:"text"`
		} `json:"items"`
	}{}
	c.must(t, "GET", path, nil, &found)
	var lines []string
	for _, item := range found.Items {
		lines = append(lines, item.Text)
	}
	return lines
}

// Begin begins weather that lasts, such as "/watches/hold" or "/reads/freeze", and returns its end.
func (c *Control) Begin(t testing.TB, path string, body M) (end func()) {
	t.Helper()
	begun := struct {
		Name string `json:"name"`
	}{}
	c.must(t, "POST", path, body, &begun)
	return func() { c.must(t, "DELETE", "/weather/"+begun.Name, nil, nil) }
}
