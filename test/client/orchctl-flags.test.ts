import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { CtlServer, runCtlIn } from './run-ctl.ts'

const shared = new CtlServer()
const { ctl } = shared
const lines = (out: string) => out.trim().split('\n').sort()

const labels = { tier: 'front' }
const deployment = (name: string, namespace: string, metadata: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace, labels, ...metadata },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'a', image: 'a' }] } },
  },
})
const configMap = (name: string, metadata: object = {}, data: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', ...metadata },
  data,
})
const configMapOf = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name, namespace: 'default' })
const managersOf = async (name: string) =>
  (await shared.server.client.objects.get(configMapOf(name))).metadata.managedFields?.map(({ manager }) => manager)

describe('selection flags of', () => {
  beforeEach(async () => {
    const { objects } = shared.server.client
    await objects.create(deployment('a', 'default'))
    await objects.create(deployment('b', 'default', { labels: {} }))
    await objects.create(deployment('c', 'kube-public'))
  })

  const changes: readonly (readonly [string, readonly string[]])[] = [
    ['patch', ['-p', '{"spec":{"paused":true}}', '-o', 'name']],
    ['label', ['new=yes', '-o', 'name']],
    ['annotate', ['new=yes', '-o', 'name']],
    ['scale', ['--replicas=3', '-o', 'name']],
    ['delete', ['-o', 'name']],
  ]
  const of = (...names: string[]) => names.map((name) => `deployment.apps/${name}`)

  test.each(changes)('%s: --all, -l, --field-selector, -A', async (command, [...rest]) => {
    const choose = async (...flags: string[]) =>
      lines((await ctl([command, 'deploy', ...(command === 'delete' ? ['--dry-run=server'] : []), ...rest, ...flags])).out)
    expect(await choose('--all')).toEqual(of('a', 'b'))
    expect(await choose('-l', 'tier=front')).toEqual(of('a'))
    expect(await choose('--field-selector', 'metadata.name=b')).toEqual(of('b'))
    expect(await choose('-A', '--all')).toEqual(of('a', 'b', 'c'))
    expect(await choose('-n', 'kube-public', '-l', 'tier=front')).toEqual(of('c'))
  })

  test.each(changes)('%s: -f and -k', async (command, rest) => {
    const text = JSON.stringify(deployment('a', 'default'))
    // Label arguments follow the name of the object, also when files name the objects.
    const flags = command === 'label' || command === 'annotate' ? rest.slice(1) : rest
    const pairs = command === 'label' || command === 'annotate' ? rest.slice(0, 1) : []
    expect((await ctl([command, ...pairs, '-f', '-', ...flags], { input: text })).out).toBe('deployment.apps/a\n')
    await shared.server.reset()
    await shared.server.client.objects.create(deployment('a', 'default'))
    const capture = () => ({ code: 0, out: text, error: '' })
    expect((await ctl([command, ...pairs, '-k', 'overlay', ...flags], { capture })).out).toBe('deployment.apps/a\n')
  })

  test('get, watch and describe: -l, --field-selector, -A; and wait: -A', async () => {
    const names = (...words: string[]) => ctl(['get', 'deploy', '-o', 'name', ...words])
    expect(lines((await names('-l', 'tier=front')).out)).toEqual(of('a'))
    expect(lines((await names('--field-selector', 'metadata.name=b')).out)).toEqual(of('b'))
    expect(lines((await names('-A')).out)).toEqual(of('a', 'b', 'c'))
    expect((await ctl(['describe', 'deploy', '-l', 'tier=front'])).out).toMatch(/^Name: +a\n(?!.*^Name: )/ms)
    expect((await ctl(['describe', 'deploy', '-A'])).out).toMatch(/^Name: +a$.*^Name: +b$.*^Name: +c$/ms)
    const met = await ctl(['wait', 'deploy', '-A', '--all', '--for=jsonpath={.spec.replicas}=1'])
    expect(lines(met.out)).toEqual(of('a', 'b', 'c').map((name) => `${name} condition met`))
  })

  test.each([
    [['-l', 'tier=front'], /^ADDED +a +0\/1.*\n$/],
    [['--field-selector', 'metadata.name=b'], /^ADDED +b +0\/1.*\n$/],
    [['-A', '-l', 'tier=front'], /^ADDED +default +a .*\nADDED +kube-public +c .*\n$/],
    [['--show-labels', '-l', 'tier=front'], /^ADDED +a .* tier=front\n$/],
  ])('watch %j', async (flags, expected) => {
    const ending = new AbortController()
    const { out } = await ctl(['watch', 'deploy', '--no-headers', ...flags], { signal: ending.signal, seen: () => ending.abort() })
    expect(out).toMatch(expected)
  })

  test.each(['get', 'watch'])('%s --watch-only prints no current objects', async (command) => {
    const ending = new AbortController()
    const watching = ctl([command, 'deploy', '--watch-only', ...(command === 'get' ? ['--output-watch-events'] : []), '--no-headers'], {
      signal: ending.signal,
      seen: () => ending.abort(),
    })
    const isDone = watching.then(() => true)
    for (let change = 0; !(await Promise.race([isDone, touch(change)])); change++);
    expect((await watching).out).toMatch(/^(MODIFIED +b .*\n)+$/)
  })

  /** A change that the watch shows at whatever time it begins. */
  async function touch(change: number): Promise<false> {
    const reference = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'b', namespace: 'default' }
    await shared.server.client.objects.patch(reference, { metadata: { annotations: { change: String(change) } } }, { type: 'merge' })
    return false
  }
})

describe('two selections of objects are refused:', () => {
  test.each([
    ['delete', ['delete', 'cm', 'a', '-l', 'x=y'], 'name cannot be provided when a selector or --all is specified'],
    ['delete', ['delete', 'cm', 'a', '--all'], 'name cannot be provided when a selector or --all is specified'],
    ['get', ['get', 'cm', 'a', '--field-selector=metadata.name=b'], 'name cannot be provided when a selector or --all is specified'],
    ['get', ['get', 'cm', 'a', '-A'], 'a resource cannot be retrieved by name across all namespaces'],
    ['delete', ['delete', 'cm', 'a', '-f', '-'], 'cm: objects are given by -f or -k, or by their resource and names, not by both'],
    ['get', ['get', 'cm', '-f', '-'], 'cm: objects are given by -f or -k, or by their resource and names, not by both'],
    [
      'delete',
      ['delete', '-f', '-', '-l', 'x=y'],
      'selectors and --all choose among the objects of a resource, not among those of -f or -k',
    ],
    ['get', ['get', 'cm', '--all'], 'unknown flag: --all'],
  ])('%s %j', async (_command, args, message) => {
    await shared.server.client.objects.create(configMap('a'))
    const { code, error } = await ctl(args, { input: JSON.stringify(configMap('a')) })
    expect({ code, error }).toEqual({ code: 1, error: expect.stringContaining(`error: ${message}`) })
    expect((await shared.server.client.objects.get(configMapOf('a'))).metadata.deletionTimestamp).toBeUndefined()
  })
})

describe('flags of writing:', () => {
  const input = JSON.stringify(configMap('a', {}, { key: 'v' }))
  const unknown = JSON.stringify({ ...configMap('a'), dat: {} })
  const edit = { env: { EDITOR: 'editor' } }
  const run = (change: (text: string) => string) => (_program: string, words: readonly string[]) => {
    const file = words.at(-1) ?? ''
    writeFileSync(file, change(readFileSync(file, 'utf8')))
    return 0
  }
  const ofFile: readonly (readonly [string, readonly string[]])[] = [
    ['create', ['create', '-f', '-']],
    ['apply', ['apply', '-f', '-']],
    ['replace', ['replace', '-f', '-']],
  ]
  const ofName: readonly (readonly [string, readonly string[]])[] = [
    ['patch', ['patch', 'cm', 'a', '-p', '{"data":{"key":"w"}}']],
    ['label', ['label', 'cm', 'a', 'x=y']],
    ['annotate', ['annotate', 'cm', 'a', 'x=y']],
    ['edit', ['edit', 'cm', 'a']],
  ]
  const editing = { ...edit, run: run((text) => text.replace('key: v', 'key: w')) }
  const prepare = async (command: string) => {
    if (command !== 'create') await shared.server.client.objects.create(configMap('a', {}, { key: 'v' }), { fieldManager: 'first' })
  }

  test.each([...ofFile, ...ofName])('%s --dry-run=server stores nothing, and -o prints the result', async (command, words) => {
    await prepare(command)
    const before = await ctl(['get', 'cm', '-o', 'json'])
    const text = command === 'replace' || command === 'apply' ? JSON.stringify(configMap('a', {}, { key: 'w' })) : input
    const { code, out } = await ctl(
      [...words, '--dry-run=server', '-o', 'jsonpath={.metadata.name} {.data.key}', '--force-conflicts'].filter(isOf(command)),
      {
        ...editing,
        input: text,
      },
    )
    const isMarked = command === 'label' || command === 'annotate'
    expect({ code, out }).toEqual({ code: 0, out: `a ${isMarked || command === 'create' ? 'v' : 'w'}` })
    expect(await ctl(['get', 'cm', '-o', 'json'])).toEqual(before)
  })

  /** Only apply reports conflicts. */
  function isOf(command: string) {
    return (word: string) => word !== '--force-conflicts' || command === 'apply'
  }

  test.each([...ofFile, ...ofName])('%s --field-manager sets the manager', async (command, words) => {
    await prepare(command)
    const changed = JSON.stringify(configMap('a', {}, { key: 'v', more: 'x' }))
    expect((await ctl([...words, '--field-manager=me'], { ...editing, input: changed })).code).toBe(0)
    expect(await managersOf('a')).toContain('me')
  })

  test.each(ofFile)('%s --validate refuses, warns about or drops unknown fields', async (command, words) => {
    await prepare(command)
    for (const strict of [[], ['--validate=strict'], ['--validate']]) {
      const { code, error } = await ctl([...words, ...strict.flatMap((word) => (word === '--validate' ? ['--validate=true'] : [word]))], {
        input: unknown,
      })
      expect({ code, error }).toEqual({ code: 1, error: expect.stringContaining('dat') })
    }
    if (command === 'apply') return
    expect((await ctl([...words, '--validate=ignore', '--dry-run=server'], { input: unknown })).code).toBe(0)
    expect((await ctl([...words, '--validate=warn', '--dry-run=server'], { input: unknown })).code).toBe(0)
    expect((await ctl([...words, '--validate=false', '--dry-run=server'], { input: unknown })).code).toBe(0)
  })

  test('patch --validate, --subresource and --type', async () => {
    await prepare('patch')
    const words = ['patch', 'cm', 'a', '-p', '{"dat":{}}']
    expect((await ctl(words)).error).toContain('unknown field "dat"')
    expect((await ctl([...words, '--validate=ignore'])).code).toBe(0)
    await shared.server.client.objects.create(deployment('web', 'default'))
    const status = ['patch', 'deploy', 'web', '--type=merge', '-p', '{"status":{"observedGeneration":7}}']
    expect((await ctl([...status, '-o', 'jsonpath={.status.observedGeneration}'])).out).toBe('')
    expect((await ctl([...status, '--subresource=status', '-o', 'jsonpath={.status.observedGeneration}'])).out).toBe('7')
  })

  test('edit --subresource and --show-managed-fields', async () => {
    await shared.server.client.objects.create(deployment('web', 'default'))
    let shown = ''
    const look = run((text) => {
      shown = text
      return text
    })
    await ctl(['edit', 'deploy', 'web'], { ...edit, run: look })
    expect(shown).not.toContain('managedFields')
    await ctl(['edit', 'deploy', 'web', '--show-managed-fields'], { ...edit, run: look })
    expect(shown).toContain('managedFields')
    await ctl(['edit', 'deploy', 'web', '--subresource=scale'], { ...edit, run: look })
    expect(shown).toContain('kind: Scale')
  })

  test('annotate and label --overwrite', async () => {
    await shared.server.client.objects.create(configMap('a', { labels: { x: '1' }, annotations: { x: '1' } }))
    for (const command of ['label', 'annotate']) {
      expect((await ctl([command, 'cm', 'a', 'x=2'])).error).toBe("error: 'x' already has a value (1), and --overwrite is false\n")
      expect((await ctl([command, 'cm', 'a', 'x=2', '--overwrite'])).code).toBe(0)
    }
  })

  test('apply --server-side changes nothing, and false is refused', async () => {
    expect((await ctl(['apply', '--server-side', '-f', '-'], { input })).out).toBe('configmap/a serverside-applied\n')
    expect(await ctl(['apply', '--server-side=false', '-f', '-'], { input })).toEqual({
      code: 1,
      out: '',
      error: 'error: --server-side=false: every apply is server-side; use create or replace\n',
    })
  })

  test.each([...ofFile, ...ofName])('%s refuses an unsupported output before it writes', async (command, words) => {
    await prepare(command)
    const before = await ctl(['get', 'cm', '-o', 'json'])
    for (const output of ['wide', 'xml'])
      expect(await ctl([...words, '-o', output], { ...editing, input })).toMatchObject({
        code: 1,
        error: expect.stringContaining(`-o ${output}: must be`),
      })
    expect(await ctl(['get', 'cm', '-o', 'json'])).toEqual(before)
  })
})

describe('orchctl delete', () => {
  const finalizers = ['example.com/held']
  /** An owner and its dependants, all of which stay during their deletion. */
  const createOwned = async () => {
    const { objects } = shared.server.client
    await objects.create(configMap('owner', { finalizers }))
    const { uid } = (await objects.get(configMapOf('owner'))).metadata
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid, blockOwnerDeletion: true }]
    await objects.create(configMap('owned', { ownerReferences, finalizers }))
  }
  const read = async (name: string) => (await shared.server.client.objects.get(configMapOf(name))).metadata

  test('--cascade sets the policy for dependants', async () => {
    await createOwned()
    await ctl(['delete', 'cm', 'owner', '--cascade=foreground'])
    expect((await read('owner')).finalizers).toContain('foregroundDeletion')
    await shared.server.reset()
    await createOwned()
    await ctl(['delete', 'cm', 'owner', '--cascade=orphan'])
    await expect.poll(async () => (await read('owned')).ownerReferences).toBeUndefined()
    await shared.server.reset()
    await createOwned()
    await ctl(['delete', 'cm', 'owner', '--cascade=background'])
    expect((await read('owner')).finalizers).toEqual(finalizers)
    expect((await ctl(['delete', 'cm', 'owner', '--cascade=none'])).error).toBe(
      'error: --cascade=none: must be background, foreground or orphan\n',
    )
  })

  const pod = (name: string) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: { nodeName: 'node', terminationGracePeriodSeconds: 40, containers: [{ name: 'a', image: 'a' }] },
  })
  const graceOf = async () => {
    const { out } = await ctl(['get', 'pod', 'a', '--ignore-not-found', '-o', 'jsonpath={.metadata.deletionGracePeriodSeconds}'])
    return out
  }

  test.each([
    [[], '40'],
    [['--grace-period=7'], '7'],
    [['--grace-period=-1'], '40'],
    [['--grace-period=0'], '1'],
    [['--force'], ''],
    [['--force', '--grace-period=0'], ''],
  ])('with the flags %j gives a Pod the grace period %j', async (flags, expected) => {
    await ctl(['create', '-f', '-'], { input: JSON.stringify(pod('a')) })
    expect((await ctl(['delete', 'pod', 'a', ...flags])).code).toBe(0)
    expect(await graceOf()).toBe(expected)
  })

  test('--force with a longer grace period, and an unsupported output, are refused', async () => {
    expect((await ctl(['delete', 'pod', 'a', '--force', '--grace-period=5'])).error).toBe(
      'error: --force and --grace-period greater than 0 cannot be specified together\n',
    )
    expect((await ctl(['delete', 'pod', 'a', '-o', 'json'])).error).toBe('error: -o json: must be name\n')
  })

  test('-f deletes the objects of files', async () => {
    await shared.server.client.objects.create(configMap('a'))
    expect((await ctl(['delete', '-f', '-'], { input: JSON.stringify(configMap('a')) })).out).toBe('configmap "a" deleted\n')
  })
})

describe('flags of', () => {
  test('get: --raw prints the answer of a path, and -f the objects of files', async () => {
    expect((await ctl(['get', '--raw', '/healthz'])).out).toBe('ok')
    expect(await ctl(['get', '--raw', '/none'])).toMatchObject({ code: 1, out: '' })
    await shared.server.client.objects.create(configMap('a'))
    expect((await ctl(['get', '-f', '-', '-o', 'name'], { input: JSON.stringify(configMap('a')) })).out).toBe('configmap/a\n')
  })

  test('diff: --force-conflicts and --show-managed-fields', async () => {
    const input = JSON.stringify(configMap('a', {}, { key: 'w' }))
    await shared.server.client.objects.create(configMap('a', {}, { key: 'v' }), { fieldManager: 'other' })
    expect((await ctl(['diff', '-f', '-'], { input })).error).toContain('conflict with "other"')
    const forced = await ctl(['diff', '-f', '-', '--force-conflicts', '--field-manager=me'], { input })
    expect(forced).toMatchObject({ code: 1, out: expect.stringContaining('+  key: w') })
    expect(forced.out).not.toContain('managedFields')
    const shown = await ctl(['diff', '-f', '-', '--force-conflicts', '--field-manager=me', '--show-managed-fields'], { input })
    expect(shown.out).toContain('manager: me')
  })

  test('explain: --api-version', async () => {
    expect((await ctl(['explain', 'hpa', '--api-version=autoscaling/v1'])).out).toContain('VERSION:   v1\n')
    expect((await ctl(['explain', 'hpa', '--api-version=autoscaling/v7'])).error).toContain('is not served in autoscaling/v7')
  })

  test('explain-request: --dry-run=none stores, with --field-manager, and any value but server is refused', async () => {
    const input = JSON.stringify(configMap('a', {}, { key: 'v' }))
    const words = ['explain-request', 'create', '-f', '-']
    expect((await ctl([...words, '--dry-run=no'], { input })).error).toBe('error: --dry-run=no: must be server or none\n')
    expect((await ctl(words, { input })).code).toBe(0)
    expect((await ctl(['get', 'cm', 'a'])).code).toBe(1)
    expect((await ctl([...words, '--dry-run=none', '--field-manager=me'], { input })).code).toBe(0)
    expect(await managersOf('a')).toEqual(['me'])
    const capture = () => ({ code: 0, out: input, error: '' })
    expect((await ctl(['explain-request', 'apply', '-k', 'overlay'], { capture })).out).toContain('apply ConfigMap a: ')
  })

  test('auth can-i: --subresource', async () => {
    await shared.server.client.objects.create({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'logs' },
      rules: [{ apiGroups: [''], resources: ['pods/log'], verbs: ['get'] }],
    })
    await shared.server.client.objects.create({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'logs' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'logs' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ann' }],
    })
    const words = ['auth', 'can-i', 'get', 'pods', '--as=ann']
    expect(await ctl(words)).toMatchObject({ code: 1, out: expect.stringMatching(/^no/) })
    await expect.poll(() => ctl([...words, '--subresource=log'])).toMatchObject({ code: 0, out: 'yes\n' })
  })

  test('version: -o json and yaml', async () => {
    expect(JSON.parse((await ctl(['version', '-o', 'json'])).out)).toMatchObject({ serverVersion: { gitVersion: expect.any(String) } })
    expect((await ctl(['version', '-o', 'yaml'])).out).toMatch(/^serverVersion:\n/)
    expect((await ctl(['version', '-o', 'xml'])).error).toBe('error: -o=xml: must be json or yaml\n')
  })

  test('api-resources and get: a group whose server is unreachable is reported beside the others', async () => {
    const group = 'down.example.com'
    const object = {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: `v1.${group}` },
      spec: {
        ...{ group, version: 'v1', groupPriorityMinimum: 1, versionPriority: 1, insecureSkipTLSVerify: true },
        service: { namespace: 'default', name: 'none' },
      },
    }
    expect(await ctl(['create', '-f', '-'], { input: JSON.stringify(object) })).toMatchObject({ code: 0 })
    const why = `unable to retrieve the complete list of server APIs: ${group}/v1: stale GroupVersion discovery: ${group}/v1`
    await expect.poll(async () => (await ctl(['api-resources', '-o', 'name'])).error).toBe(`error: ${why}\n`)
    const { code, out } = await ctl(['api-resources'])
    expect([code, out]).toEqual([1, expect.stringContaining('configmaps')])
    expect(await ctl(['get', 'nixes'])).toMatchObject({ code: 1, error: expect.stringContaining(why) })
    await ctl(['delete', `apiservice/v1.${group}`])
    await expect.poll(async () => (await ctl(['api-resources'])).code).toBe(0)
  })

  test('api-resources', async () => {
    const names = async (...flags: string[]) => lines((await ctl(['api-resources', '-o', 'name', ...flags])).out)
    const [all, inNamespaces, inNone] = [await names(), await names('--namespaced'), await names('--namespaced=false')]
    expect(inNamespaces).toContain('pods')
    expect(inNone).toContain('nodes')
    expect([...inNamespaces, ...inNone].sort()).toEqual(all)
    expect(await names('--cluster-scoped')).toEqual(inNone)
    expect(await names('--api-group=autoscaling')).toEqual(['horizontalpodautoscalers.autoscaling'])
    expect(await names('--verbs=create', '--api-group=authentication.k8s.io')).toContain('tokenreviews.authentication.k8s.io')
    expect(await names('--verbs=create,list', '--api-group=authentication.k8s.io')).toEqual([''])
    expect(await names('--categories=all')).toContain('deployments.apps')
    expect(await names('--categories=all')).not.toContain('configmaps')
    expect((await ctl(['api-resources', '--no-headers', '--api-group=autoscaling'])).out).toMatch(/^horizontalpodautoscalers .*\n$/)
  })
})

describe('without a client configuration', () => {
  const bare = (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const empty = join(shared.folder, 'empty')
    mkdirSync(empty, { recursive: true })
    return runCtlIn(empty, args, { env: { KUBECONFIG: join(empty, 'config'), ...env } })
  }

  test('completion prints its scripts, and help the flags', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) expect(await bare(['completion', shell])).toMatchObject({ code: 0, error: '' })
    expect(await bare(['get', '--help'])).toMatchObject({ code: 0, error: '' })
  })

  test('config lists the files that it has searched, and other commands list the settings to use', async () => {
    expect((await bare(['config', 'view'])).error).toMatch(/^error: no client configuration found: none of .*empty\/config exists\n$/)
    expect((await bare(['get', 'pods'])).error).toContain('set KUBECONFIG, or give --kubeconfig or --server')
  })
})
