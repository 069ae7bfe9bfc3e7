import { createClient } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import { silentLog, sleep } from '@orch/platform'
import { createFakeClock, someQueueMetrics } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { type Controller, type Need, type StartControllersOptions, startControllers } from './controller.ts'
import { reconciler } from './reconciler/reconciler.ts'
import { mapped, own } from './reconciler/watches.ts'
import { done } from './reconciler/world.ts'

const settled = async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** Starts controllers beside a server with one object, with the clock of a test. */
function started(...controllers: readonly Controller<string>[]) {
  return startedWith({}, controllers)
}

function startedWith(options: Partial<StartControllersOptions<string>>, controllers: readonly Controller<string>[]) {
  const errors: unknown[] = []
  const log = { ...silentLog, error: ({ err }: Readonly<Record<string, unknown>>) => void errors.push(err), child: () => log }
  const ended = Promise.withResolvers<void>()
  async function* bytesOf(value: object) {
    yield Buffer.from(JSON.stringify(value))
  }
  async function* nothing() {
    await ended.promise
    yield* []
  }
  const items = [{ metadata: { name: 'n', uid: 'n', resourceVersion: '1' } }]
  const client = createClient({
    async send({ path }) {
      const body = path.includes('watch=') ? nothing() : bytesOf({ metadata: { resourceVersion: '1' }, items })
      return { status: 200, headers: {}, body }
    },
    close() {},
  })
  const clock = createFakeClock()
  const running = startControllers({
    controllers,
    clientFor: () => client,
    names: namesOf('orch'),
    clock: { ...clock, isVirtual: true },
    random: () => 0,
    log,
    queues: someQueueMetrics(),
    ...options,
  })
  onTestFinished(async () => {
    ended.resolve()
    await running.stop()
  })
  return { clock, errors }
}

test.each([
  ['rejects', () => Promise.reject(new Error('no'))],
  [
    'throws',
    () => {
      throw new Error('no')
    },
  ],
])('a controller that %s is logged and starts again after pauses that grow', async (_how, fail) => {
  const starts: number[] = []
  const failing: Controller<string> = {
    name: 'failing',
    run: ({ clock }) => {
      starts.push(clock.monotonic())
      return fail()
    },
  }
  const { clock, errors } = started(failing)
  for (let passed = 0; passed < 25; passed++) {
    await settled()
    clock.advance(100)
  }
  const [first = 0, ...others] = starts
  expect([others.slice(0, 3).map((ms) => ms - first), errors.length >= 4]).toEqual([[300, 900, 2100], true])
})

test('a controller that fails after a long run starts again after the first pause', async () => {
  const starts: number[] = []
  const lasting: Controller<string> = {
    name: 'lasting',
    async run({ clock, signal }) {
      starts.push(clock.monotonic())
      if (starts.length > 2) await sleep(clock, 31_000, signal)
      throw new Error('no')
    },
  }
  const { clock } = started(lasting)
  for (let passed = 0; passed < 400; passed++) {
    await settled()
    clock.advance(100)
  }
  const [, , third = 0, fourth] = starts
  expect(fourth).toBe(third + 31_000 + 300)
})

test('controllers run from the first change on, and a reconciler has no cache and no pass until it is needed', async () => {
  const needs: Need[] = []
  let runs = 0
  const needed = Promise.withResolvers<void>()
  const passes: string[] = []
  const things = own('v1', 'things')
  const lazy = mapped('v1', 'others', () => [], { isLazy: true })
  const controller = reconciler<ApiObject, string>('lazy', () => ({
    watches: [things, lazy],
    async reconcile({ key }) {
      passes.push(key)
      return done
    },
  }))
  const change = Promise.withResolvers<void>()
  const untilNeeded = (need: Need) => {
    needs.push(need)
    return need.kind === 'change' ? change.promise : needed.promise
  }
  startedWith({ untilNeeded }, [controller, { ...controller, name: 'other', run: async () => void runs++ }])
  await settled()
  expect([needs.splice(0), runs]).toEqual([[{ kind: 'change' }], 0])
  change.resolve()
  await settled()
  expect(runs).toBe(1)
  expect([needs, passes]).toEqual([[{ kind: 'objects', own: things.resource, watched: [things, lazy] }], []])
  needed.resolve()
  await settled()
  expect(passes).toEqual(['n'])
})

test('a controller whose mapping throws starts again, and others that share the cache get the event', async () => {
  const mappings: string[] = []
  const passes: string[] = []
  const mapping = (name: string, failures: number) =>
    reconciler<ApiObject, string>(name, () => ({
      watches: [
        mapped('v1', 'nodes', ({ object }) => {
          mappings.push(name)
          if (mappings.filter((one) => one === name).length <= failures) throw new Error('no')
          return [object.metadata.name ?? '']
        }),
      ],
      reconcile: async ({ key }) => {
        passes.push(`${name} ${key}`)
        return done
      },
    }))
  const { clock, errors } = started(mapping('failing', 1), mapping('other', 0))
  await settled()
  expect([mappings, passes, errors]).toEqual([['failing', 'other'], ['other n'], [new Error('no')]])
  clock.advance(1_000)
  await settled()
  expect([mappings, passes]).toEqual([
    ['failing', 'other', 'failing'],
    ['other n', 'failing n'],
  ])
})
