import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { aKubectl, describeBothKubectls, describeKubectls, sharedServer } from './kubectl.ts'

const server = sharedServer()

/** One object of each tested kind. The objects of the last column are in the namespace. */
const kinds: readonly [kind: string, name: string, apiVersion: string, rest: string, namespaced: boolean][] = [
  ['ConfigMap', 'm', 'v1', 'data: {a: "1"}', true],
  ['ResourceQuota', 'q', 'v1', 'spec: {hard: {pods: "3"}}', true],
  [
    'ReplicationController',
    'rc',
    'v1',
    'spec: {replicas: 1, selector: {a: b}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}',
    true,
  ],
  ['Node', 'n1', 'v1', 'spec: {podCIDR: 10.1.0.0/24, podCIDRs: [10.1.0.0/24]}', false],
  ['CSINode', 'n1', 'storage.k8s.io/v1', 'spec: {drivers: [{name: d.example.com, nodeID: node-1}]}', false],
  [
    'VolumeAttachment',
    'va',
    'storage.k8s.io/v1',
    'spec: {attacher: d.example.com, nodeName: n1, source: {persistentVolumeName: pv}}',
    false,
  ],
]

const namespace = 'walk'

function manifestOf([kind, name, apiVersion, rest, namespaced]: (typeof kinds)[number], step: string): string {
  const place = namespaced ? `, namespace: ${namespace}` : ''
  return `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: ${name}${place}, labels: {step: ${step}}}\n${rest}\n`
}

interface Listed {
  readonly items: readonly { readonly kind: string; readonly metadata: { readonly name: string } }[]
}

describeBothKubectls('%s', { timeout: 180_000 }, (binary) => {
  test('discovers the resources of the server', async () => {
    const { kubectl } = await aKubectl(binary, server)
    expect(await kubectl('version', '-o', 'json')).toContain('"minor": "37"')
    expect(await kubectl('api-versions')).toContain('storage.k8s.io/v1\n')
    expect(await kubectl('api-resources', '-o', 'name')).toContain('volumeattachments.storage.k8s.io\n')
    expect(await kubectl('explain', 'node.spec.taints')).toContain('effect')
    expect(await kubectl('get', 'namespaces', '-o', 'name')).toBe(
      'namespace/default\nnamespace/kube-node-lease\nnamespace/kube-public\nnamespace/kube-system\n',
    )
  })
})

describeKubectls('%s', { timeout: 180_000 }, (binary) => {
  test('creates, gets, replaces and deletes each kind', async () => {
    const { kubectl, withFile } = await aKubectl(binary, server)
    await withFile('create', `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${namespace}}\n`)
    // A single process for all kinds sends as many requests as one process for each kind would.
    const all = (step: string) => kinds.map((entry) => manifestOf(entry, step)).join('---\n')
    const asked = kinds.map(([kind]) => kind).join(',')
    const linesOf = (text: string, word: string) => text.split('\n').filter((line) => line.includes(word))
    expect(linesOf(await withFile('create', all('one')), 'created')).toHaveLength(kinds.length)
    expect(linesOf(await withFile('get', all('one'), '-o', 'name'), '/')).toHaveLength(kinds.length)
    expect(linesOf(await withFile('replace', all('two')), 'replaced')).toHaveLength(kinds.length)
    const { items } = JSON.parse(await kubectl('get', asked, '-A', '-l', 'step=two', '-o', 'json')) as Listed
    expect(items.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort()).toEqual(
      kinds.map(([kind, name]) => `${kind} ${name}`).sort(),
    )
    const yaml = await kubectl('get', asked, '-A', '-l', 'step=two', '-o', 'yaml')
    const table = await kubectl('get', asked, '-A')
    for (const [kind, name, , , namespaced] of kinds) {
      expect(yaml).toContain(`\n    name: ${name}\n`)
      expect(table).toContain(name)
      expect(await kubectl('get', kind, '-A', '--field-selector', `metadata.name=${name}`, '--chunk-size=1', '-o', 'name')).toContain(
        `/${name}\n`,
      )
      const root = kind === 'CSINode' || kind === 'VolumeAttachment' ? '/apis/storage.k8s.io/v1' : '/api/v1'
      const plural = `${kind.toLowerCase()}s`
      expect(await kubectl('get', '--raw', `${root}${namespaced ? `/namespaces/${namespace}` : ''}/${plural}/${name}`)).toContain(
        '"step":"two"',
      )
    }
    expect(linesOf(await withFile('delete', all('two')), 'deleted')).toHaveLength(kinds.length)
    await expect(withFile('get', all('two'))).rejects.toMatchObject({ stderr: expect.stringMatching(/(?:not found.*){6}/s) })
    expect(await kubectl('get', asked, '-A', '-l', 'step=two', '-o', 'name')).toBe('')
  })

  test('deletes a namespace with its contents, and waits for the end', async () => {
    const { kubectl, withFile } = await aKubectl(binary, server)
    await withFile('create', `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${namespace}}\n`)
    const inside = kinds.filter(([, , , , namespaced]) => namespaced)
    await withFile('create', inside.map((entry) => manifestOf(entry, 'one')).join('---\n'))
    expect(await kubectl('delete', 'namespace', namespace)).toContain('deleted')
    await expect(kubectl('get', 'namespace', namespace)).rejects.toMatchObject({ stderr: expect.stringContaining('not found') })
    expect(await kubectl('get', 'replicationcontrollers,resourcequotas', '-A', '-o', 'name')).toBe('')
  })

  test('watches during writes of another client', async () => {
    const { withFile, env } = await aKubectl(binary, server)
    await withFile('create', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: first, namespace: default}\n')
    const child = spawn(binary, ['get', 'configmaps', '-w', '-o', 'name'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill())
    const lines: string[] = []
    for await (const line of createInterface(child.stdout)) {
      // The server creates this object shortly after the namespace.
      if (line === 'configmap/kube-root-ca.crt') continue
      lines.push(line)
      if (lines.length === 1) await withFile('create', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: second, namespace: default}\n')
      else break
    }
    expect(lines).toEqual(['configmap/first', 'configmap/second'])
  })
})
