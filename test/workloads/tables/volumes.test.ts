import { namesOf } from '@orch/core/names'
import { smallestVolume, type Volume, type VolumeClaim, volumeNames } from '@orch/core/workloads'
import { expect, test } from 'vitest'
import { byId, type Row, rowsOf } from './rows.ts'

interface VolumesRow extends Row {
  readonly volumes: readonly {
    readonly name: string
    readonly accessModes: readonly string[]
    readonly capacity: string
    readonly phase: string
    readonly storageClassName: string
    readonly volumeMode: string
    readonly labels?: Readonly<Record<string, string>>
    readonly claimRef?: Readonly<Record<'name' | 'namespace' | 'uid', string>>
    readonly deleting?: boolean
    /** The zones that reach the volume. Absent: all zones. */
    readonly zone?: readonly string[]
  }[]
}

interface MatchRow extends Row {
  readonly claim: {
    readonly name: string
    readonly namespace: string
    readonly accessModes: readonly string[]
    readonly request: string
    readonly storageClassName: string
    readonly volumeMode: string
    readonly selector?: Readonly<Record<string, string>>
  }
  readonly delayBinding: boolean
  readonly nodeZone?: string
  readonly volume: string | null
}

const names = volumeNames(namesOf('kubernetes'))
const given = rowsOf<VolumesRow>('volumes', 'volumes').flatMap((row) => row.volumes)

const volumes = given.map(({ name, labels, deleting, accessModes, capacity, claimRef, storageClassName, volumeMode, phase }): Volume => {
  const deletion = deleting === true ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, ...(labels && { labels }), ...deletion },
    spec: { capacity: { storage: capacity }, accessModes: [...accessModes], storageClassName, volumeMode, ...(claimRef && { claimRef }) },
    status: { phase },
  }
})

function claimOf({ name, namespace, accessModes, request, storageClassName, volumeMode, selector }: MatchRow['claim']): VolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace, uid: 'claim' },
    spec: {
      accessModes: [...accessModes],
      resources: { requests: { storage: request } },
      storageClassName,
      volumeMode,
      ...(selector && { selector: { matchLabels: selector } }),
    },
    status: {},
  }
}

test('WL-PV-02: a claim gets the same volume as with kube-controller-manager', () => {
  const rows = rowsOf<MatchRow>('volumes', 'match')
  const found = byId(rows, ({ claim, delayBinding: isDelayed, nodeZone }) => {
    const isReachable = ({ metadata }: Volume) => given.find(({ name }) => name === metadata.name)?.zone?.includes(nodeZone ?? '') !== false
    const options = { names, hasAttributeClasses: true, isDelayed, ...(nodeZone !== undefined && { isReachable }) }
    return smallestVolume(claimOf(claim), volumes, options)?.metadata.name ?? null
  })
  expect(found).toEqual(byId(rows, ({ volume }) => volume))
})
