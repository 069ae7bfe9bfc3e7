import type { StorageService, SubscribeRequest, WatchPart, WatchService } from '@orch/core/contracts'
import { describe, expect, test } from 'vitest'
import { aDelete, aPut, type StoredSample, shown, written } from './storage-suite.ts'

/** A storage service and the watch service that follows it. */
export interface WatchSuiteServices {
  readonly storage: StorageService
  readonly watch: WatchService
}

/** A subscription to everything, with the given parts. */
export function aSubscription(rest: Partial<SubscribeRequest> = {}): SubscribeRequest {
  const version = { group: '', version: 'v1', resource: 'configmaps', format: { kind: 'json' } } as const
  return { scope: { resource: 'core/configmaps' }, selection: { labels: [], fields: [] }, ...version, after: 0, epoch: '', ...rest }
}

/** Reads a subscription until it reaches a revision or ends: `TYPE name text`, `expired asked oldest`, `replaced`. */
async function watched(watch: WatchService, request: SubscribeRequest, until: number): Promise<string[]> {
  const lines: string[] = []
  for await (const part of watch.subscribe(request)) {
    lines.push(...printed(part))
    if (part.kind === 'events' && part.last >= until) return lines
    if (part.kind === 'position' && part.revision >= until) return lines
  }
  return lines
}

function printed(part: WatchPart): string[] {
  switch (part.kind) {
    case 'events':
      return new TextDecoder().decode(part.frames).trimEnd().split('\n').map(printedFrame)
    case 'position':
      return []
    case 'expired':
      return [`expired ${part.asked} ${part.oldest}`]
    case 'replaced':
      return ['replaced']
  }
}

function printedFrame(frame: string): string {
  const { type, object } = JSON.parse(frame)
  const { metadata, data } = shown(new TextEncoder().encode(JSON.stringify(object)))
  return `${type} ${metadata.name} ${data.text} ${metadata.resourceVersion}`
}

/** The contract of the watch service, for any transport between it and its callers. `open` gives services without objects. */
export function watchSuite(name: string, open: () => Promise<{ services: WatchSuiteServices; close: () => Promise<void> }>): void {
  const withServices = (body: (services: WatchSuiteServices) => Promise<void>) => async () => {
    const { services, close } = await open()
    try {
      await body(services)
    } finally {
      await close()
    }
  }
  /** Writes an object repeatedly and returns the revisions. */
  const history = async (storage: StorageService, samples: readonly StoredSample[]): Promise<number[]> => {
    const revisions: number[] = []
    for (const sample of samples) revisions.push(await written(storage, aPut(sample, { expected: revisions.at(-1) ?? 0 })))
    return revisions
  }
  const web = { labels: { app: 'web' } }
  const db = { labels: { app: 'db' } }
  const onlyWeb = { labels: [{ key: 'app', operator: 'In' as const, values: ['web'] }], fields: [] }

  describe(`watch: ${name}`, () => {
    test(
      'WATCH-04, WATCH-06, WATCH-21: creation, change and deletion are ADDED, MODIFIED and DELETED with the last state',
      withServices(async ({ storage, watch }) => {
        const { revision: start, epoch } = await storage.status({})
        const key = 'core/configmaps/default/a'
        const [first = 0, second = 0] = await history(storage, [
          { name: 'a', data: 'one' },
          { name: 'a', data: 'two' },
        ])
        const third = await written(storage, aDelete(key, second))
        expect(await watched(watch, aSubscription({ after: start, epoch }), third)).toEqual([
          `ADDED a one ${first}`,
          `MODIFIED a two ${second}`,
          `DELETED a two ${third}`,
        ])
      }),
    )

    test(
      'WATCH-18: a resumed subscription continues after its last event',
      withServices(async ({ storage, watch }) => {
        const [, second = 0, third = 0] = await history(
          storage,
          ['one', 'two', 'three'].map((data) => ({ name: 'a', data })),
        )
        expect(await watched(watch, aSubscription({ after: second }), third)).toEqual([`MODIFIED a three ${third}`])
      }),
    )

    test(
      'a write that is acknowledged while a subscription is open is delivered to it',
      withServices(async ({ storage, watch }) => {
        const { revision } = await storage.status({})
        const parts = watch.subscribe(aSubscription({ after: revision }))
        const wanted = await written(storage, aPut({ name: 'a', data: 'one' }))
        const lines: string[] = []
        for await (const part of parts) {
          lines.push(...printed(part))
          if (lines.length > 0) break
        }
        expect(lines).toEqual([`ADDED a one ${wanted}`])
      }),
    )

    test(
      'an object that enters a selection is ADDED, and one that leaves it is DELETED in its last state, at the revision of the change',
      withServices(async ({ storage, watch }) => {
        const { revision: start } = await storage.status({})
        const [, second = 0, third = 0] = await history(storage, [
          { name: 'a', data: 'one', ...db },
          { name: 'a', data: 'two', ...web },
          { name: 'a', data: 'three', ...db },
        ])
        const last = await written(storage, aPut({ name: 'b', data: 'end', ...web }))
        expect(await watched(watch, aSubscription({ after: start, selection: onlyWeb }), last)).toEqual([
          `ADDED a two ${second}`,
          `DELETED a two ${third}`,
          `ADDED b end ${last}`,
        ])
      }),
    )

    test(
      'WATCH-09: a quiet subscription receives its position',
      withServices(async ({ storage, watch }) => {
        const { revision } = await storage.status({})
        const scope = { resource: 'core/configmaps', namespace: 'elsewhere' }
        const parts = watch.subscribe(aSubscription({ after: revision, scope }))
        const last = await written(storage, aPut({ name: 'a' }))
        let reached = 0
        for await (const part of parts) {
          if (part.kind === 'position') reached = part.revision
          if (reached >= last) break
        }
        expect(reached).toBeGreaterThanOrEqual(last)
      }),
    )

    test(
      'a subscription of another epoch reports that the store was replaced',
      withServices(async ({ watch }) => {
        expect(await watched(watch, aSubscription({ epoch: 'another' }), 1)).toEqual(['replaced'])
      }),
    )
  })
}
