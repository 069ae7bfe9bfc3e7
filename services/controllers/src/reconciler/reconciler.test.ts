import { createClient } from '@orch/client'
import { type ApiObject, alreadyExists, conflict, forbidden, notFound, StatusError } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import { createMetrics, type Log, silentLog, workqueueMetricsOf } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { SharedInformers } from '../informers/shared-informers.ts'
import { type ReconcilerSpec, reconciler } from './reconciler.ts'
import { mapped, own, ownedBy } from './watches.ts'
import { type Action, done, type Result, requeueAfter, type World } from './world.ts'

const settled = async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** A server with collections in memory, whose watches send each change. */
function aServer(objects: Record<string, ApiObject[]> = {}) {
  const watches = new Map<string, ((line: object) => void)[]>()
  const asked: string[] = []
  let revision = 10
  const change = (plural: string, type: 'ADDED' | 'MODIFIED' | 'DELETED', object: ApiObject) => {
    const changed = { ...object, metadata: { ...object.metadata, resourceVersion: String(++revision) } }
    for (const tell of watches.get(plural) ?? []) tell({ type, object: changed })
    return changed
  }
  async function* changesOf(plural: string, signal: AbortSignal | undefined) {
    const waiting: object[] = []
    let wake = () => {}
    const tell = (line: object) => {
      waiting.push(line)
      wake()
    }
    watches.set(plural, [...(watches.get(plural) ?? []), tell])
    signal?.addEventListener('abort', () => wake())
    while (signal?.aborted !== true) {
      for (let line = waiting.shift(); line !== undefined; line = waiting.shift()) yield Buffer.from(`${JSON.stringify(line)}\n`)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  async function* bytesOf(value: unknown) {
    yield Buffer.from(JSON.stringify(value))
  }
  let answer = (_request: string, body: ApiObject | undefined): object => ({
    ...body,
    metadata: { ...body?.metadata, resourceVersion: String(++revision) },
  })
  const client = createClient({
    async send({ method, path, body, signal }) {
      const url = new URL(path, 'http://server')
      const plural = url.pathname.split('/').at(-1) ?? ''
      if (url.searchParams.has('watch')) return { status: 200, headers: {}, body: changesOf(plural, signal) }
      asked.push(`${method} ${url.pathname}`)
      if (method === 'GET') {
        const items = objects[plural] ?? []
        return { status: 200, headers: {}, body: bytesOf({ metadata: { resourceVersion: String(revision) }, items }) }
      }
      try {
        const value = answer(`${method} ${url.pathname}`, body === undefined ? undefined : (JSON.parse(String(body)) as ApiObject))
        return { status: 200, headers: {}, body: bytesOf(value) }
      } catch (error) {
        if (!(error instanceof StatusError)) throw error
        return { status: error.code, headers: {}, body: bytesOf(error.status) }
      }
    },
    close() {},
  })
  return {
    client,
    change,
    /** Ends the watches of a collection with 410, so that it is listed again. */
    expire(plural: string) {
      const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' }
      for (const tell of watches.get(plural) ?? []) tell({ type: 'ERROR', object: status })
    },
    asked,
    /** Write requests, without those of events. */
    writes: () => asked.filter((request) => !request.startsWith('GET') && !request.endsWith('/events')),
    answers(next: typeof answer) {
      answer = next
    },
  }
}

const named = (name: string, rest: object = {}): ApiObject => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name, namespace: 'a', uid: `uid-${name}`, resourceVersion: '1', ...rest },
})
const controlledBy = (name: string) => ({
  ownerReferences: [{ apiVersion: 'v1', kind: 'Thing', name, uid: `uid-${name}`, controller: true }],
})

/** Runs a reconciler with a server until the test has ended, with caches of its own unless they are given. */
async function run<T>(spec: ReconcilerSpec<T>, { client }: Pick<ReturnType<typeof aServer>, 'client'>, informers?: SharedInformers) {
  const ending = new AbortController()
  const clock = createFakeClock()
  const lines: string[] = []
  const log: Log = { ...silentLog, debug: () => void lines.push('debug'), warn: () => void lines.push('warn') }
  const metrics = createMetrics({ process: false })
  const context = {
    client,
    names: namesOf('orch'),
    clock,
    random: () => 0,
    log,
    queues: workqueueMetricsOf(metrics, clock),
    signal: ending.signal,
    ...(informers !== undefined && { informers }),
  }
  const running = reconciler('namespace', () => spec).run(context)
  onTestFinished(async () => {
    ending.abort()
    await running
  })
  await settled()
  return { clock, lines, metrics, context }
}

/** Ends a pass that only records something. */
function note<V>(list: V[], value: V): Result {
  list.push(value)
  return done
}

const things = own<ApiObject>('v1', 'things')

describe('the reconciler', () => {
  test('starts passes when all caches are filled, one for each object', async () => {
    const others = mapped('v1', 'others', () => ['a/x', 'a/y'])
    const passes: string[] = []
    const server = aServer({ things: [named('x'), named('y')], others: [named('o')] })
    await run<ApiObject>(
      {
        watches: [things, others],
        reconcile: async ({ key, object, world }) => {
          passes.push(`${key} ${object.metadata.uid} beside ${[...world.read(others).values()].length}`)
          return done
        },
      },
      server,
    )
    expect(passes).toEqual(['a/x uid-x beside 1', 'a/y uid-y beside 1'])
  })

  test('works on 16 objects at once, or on as many as its table says', async () => {
    const objects = Array.from({ length: 40 }, (_, index) => named(`x${index}`))
    const begunOf = async (limit: { readonly workersMax?: number }) => {
      const begun: string[] = []
      const finished = Promise.withResolvers<Result>()
      await run<ApiObject>(
        {
          watches: [things],
          ...limit,
          reconcile: ({ key }) => {
            note(begun, key)
            return finished.promise
          },
        },
        aServer({ things: objects }),
      )
      const count = begun.length
      finished.resolve(done)
      await settled()
      return [count, begun.length]
    }
    expect(await begunOf({})).toEqual([16, 40])
    expect(await begunOf({ workersMax: 1 })).toEqual([1, 40])
  })

  test('runs one last pass for a deleted object, with its last state', async () => {
    const passes: string[] = []
    const server = aServer({ things: [named('x')] })
    await run<ApiObject>(
      {
        watches: [things],
        reconcile: async ({ key }) => note(passes, key),
        absent: async ({ key, last }) => note(passes, `${key} is gone, was ${last?.metadata.uid}`),
      },
      server,
    )
    server.change('things', 'DELETED', named('x'))
    await settled()
    expect(passes).toEqual(['a/x', 'a/x is gone, was uid-x'])
  })

  test('enqueues the owner of a changed object by uid, and both owners when the object changes owners', async () => {
    const passes: string[] = []
    const server = aServer({ things: [named('x'), named('y')] })
    await run<ApiObject>({ watches: [things, ownedBy('v1', 'parts')], reconcile: async ({ key }) => note(passes, key) }, server)
    passes.length = 0
    server.change('parts', 'ADDED', named('p', controlledBy('x')))
    await settled()
    server.change('parts', 'MODIFIED', named('p', controlledBy('y')))
    await settled()
    const stranger = { ownerReferences: [{ apiVersion: 'v1', kind: 'Other', name: 'x', uid: 'uid-other', controller: true }] }
    server.change('parts', 'ADDED', named('q', stranger))
    await settled()
    expect(passes).toEqual(['a/x', 'a/y', 'a/x'])
  })

  test('starts a lazy watch with the first object that needs it', async () => {
    const server = aServer()
    const parts = ownedBy('v1', 'parts', { isLazy: true })
    const seen: number[] = []
    await run<ApiObject>(
      { watches: [things, parts], reconcile: async ({ world }) => note(seen, [...world.read(parts).values()].length) },
      server,
    )
    expect(server.asked).toEqual(['GET /api/v1/things'])
    server.change('things', 'ADDED', named('x'))
    await settled()
    expect([server.asked, seen]).toEqual([['GET /api/v1/things', 'GET /api/v1/parts'], [0]])
  })

  test.each([false, true])('maps the objects of a filled shared cache with all other caches open (lazy watches: %s)', async (isLazy) => {
    const server = aServer({ things: [named('x')], nodes: [named('n')], parts: [named('p')] })
    const { context } = await run<ApiObject>({ watches: [mapped('v1', 'nodes', () => [])], reconcile: async () => done }, server)
    const ending = new AbortController()
    const informers = new SharedInformers({ ...context, signal: ending.signal })
    const shared = { watches: [mapped('v1', 'nodes', () => []), own('v1', 'things')], reconcile: async () => done }
    await run<ApiObject>(shared, server, informers)
    const read: number[] = []
    const parts = ownedBy('v1', 'parts', { isLazy })
    const nodes = mapped('v1', 'nodes', (_, caches) => note(read, [...caches.read(parts).values()].length) && [], { isLazy })
    const passes: string[] = []
    await run<ApiObject>({ watches: [things, nodes, parts], reconcile: async ({ key }) => note(passes, key) }, server, informers)
    ending.abort()
    expect([passes, read]).toEqual([['a/x'], [0]])
  })

  test('repeats a pass after the delay that the pass requests', async () => {
    let passes = 0
    const { clock } = await run<ApiObject>(
      { watches: [things], reconcile: async () => (++passes < 3 ? requeueAfter(1_000) : done) },
      aServer({ things: [named('x')] }),
    )
    clock.advance(999)
    await settled()
    expect(passes).toBe(1)
    for (const byMs of [1, 1_000, 1_000]) {
      clock.advance(byMs)
      await settled()
    }
    expect([passes, clock.pendingTimers]).toEqual([3, 0])
  })

  test('WL-COMMON-07: retries and counts a failure, warns from the fourth in a row at each doubling, and treats a conflict as no failure', async () => {
    const failures = [...Array.from({ length: 9 }, () => new Error('no disk')), conflict({ group: '', resource: 'things' }, 'x', 'changed')]
    const { clock, lines, metrics } = await run<ApiObject>(
      {
        watches: [things],
        reconcile: async () => {
          const failure = failures.shift()
          if (failure !== undefined) throw failure
          return done
        },
      },
      aServer({ things: [named('x')] }),
    )
    for (let turn = 0; turn < 11; turn++) {
      clock.advance(10_000)
      await settled()
    }
    expect(lines.map((line) => line === 'warn')).toEqual([false, false, false, true, false, false, false, true, false, false])
    expect(await metrics.text()).toMatch(/^workqueue_retries_total\{name="namespace"\} 10$/m)
  })
})

describe('the world of a pass', () => {
  const parts = ownedBy('v1', 'parts')
  const create = (name: string): Action => ({ kind: 'create', in: parts, object: named(name, controlledBy('x')) })

  test('WL-COMMON-21: a pass knows that its creations are not visible yet, until the watch has shown them or five minutes are over', async () => {
    const pending: boolean[] = []
    let actions: Action[] = ['p', 'q'].map(create)
    const server = aServer({ things: [named('x')] })
    const { clock } = await run<ApiObject>(
      {
        watches: [things, parts],
        reconcile: async ({ world }) => {
          pending.push(world.isPending)
          await world.perform(actions)
          actions = []
          return done
        },
      },
      server,
    )
    server.change('parts', 'ADDED', named('p', controlledBy('x')))
    await settled()
    server.change('parts', 'ADDED', named('q', controlledBy('x')))
    await settled()
    expect(pending).toEqual([false, true, false])
    actions = [{ kind: 'delete', in: parts, object: named('p') }]
    server.change('things', 'MODIFIED', named('x'))
    await settled()
    server.change('things', 'MODIFIED', named('x'))
    await settled()
    expect(pending.slice(3)).toEqual([false, true])
    // The event is lost: a pass is due by time.
    clock.advance(300_000)
    await settled()
    expect(pending.slice(5)).toEqual([false])
  })

  test('WL-COMMON-21: an object that replaces another of the same name does not wait for the creations of the other', async () => {
    const pending: boolean[] = []
    const replaced = Promise.withResolvers<void>()
    const actions = [create('p')]
    const server = aServer({ things: [named('x')] })
    const reconcile = async ({ world }: { readonly world: World }) => {
      pending.push(world.isPending)
      await world.perform(actions.splice(0))
      await replaced.promise
      return done
    }
    await run<ApiObject>({ watches: [things, parts], reconcile }, server)
    server.change('things', 'DELETED', named('x'))
    server.change('things', 'ADDED', named('x', { uid: 'uid-of-another' }))
    await settled()
    replaced.resolve()
    await settled()
    expect(pending).toEqual([false, false])
  })

  test('passes run again when a collection of mapped objects is listed again, since a created object may have gone without an event', async () => {
    const passes: string[] = []
    const server = aServer({ things: [named('x'), named('y')] })
    await run<ApiObject>({ watches: [things, mapped('v1', 'others', () => [])], reconcile: async ({ key }) => note(passes, key) }, server)
    server.expire('others')
    await settled()
    expect(passes).toEqual(['a/x', 'a/y', 'a/x', 'a/y'])
  })

  test('a created object that is deleted while its collection is listed again is no longer expected', async () => {
    const pending: boolean[] = []
    const actions: Action[] = [create('p')]
    const server = aServer({ things: [named('x')] })
    const reconcile = async ({ world }: { readonly world: World }) => {
      pending.push(world.isPending)
      await world.perform(actions.splice(0))
      pending.push(world.isPending)
      return done
    }
    await run<ApiObject>({ watches: [things, parts], reconcile }, server)
    server.expire('parts')
    await settled()
    expect(pending).toEqual([false, true, false, false])
  })

  test('WL-COMMON-21: objects that are created while their collection is listed again are expected', async () => {
    const pending: boolean[] = []
    const actions = ['p', 'q', 'r'].map(create)
    const server = aServer({ things: [named('x')] })
    server.answers((_request, body) => {
      if (body?.metadata.name === 'p') server.expire('parts')
      return { ...body, metadata: { ...body?.metadata, resourceVersion: '11' } }
    })
    const reconcile = async ({ world }: { readonly world: World }) => {
      pending.push(world.isPending)
      await world.perform(actions.splice(0))
      return done
    }
    await run<ApiObject>({ watches: [things, parts], reconcile }, server)
    server.change('things', 'MODIFIED', named('x'))
    await settled()
    expect([server.asked.filter((request) => request.startsWith('GET') && request.endsWith('/parts')).length, pending]).toEqual([
      2,
      [false, true],
    ])
    for (const name of ['p', 'q', 'r']) server.change('parts', 'ADDED', named(name, controlledBy('x')))
    await settled()
    expect(pending.at(-1)).toBe(false)
  })

  test('WL-COMMON-22: an expected deletion is fulfilled when the deletion begins', async () => {
    const pending: boolean[] = []
    let actions: Action[] = [{ kind: 'delete', in: parts, object: named('p') }]
    const server = aServer({ things: [named('x')], parts: [named('p', controlledBy('x'))] })
    await run<ApiObject>(
      {
        watches: [things, parts],
        reconcile: async ({ world }) => {
          pending.push(world.isPending)
          await world.perform(actions)
          actions = []
          return done
        },
      },
      server,
    )
    server.change('parts', 'MODIFIED', named('p', { ...controlledBy('x'), deletionTimestamp: '2026-01-01T00:00:00Z' }))
    await settled()
    expect(pending).toEqual([false, false])
  })

  test('WL-COMMON-08: creations refused because the object exists or its namespace terminates are neither errors nor expected', async () => {
    const outcomes: unknown[] = []
    const server = aServer({ things: [named('x')] })
    const refusals = [alreadyExists({ group: '', resource: 'parts' }, 'p'), notFound({ group: '', resource: 'namespaces' }, 'a')]
    server.answers(() => {
      throw refusals.shift()
    })
    await run<ApiObject>(
      {
        watches: [things, parts],
        reconcile: async ({ world }) => {
          await world.perform([create('p'), create('q')])
          return note(outcomes, world.isPending)
        },
      },
      server,
    )
    expect(outcomes).toEqual([false])
  })

  test('WL-COMMON-08: a creation with a generated name that exists is an error, as no event follows', async () => {
    const results: unknown[] = []
    const server = aServer({ things: [named('x')] })
    server.answers(() => {
      throw alreadyExists({ group: '', resource: 'parts' }, 'p-abcde')
    })
    const part = create('p')
    const generated: Action = { ...part, object: { ...part.object, metadata: { namespace: 'a', generateName: 'p-' } } }
    await run<ApiObject>(
      {
        watches: [things, parts],
        reconcile: async ({ world }) => {
          await expect(world.perform([generated])).rejects.toThrow('already exists')
          return note(results, world.isPending)
        },
      },
      server,
    )
    expect(results).toEqual([false])
  })

  test('WL-COMMON-23: creations stop after the batch with the first refusal, and the rest is not expected', async () => {
    const refused: string[] = []
    const results: unknown[] = []
    const server = aServer({ things: [named('x')] })
    server.answers(() => {
      throw forbidden({ group: '', resource: 'parts' }, 'p', 'exceeded quota')
    })
    await run<ApiObject>(
      {
        watches: [things, parts],
        reconcile: async ({ world }) => {
          const actions = ['p', 'q', 'r'].map((name): Action => ({ ...create(name), refused: (message) => void refused.push(message) }))
          const last: Action = { kind: 'delete', in: parts, object: named('z') }
          await expect(world.perform([...actions, last])).rejects.toThrow('exceeded quota')
          return note(results, world.isPending)
        },
      },
      server,
    )
    expect([server.writes(), refused.length, results]).toEqual([['POST /api/v1/namespaces/a/parts'], 1, [false]])
  })

  test('WL-COMMON-08, WL-SA-04: creations stop after the batch in which the namespace turned out to be terminating, without a failure', async () => {
    const [refused, results]: [string[], unknown[]] = [[], []]
    const server = aServer({ things: [named('x')] })
    server.answers(() => {
      const error = forbidden({ group: '', resource: 'parts' }, 'p', 'namespace a is being terminated')
      const causes = [{ reason: 'NamespaceTerminating', message: 'namespace a is being terminated', field: 'metadata.namespace' }]
      throw new StatusError({ ...error.status, details: { ...error.status.details, causes } })
    })
    await run<ApiObject>(
      {
        watches: [things, parts],
        reconcile: async ({ world }) => {
          await world.perform(
            ['p', 'q', 'r'].map((name): Action => ({ ...create(name), refused: (message) => void refused.push(message) })),
          )
          return note(results, world.isPending)
        },
      },
      server,
    )
    expect([server.writes(), refused, results]).toEqual([['POST /api/v1/namespaces/a/parts'], [], [false]])
  })

  test('WL-COMMON-13: a status is written if it differs; WL-COMMON-07: a pass whose status met a conflict is repeated without an event', async () => {
    const server = aServer({ things: [{ ...named('x'), status: { ready: 1 } }] })
    const answers = [conflict({ group: '', resource: 'things' }, 'x', 'changed')]
    server.answers((_request, body) => {
      const refusal = answers.pop()
      if (refusal !== undefined) throw refusal
      return body ?? {}
    })
    const results: unknown[] = []
    const { clock } = await run<ApiObject>(
      {
        watches: [things],
        reconcile: async ({ object, world }) => {
          results.push(await world.writeStatus(object, { ready: 1 }), await world.writeStatus(object, { ready: 2 }))
          return done
        },
      },
      server,
    )
    clock.advance(1_000)
    await settled()
    expect(server.writes()).toEqual(Array(2).fill('PUT /api/v1/namespaces/a/things/x/status'))
    expect(results).toEqual([done, done])
  })
})
