import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { aFolder } from '@orch/testkit/folder'
import { expect, test } from 'vitest'
import { aKubectl, describeKubectls, sharedServer } from './kubectl.ts'

const server = sharedServer()

/** kubectl with a folder for its files; `file` writes a file and returns its path. */
async function aWriter(binary: string) {
  const folder = aFolder()
  const file = (text: string, name = 'manifest.yaml') => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }
  return { ...(await aKubectl(binary, server)), folder, file }
}

const map = (data: Record<string, string>, name = 'm') =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { app: 'a' } }, data })

const deployment = (image: string) =>
  JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: {
          containers: [
            { name: 'c', image, ports: [{ containerPort: 80 }] },
            { name: 'side', image: 's' },
          ],
        },
      },
    },
  })

const refusal = (text: string) => ({ stderr: expect.stringContaining(text) })

describeKubectls('%s', { timeout: 180_000 }, (binary) => {
  test('SSA-54: applies on the client: creates, changes, removes a field, prunes', async () => {
    const { kubectl, file } = await aWriter(binary)
    const apply = (text: string, ...more: string[]) => kubectl('apply', '-f', file(text), ...more)
    expect(await apply(map({ x: '1', y: '1' }))).toBe('configmap/m created\n')
    expect(await apply(map({ x: '1', y: '1' }))).toBe('configmap/m unchanged\n')
    expect(await apply(map({ x: '2' }))).toBe('configmap/m configured\n')
    expect(await kubectl('get', 'configmap', 'm', '-o', 'jsonpath={.data}')).toBe('{"x":"2"}')
    expect(await apply(deployment('i:1'))).toBe('deployment.apps/web created\n')
    expect(await apply(deployment('i:2'))).toBe('deployment.apps/web configured\n')
    expect(await kubectl('get', 'deployment', 'web', '-o', 'jsonpath={.spec.template.spec.containers[*].image}')).toBe('i:2 s')
    const pruned = await apply(map({ x: '1' }, 'n'), '--prune', '-l', 'app=a', '--prune-allowlist=core/v1/ConfigMap')
    expect(pruned).toContain('configmap/n created\n')
    expect(pruned).toContain('configmap/m pruned\n')
  })

  test('applies a kustomization', async () => {
    const { kubectl, file, folder } = await aWriter(binary)
    file('resources: [map.yaml]\nnamePrefix: pre-\n', 'kustomization.yaml')
    file(map({ x: '1' }), 'map.yaml')
    expect(await kubectl('apply', '-k', folder)).toBe('configmap/pre-m created\n')
  })

  test('SSA-12, SSA-32, SSA-49: applies on the server: conflicts, force, and the change from client-side apply', async () => {
    const { kubectl, file } = await aWriter(binary)
    const apply = (text: string, ...more: string[]) => kubectl('apply', '--server-side', '-f', file(text), ...more)
    expect(await apply(map({ x: '1' }))).toBe('configmap/m serverside-applied\n')
    await expect(apply(map({ x: '2' }), '--field-manager=other')).rejects.toMatchObject(
      refusal('Apply failed with 1 conflict: conflict with "kubectl": .data.x'),
    )
    expect(await apply(map({ x: '2' }), '--field-manager=other', '--force-conflicts')).toBe('configmap/m serverside-applied\n')
    expect(await kubectl('get', 'configmap', 'm', '-o', 'jsonpath={.data.x}')).toBe('2')

    await kubectl('apply', '-f', file(map({ x: '1' }, 'n')))
    expect(await apply(map({ x: '2' }, 'n'))).toBe('configmap/n serverside-applied\n')
    expect(JSON.parse(await kubectl('apply', 'view-last-applied', 'configmap/n', '-o', 'json'))).toMatchObject({ data: { x: '2' } })
    const managers = await kubectl('get', 'configmap', 'n', '--show-managed-fields', '-o', 'jsonpath={.metadata.managedFields[*].manager}')
    expect(managers.split(' ')).toContain('kubectl')
  })

  test('SSA-50: reports a conflict of a server-side apply on a field that was patched after a client-side apply', async () => {
    const { kubectl, file } = await aWriter(binary)
    const apply = (...more: string[]) => kubectl('apply', '-f', file(map({ x: '1', y: '1' })), ...more)
    const data = () => kubectl('get', 'configmap', 'm', '-o', 'jsonpath={.data.x}{.data.y}')
    await apply()
    await kubectl('patch', 'configmap', 'm', '--type=merge', '-p', '{"data":{"x":"9"}}', '--field-manager=editor')
    await expect(apply('--server-side')).rejects.toMatchObject(
      refusal('Apply failed with 1 conflict: conflict with "editor" using v1: .data.x'),
    )
    expect(await data()).toBe('91')
    await apply('--server-side', '--force-conflicts')
    expect(await data()).toBe('11')
  })

  test('SSA-52: applies on the client after a server-side apply, and removes fields that the configuration dropped', async () => {
    const { kubectl, file } = await aWriter(binary)
    const apply = (data: Record<string, string>, ...more: string[]) => kubectl('apply', '-f', file(map(data)), ...more)
    await apply({ x: '1', y: '1' })
    await apply({ x: '2', y: '2', z: '2' }, '--server-side', '--force-conflicts')
    await apply({ x: '3' })
    expect(await kubectl('get', 'configmap', 'm', '-o', 'jsonpath={.data}')).toBe('{"x":"3"}')
  })

  test('DRY-04: prints the difference, and stores nothing in a dry run', async () => {
    const { kubectl, file } = await aWriter(binary)
    await kubectl('apply', '-f', file(map({ x: '1' })))
    const showsDifference = (...more: string[]) =>
      expect(kubectl('diff', '-f', file(map({ x: '2' })), ...more)).rejects.toMatchObject({
        code: 1,
        stdout: expect.stringMatching(/^- +x: "1"\n\+ +x: "2"$/m),
      })
    await showsDifference()
    await showsDifference('--server-side', '--force-conflicts')
    expect(await kubectl('diff', '-f', file(map({ x: '1' })))).toBe('')
    expect(await kubectl('apply', '-f', file(map({ x: '2' })), '--dry-run=server')).toBe('configmap/m configured (server dry run)\n')
    expect(await kubectl('create', 'configmap', 'other', '--dry-run=server')).toBe('configmap/other created (server dry run)\n')
    expect(await kubectl('get', 'configmap', 'm', '-o', 'jsonpath={.data.x}')).toBe('1')
    await expect(kubectl('get', 'configmap', 'other')).rejects.toMatchObject(refusal('not found'))
  })

  test('PATCH-01 to PATCH-04: patches with each of the three patch types', async () => {
    const { kubectl, file } = await aWriter(binary)
    await kubectl('create', '-f', file(deployment('i:1')))
    const patch = (type: string, body: unknown) => kubectl('patch', 'deployment', 'web', `--type=${type}`, '-p', JSON.stringify(body))
    const images = () => kubectl('get', 'deployment', 'web', '-o', 'jsonpath={.spec.template.spec.containers[*].image}')
    const containers = [{ name: 'c', image: 'i:2' }]
    expect(await patch('strategic', { spec: { template: { spec: { containers } } } })).toBe('deployment.apps/web patched\n')
    expect(await images()).toBe('i:2 s')
    await patch('json', [{ op: 'replace', path: '/spec/template/spec/containers/1/image', value: 's:2' }])
    expect(await images()).toBe('i:2 s:2')
    await patch('merge', { spec: { template: { spec: { containers } } } })
    expect(await images()).toBe('i:2')
    expect(await patch('merge', {})).toBe('deployment.apps/web patched (no change)\n')
  })

  test('labels, annotates, and writes only a status', async () => {
    const { kubectl, file } = await aWriter(binary)
    await kubectl('create', '-f', file(deployment('i:1')))
    expect(await kubectl('label', 'deployment', 'web', 'a=b')).toBe('deployment.apps/web labeled\n')
    await expect(kubectl('label', 'deployment', 'web', 'a=c')).rejects.toMatchObject(refusal("'a' already has a value (b)"))
    expect(await kubectl('label', 'deployment', 'web', 'a=c', '--overwrite')).toBe('deployment.apps/web labeled\n')
    expect(await kubectl('annotate', 'deployment', 'web', 'n=1')).toContain('deployment.apps/web annotate')
    const change = JSON.stringify({ status: { replicas: 3 }, spec: { replicas: 9 } })
    await kubectl('patch', 'deployment', 'web', '--subresource=status', '--type=merge', '-p', change)
    const shown = 'jsonpath={.metadata.labels.a} {.metadata.annotations.n} {.spec.replicas} {.status.replicas}'
    expect(await kubectl('get', 'deployment', 'web', '-o', shown)).toBe('c 1 1 3')
    expect(await kubectl('get', 'deployment', 'web', '--subresource=status', '-o', shown)).toBe('c 1 1 3')
  })

  test('edits with an editor', async () => {
    const { kubectl, file, env } = await aWriter(binary)
    await kubectl('create', '-f', file(map({ x: 'before' })))
    const editor = file('#!/bin/sh\nsed -i s/before/after/ "$1"\n', 'editor.sh')
    chmodSync(editor, 0o755)
    Object.assign(env, { KUBE_EDITOR: editor })
    expect(await kubectl('edit', 'configmap', 'm')).toBe('configmap/m edited\n')
    expect(await kubectl('get', 'configmap', 'm', '-o', 'jsonpath={.data.x}')).toBe('after')
  })

  test('replaces by force', async () => {
    const { kubectl, file } = await aWriter(binary)
    await kubectl('create', '-f', file(map({ x: '1' })))
    const uid = () => kubectl('get', 'configmap', 'm', '-o', 'jsonpath={.metadata.uid}')
    const first = await uid()
    expect(await kubectl('replace', '--force', '-f', file(map({ x: '2' })))).toContain('configmap/m replaced\n')
    expect(await uid()).not.toBe(first)
  })
})
