"""A server for tests: `orch up` as a process, in memory, on a free port."""

import json
import os
import re
import ssl
import subprocess
import tempfile
import urllib.error
import urllib.request


class Server:
    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory()
        folder = self._folder.name
        flags = ["--profile=kubernetes", "--memory", "--secure-port=0", f"--data-dir={folder}"]
        self._process = subprocess.Popen(["orch", "up", *flags], stdout=subprocess.PIPE, text=True)
        self.url = self._read_url()
        self.kubeconfig = os.path.join(folder, "admin.conf")
        self._context = ssl.create_default_context(cafile=os.path.join(folder, "ca.crt"))
        self._context.load_cert_chain(os.path.join(folder, "admin.crt"), os.path.join(folder, "admin.key"))
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait()
        self._process.stdout.close()
        self._folder.cleanup()

    def request(self, method, path, body=None):
        """Status code and object of a request as the administrator."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, context=self._context) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def _read_url(self):
        for line in self._process.stdout:
            found = re.search(r"is ready at (https://\S+)", line)
            if found:
                return found.group(1)
        raise RuntimeError(f"orch has ended with {self._process.wait()} before it was ready")
