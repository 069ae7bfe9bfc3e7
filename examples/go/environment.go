// Package dropin starts the programs of KUBEBUILDER_ASSETS, as envtest of controller-runtime does.
package dropin

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const token = "token-of-the-administrator"

// Environment is a control plane for tests.
type Environment struct {
	URL      string
	client   *http.Client
	programs []*exec.Cmd
}

// Start starts etcd and kube-apiserver in a folder; Stop has to be called also when Start fails.
func (e *Environment) Start(assets, folder string) error {
	etcdPort, apiPort, err := freePorts()
	if err != nil {
		return err
	}
	etcd := fmt.Sprintf("http://127.0.0.1:%d", etcdPort)
	e.URL = fmt.Sprintf("https://127.0.0.1:%d", apiPort)
	tokens := filepath.Join(folder, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(token+",admin,admin,system:masters\n"), 0o600); err != nil {
		return err
	}
	if err := e.run(filepath.Join(assets, "etcd"),
		"--data-dir="+filepath.Join(folder, "etcd"), "--listen-client-urls="+etcd, "--advertise-client-urls="+etcd,
		"--listen-peer-urls=http://127.0.0.1:0"); err != nil {
		return err
	}
	if err := e.run(filepath.Join(assets, "kube-apiserver"),
		"--cert-dir="+folder, "--etcd-servers="+etcd, "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", apiPort),
		"--authorization-mode=RBAC", "--token-auth-file="+tokens, "--service-cluster-ip-range=10.0.0.0/24",
		"--disable-admission-plugins=ServiceAccount"); err != nil {
		return err
	}
	return e.waitUntilReady(filepath.Join(folder, "apiserver.crt"))
}

// Stop ends both programs, the API server first.
func (e *Environment) Stop() {
	for i := len(e.programs) - 1; i >= 0; i-- {
		_ = e.programs[i].Process.Signal(syscall.SIGTERM)
		_ = e.programs[i].Wait()
	}
}

// Do sends a request of the administrator and returns the status code and the body.
func (e *Environment) Do(method, path, body string) (int, string, error) {
	request, err := http.NewRequest(method, e.URL+path, bytes.NewBufferString(body))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := e.client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, string(answer), err
}

func (e *Environment) run(program string, args ...string) error {
	command := exec.Command(program, args...)
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		return err
	}
	e.programs = append(e.programs, command)
	return nil
}

// waitUntilReady trusts the certificate that the server writes, and asks until it is ready.
func (e *Environment) waitUntilReady(certificate string) error {
	err := fmt.Errorf("the server has not written %s", certificate)
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		trusted := x509.NewCertPool()
		if text, readErr := os.ReadFile(certificate); readErr != nil || !trusted.AppendCertsFromPEM(text) {
			continue
		}
		e.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}, ForceAttemptHTTP2: true}}
		var status int
		if status, _, err = e.Do("GET", "/readyz", ""); err == nil && status == http.StatusOK {
			return nil
		}
	}
	return fmt.Errorf("the server is not ready: %w", err)
}

func freePorts() (int, int, error) {
	first, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, 0, err
	}
	defer first.Close()
	second, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, 0, err
	}
	defer second.Close()
	return first.Addr().(*net.TCPAddr).Port, second.Addr().(*net.TCPAddr).Port, nil
}
