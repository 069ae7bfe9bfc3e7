import type { LoggedRequest } from '@orch/core/contracts'
import { ask, serverFacts } from './api.ts'
import { type Change, readTimeline } from './timeline.ts'

/** The contents of an exported file. */
export interface Exported {
  readonly product: string
  readonly profile: string
  readonly time: string
  readonly revision: number
  /** Oldest first, as are the changes. */
  readonly requests: readonly LoggedRequest[]
  readonly changes: readonly Change[]
  /** Changes that had no room. */
  readonly left: number
}

const pageSize = 500
/** Changes of a file: as many as that of a failed test has. */
const changesMax = 20_000
/** Characters of the changes of a file. */
const charactersMax = 32 * 1024 * 1024

/** Reads what a file has: the changes of a namespace and a kind, newest first until there is no room, and the log of requests. */
export async function readExported(query: Readonly<Record<string, string>>, upTo: string): Promise<Exported> {
  const changes: Change[] = []
  let [before, characters, revision, hasMore] = [upTo === '' ? '' : String(Number(upTo) + 1), 0, 0, true]
  while (hasMore && changes.length < changesMax && characters < charactersMax) {
    const page = await readTimeline({ ...query, before, values: 'redacted', limit: String(pageSize) })
    revision ||= Number(upTo || page.revision)
    for (const change of page.items) {
      characters += JSON.stringify(change).length
      changes.push(change)
    }
    before = page.next ?? ''
    hasMore = page.next !== undefined
  }
  const { items } = await ask<{ items: readonly LoggedRequest[] }>('/orch/v1/requests?last=10000').catch(() => ({ items: [] }))
  const { profile } = serverFacts()
  const time = new Date().toISOString()
  return { product: 'the console', profile, time, revision, requests: items, changes: changes.reverse(), left: hasMore ? 1 : 0 }
}

/** The lines of a trace file (docs/reference/trace.md). Its objects are the last states of those that changed. */
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

/** Gives a file to the browser, compressed. */
export async function saveTrace(lines: readonly string[], name: string): Promise<void> {
  const packed = new Blob([`${lines.join('\n')}\n`]).stream().pipeThrough(new CompressionStream('gzip'))
  const url = URL.createObjectURL(await new Response(packed).blob())
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
