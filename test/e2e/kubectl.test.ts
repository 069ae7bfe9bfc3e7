import { execFile } from 'node:child_process'
import { existsSync, readdirSync, realpathSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { aFolder, startProcess } from './server-process.ts'

const run = promisify(execFile)

/** The oldest and the newest kubectl that this machine has: on the path, and beside the one that the path leads to. */
function findKubectls(): string[] {
  const first = (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'kubectl'))
    .find((path) => existsSync(path))
  if (first === undefined) return []
  const folder = dirname(realpathSync(first))
  const versions = readdirSync(folder)
    .filter((name) => /^kubectl\.1\.\d+$/.test(name))
    .sort((a, b) => Number(a.split('.')[2]) - Number(b.split('.')[2]))
    .map((name) => join(folder, name))
  return versions.length === 0 ? [first] : [...new Set([versions[0]!, versions.at(-1)!])]
}

const kubectls = findKubectls()

test.skipIf(kubectls.length > 0)('kubectl [skipped where kubectl is present: it is tried below]', () => {
  expect(kubectls).toEqual([])
})

const manifests = {
  configMap: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: walk, labels: {app: walk}}\ndata: {a: "1"}\n',
  node: 'apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nspec: {podCIDR: 10.1.0.0/24, podCIDRs: [10.1.0.0/24]}\n',
  quota: 'apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: walk}\nspec: {hard: {pods: "3"}}\n',
  controller:
    'apiVersion: v1\nkind: ReplicationController\nmetadata: {name: rc, namespace: walk}\nspec: {replicas: 1, selector: {a: b}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}\n',
  csiNode: 'apiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: n1}\nspec: {drivers: [{name: d.example.com, nodeID: node-1}]}\n',
  attachment:
    'apiVersion: storage.k8s.io/v1\nkind: VolumeAttachment\nmetadata: {name: va}\nspec: {attacher: d.example.com, nodeName: n1, source: {persistentVolumeName: pv}}\n',
}

describe.each(kubectls)('%s', (binary) => {
  test('walks through the API', { timeout: 180_000 }, async () => {
    const server = await startProcess(['--memory', '--profile=kubernetes'])
    const home = aFolder()
    const kubectl = async (...args: string[]) => {
      const env = { PATH: process.env['PATH'] ?? '', HOME: home, KUBECONFIG: join(server.dataDir, 'admin.conf') }
      const { stdout } = await run(binary, args, { env, timeout: 60_000 })
      return stdout
    }
    const apply = async (verb: 'create' | 'replace', text: string) => {
      const file = join(home, 'manifest.yaml')
      writeFileSync(file, text)
      return kubectl(verb, '-f', file)
    }
    expect(await kubectl('version', '-o', 'json')).toContain('"minor": "25"')
    expect(await kubectl('api-versions')).toContain('storage.k8s.io/v1\n')
    expect(await kubectl('api-resources', '-o', 'name')).toContain('volumeattachments.storage.k8s.io\n')
    expect(await kubectl('get', 'namespaces', '-o', 'name')).toBe(
      'namespace/default\nnamespace/kube-node-lease\nnamespace/kube-public\nnamespace/kube-system\n',
    )
    await apply('create', 'apiVersion: v1\nkind: Namespace\nmetadata: {name: walk}\n')
    for (const text of Object.values(manifests)) expect(await apply('create', text)).toContain('created')
    for (const [kind, name] of [
      ['configmap', 'm'],
      ['resourcequota', 'q'],
      ['replicationcontroller', 'rc'],
    ] as const) {
      expect(await kubectl('get', kind, name, '-n', 'walk', '-o', 'name')).toContain(name)
    }
    for (const [kind, name] of [
      ['node', 'n1'],
      ['csinode', 'n1'],
      ['volumeattachment', 'va'],
    ] as const) {
      expect(await kubectl('get', kind, name, '-o', 'yaml')).toContain(`name: ${name}`)
    }
    expect(await kubectl('get', 'configmaps', '-A', '--chunk-size=1', '-l', 'app=walk', '-o', 'name')).toBe('configmap/m\n')
    expect(await kubectl('get', 'configmaps', '-A', '--field-selector', 'metadata.name=m', '-o', 'json')).toContain('"a": "1"')
    expect(await apply('replace', manifests.configMap.replace('"1"', '"2"'))).toContain('replaced')
    expect(await kubectl('get', '--raw', '/api/v1/namespaces/walk/configmaps/m')).toContain('"a":"2"')
    expect(await kubectl('get', 'configmaps', '-n', 'walk')).toContain('m ')
    expect(await kubectl('explain', 'node.spec.taints')).toContain('effect')
    expect(await kubectl('delete', 'configmap', 'm', '-n', 'walk')).toContain('deleted')
    expect(await kubectl('delete', 'namespace', 'walk')).toContain('deleted')
    await expect(kubectl('get', 'namespace', 'walk')).rejects.toMatchObject({ stderr: expect.stringContaining('"walk" not found') })
    expect(await kubectl('get', 'replicationcontrollers', '-A', '-o', 'name')).toBe('')
  })
})
