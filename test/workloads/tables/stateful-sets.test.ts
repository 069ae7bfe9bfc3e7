import type { OwnerReference } from '@orch/core/meta'
import { countMembers, ownersAfter, type Pod } from '@orch/core/workloads'
import { expect, test } from 'vitest'
import { byId, type Row, rowsOf } from './rows.ts'

interface OwnersRow extends Row {
  readonly owners: readonly string[]
  readonly ordinal: number
  readonly replicas: number
  readonly whenDeleted: string
  readonly whenScaled: string
  readonly upToDate: boolean
  readonly after: readonly string[]
}

const set = { name: 'web', uid: 'su' }
const nowMs = Date.parse('2026-01-01T00:00:00Z')

function referencesOf({ owners, ordinal }: OwnersRow): OwnerReference[] {
  const ofSet = { apiVersion: 'apps/v1', kind: 'StatefulSet', ...set }
  const other = { apiVersion: 'example.com/v1', kind: 'X', name: 'x', uid: 'xu' }
  const words: Readonly<Record<string, OwnerReference>> = {
    set: { ...ofSet, controller: true },
    pod: { apiVersion: 'v1', kind: 'Pod', name: `web-${ordinal}`, uid: 'pu', controller: true },
    'set without controller': ofSet,
    'other controller': { ...other, controller: true },
    'other owner': other,
  }
  return owners.map((word) => words[word] ?? expect.unreachable(word))
}

const printed = ({ kind, uid, controller }: OwnerReference) => `${kind}/${uid}${controller === true ? ' controller' : ''}`

test('WL-STS-42, WL-STS-43, WL-STS-45: the owners of claims equal those of kube-controller-manager', () => {
  const rows = rowsOf<OwnersRow>('claim-owners', 'claimOwners')
  const found = byId(rows, (row) => {
    const { ordinal, replicas, whenDeleted, whenScaled } = row
    const ownerReferences = referencesOf(row)
    const after = ownersAfter(
      { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { ownerReferences }, spec: { resources: {} }, status: {} },
      {
        set,
        pod: { name: `web-${ordinal}`, uid: 'pu' },
        policy: { whenDeleted, whenScaled },
        isCondemned: ordinal >= replicas,
        isController: true,
      },
    )
    return [after === undefined, (after ?? ownerReferences).map(printed)]
  })
  expect(found).toEqual(byId(rows, ({ upToDate, after }) => [upToDate, after]))
})

interface CountsRow extends Row {
  readonly minReadySeconds: number
  /** Words about Pods: `run`, `pend`, `fail` (phase), `readyN` (for N seconds), `term` (terminating), `cur`, `upd`, `other` (revision). */
  readonly pods: readonly string[]
  readonly replicas: number
  readonly ready: number
  readonly available: number
  readonly current: number
  readonly updated: number
}

function podOf(text: string, index: number): Pod {
  const words = text.split(' ')
  const readySeconds = words.map((word) => /^ready(\d+)$/.exec(word)?.[1]).find((seconds) => seconds !== undefined)
  const timeOf = (seconds: number) => new Date(nowMs - seconds * 1000).toISOString()
  const find = <T extends string>(known: Readonly<Record<string, T>>) => words.map((word) => known[word]).find((one) => one !== undefined)
  const revision = find({ cur: 'cur', upd: 'upd', other: 'other' })
  const ready = { type: 'Ready', status: 'True', lastTransitionTime: timeOf(Number(readySeconds ?? 0)), lastProbeTime: null }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `web-${index}`,
      ...(revision !== undefined && { labels: { 'controller-revision-hash': revision } }),
      ...(words.includes('term') && { deletionTimestamp: timeOf(0) }),
    },
    spec: { containers: [] },
    status: {
      phase: find({ run: 'Running', pend: 'Pending', fail: 'Failed' }),
      conditions: readySeconds === undefined ? [] : [ready],
    },
  }
}

test('WL-STS-46: the counts of Pods equal those of kube-controller-manager', () => {
  const rows = rowsOf<CountsRow>('stateful-set-counts', 'statefulSetCounts')
  const found = byId(rows, ({ pods, minReadySeconds }) => {
    const counts = countMembers(pods.map(podOf), { minReadySeconds, current: 'cur', update: 'upd', nowMs })
    return [counts.replicas, counts.readyReplicas, counts.availableReplicas, counts.currentReplicas, counts.updatedReplicas]
  })
  expect(found).toEqual(byId(rows, ({ replicas, ready, available, current, updated }) => [replicas, ready, available, current, updated]))
})
