import { describe, expect, test } from 'vitest'
import { linksOfClaimVolume, linksOfPod, NodeGraph, nodeOfAttachment } from './node-graph.ts'

const encode = (object: object) => new TextEncoder().encode(JSON.stringify(object))
const things = (links: { readonly links: readonly { from: string; to: string }[] }) => links.links.map(({ to }) => to)

describe('AUTHZ-07: a pod on a node', () => {
  const aPod = (spec: object, metadata: object = {}) =>
    linksOfPod(
      encode({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p', namespace: 'n', ...metadata }, spec: { nodeName: 'n1', ...spec } }),
    )
  const env = (source: object) => ({ env: [{ name: 'PLAIN' }, { valueFrom: {} }, { valueFrom: source }] })

  test.each<[string, object, string[]]>([
    ['nothing', {}, []],
    ['its service account', { serviceAccountName: 'a' }, ['serviceaccounts/n/a']],
    ['its pull secrets', { imagePullSecrets: [{ name: 'a' }, {}, { name: 'b' }] }, ['secrets/n/a', 'secrets/n/b']],
    ['secrets of variables', { containers: [{}, env({ secretKeyRef: { name: 'a' } })] }, ['secrets/n/a']],
    ['config maps of variables', { containers: [env({ configMapKeyRef: { name: 'a' } })] }, ['configmaps/n/a']],
    ['secrets of all variables', { containers: [{ envFrom: [{ secretRef: { name: 'a' } }] }] }, ['secrets/n/a']],
    ['config maps of all variables', { containers: [{ envFrom: [{ configMapRef: { name: 'a' } }] }] }, ['configmaps/n/a']],
    ['what init containers name', { initContainers: [env({ secretKeyRef: { name: 'a' } })] }, ['secrets/n/a']],
    ['what ephemeral containers name', { ephemeralContainers: [env({ secretKeyRef: { name: 'a' } })] }, ['secrets/n/a']],
    ['the secret of a volume', { volumes: [{ name: 'v', secret: { secretName: 'a' } }] }, ['secrets/n/a']],
    ['the secret of an Azure volume', { volumes: [{ name: 'v', azureFile: { secretName: 'a' } }] }, ['secrets/n/a']],
    ['the config map of a volume', { volumes: [{ name: 'v', configMap: { name: 'a' } }] }, ['configmaps/n/a']],
    ['the claim of a volume', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'a' } }] }, ['persistentvolumeclaims/n/a']],
    ['the claim made for a volume', { volumes: [{ name: 'v', ephemeral: {} }] }, ['persistentvolumeclaims/n/p-v']],
    [
      'sources of a projected volume',
      {
        volumes: [{ name: 'v', projected: { sources: [{ secret: { name: 'a' } }, { configMap: { name: 'b' } }, {}] } }, { projected: {} }],
      },
      ['secrets/n/a', 'configmaps/n/b'],
    ],
    ['the secret of a plugin', { volumes: [{ name: 'v', cephfs: { secretRef: { name: 'a' } }, other: null }] }, ['secrets/n/a']],
    ['the secret of a CSI volume', { volumes: [{ name: 'v', csi: { nodePublishSecretRef: { name: 'a' } } }] }, ['secrets/n/a']],
  ])('needs %s', (_name, spec, expected) => {
    const links = aPod(spec)
    expect(things(links)).toEqual(['pods/n/p', ...expected])
    expect(links.links.every(({ from }) => from === 'node/n1')).toBe(true)
  })

  test('without a node gives no node access', () => {
    expect(aPod({ nodeName: '', serviceAccountName: 'a' })).toEqual({ links: [] })
    expect(aPod({ nodeName: undefined, serviceAccountName: 'a' })).toEqual({ links: [] })
  })

  test('that a node created gives it access only to the pod, with any annotations', () => {
    expect(things(aPod({ serviceAccountName: 'a' }, { annotations: { a: 'b', 'orch.io/config.mirror': 'x' } }))).toEqual(['pods/n/p'])
    expect(things(aPod({ serviceAccountName: 'a' }, { annotations: { 'orch.io/config.mirrored': 'x' } }))).toHaveLength(2)
  })
})

describe('AUTHZ-07: a volume', () => {
  const aVolume = (spec: object) =>
    linksOfClaimVolume(encode({ kind: 'PersistentVolume', apiVersion: 'v1', metadata: { name: 'v' }, spec }))
  const claimRef = { name: 'c', namespace: 'n' }

  test('belongs to its claim, with its secrets', () => {
    expect(aVolume({ claimRef })).toEqual({ links: [{ from: 'persistentvolumeclaims/n/c', to: 'persistentvolumes//v' }] })
    const secretRef = (name: string, namespace?: string) => ({ name, namespace })
    const csi = {
      driver: 'd',
      controllerPublishSecretRef: secretRef('a', 'x'),
      nodeStageSecretRef: secretRef('b', 'x'),
      nodePublishSecretRef: secretRef('c', 'x'),
      nodeExpandSecretRef: secretRef('d', 'x'),
      controllerExpandSecretRef: secretRef('e', 'x'),
    }
    expect(things(aVolume({ claimRef, csi })).slice(1)).toEqual(['a', 'b', 'c', 'd', 'e'].map((name) => `secrets/x/${name}`))
    expect(things(aVolume({ claimRef, cephfs: { secretRef: secretRef('a') } }))).toContain('secrets/n/a')
    expect(things(aVolume({ claimRef, cephfs: { secretRef: {} } }))).toEqual(['persistentvolumes//v'])
    expect(things(aVolume({ claimRef, azureFile: { secretName: 'a', secretNamespace: 'x' } }))).toContain('secrets/x/a')
    expect(things(aVolume({ claimRef, azureFile: { secretName: 'a' } }))).toContain('secrets/n/a')
    expect(things(aVolume({ claimRef, azureFile: {} }))).toEqual(['persistentvolumes//v'])
  })

  test('without a claim gives access to nothing', () => {
    expect(aVolume({ cephfs: { secretRef: { name: 'a' } } })).toEqual({ links: [] })
    expect(aVolume({ claimRef: { namespace: 'n' } })).toEqual({ links: [] })
  })
})

test('AUTHZ-07: an attachment gives its node access', () => {
  const anAttachment = (spec: object) =>
    nodeOfAttachment(encode({ kind: 'VolumeAttachment', apiVersion: 'storage.orch.io/v1', metadata: { name: 'a' }, spec }))
  expect(anAttachment({ nodeName: 'n1' })).toEqual({ links: [{ from: 'node/n1', to: 'volumeattachments//a' }] })
  expect(anAttachment({})).toEqual({ links: [] })
})

describe('AUTHZ-07: a node has access to', () => {
  const link = (from: string, to: string) => ({ links: [{ from, to }] })

  test('the objects of its pods, until all of them are deleted', () => {
    const graph = new NodeGraph()
    const link1 = link('node/n1', 'secrets/n/a')
    graph.replace(undefined, link1)
    graph.replace(undefined, link1)
    expect([graph.isReached('n1', 'secrets/n/a'), graph.isReached('n2', 'secrets/n/a')]).toEqual([true, false])
    expect([graph.isReached('n1', 'secrets/n/b'), graph.isReached('n1', 'secrets/other/a')]).toEqual([false, false])
    graph.replace(link1, undefined)
    expect(graph.isReached('n1', 'secrets/n/a')).toBe(true)
    graph.replace(link1, undefined)
    expect(graph.isReached('n1', 'secrets/n/a')).toBe(false)
    graph.replace(undefined, link1)
    expect(graph.isReached('n1', 'secrets/n/a')).toBe(true)
  })

  test('the volumes of its claims, and not the volumes of other claims', () => {
    const graph = new NodeGraph()
    graph.replace(undefined, link('persistentvolumeclaims/n/c', 'persistentvolumes//v'))
    expect(graph.isReached('n1', 'persistentvolumes//v')).toBe(false)
    graph.replace(undefined, link('node/n1', 'persistentvolumeclaims/n/c'))
    expect([graph.isReached('n1', 'persistentvolumes//v'), graph.isReached('n2', 'persistentvolumes//v')]).toEqual([true, false])
    graph.replace(link('node/n1', 'persistentvolumeclaims/n/c'), link('node/n2', 'persistentvolumeclaims/n/c'))
    expect([graph.isReached('n1', 'persistentvolumes//v'), graph.isReached('n2', 'persistentvolumes//v')]).toEqual([false, true])
  })

  test('an object that a changed pod still names', () => {
    const graph = new NodeGraph()
    const same = link('node/n1', 'secrets/n/a')
    graph.replace(undefined, same)
    graph.replace(same, same)
    expect(graph.isReached('n1', 'secrets/n/a')).toBe(true)
  })
})
