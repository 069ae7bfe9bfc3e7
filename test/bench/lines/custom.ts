import { setTimeout as sleep } from 'node:timers/promises'
import { alternate, type Figure, type Line, median } from '../figure.ts'
import { bodyRequest, Connection, getRequest } from '../http1-load.ts'
import type { OrchServer } from '../orch-server.ts'
import { Child } from '../process.ts'
import { withConnections, withFolder, withOrch } from '../shared-server.ts'
import { definition, definitions, type Json, largeDefinition, members } from './definition.ts'

const applied = 'application/apply-patch+yaml'
const bytes = 3_000

/** A schema of a hundred nodes and five rules. */
const hundredNodes: Json = {
  type: 'object',
  properties: {
    ...members(9, 'part', () => ({
      type: 'object',
      properties: members(9, 'field', () => ({ type: 'string', maxLength: 400 })),
      required: ['field0'],
    })),
    text: { type: 'string', maxLength: 5_000 },
    count: { type: 'integer', minimum: 0, maximum: 1_000_000, default: 1 },
    color: { type: 'string', enum: ['red', 'green', 'blue'], default: 'red' },
    labels: { type: 'object', maxProperties: 10, additionalProperties: { type: 'string', maxLength: 20 } },
    list: { type: 'array', maxItems: 10, items: { type: 'integer' } },
  },
  'x-kubernetes-validations': [
    { rule: 'self.count >= 0' },
    { rule: "self.color != 'green' || self.count > 0" },
    { rule: 'self.part0.field0 != self.part1.field0' },
    { rule: 'self.list.all(x, x > 0)' },
    { rule: "self.text.startsWith('abc')" },
  ],
}

const group = 'bench.example.com'
const ours = `/apis/${group}/v1/namespaces/default/things`
const theirs = '/api/v1/namespaces/default/configmaps'

/** An object of the custom kind: its fields in parts, and one long text. */
function thing(name: string, fields: number, text: string): Json {
  const parts = members(Math.ceil(fields / 9), 'part', () => members(9, 'field', (field) => `${field}abcdefgh`))
  const first = { ...parts['part0'], field0: 'first' }
  const spec = { ...parts, part0: first, part1: parts['part1'] ?? { field0: 'second' }, text, list: [1, 2, 3], labels: { a: 'b' } }
  return { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name, namespace: 'default' }, spec }
}

/** A ConfigMap with the same number of keys, and one long text. */
function map(name: string, fields: number, text: string): Json {
  const data = { ...members(fields, 'field', (field) => `${field}abcdefgh`), text }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data }
}

/** One of the two compared collections. */
interface Side {
  readonly collection: string
  readonly make: (name: string) => Json
}

/** Both sides have the number of fields and the length at which the stored object has 3 KB. */
async function sidesOf(connection: Connection, fields: number): Promise<readonly [custom: Side, builtIn: Side]> {
  const sized = async (collection: string, make: (name: string, fields: number, text: string) => Json): Promise<Side> => {
    const answer = await connection.send(bodyRequest('POST', `${collection}?dryRun=All`, make('size', fields, 'abc')))
    if (answer.status !== 201) throw new Error(`answered ${answer.status}`)
    const text = 'abcdefghij'.repeat(bytes / 10).slice(0, Math.max(3, bytes - answer.bytes))
    return { collection, make: (name) => make(name, fields, text) }
  }
  return [await sized(ours, thing), await sized(theirs, map)]
}

async function send(connection: Connection, request: string | Buffer): Promise<void> {
  const { status } = await connection.send(request)
  if (status >= 300) throw new Error(`answered ${status}`)
}

/** CPU time of the server per request, in microseconds. */
async function cpuOf(server: OrchServer, connections: readonly Connection[], count: number, next: (index: number) => string | Buffer) {
  const before = server.child.cpuMicros()
  let index = 0
  await Promise.all(
    connections.map(async (connection) => {
      while (index < count) await send(connection, next(index++))
    }),
  )
  return (server.child.cpuMicros() - before) / count
}

interface Compared {
  readonly label: string
  readonly target: number
  readonly goal: number
  readonly better: 'more' | 'less'
  readonly rounds?: number
}

/** Runs rounds of both sides in turn and alternates which side is first. The ratio within a round counts, because the machine's speed changes. */
async function compared(
  [custom, builtIn]: readonly [Side, Side],
  cost: (side: Side, round: number) => Promise<number>,
  { rounds = 5, ...given }: Compared,
): Promise<Figure & { readonly label: string }> {
  const costs: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    // The side that runs second finds warmer code.
    const sides = [custom, builtIn].entries()
    for (const [index, side] of round % 2 === 0 ? sides : [...sides].toReversed()) costs[index]?.push(await cost(side, round))
  }
  const [value = Number.NaN, floor = Number.NaN] = costs.map(median)
  const ofRounds = costs[0].map((cost, round) => cost / (costs[1][round] ?? Number.NaN))
  const ratio = given.better === 'more' ? 1 / median(ofRounds) : median(ofRounds)
  return { ...given, value, floor, unit: 'µs', ratio, note: 'µs of CPU; floor: a ConfigMap' }
}

async function withThings<T>(
  options: Parameters<typeof withOrch>[0],
  use: (server: OrchServer, connections: Connection[], first: Connection) => Promise<T>,
) {
  return await withOrch(options, (server) =>
    withConnections(16, server.port, server, async (connections) => {
      const [first] = connections
      if (first === undefined) throw new Error('there is no connection')
      await send(first, bodyRequest('POST', definitions, definition(group, hundredNodes)))
      return await use(server, connections, first)
    }),
  )
}

export const customReadLine: Line = {
  name: 'custom-read',
  what: 'get, list (1,000 objects) and watch fan-out (200 watchers) of a custom object of 3 KB beside a ConfigMap',
  async run() {
    return await withThings({ memory: true }, async (server, connections, first) => {
      const sides = await sidesOf(first, 1)
      for (const { collection, make } of sides) {
        await cpuOf(server, connections, 1_000, (index) => bodyRequest('POST', collection, make(`a-${index}`)))
      }
      const more = { target: 0.9, goal: 0.95, better: 'more', rounds: 15 } as const
      const gets = (side: Side) => cpuOf(server, connections, 6_000, (index) => getRequest(`${side.collection}/a-${index % 1_000}`))
      const lists = (side: Side) => cpuOf(server, connections.slice(0, 4), 150, () => getRequest(side.collection))
      const figures = [await compared(sides, gets, { ...more, label: 'get' }), await compared(sides, lists, { ...more, label: 'list' })]
      const fanOut = (side: Side, round: number) =>
        withConnections(64, server.port, server, (writers) => eventCost(server, side, writers, round))
      figures.push(await compared(sides, fanOut, { ...more, label: 'fan-out', rounds: 7 }))
      return figures
    })
  },
}

const events = 1_024
const watchers = 200

/** CPU time of one event at one watch: the difference between the same creates with watches and without. */
async function eventCost(server: OrchServer, { collection, make }: Side, writers: readonly Connection[], round: number): Promise<number> {
  const creates = (prefix: string) =>
    cpuOf(server, writers, events, (index) => bodyRequest('POST', collection, make(`${prefix}-${round}-${index}`)))
  const alone = (await creates('alone')) * events
  // The watches begin now: otherwise the server would send the present objects 200 times.
  const answer = await writers[0]?.send(getRequest(`${collection}?limit=1`), true)
  const [, revision] = /"resourceVersion":"(\d+)"/.exec(String(answer?.body)) ?? []
  const watches = await openWatches(server, watchers, `${collection}?watch=1&resourceVersion=${revision}`)
  const before = server.child.cpuMicros()
  await creates('watched')
  await watches.quiet()
  const watched = server.child.cpuMicros() - before
  watches.close()
  await sleep(200)
  return (watched - alone) / (events * watchers)
}

/** Watches that only count bytes. */
async function openWatches(server: OrchServer, count: number, path: string) {
  let arrived = 0
  const opened: Connection[] = []
  for (let at = 0; at < count; at += 50) {
    opened.push(...(await Promise.all(Array.from({ length: 50 }, () => Connection.open(server.port, server)))))
  }
  for (const connection of opened) {
    connection.socket.removeAllListeners('data')
    connection.socket.on('data', (chunk) => {
      arrived += chunk.length
    })
    connection.socket.on('error', () => connection.close())
    connection.socket.write(getRequest(path))
  }
  const quiet = async () => {
    for (let last = -1; last !== arrived; await sleep(100)) last = arrived
  }
  await sleep(500)
  await quiet()
  return {
    quiet,
    close: () => {
      for (const connection of opened) connection.close()
    },
  }
}

export const customWriteLine: Line = {
  name: 'custom-write',
  what: 'create and apply of a custom object of 3 KB with a schema of 100 nodes and five rules, durable, beside a ConfigMap',
  async run() {
    return await withThings({}, async (server, connections, first) => {
      const sides = await sidesOf(first, 27)
      const less = { target: 1.5, goal: 1.25, better: 'less' } as const
      const creates = (side: Side, round: number) =>
        cpuOf(server, connections, 1_500, (index) => bodyRequest('POST', side.collection, side.make(`c-${round}-${index}`)))
      const applies = (side: Side, round: number) =>
        cpuOf(server, connections, 1_000, (index) => {
          const name = `p-${round}-${index}`
          return bodyRequest('PATCH', `${side.collection}/${name}?fieldManager=bench`, side.make(name), applied)
        })
      return [await compared(sides, creates, { ...less, label: 'create' }), await compared(sides, applies, { ...less, label: 'apply' })]
    })
  },
}

const count = 1_000
const startRounds = 21
export const definitionsLine: Line = {
  name: 'definitions',
  what: `${count} definitions of 25 KB, one after another`,
  async run() {
    return await withOrch({ memory: true }, (server) =>
      withConnections(1, server.port, server, async ([connection]) => {
        if (connection === undefined) throw new Error('there is no connection')
        const times: number[] = []
        const create = async (index: number) => {
          const request = bodyRequest('POST', definitions, largeDefinition(index))
          const began = performance.now()
          await send(connection, request)
          times.push(performance.now() - began)
        }
        const before = server.child.cpuMicros()
        for (let index = 0; index < count; index++) await create(index)
        const cpuMicros = (server.child.cpuMicros() - before) / count
        const each = median(times)
        const figures: (Figure & { label: string })[] = [
          { label: 'create', value: each, unit: 'ms', ratio: each, target: 10, goal: 5, better: 'less', cpuMicros },
        ]
        return figures
      }),
    )
  },
}

const memoryEntry = new URL('../definition-memory.ts', import.meta.url).pathname

export const definitionMemory: Line = {
  name: 'definition-memory',
  what: 'memory of a gateway for each definition of 25 KB, unused and in use (embedded, without what storage keeps)',
  async run() {
    const child = new Child(['--expose-gc', memoryEntry])
    const { unused, used } = await child.told<{ unused: number; used: number }>()
    const note = 'after a collection; without the bytes that storage keeps'
    const kib = { unit: 'KiB', better: 'less', note } as const
    return [
      { label: 'unused', value: unused, ratio: unused, target: 16, goal: 4, ...kib },
      { label: 'in use', value: used, ratio: used, target: 150, goal: 100, ...kib },
    ]
  },
}

export const definitionStart: Line = {
  name: 'start-definitions',
  what: `process start → ready with ${count} definitions of 25 KB stored, above a start without`,
  async run() {
    return await withFolder(async (folder) => {
      const timed = async (at: string): Promise<{ ms: number; cpu: number }> => {
        const began = performance.now()
        return await withOrch({ folder: at, keep: true }, async (server) => {
          const ms = performance.now() - began
          return { ms, cpu: server.child.cpuMicros() / 1_000 }
        })
      }
      const full = `${folder}/full`
      const empty = `${folder}/empty`
      await timed(empty)
      await withOrch({ folder: full, keep: true }, (server) =>
        withConnections(1, server.port, server, async ([connection]) => {
          for (let index = 0; connection !== undefined && index < count; index++) {
            await send(connection, bodyRequest('POST', definitions, largeDefinition(index)))
          }
        }),
      )
      const rounds = await alternate(startRounds, [() => timed(full), () => timed(empty)])
      const figureOf = (measure: 'ms' | 'cpu') => {
        const [with1000 = [], without = []] = rounds.map((side) => side.map((start) => start[measure]))
        const more = with1000.map((time, round) => time - (without[round] ?? Number.NaN))
        return { value: median(with1000), floor: median(without), ratio: median(more) }
      }
      const bounds = { unit: 'ms', target: 200, goal: 100, better: 'less' } as const
      return [
        { label: 'by the clock', ...figureOf('ms'), ...bounds, note: 'ratio column: ms above the floor, of pairs' },
        { label: 'CPU', ...figureOf('cpu'), ...bounds, note: 'of all threads until ready; ratio column as above' },
      ]
    })
  },
}
