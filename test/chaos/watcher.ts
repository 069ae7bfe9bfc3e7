import type { Client } from '@orch/client'
import { type ApiList, StatusError } from '@orch/core/meta'
import { sleep, systemClock } from '@orch/platform'
import type { Step } from '../watch/checker.ts'
import { type ChaosObject, configMaps, namespace } from './load.ts'

export interface WatcherOptions {
  /** The watcher uses the first client first, and the next client when a stream has ended. */
  readonly clients: readonly Client[]
  /** The label of the selected objects; undefined: all objects. */
  readonly app: string | undefined
  /** The newest revision that any client has received. */
  readonly acknowledged: () => number
}

/** Lists once, and then watches until it is stopped; resumes when a stream ends. */
export type Watcher = Awaited<ReturnType<typeof openWatcher>>

const retryMs = 50

/** Lists, and begins to watch. */
export async function openWatcher({ clients, app, acknowledged }: WatcherOptions) {
  const selection = { namespace, ...(app === undefined ? {} : { labelSelector: `app=${app}` }) }
  const before = acknowledged()
  const list = await listOf(clients, selection)
  const listRevision = Number(list.metadata.resourceVersion)
  const steps: Step[] = []
  const ending = new AbortController()
  let reached = listRevision
  let events = 0
  let resumed = -1
  let at = 0
  let failure: string | undefined
  let heardMs = performance.now()
  const follow = async (client: Client) => {
    const resourceVersion = String(reached)
    const stream = await client
      .resource<ChaosObject>(configMaps)
      .watch({ ...selection, resourceVersion, allowWatchBookmarks: true, signal: ending.signal })
    resumed += 1
    for await (const { type, object } of stream) {
      const revision = Number(object.metadata.resourceVersion)
      heardMs = performance.now()
      reached = Math.max(reached, revision)
      if (type === 'BOOKMARK') steps.push({ kind: 'position', revision })
      else {
        events += 1
        steps.push({ kind: 'event', type, key: object.metadata.name ?? '', revision, text: object.data?.text ?? '' })
      }
    }
  }
  const running = (async () => {
    for (let attempt = 0; !ending.signal.aborted && failure === undefined; attempt += 1) {
      at = attempt % clients.length
      try {
        await follow(clients[at] as Client)
      } catch (error) {
        if (error instanceof StatusError && error.code === 410) failure = error.message
      }
      if (!ending.signal.aborted) await sleep(systemClock, retryMs, ending.signal)
    }
  })()
  return {
    observation: { app, acknowledged: before, listRevision, listed: textsOf(list), steps },
    /** The newest revision that the watcher has received. */
    get reached() {
      return reached
    },
    get events() {
      return events
    },
    /** The index of the client that the watcher uses. */
    get at() {
      return at
    },
    /** The number of streams that ended and that the watcher resumed at its last revision. */
    get resumed() {
      return Math.max(0, resumed)
    },
    /** The reason why the watch ended too early. */
    get failure() {
      return failure
    },
    /** The time of the last event. */
    get heardMs() {
      return heardMs
    },
    async stop() {
      ending.abort()
      await running
    },
  }
}

async function listOf(clients: readonly Client[], selection: { namespace: string; labelSelector?: string }): Promise<ApiList<ChaosObject>> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await (clients[attempt % clients.length] as Client).resource<ChaosObject>(configMaps).list(selection)
    } catch (error) {
      if (attempt > 100) throw error
      await sleep(systemClock, retryMs)
    }
  }
}

/** Texts by name. */
export function textsOf({ items }: ApiList<ChaosObject>): ReadonlyMap<string, string> {
  return new Map(items.map(({ metadata, data }) => [metadata.name ?? '', data?.text ?? '']))
}
