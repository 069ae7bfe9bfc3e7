import type { Client } from '@orch/client'
import { type ApiObject, StatusError } from '@orch/core/meta'
import { sleep, systemClock } from '@orch/platform'
import type { Operation, Outcome, Request } from './operation.ts'
import { createRandom, pick } from './random.ts'

/** The namespace of the run's objects. */
export const namespace = 'chaos'
export const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true } as const

/** An object in the form that the run writes. */
export interface ChaosObject extends ApiObject {
  readonly data?: { readonly text?: string }
}

export interface LoadOptions {
  readonly clients: readonly Client[]
  /** The seed of each writer's requests. */
  readonly seed: number
  /** Number of concurrent writers. */
  readonly writers: number
  /** The number of objects that the writers share. */
  readonly keys: number
  /** The pause of a writer after each request. */
  readonly pauseMs: number
}

/** The longest wait of a client for an answer. After it, the outcome is unknown. */
const answerMsMax = 15_000

/** Begins to write. */
export function startLoad({ clients, seed, writers, keys, pauseMs }: LoadOptions) {
  const operations: Operation[] = []
  const answered: number[] = []
  let inFlight = 0
  let acknowledged = 0
  let isOver = false
  let count = 0
  const work = async (writer: number) => {
    const random = createRandom(seed + writer)
    const known = new Map<string, number>()
    while (!isOver) {
      const key = `n${Math.floor(random() * keys)}`
      const request = nextRequest({ random, known: known.get(key), token: `t${++count}` })
      const resource = pick(random, clients).resource<ChaosObject>(configMaps)
      const app = random() < 0.5 ? 'web' : 'db'
      inFlight += 1
      const begunMs = performance.now()
      const outcome = await outcomeOf(request, () => send({ resource, key, app, request }))
      const endedMs = performance.now()
      inFlight -= 1
      operations.push({ key, request, outcome, begunMs, endedMs })
      if (outcome.kind === 'done' || outcome.kind === 'found') {
        known.set(key, outcome.revision)
        acknowledged = Math.max(acknowledged, outcome.revision)
      } else if (outcome.kind === 'absent') known.set(key, 0)
      else known.delete(key)
      if (outcome.kind !== 'refused' && outcome.kind !== 'unknown') answered.push(endedMs)
      else await sleep(systemClock, 20)
      if (pauseMs > 0) await sleep(systemClock, pauseMs)
    }
  }
  const working = Array.from({ length: writers }, (_, writer) => work(writer))
  return {
    operations,
    /** Times of the answers that were neither refusals nor unknown, by the monotonic clock. */
    answered,
    get inFlight() {
      return inFlight
    },
    /** The newest acknowledged revision. */
    get acknowledged() {
      return acknowledged
    },
    async stop() {
      isOver = true
      await Promise.all(working)
    },
  }
}

/** The last revision of an object that a client received; 0 for an absent object. */
type Known = number | undefined

/** A client mostly updates objects that it knows and creates absent objects; otherwise it guesses a revision or reads. */
function nextRequest({ random, known, token }: { random: () => number; known: Known; token: string }): Request {
  const dice = random()
  if (dice < 0.04) return { kind: 'create', token }
  if (dice < 0.2) return { kind: 'patch', token }
  if (dice < 0.26) return { kind: 'delete', expected: dice < 0.23 ? (known ?? 0) : 0 }
  if (dice < 0.4 || known === undefined) return { kind: 'read' }
  return known === 0 ? { kind: 'create', token } : { kind: 'update', token, expected: known }
}

interface Sending {
  readonly resource: ReturnType<Client['resource']>
  readonly key: string
  readonly app: string
  readonly request: Request
}

async function send({ resource, key, app, request }: Sending): Promise<Outcome> {
  const signal = AbortSignal.timeout(answerMsMax)
  const metadata = { name: key, namespace, labels: { app } }
  const object = (token: string, resourceVersion?: string): ChaosObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...metadata, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
    data: { text: token },
  })
  const done = ({ metadata: { resourceVersion } }: ApiObject): Outcome => ({ kind: 'done', revision: Number(resourceVersion) })
  switch (request.kind) {
    case 'create':
      return done(await resource.create(object(request.token), { signal }))
    case 'update':
      return done(await resource.update(object(request.token, String(request.expected)), { signal }))
    case 'patch': {
      const patch = { metadata: { labels: { app } }, data: { text: request.token } }
      return done(await resource.patch(key, patch, { type: 'merge', namespace, signal }))
    }
    case 'delete': {
      const preconditions = request.expected === 0 ? undefined : { preconditions: { resourceVersion: String(request.expected) } }
      await resource.delete(key, { namespace, signal }, preconditions)
      return { kind: 'done', revision: 0 }
    }
    case 'read': {
      const found = (await resource.get(key, { namespace, signal })) as ChaosObject
      return { kind: 'found', revision: Number(found.metadata.resourceVersion), token: found.data?.text ?? '' }
    }
  }
}

/** The outcome of a failed request: 409 and 404 are answers, a refusal had no effect, and after any other error the effect is unknown. */
async function outcomeOf(request: Request, sent: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await sent()
  } catch (error) {
    if (!(error instanceof StatusError)) {
      const { code = '', name, message } = error as NodeJS.ErrnoException
      const why = `${code === '' ? name : code} ${message}`
      return code === 'ECONNREFUSED' ? { kind: 'refused', why } : { kind: 'unknown', why }
    }
    if (error.code === 404) return { kind: 'absent' }
    if (error.code === 409) return { kind: 'conflict' }
    const why = `${error.code} ${error.message}`
    if (error.code === 429 || error.code === 503 || (error.code >= 400 && error.code < 500)) return { kind: 'refused', why }
    return request.kind === 'read' ? { kind: 'refused', why } : { kind: 'unknown', why }
  }
}
