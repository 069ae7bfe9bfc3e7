import type { LoggedRequest } from '@orch/core/contracts'
import type { Change } from './change.ts'

/** Contents of a file to export. */
export interface Exported {
  readonly product: string
  readonly profile: string
  readonly time: string
  readonly revision: number
  /** Oldest first, like the changes. */
  readonly requests: readonly LoggedRequest[]
  readonly changes: readonly Change[]
  /** Number of omitted changes. */
  readonly left: number
}

/** The lines of a trace file (docs/reference/trace.md). Its objects are the last states of the changed objects. */
export function traceLines({ product, profile, time, revision, requests, changes, left }: Exported): string[] {
  const objects = new Map<string, unknown>()
  for (const { resource, namespace = '', name, after } of changes) {
    const key = `${resource} ${namespace}/${name}`
    if (after === undefined) objects.delete(key)
    else objects.set(key, after)
  }
  return [
    { kind: 'Trace', format: 1, product, profile, time, revision },
    ...requests.map((request) => ({ ...request, kind: 'Request' })),
    ...changes.map((change) => ({ ...change, kind: 'Change', objectKind: change.kind, revision: Number(change.revision) })),
    ...[...objects.values()].map((object) => ({ kind: 'Object', object })),
    { kind: 'End', left: { changes: left, objects: 0 } },
  ].map((line) => JSON.stringify(line))
}
