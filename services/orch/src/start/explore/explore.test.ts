import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '@orch/client'
import { virtualClock } from '@orch/platform'
import { aConfigMap } from '@orch/testkit'
import { aFolder } from '@orch/testkit/folder'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { runCommand } from '../../command-line.ts'
import { type RunningServer, start } from '../start.ts'
import { explore, readSeeds } from './explore.ts'
import { drawWeather, explorationVariable, metVariable } from './weather.ts'

const maps = (client: Client) => client.resource({ group: '', version: 'v1', plural: 'configmaps', namespaced: true })
const inDefault = { namespace: 'default' }
const childrenOf = async (client: Client) => (await maps(client).list({ ...inDefault, labelSelector: 'app=web' })).items
const child = (metadata: object) => {
  const object = aConfigMap({ name: 'web-0' })
  return { ...object, metadata: { ...object.metadata, labels: { app: 'web' }, ...metadata } }
}

let base: RunningServer

beforeAll(async () => {
  base = await start({ profile: 'kubernetes' })
})
afterAll(() => base.stop())

type Controller = (client: Client) => Promise<void>

/** Runs a controller four times like events would; the final objects are right or wrong. */
function testOf(
  controller: Controller,
  isRight: (server: RunningServer) => Promise<boolean>,
  prepare: (server: RunningServer) => Promise<unknown> = async () => {},
) {
  return async (exploration: string): Promise<boolean> => {
    process.env[explorationVariable] = exploration
    await using server = await base.fork()
    await prepare(server)
    const { client } = server.user('operator')
    for (let turn = 0; turn < 4; turn += 1) await controller(client).catch(() => {})
    server.faults.clear()
    for (let turn = 0; turn < 2; turn += 1) await controller(client).catch(() => {})
    return await isRight(server)
  }
}

afterEach(() => {
  delete process.env[explorationVariable]
  delete process.env[metVariable]
})

test('a user that meets weather is noted for the command, and a client without weather is not', async () => {
  const met = join(aFolder(), 'met')
  writeFileSync(met, '')
  process.env[explorationVariable] = '7'
  process.env[metVariable] = met
  await using server = await base.fork()
  await childrenOf(server.client)
  expect(readFileSync(met, 'utf8')).toBe('')
  server.user('operator')
  expect(readFileSync(met, 'utf8')).toBe('operator')
})

const isOne = async ({ client }: RunningServer) => (await childrenOf(client)).length === 1
const hasTwo = async ({ client }: RunningServer) => (await childrenOf(client)).length === 2

/** Repeats a failed create under a new generated name. */
const createsTwice: Controller = async (client) => {
  if ((await childrenOf(client)).length > 0) return
  const unnamed = child({ name: undefined, generateName: 'web-' })
  await maps(client)
    .create(unnamed)
    .catch(() => maps(client).create(unnamed))
}
const createsOnce: Controller = async (client) => {
  if ((await childrenOf(client)).length > 0) return
  await maps(client).create(child({}))
}

/** Deletes the first of the surplus objects in an old cache: another object each time. */
const scalesDown: Controller = async (client) => {
  const [first, ...others] = await childrenOf(client)
  if (first === undefined || others.length < 2) return
  const sorted = [first, ...others].map(({ metadata }) => metadata.name ?? '').sort()
  for (const name of sorted) {
    const gone = await maps(client)
      .delete(name, inDefault)
      .then(
        () => true,
        ({ code }) => code !== 404,
      )
    if (gone) return
  }
}
/** Chooses the objects by name, so that a second pass chooses the same. */
const scalesDownByName: Controller = async (client) => {
  const names = (await childrenOf(client)).map(({ metadata }) => metadata.name ?? '').sort()
  for (const name of names.slice(2)) await maps(client).delete(name, inDefault)
}
const threeChildren = async ({ client }: RunningServer) => {
  for (const name of ['web-0', 'web-1', 'web-2']) await maps(client).create(child({ name }))
}

describe('explore finds', () => {
  test('a duplicate child after a lost reply, and no failure of the controller that chooses the name once', async () => {
    const failure = await explore({ first: 9, last: 10 }, testOf(createsTwice, isOne))
    expect(failure?.faults).toHaveLength(1)
    expect(failure?.faults[0]).toMatch(/lost reply/)
    expect(await testOf(createsTwice, isOne)(failure?.exploration ?? '')).toBe(false)
    expect(await testOf(createsOnce, isOne)(failure?.exploration ?? '')).toBe(true)
  })

  test('a missing child after a scale-down by an old cache, and no failure of the controller that chooses by name', async () => {
    const failure = await explore({ first: 29, last: 29 }, testOf(scalesDown, hasTwo, threeChildren))
    expect(failure?.faults).toHaveLength(1)
    expect(failure?.faults[0]).toMatch(/cache that is old/)
    expect(await testOf(scalesDownByName, hasTwo, threeChildren)(failure?.exploration ?? '')).toBe(true)
  })
})

/** Two users write in turns as fast as they can; returns the order in which the server served the writes. */
async function orderOf(seed: number): Promise<string> {
  await using server = await start({ profile: 'kubernetes', seed, order: 'seeded' })
  const write = async (user: string) => {
    for (let number = 0; number < 4; number += 1) await maps(server.user(user).client).create(aConfigMap({ name: `${user}-${number}` }))
  }
  await Promise.all(['a', 'b'].map(write))
  return server
    .requests({ verb: 'create', resource: 'configmaps', user: /^[ab]$/ })
    .map(({ name }) => name)
    .join(' ')
}

test.each([
  ['20:0', 'watches that get nothing', 410],
  ['5:0', 'an old cache', 'ADDED'],
])('before the server has settled, the exploration %s with %s ends: a watch gets %s', async (exploration, _, end) => {
  await using server = await start({ profile: 'kubernetes', exploration, clock: virtualClock() })
  const { client } = server.user('operator')
  for (let number = 0; number < 4; number += 1) await maps(client).list(inDefault)
  const { metadata } = await maps(client).list(inDefault)
  const watch = await maps(client).watch({ ...inDefault, resourceVersion: metadata.resourceVersion ?? '' })
  await server.client.objects.create(aConfigMap({ name: 'late' }))
  await server.settled({ within: 60_000 })
  const next = watch[Symbol.asyncIterator]().next()
  expect(
    await next.then(
      ({ value }) => value?.type,
      ({ code }) => code,
    ),
  ).toBe(end)
})

test('order: seeded serves the requests of several clients one at a time, in an order that the seed decides', async () => {
  const orders = [await orderOf(1), await orderOf(1), await orderOf(2)]
  expect(orders[1]).toBe(orders[0])
  expect(new Set(orders).size).toBeGreaterThan(1)
  await expect(start({ order: 'seeded' })).rejects.toThrow("order: 'seeded' needs seed")
})

test('a seed draws the same faults each time', () => {
  for (let seed = 1; seed <= 50; seed += 1)
    expect(drawWeather(seed).map(({ text }) => text)).toEqual(drawWeather(seed).map(({ text }) => text))
  expect(readSeeds('3')).toEqual({ first: 3, last: 3 })
  expect(() => readSeeds('9..1')).toThrow('must be a range of seeds')
})

test('orch explore prints the seed and the faults of a failing command, and the command line that repeats it', async () => {
  const printed = { out: '', error: '' }
  const script = `case $${explorationVariable} in 3*) exit 1; esac`
  const command = ['sh', '-c', script]
  const run = (...words: string[]) => {
    const out = (text: string) => {
      printed.out += text
    }
    const error = (text: string) => {
      printed.error += text
    }
    return runCommand({ arguments: ['explore', ...words], env: process.env, workingFolder: process.cwd(), out, error })
  }
  expect(await run('--seeds', '2..4', '--', ...command)).toBe(1)
  expect(printed.out).toContain(
    `the test fails under seed 3 with\n  no fault: the order of requests alone\nIt fails again with\n  ORCH_EXPLORE=3: sh -c '${script}'\n`,
  )
  expect(await run('--seeds', '1..2', '--', ...command)).toBe(0)
  expect(printed.error).toContain('orch: warning: no user of a server that the command has started met any weather')
  printed.error = ''
  expect(await run('--seeds', '1..2', '--', 'sh', '-c', 'echo operator > "$ORCH_EXPLORE_MET"')).toBe(0)
  expect(printed.error).toBe('seed 1\nseed 2\n')
  expect(await run('--', 'sh', '-c', 'echo not yet; exit 3')).toBe(1)
  expect(printed.error).toContain('not yet\nthe test fails without weather: exit code 3')
  expect(await run('--seeds', '3', '--timeout', '1s', '--', 'sh', '-c', 'test "$ORCH_EXPLORE" != 3 || sleep 1000')).toBe(1)
  expect(printed.error).toContain('seed 3\n  ORCH_EXPLORE=3 fails: no end after 1 s\n')
  expect(printed.out).toMatch(/under seed 3 with\n.*\nIt passed when it was run again.*\n {2}ORCH_EXPLORE=3:[\d,]+ sh -c /s)
  const once = join(aFolder(), 'once')
  expect(await run('--seeds', '1..2', '--', 'sh', '-c', `test -z "$ORCH_EXPLORE" -a ! -e ${once} || ! touch ${once}`)).toBe(1)
  expect(printed.error).toContain('since seed 1 the test fails without weather, too: exit code 1')
  expect(await run('--', 'npx vitest run')).toBe(2)
  expect(printed.error).toContain('npx vitest run cannot be run: there is no such program. The words of the command follow --')
  expect(await run('--seeds', '1..2')).toBe(2)
  expect(printed.error).toContain('a test command must follow --')
})
