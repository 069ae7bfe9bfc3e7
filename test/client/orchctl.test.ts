import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { start } from 'orch'
import { describe, expect, onTestFinished, test } from 'vitest'
import { aDefinition } from '../definition.ts'
import { CtlServer, type Ran } from './run-ctl.ts'

const shared = new CtlServer((folder) => {
  const tokens = join(folder, 'tokens.csv')
  writeFileSync(tokens, 'secret,jane,1,"developers,testers"\n')
  return { flags: [`--token-auth-file=${tokens}`] }
})
const { ctl } = shared

const ran = (out: string, more: Partial<Ran> = {}) => ({ code: 0, out, error: '', ...more })
const configMap = (name: string, data: object = {}) => JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data })
const create = (...names: string[]) =>
  ctl(['create', '-f', '-'], { input: names.map((name) => configMap(name, { key: name })).join('\n---\n') })

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: nginx}]}
`

describe('writes by orchctl', () => {
  test('CLI-04: send one request for each object of a file, and continue after a failure', async () => {
    expect(await create('a', 'b')).toEqual(ran('configmap/a created\nconfigmap/b created\n'))
    expect(await create('b', 'c')).toEqual({
      code: 1,
      out: 'configmap/c created\n',
      error: 'Error from server (AlreadyExists): configmaps "b" already exists\n',
    })
  })

  test('CLI-01: apply on the server, with the manager name of the client unless a flag sets another', async () => {
    const input = configMap('a', { key: 'v' })
    expect(await ctl(['apply', '-f', '-'], { input })).toEqual(ran('configmap/a serverside-applied\n'))
    const { out } = await ctl([
      'get',
      'cm',
      'a',
      '-o',
      'jsonpath={.metadata.managedFields[*].manager} {.metadata.managedFields[*].operation}',
    ])
    expect(out).toBe('orchctl Apply')
    const other = await ctl(['apply', '-f', '-', '--field-manager=other'], { input: configMap('a', { key: 'w' }) })
    expect(other.code).toBe(1)
    expect(other.error).toContain('Error from server (Conflict): Apply failed with 1 conflict: conflict with "orchctl": .data.key')
    expect(
      (await ctl(['apply', '-f', '-', '--field-manager=other', '--force-conflicts'], { input: configMap('a', { key: 'w' }) })).code,
    ).toBe(0)
  })

  test('replace, patch, label and annotate objects', async () => {
    await create('a')
    expect(await ctl(['replace', '-f', '-'], { input: configMap('a', { key: 'x' }) })).toEqual(ran('configmap/a replaced\n'))
    expect(await ctl(['patch', 'cm', 'a', '-p', '{data: {more: "y"}}'])).toEqual(ran('configmap/a patched\n'))
    expect(await ctl(['patch', 'cm', 'a', '--type=json', '-p', '[{"op":"remove","path":"/data/key"}]', '-o', 'jsonpath={.data}'])).toEqual(
      ran('{"more":"y"}'),
    )
    expect(await ctl(['label', 'cm', 'a', 'tier=front', 'x.io/y=z'])).toEqual(ran('configmap/a labeled\n'))
    expect(await ctl(['label', 'cm', 'a', 'tier=back'])).toEqual(
      ran('', { code: 1, error: "error: 'tier' already has a value (front), and --overwrite is false\n" }),
    )
    expect((await ctl(['label', 'cm', 'a', 'tier=back', 'x.io/y-', '--overwrite'])).code).toBe(0)
    expect((await ctl(['annotate', 'cm/a', 'note=here'])).out).toBe('configmap/a annotated\n')
    expect((await ctl(['get', 'cm', 'a', '-o', 'jsonpath={.metadata.labels} {.metadata.annotations}'])).out).toBe(
      '{"tier":"back"} {"note":"here"}',
    )
  })

  test('scale objects, with an expected current number', async () => {
    await ctl(['create', '-f', '-'], { input: deployment })
    expect(await ctl(['scale', 'deploy', 'web', '--replicas=5', '--current-replicas=2'])).toEqual(ran('deployment.apps/web scaled\n'))
    expect((await ctl(['get', 'deploy', 'web', '-o', 'jsonpath={.spec.replicas}'])).out).toBe('5')
    expect((await ctl(['scale', 'deploy', 'web', '--replicas=1', '--current-replicas=2'])).error).toBe(
      'error: Expected replicas to be 2, was 5\n',
    )
  })

  test('refuse, warn about or drop unknown fields', async () => {
    const input = '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, dat: {}}'
    expect((await ctl(['create', '-f', '-'], { input })).error).toContain('unknown field "dat"')
    expect((await ctl(['create', '-f', '-', '--validate=ignore'], { input })).code).toBe(0)
  })

  test('store nothing in a dry run', async () => {
    expect(await ctl(['create', '-f', '-', '--dry-run=server'], { input: configMap('a') })).toEqual(
      ran('configmap/a created (server dry run)\n'),
    )
    expect((await ctl(['get', 'cm', 'a'])).error).toBe('Error from server (NotFound): configmaps "a" not found\n')
  })

  test('delete by name, by selector and all; an absent object is a failure unless a flag allows it', async () => {
    await create('a', 'b', 'c')
    await ctl(['label', 'cm', 'b', 'x=y'])
    expect(await ctl(['delete', 'cm', 'a', 'none'])).toEqual({
      code: 1,
      out: 'configmap "a" deleted\n',
      error: 'Error from server (NotFound): configmaps "none" not found\n',
    })
    expect(await ctl(['delete', 'cm', 'none', '--ignore-not-found'])).toEqual(ran(''))
    expect(await ctl(['delete', 'cm', '-l', 'x=y', '--wait'])).toEqual(ran('configmap "b" deleted\n'))
    expect(await ctl(['delete', 'cm'])).toMatchObject({ code: 1, error: expect.stringContaining('no name was specified') })
    expect((await ctl(['delete', 'cm', '--all', '-o', 'name'])).out).toContain('configmap/c\n')
  })
})

describe('reads by orchctl', () => {
  test('print server tables: one resource, several, all namespaces, labels, wide', async () => {
    await create('a')
    expect((await ctl(['get', 'cm', 'a'])).out).toMatch(/^NAME {3}DATA {3}AGE\na {6}1 {6}\d+s\n$/)
    await ctl(['create', '-f', '-'], { input: deployment })
    expect((await ctl(['get', 'cm,deploy'])).out).toMatch(/configmap\/a .*\n\nNAME .*\ndeployment\.apps\/web /s)
    expect((await ctl(['get', 'deploy', '-A', '--no-headers', '--show-labels'])).out).toMatch(/^default {3}web {3}0\/2 .* app=web\n$/)
    expect((await ctl(['get', 'deploy', '-o', 'wide'])).out).toMatch(/CONTAINERS {3}IMAGES {3}SELECTOR/)
  })

  test('print name, json, yaml, jsonpath and custom columns', async () => {
    await create('a', 'b')
    expect((await ctl(['get', 'cm', '-o', 'name', '--field-selector', 'metadata.name!=a'])).out).toBe('configmap/b\n')
    expect(JSON.parse((await ctl(['get', 'cm', 'a', '-o', 'json'])).out)).toMatchObject({ kind: 'ConfigMap', data: { key: 'a' } })
    expect(JSON.parse((await ctl(['get', 'cm', '-o', 'json'])).out)).toMatchObject({ kind: 'List', items: [{ kind: 'ConfigMap' }, {}] })
    expect((await ctl(['get', 'cm', 'a', '-o', 'yaml'])).out).toMatch(/^apiVersion: v1\ndata:\n {2}key: a\nkind: ConfigMap\n/)
    expect((await ctl(['get', 'cm', '-o', 'jsonpath={range .items[*]}{.data.key}{"\\n"}{end}'])).out).toBe('a\nb\n')
    expect((await ctl(['get', 'cm', '-o', 'custom-columns=N:.metadata.name,X:.data.none'])).out).toBe('N   X\na   <none>\nb   <none>\n')
  })

  test('fetch lists page by page', async () => {
    await create('a', 'b', 'c')
    expect((await ctl(['get', 'cm', '-o', 'name', '--chunk-size=1'])).out).toBe('configmap/a\nconfigmap/b\nconfigmap/c\n')
    expect((await ctl(['get', 'cm', '--chunk-size=1'])).out.split('\n').length).toBe(5)
  })

  test('report absent resources: no objects, no such object, no such type', async () => {
    expect(await ctl(['get', 'cm'])).toEqual(ran('', { error: 'No resources found in default namespace.\n' }))
    expect(await ctl(['get', 'cm', 'a', '--ignore-not-found'])).toEqual(ran(''))
    expect(await ctl(['get', 'configmapz'])).toEqual(
      ran('', { code: 1, error: 'error: the server doesn\'t have a resource type "configmapz"; did you mean configmaps?\n' }),
    )
  })

  test('with get -w print the current objects, then changes, until they are interrupted', async () => {
    await create('a')
    const ending = new AbortController()
    let hasCreated = false
    const seen = (out: string) => {
      if (!hasCreated && out.includes('a ')) {
        hasCreated = true
        void create('b')
      }
      if (/^b /m.test(out)) ending.abort()
    }
    const { code, out } = await ctl(['get', 'cm', '-w'], { signal: ending.signal, seen })
    expect(code).toBe(0)
    expect(out).toMatch(/^NAME .*\na .*\nb /)
  })

  test('with get -w print each event with its own state, also for a deleted object', async () => {
    await create('a')
    const ending = new AbortController()
    let hasChanged = false
    const seen = (out: string) => {
      if (!hasChanged && out.includes('a ')) {
        hasChanged = true
        void create('b').then(() => ctl(['delete', 'cm', 'b']))
      }
      if (/^b {3}deleted$/m.test(out)) ending.abort()
    }
    const { code, out } = await ctl(['get', 'cm', '-w', '-A', '--no-headers'], { signal: ending.signal, seen })
    expect(code).toBe(0)
    expect(out).toMatch(/^default {3}b {3}1 {3}\d+s\nb {3}deleted\n$/m)
  })

  test('wait for a condition by a path or for a deletion, at most until the timeout', async () => {
    await create('a')
    expect(await ctl(['wait', 'ns/default', '--for=jsonpath={.status.phase}=Active'])).toEqual(ran('namespace/default condition met\n'))
    const waiting = ctl(['wait', 'cm/a', '--for=delete'])
    await ctl(['delete', 'cm', 'a'])
    expect(await waiting).toEqual(ran('configmap/a deleted\n'))
    await create('a')
    expect(await ctl(['wait', 'cm/a', '--for=condition=Ready', '--timeout=50ms'])).toEqual(
      ran('', { code: 1, error: 'error: timed out waiting for the condition on configmap/a\n' }),
    )
  })

  test('explain a type, including nested fields', async () => {
    expect((await ctl(['explain', 'pods.spec.containers.ports'])).out).toMatch(
      /^KIND: {6}Pod\nVERSION: {3}v1\n\nFIELD: ports <\[\]ContainerPort>\n/,
    )
    expect((await ctl(['explain', 'deploy', '--recursive'])).out).toContain('\t<')
    expect((await ctl(['explain', 'pods.nothing'])).error).toBe('error: field "nothing" does not exist\n')
  })
})

describe('server and user commands', () => {
  test('print version, api-versions and api-resources', async () => {
    expect((await ctl(['version'])).out).toMatch(/^Server Version: v1\.37/)
    expect((await ctl(['api-versions'])).out.split('\n')).toEqual(expect.arrayContaining(['v1', 'apps/v1', 'autoscaling/v2']))
    expect((await ctl(['api-resources', '--api-group=apps', '-o', 'name'])).out).toContain('deployments.apps\n')
    const names = async (...flags: string[]) => (await ctl(['api-resources', '-o', 'name', ...flags])).out.split('\n')
    expect(await names('--namespaced=false')).toEqual(await names('--cluster-scoped'))
    expect(await names('--namespaced=false')).toEqual(expect.arrayContaining(['namespaces']))
    expect(await names('--namespaced')).toEqual(expect.not.arrayContaining(['namespaces']))
    expect(await names('--namespaced=true')).toEqual(await names('--namespaced'))
    expect((await ctl(['api-resources'])).out).toMatch(/^configmaps {2,}cm {2,}v1 {2,}true {2,}ConfigMap$/m)
  })

  test('CLI-02, FLAG-30: use a bearer token instead of the configured credentials', async () => {
    const { out } = await ctl(['auth', 'whoami', '--token=secret'])
    expect(out).toMatch(/Username {4}jane\n.*Groups {6}\[developers testers system:authenticated\]/s)
    expect((await ctl(['get', 'cm', '--token=wrong'])).error).toContain('Error from server (Unauthorized): Unauthorized')
  })

  test('impersonate a user, with several groups', async () => {
    expect((await ctl(['auth', 'whoami', '--as=john', '--as-group=a', '--as-group=b'])).out).toContain('[a b system:authenticated]')
  })

  test('answer auth can-i with the exit code too', async () => {
    expect(await ctl(['auth', 'can-i', 'delete', 'nodes'])).toEqual(ran('yes\n'))
    expect(await ctl(['auth', 'can-i', 'get', 'pods', '--as=john'])).toMatchObject({ code: 1, out: expect.stringMatching(/^no/) })
    expect(await ctl(['auth', 'can-i', 'get', '/metrics', '-q'])).toEqual(ran(''))
  })

  test('hide secrets in config', async () => {
    expect((await ctl(['config', 'current-context'])).out).toBe('kubernetes\n')
    const { out } = await ctl(['config', 'view'])
    expect(out).toContain('client-key-data: DATA+OMITTED')
    expect((await ctl(['config', 'get-contexts'])).out).toMatch(/^\* {9}kubernetes/m)
  })

  test.each([
    [['frobnicate'], 2, 'error: unknown command "frobnicate" for "orchctl"'],
    [['get', '--outputs=x'], 1, 'error: unknown flag: --outputs; did you mean --output?'],
    [['get', 'cm', '-o', 'xml'], 1, 'error: -o xml: must be json, yaml'],
    [['get', 'cm', '--context=none'], 1, 'has no context named "none"'],
    [['get', 'cm', '--kubeconfig=/none'], 1, 'no client configuration found: /none does not exist'],
    [['get', 'cm', '--server=https://127.0.0.1:1'], 1, 'Unable to connect to the server: '],
    [['create', '-f', '/none.yaml'], 1, 'error: /none.yaml: there is no such file or folder'],
  ] as const)('%j is refused', async (args, code, message) => {
    const failed = await ctl(args)
    expect([failed.code, failed.out]).toEqual([code, ''])
    expect(failed.error).toContain(message)
  })

  test('list the commands and the flags of each in help', async () => {
    expect((await ctl(['--help'])).out).toContain('  apply            apply the objects of files, server-side\n')
    expect((await ctl(['get', '--help'])).out).toContain('  -o, --output format\n')
  })
})

test('tables and reviews of the orch profile have the names of that profile', async () => {
  const other = await start()
  onTestFinished(() => other.stop())
  const file = join(shared.folder, 'orch-config')
  writeFileSync(file, other.kubeconfig)
  expect((await ctl(['get', 'ns', 'default', `--kubeconfig=${file}`])).out).toMatch(/^NAME +STATUS +AGE\n/)
  expect((await ctl(['auth', 'whoami', `--kubeconfig=${file}`])).out).toContain('system:masters')
})

describe('orchctl on a terminal', () => {
  test('cuts tables of get and of its watch to the width, except for the name; -o wide and pipes are not cut', async () => {
    const metadata = { name: 'a-map-with-a-name-of-its-own', labels: { purpose: 'a-label-that-is-longer-than-the-terminal' } }
    await ctl(['create', '-f', '-'], { input: JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata }) })
    const get = ['get', 'configmaps', '--show-labels']
    const cut = / +0 +\S+ +purpose=a-l[a-z-]*…\n$/
    const whole = / +purpose=a-label-that-is-longer-than-the-terminal\n$/
    const { out } = await ctl(get, { lineWidth: 60 })
    expect(out).toMatch(cut)
    expect(out).toContain('a-map-with-a-name-of-its-own ')
    expect((await ctl(get)).out).toMatch(whole)
    expect((await ctl([...get, '-o', 'wide'], { lineWidth: 60 })).out).toMatch(whole)
    const ending = new AbortController()
    const watched = await ctl([...get, '-w'], { lineWidth: 60, signal: ending.signal, seen: () => ending.abort() })
    expect(watched.out).toMatch(cut)
  })

  test('finds a resource that a new definition adds, with cached discovery', async () => {
    expect((await ctl(['get', 'things'])).error).toContain('the server doesn\'t have a resource type "things"')
    const schema = { openAPIV3Schema: { type: 'object' } }
    const definition = aDefinition({ domain: 'k8s.io', group: 'example.dev', plural: 'things', kind: 'Thing', schema })
    expect((await ctl(['create', '-f', '-'], { input: JSON.stringify(definition) })).code).toBe(0)
    // Discovery lists a new definition some milliseconds after its creation.
    const found = { code: 0, out: '', error: 'No resources found in default namespace.\n' }
    await expect.poll(() => ctl(['get', 'things'])).toEqual(found)
  })
})
