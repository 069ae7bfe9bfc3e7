import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { findProgram } from '../programs.ts'
import { anEnvironment, startGo } from './envtest-harness.ts'
import { installPackage } from './installed-package.ts'

const run = promisify(execFile)
const program = join(import.meta.dirname, 'client-go/client_test.go')
/** A Kubernetes source tree with its vendor folder, at `src/k8s.io/kubernetes` of a GOPATH. */
const source = process.env['ORCH_TEST_CLIENT_GO']

test('client-go: discovery, informers, the dynamic client and leader election work with the drop-in', {
  timeout: 900_000,
}, async (context) => {
  if (source === undefined) return context.skip('ORCH_TEST_CLIENT_GO names no source tree of Kubernetes')
  if (findProgram('go') === undefined) return context.skip('no go on the PATH')
  const { project, bin } = await installPackage()
  const assets = await run(process.execPath, [bin, 'envtest-assets', 'use', '--bin-dir', join(project, 'bin'), '-p', 'path'])
  const environment = await anEnvironment()
  await startGo(assets.stdout, environment)
  const { folder, serving, admin, apiPort } = environment
  const files = { 'serving-ca.crt': serving.certificate, 'admin.crt': admin.certificate, 'admin.key': admin.key }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o600 })
  // The test does not write to the tree: an overlay shows the file to the compiler.
  const overlay = join(folder, 'overlay.json')
  const within = resolve(source)
  writeFileSync(overlay, JSON.stringify({ Replace: { [join(within, 'cmd/clientgo/client_test.go')]: program } }))
  const go = { GO111MODULE: 'off', GOPATH: resolve(within, '../../..'), GOFLAGS: '', GOTOOLCHAIN: 'local' }
  const env = { ...process.env, ...go, CONTROL_PLANE_URL: `https://127.0.0.1:${apiPort}`, CONTROL_PLANE_FOLDER: folder }
  const compiled = join(folder, 'client.test')
  await run('go', ['test', '-c', '-vet=off', `-overlay=${overlay}`, '-o', compiled, './cmd/clientgo'], { cwd: within, env })
  const { stdout } = await run(compiled, ['-test.v'], { cwd: folder, env }).catch((error) => ({
    stdout: `${error.message}\n${error.stdout}`,
  }))
  const passed = [...stdout.matchAll(/^--- PASS: (\w+)/gm)].map(([, name]) => name)
  expect({ passed, stdout }).toEqual({ passed: ['TestDiscovery', 'TestInformers', 'TestDynamicClient', 'TestLeaderElection'], stdout })
})
