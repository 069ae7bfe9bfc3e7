import type { LoggedRequest } from '@orch/core/contracts'
import { ask, serverFacts } from './api.ts'
import type { Change } from './change.ts'
import { readTimeline } from './timeline.ts'
import type { Exported } from './trace-lines.ts'

const pageSize = 500
/** Maximum changes in a file, as in the trace of a failed test. */
const changesMax = 20_000
/** Maximum characters of the changes in a file. */
const charactersMax = 32 * 1024 * 1024

/** Reads the contents of a trace file: the newest changes of a namespace and a kind, up to the limits, and the request log. */
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

/** Downloads a compressed file to the user. */
export async function saveTrace(lines: readonly string[], name: string): Promise<void> {
  const packed = new Blob([`${lines.join('\n')}\n`]).stream().pipeThrough(new CompressionStream('gzip'))
  const url = URL.createObjectURL(await new Response(packed).blob())
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
