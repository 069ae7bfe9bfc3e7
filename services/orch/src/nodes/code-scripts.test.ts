import { createServer } from 'node:net'
import type { ApiObject } from '@orch/core/meta'
import { virtualClock } from '@orch/platform'
import { expect, onTestFinished, test } from 'vitest'
import { start } from '../start/start.ts'

interface ContainerStatus {
  readonly ready: boolean
  readonly restartCount: number
  readonly state: { readonly terminated?: { readonly exitCode: number; readonly reason: string; readonly message?: string } }
}

interface Pod extends ApiObject {
  readonly spec?: object
  readonly status?: { readonly phase: string; readonly containerStatuses: readonly [ContainerStatus] }
}

const namespace = 'default'

async function aServer() {
  const clock = virtualClock({ start: new Date('2030-01-01T00:00:00Z') })
  const server = await start({ nodes: 1, clock, seed: 7, controllers: ['namespace'] })
  onTestFinished(() => server.stop())
  const settled = () => server.settled({ within: 60_000 })
  const pods = server.client.resource<Pod>({ group: '', version: 'v1', plural: 'pods', namespaced: true })
  const create = async (name: string, spec: object = {}, metadata: object = {}) => {
    await pods.create({
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, labels: { app: name }, ...metadata } },
      spec: { nodeName: 'node-1', restartPolicy: 'Never', containers: [{ name: 'main', image: 'img:1' }], ...spec },
    })
    await settled()
  }
  const read = async (name: string) => {
    const { status } = await pods.get(name, { namespace })
    const [{ ready, restartCount, state }] = status?.containerStatuses ?? [{ ready: false, restartCount: 0, state: {} }]
    const { exitCode, reason, message } = state.terminated ?? {}
    return { phase: status?.phase, ready, restarts: restartCount, exitCode, reason, message }
  }
  await settled()
  return { server, clock, settled, pods, create, read }
}

test('the signal of a run is raised when a failed probe restarts its container', async () => {
  const { server, clock, create, read } = await aServer()
  const signals: AbortSignal[] = []
  server.nodes.script({ name: 'sick' }, (c) => {
    c.onStart(async (run) => {
      signals.push(run.signal)
      await run.sleep('1h')
    })
  })
  const livenessProbe = { tcpSocket: { port: 80 }, periodSeconds: 1, failureThreshold: 1 }
  const metadata = { annotations: { 'simulation.orch.io/liveness': '5s:fail' } }
  await create('sick', { restartPolicy: 'Always', containers: [{ name: 'main', image: 'img:1', livenessProbe }] }, metadata)
  await clock.advance('7s')
  expect(await read('sick')).toMatchObject({ restarts: 1 })
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
})

test('a script in code runs at each start of a container: it sleeps by the clock, reports readiness, and ends the container', async () => {
  const { server, clock, create, read } = await aServer()
  const starts: [number, string | undefined][] = []
  server.nodes.script({ labels: { app: 'web' } }, (c) => {
    c.onStart(async (run) => {
      starts.push([run.restarts, run.pod.metadata.name])
      await run.sleep('5s')
      run.ready()
      await run.sleep(10_000)
      run.ready(false)
      await run.sleep('10s')
      return run.exit(run.restarts === 0 ? 3 : 0)
    })
  })
  await create('web', { restartPolicy: 'OnFailure' })
  expect(await read('web')).toMatchObject({ phase: 'Running', ready: false, restarts: 0 })
  await clock.advance('5s')
  expect(await read('web')).toMatchObject({ ready: true })
  await clock.advance('10s')
  expect(await read('web')).toMatchObject({ phase: 'Running', ready: false, restarts: 0 })
  await clock.advance('10s')
  expect(await read('web')).toMatchObject({ phase: 'Running', ready: false, restarts: 1 })
  await clock.advance('25s')
  expect(await read('web')).toMatchObject({ phase: 'Succeeded', exitCode: 0, reason: 'Completed' })
  expect(starts).toEqual([
    [0, 'web'],
    [1, 'web'],
  ])
})

test('a program that throws ends with 139 and its message as an Error, and a program that returns ends with 0', async () => {
  const { server, create, read } = await aServer()
  server.nodes.script({ name: 'throws' }, (c) =>
    c.onStart(() => {
      throw new TypeError('no such port')
    }),
  )
  server.nodes.script({ name: 'rejects' }, (c) => c.onStart((run) => run.sleep('soon')))
  server.nodes.script({ name: 'code' }, (c) => c.onStart((run) => run.exit(256)))
  const odd: Record<string, unknown> = { bare: Object.create(null), stack: Object.assign(new Error('lost'), { stack: 5 }) }
  for (const name of Object.keys(odd))
    server.nodes.script({ name }, (c) =>
      c.onStart(() => {
        throw odd[name]
      }),
    )
  server.nodes.script({ name: 'logs' }, (c) => c.onStart((run) => Reflect.apply(run.log, run, [5])))
  server.nodes.script({ images: ['img:*'] }, (c) => c.onStart(() => 'done'))
  for (const name of ['throws', 'rejects', 'code', 'returns', 'bare', 'stack', 'logs']) await create(name)
  const failed = { phase: 'Failed', exitCode: 139, reason: 'Error' }
  expect(await read('throws')).toMatchObject({ ...failed, message: 'TypeError: no such port' })
  expect(await read('rejects')).toMatchObject({
    ...failed,
    message: 'TypeError: sleep("soon"): must be a duration such as 30s or 1m30s',
  })
  expect(await read('code')).toMatchObject({ ...failed, message: 'RangeError: exit(256): must be a whole number between 0 and 255' })
  expect(await read('bare')).toMatchObject({ ...failed, message: '[Object: null prototype] {}' })
  expect(await read('stack')).toMatchObject({ ...failed, message: 'Error: lost' })
  expect(await read('logs')).toMatchObject({ ...failed, message: 'TypeError: log(5): must be a text' })
  expect(await read('returns')).toMatchObject({ phase: 'Succeeded', exitCode: 0, reason: 'Completed' })
})

test('a script in code whose parts have other types is refused by name when it is defined', async () => {
  const { server } = await aServer()
  const refusalOf = (match: unknown, method = '', args: readonly unknown[] = []) => {
    try {
      Reflect.apply(server.nodes.script, server.nodes, [match, (c: object) => method && Reflect.apply(Reflect.get(c, method), c, args)])
    } catch (error) {
      return String(error)
    }
    return ''
  }
  const program = () => {}
  expect(refusalOf(undefined)).toBe('TypeError: script(match): must be an object such as { labels: { app: "web" } }')
  expect(refusalOf({ lables: {} })).toBe('TypeError: script({ lables }): must be namespace, name, labels, images, owner, container')
  expect(refusalOf({ images: 'img' })).toBe('TypeError: script({ images }): must be a list of patterns')
  expect(refusalOf({}, 'onStart', [{}])).toBe('TypeError: onStart(): must be a function')
  expect(refusalOf({}, 'exec', ['ls', program])).toBe('TypeError: exec(command): must be a list of words')
  expect(refusalOf({}, 'exec', [['ls'], 'x'])).toBe('TypeError: exec(["ls"]): must be a function')
  expect(refusalOf({}, 'port', [0, program])).toBe('TypeError: port(0): must be between 1 and 65535')
  expect(refusalOf({}, 'port', [80, {}])).toBe('TypeError: port(80, handler): must be a function')
  expect(refusalOf({}, 'port', [80, createServer()])).toBe('')
})

test('a program that never ends is stopped with its Pod, and sees its signal', async () => {
  const { server, clock, settled, pods, create } = await aServer()
  const seen: string[] = []
  server.nodes.script({ name: 'deaf' }, (c) => c.onStart(() => new Promise(() => {})))
  server.nodes.script({ name: 'listens' }, (c) =>
    c.onStart(async (run) => {
      run.signal.addEventListener('abort', () => seen.push('signal'))
      await run.sleep('24h').catch((error: Error) => seen.push(error.message))
      // The script has no effect any more.
      run.ready()
      run.exit(4)
    }),
  )
  for (const name of ['deaf', 'listens']) {
    await create(name)
    await pods.delete(name, { namespace })
    await settled()
    await clock.advance('1s')
  }
  expect((await pods.list()).items).toEqual([])
  expect(seen).toEqual(['signal', 'the container main stops'])
})

test('the first matching script overrides objects and annotations, until it is disposed of', async () => {
  const { server, clock, create, read } = await aServer()
  await server.client.objects.create({
    ...{ apiVersion: 'simulation.orch.io/v1', kind: 'PodScript', metadata: { name: 'all', namespace } },
    ...{ spec: { containers: [{ name: '*', starts: [{ exitCode: 5, runFor: '1s' }] }] } },
  })
  const first = server.nodes.script({ labels: { app: 'a' } }, (c) => c.onStart((run) => run.exit(1)))
  server.nodes.script({ namespace, container: 'main' }, (c) => c.onStart((run) => run.exit(2)))
  server.nodes.script({ namespace: 'other' }, (c) => c.onStart((run) => run.exit(3)))
  server.nodes.script({ owner: { kind: 'Job' } }, (c) => c.onStart((run) => run.exit(3)))
  await create('a')
  await create('b', { containers: [{ name: 'side', image: 'img:1' }] })
  await clock.advance('1s')
  expect([(await read('a')).exitCode, (await read('b')).exitCode]).toEqual([1, 5])
  first[Symbol.dispose]()
  await create('c')
  await server.client.objects.delete({ apiVersion: 'v1', kind: 'Pod', namespace, name: 'a' })
  await create('a')
  expect([(await read('c')).exitCode, (await read('a')).exitCode]).toEqual([2, 2])
})

test('a program that reports readiness at its start is ready in the first status, even with a probe', async () => {
  const { server, pods, create, read } = await aServer()
  server.nodes.script({}, (c) =>
    c.onStart(async (run) => {
      run.ready()
      await run.sleep('1h')
    }),
  )
  await create('web', { containers: [{ name: 'main', image: 'img:1', readinessProbe: { httpGet: { port: 80 } } }] })
  expect(await read('web')).toMatchObject({ phase: 'Running', ready: true })
  expect((await pods.list()).items).toHaveLength(1)
})

test('a program that repeatedly sleeps for no time does not block the clock', async () => {
  const { server, clock, create, read } = await aServer()
  let turns = 0
  server.nodes.script({}, (c) =>
    c.onStart(async (run) => {
      for (;;) {
        turns += 1
        await run.sleep(0)
      }
    }),
  )
  await create('spins')
  const before = turns
  await clock.advance('100ms')
  expect(turns - before).toBe(100)
  expect(await read('spins')).toMatchObject({ phase: 'Running' })
})

test('an automatic clock does not advance for a program that sleeps for ever', async () => {
  const clock = virtualClock({ start: new Date('2030-01-01T00:00:00Z'), auto: true })
  await using server = await start({ nodes: 1, clock, controllers: ['namespace'] })
  let turns = 0
  server.nodes.script({}, (c) =>
    c.onStart(async (run) => {
      for (;;) {
        await run.sleep('1s')
        turns += 1
      }
    }),
  )
  await server.client.objects.create({
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace } },
    spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'img:1' }] },
  })
  await server.settled({ within: 60_000 })
  await expect.poll(() => turns, { timeout: 60_000 }).toBe(100)
  await server.settled({ within: 60_000 })
  expect(turns).toBe(100)
})

test('a program writes the log of its container with its error, for followers and later readers', async () => {
  const { server, clock, create, read } = await aServer()
  server.nodes.script({ name: 'writes' }, (c) =>
    c.onStart(async (run) => {
      run.log('up')
      await run.sleep('5s')
      run.log('one\ntwo\n')
      await run.sleep('5s')
      throw new TypeError('lost')
    }),
  )
  await create('writes')
  const textOf = async (query = '') => {
    const path = `/api/v1/namespaces/${namespace}/pods/writes/log${query}`
    const { body } = await server.client.transport.send({ method: 'GET', path, headers: {} })
    let text = ''
    for await (const chunk of body) text += Buffer.from(chunk).toString()
    return text
  }
  expect(await textOf()).toBe('up\n')
  const follower = textOf('?follow=true&timestamps=true')
  await clock.advance('5s')
  expect(await textOf('?tailLines=2')).toBe('one\ntwo\n')
  await clock.advance('5s')
  expect(await read('writes')).toMatchObject({ phase: 'Failed', exitCode: 139 })
  expect(await textOf('?tailLines=100')).toMatch(/^up\none\ntwo\nTypeError: lost\n +at /)
  expect((await follower).split('\n').slice(0, 3)).toEqual([
    expect.stringMatching(/^2030-01-01T00:00:0.\.\d{9}Z up$/),
    expect.stringMatching(/^2030-01-01T00:00:0.\.\d{9}Z one$/),
    expect.stringMatching(/^2030-01-01T00:00:0.\.\d{9}Z two$/),
  ])
})
