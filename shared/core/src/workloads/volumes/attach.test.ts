import { describe, expect, test } from 'vitest'
import type { Pod } from '../pods.ts'
import { type AttachingNode, type Attachment, type AttachPlan, decideAttachments } from './attach.ts'
import type { Volume } from './objects.ts'

const taint = 'node.kubernetes.io/out-of-service'
const inUse = 'kubernetes.io/csi/d^h'

function aVolume(...accessModes: string[]): Volume {
  const csi = { driver: 'd', volumeHandle: 'h' }
  return { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'v' }, spec: { accessModes, csi }, status: {} }
}

function aPod(name: string, nodeName: string, namespace = 'n'): Pod {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace }, spec: { containers: [], nodeName }, status: { phase: 'Running' } }
}

function anAttachment(nodeName: string): Attachment {
  const spec = { attacher: 'd', nodeName, source: { persistentVolumeName: 'v' } }
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    metadata: { name: `on-${nodeName}` },
    spec,
    status: { attached: true },
  }
}

interface NodeState {
  readonly ready?: boolean
  readonly isUsing?: boolean
  readonly taints?: readonly string[]
}

function aNode(name: string, { ready = true, isUsing = false, taints = [] }: NodeState = {}): AttachingNode {
  const time = '2026-01-01T00:00:00Z'
  const condition = { type: 'Ready', status: ready ? 'True' : 'Unknown', lastHeartbeatTime: time, lastTransitionTime: time }
  return {
    metadata: { name },
    spec: { taints: taints.map((key) => ({ key, effect: 'NoExecute' })) },
    status: { volumesInUse: isUsing ? [inUse] : [], conditions: [condition] },
  }
}

interface World {
  readonly volume?: Volume
  readonly pods?: readonly Pod[]
  readonly attached?: readonly string[]
  readonly nodes?: readonly AttachingNode[]
  readonly level?: number
  /** Seconds since detachment was requested. */
  readonly askedS?: number
}

function decide({ volume = aVolume('ReadWriteOnce'), pods = [], attached = [], nodes = [], level = 37, askedS = 0 }: World): AttachPlan {
  const nowMs = 1_000_000
  const attachments = attached.map(anAttachment)
  const nodeNamed = (name: string) => nodes.find(({ metadata }) => metadata.name === name) ?? aNode(name)
  return decideAttachments(
    { volume, level, pods, attachments, nodeNamed, detachAskedMs: () => nowMs - askedS * 1000, outOfServiceTaint: taint },
    nowMs,
  )
}

const inShort = ({ attach, detach, waitMs }: AttachPlan) => [attach, detach.map(({ spec }) => spec.nodeName), waitMs]

describe('the attachments of a volume', () => {
  const rows: readonly [title: string, world: World, expected: ReturnType<typeof inShort>][] = [
    ['NODE-VOL-10: are made for the node of a Pod', { pods: [aPod('a', 'x'), aPod('b', 'x')] }, [['x'], [], undefined]],
    ['NODE-VOL-10: are made once', { pods: [aPod('a', 'x')], attached: ['x'] }, [[], [], undefined]],
    ['NODE-VOL-13: are for one node at a time', { pods: [aPod('a', 'x'), aPod('b', 'y')] }, [['x'], [], undefined]],
    ['NODE-VOL-13: wait for the end of another', { pods: [aPod('a', 'x')], attached: ['y'] }, [[], ['y'], undefined]],
    [
      'NODE-VOL-13: are for several nodes by access mode',
      { volume: aVolume('ReadWriteOnce', 'ReadOnlyMany'), pods: [aPod('a', 'x'), aPod('b', 'y')] },
      [['x', 'y'], [], undefined],
    ],
    ['NODE-VOL-14: end without a Pod', { attached: ['x'] }, [[], ['x'], undefined]],
    [
      'NODE-VOL-14: stay while their node uses the volume',
      { attached: ['x'], nodes: [aNode('x', { isUsing: true })] },
      [[], [], undefined],
    ],
    [
      'NODE-VOL-14: end by force six minutes later on a node that reports no longer',
      { attached: ['x'], nodes: [aNode('x', { isUsing: true, ready: false })], askedS: 100 },
      [[], [], 260_000],
    ],
    [
      'NODE-VOL-14: end then',
      { attached: ['x'], nodes: [aNode('x', { isUsing: true, ready: false })], askedS: 360 },
      [[], ['x'], undefined],
    ],
    [
      'NODE-VOL-14: end at once on a node that is out of service',
      { attached: ['x'], nodes: [aNode('x', { isUsing: true, taints: [taint] })] },
      [[], ['x'], undefined],
    ],
  ]
  test.each(rows)('%s', (_, world, expected) => {
    expect(inShort(decide(world))).toEqual(expected)
  })

  // The messages of kube-controller-manager up to 1.36.
  const refusals: readonly [users: readonly string[], why: string][] = [
    [[], "Volume is already exclusively attached to one node and can't be attached to another"],
    [['n/b'], 'Volume is already used by pod(s) b'],
    [['m/b'], 'Volume is already used by 1 pod(s) in different namespaces'],
    [['m/b', 'n/c'], 'Volume is already used by pod(s) c and 1 pod(s) in different namespaces'],
  ]
  test.each(refusals)('NODE-VOL-13: the event of a waiting Pod names or counts Pods %j on other nodes', (users, why) => {
    const others = users.map((user, index) => aPod(user.split('/')[1] ?? '', `y${index}`, user.split('/')[0]))
    const attached = users.length === 0 ? ['y0'] : users.map((_user, index) => `y${index}`)
    const messages = (level: number) =>
      decide({ pods: [aPod('a', 'x'), ...others], attached, level }).refused.map(
        ({ pod, event }) => `${pod.metadata.name}: ${event.message}`,
      )
    expect(messages(36)).toEqual([`a: Multi-Attach error for volume "v" ${why}`])
    const whyNow =
      users.length === 0
        ? 'Volume is already exclusively attached to one node, waiting on detach before it can be attached to another node'
        : why
    expect(messages(37)).toEqual([`a: Waiting for detach for volume "v" ${whyNow}`])
  })
})
