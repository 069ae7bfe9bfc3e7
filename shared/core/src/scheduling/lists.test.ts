import { expect, test } from 'vitest'
import { clusterOf } from './lists.ts'
import type { Pod } from './objects.ts'

const aPod = (name: string, phase: string, deletionTimestamp?: string): Pod => ({
  ...{
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', uid: name, ...(deletionTimestamp && { deletionTimestamp }) },
  },
  spec: { nodeName: 'n', containers: [{ name: 'main', resources: { requests: { cpu: '2' } } }] },
  status: { phase },
})
const noInfo = {
  ...{ architecture: '', bootID: '', containerRuntimeVersion: '', kernelVersion: '', kubeProxyVersion: '', kubeletVersion: '' },
  ...{ machineID: '', operatingSystem: '', osImage: '', systemUUID: '' },
}

test('SCHED-36: Pods use their node while they run or are being deleted, and no longer when they have finished', () => {
  const status = { allocatable: { cpu: '8' }, daemonEndpoints: { kubeletEndpoint: { Port: 0 } }, nodeInfo: noInfo }
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' }, spec: {}, status }
  const ending = aPod('ending', 'Running', '2026-01-01T00:00:00Z')
  const pods = [aPod('running', 'Running'), ending, aPod('failed', 'Failed'), aPod('done', 'Succeeded')]
  const found = clusterOf({ nodes: [node], pods }).node('n')
  expect([found?.requested.cpu, [...(found?.pods.keys() ?? [])]]).toEqual([4000, ['default/running', 'default/ending']])
})
