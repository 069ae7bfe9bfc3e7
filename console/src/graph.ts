import type { KubeObject, ObjectMeta } from './objects.ts'

/** An object in the graph of owners. */
export interface Owned {
  readonly kind: string
  /** Its URL in the console; undefined if the server does not serve its kind. */
  readonly link: string | undefined
  readonly metadata: Pick<ObjectMeta, 'name' | 'uid' | 'deletionTimestamp' | 'ownerReferences'>
}

export interface GraphBox {
  readonly kind: string
  readonly name: string
  readonly link: string | undefined
  readonly isDeleted: boolean
  readonly isCenter: boolean
  readonly column: number
  readonly row: number
}

/** An object with its owners and dependants, in columns from owners to dependants. */
export type Graph = ReturnType<typeof graphOf>

interface GraphOptions {
  /** Maximum columns of dependants. */
  readonly depthMax: number
  /** Maximum number of boxes. */
  readonly boxesMax: number
}

/** Lays out the graph around an object. `others` are possible dependants; `owners` are in the order of its references. */
export function graphOf(center: Owned, owners: readonly Owned[], others: readonly Owned[], { depthMax, boxesMax }: GraphOptions) {
  const byOwner = new Map<string, Owned[]>()
  for (const other of others) {
    for (const { uid } of other.metadata.ownerReferences ?? []) {
      const owned = byOwner.get(uid)
      if (owned === undefined) byOwner.set(uid, [other])
      else owned.push(other)
    }
  }
  const boxes: GraphBox[] = []
  const lines: [number, number][] = []
  const first = owners.length > 0 ? 1 : 0
  let [left, row] = [0, 0]
  const seen = new Set<string>()
  const place = (owned: Owned, column: number): number => {
    const number = boxes.length
    const { name, uid = '', deletionTimestamp } = owned.metadata
    seen.add(uid)
    const box = { kind: owned.kind, name, link: owned.link, isDeleted: deletionTimestamp !== undefined, isCenter: owned === center }
    boxes.push({ ...box, column, row })
    const below = column - first < depthMax ? (byOwner.get(uid) ?? []).filter((one) => !seen.has(one.metadata.uid ?? '')) : []
    below.forEach((one, index) => {
      if (boxes.length >= boxesMax) left += 1
      else {
        if (index > 0) row += 1
        lines.push([number, place(one, column + 1)])
      }
    })
    return number
  }
  const middle = place(center, first)
  owners.forEach((owner, index) => {
    const { name } = owner.metadata
    boxes.push({ kind: owner.kind, name, link: owner.link, isDeleted: false, isCenter: false, column: 0, row: index })
    lines.push([boxes.length - 1, middle])
  })
  return {
    boxes,
    /** Lines between boxes, by index, from owner to dependant. */
    lines,
    columns: Math.max(...boxes.map(({ column }) => column)) + 1,
    rows: Math.max(row, owners.length - 1) + 1,
    /** Number of omitted dependants. */
    left,
  }
}

/** The managers of a finalizer, from `managedFields`. */
export function finalizerManagers({ metadata }: KubeObject, finalizer: string): string[] {
  const element = `v:${JSON.stringify(finalizer)}`
  const entries = metadata.managedFields ?? []
  const found = entries.filter(({ fieldsV1 }) => fieldsV1?.['f:metadata']?.['f:finalizers']?.[element] !== undefined)
  return [...new Set(found.map(({ manager = '' }) => manager))]
}
