import { setTimeout as sleep } from 'node:timers/promises'
import { type BenchSet, perOperation, startEtcdFloor, totalOf, withSet } from '../distributed-set.ts'
import { configMap, type Figure, type Line, median } from '../figure.ts'
import { bodyRequest, type Connection, getRequest, loadHttp1, openConnections } from '../http1-load.ts'

const collection = '/api/v1/namespaces/default/configmaps'
const roundMs = 2_000
/** Nine processes share a thousand creates a second, so V8 needs this time to compile most of their code. */
const warmUpMs = 12_000
let serial = 0
const createBody = (): Buffer => bodyRequest('POST', collection, configMap(`apart-${serial++}`, 3_000))

/** Opens connections and spreads them over all gateways. */
async function connect({ ports, shown }: BenchSet, count: number): Promise<Connection[]> {
  const opened = await Promise.all(ports.map((port) => openConnections(Math.ceil(count / ports.length), port, shown)))
  return opened.flat().slice(0, count)
}

export const distributedCreate: Line = {
  name: 'distributed-create',
  what: 'services apart: CREATE a 3 KB object, concurrency 64; floor: CPU of a client that does raw compare-and-put of 3 KB to the same etcd',
  run: () =>
    withSet({}, async (bench) => {
      const floor = await startEtcdFloor(bench.set)
      const connections = await connect(bench, 64)
      const options = { durationMs: roundMs, expected: 201 }
      await loadHttp1(connections, createBody, { ...options, durationMs: warmUpMs })
      const ours: { micros: number; perSecond: number; by: string }[] = []
      const raw: { micros: number; perSecond: number }[] = []
      for (let round = 0; round < 4; round += 1) {
        const before = bench.cpu()
        const { count, perSecond } = await loadHttp1(connections, createBody, options)
        const after = bench.cpu()
        ours.push({ micros: (totalOf(after) - totalOf(before)) / count, perSecond, by: perOperation(before, after, count) })
        const floorBefore = floor.cpuMicros()
        const asked = { kind: 'put', concurrency: 64, durationMs: roundMs, bytes: 3_000 }
        const answer = await floor.ask<{ count: number; perSecond: number }>(asked)
        raw.push({ micros: (floor.cpuMicros() - floorBefore) / answer.count, perSecond: answer.perSecond })
      }
      for (const connection of connections) connection.close()
      await floor.stop()
      const best = ours.toSorted((a, b) => a.micros - b.micros)[0] ?? { micros: Number.NaN, by: '' }
      const least = Math.min(...raw.map(({ micros }) => micros))
      const figure: Figure = {
        value: best.micros,
        floor: least,
        unit: 'µs',
        ratio: best.micros / least,
        target: 5,
        goal: 3,
        better: 'less',
        note: `µs: ${best.by}; ${fastest(ours)} creates/s, raw client ${fastest(raw)} puts/s`,
      }
      return [figure]
    }),
}

function fastest(rounds: readonly { readonly perSecond: number }[]): string {
  return Math.max(...rounds.map(({ perSecond }) => perSecond)).toFixed(0)
}

export const distributedDelay: Line = {
  name: 'distributed-event-delay',
  what: 'services apart: from sending a create until its event is with a watcher (p50, idle); floor: the same of a raw put and a raw watch of etcd',
  run: () =>
    withSet({}, async (bench) => {
      const floor = await startEtcdFloor(bench.set)
      const [writer, watcher, ...others] = await connect(bench, 32)
      await loadHttp1(others, createBody, { durationMs: warmUpMs, expected: 201 })
      for (const connection of others) connection.close()
      if (writer === undefined || watcher === undefined) throw new Error('no connection')
      const arrived = listenFor(watcher)
      const ours: number[] = []
      const raw: number[] = []
      for (let round = 0; round < 4; round += 1) {
        const begun = performance.now()
        while (performance.now() - begun < roundMs) {
          const name = `apart-${serial++}`
          const body = bodyRequest('POST', collection, configMap(name, 1_000))
          const sent = performance.now()
          await Promise.all([writer.send(body), arrived(name)])
          ours.push(performance.now() - sent)
        }
        raw.push(...(await floor.ask<number[]>({ kind: 'delay', concurrency: 1, durationMs: roundMs, bytes: 1_000 })))
      }
      for (const connection of [writer, watcher]) connection.close()
      await floor.stop()
      const [value, base] = [median(ours), median(raw)]
      return [{ value, floor: base, unit: 'ms', ratio: value / base, target: 3, goal: 1.5, better: 'less' }]
    }),
}

/** Resolves when a watch has sent an object with this name. */
function listenFor({ socket }: Connection): (name: string) => Promise<void> {
  let wanted = ''
  let tell = () => {}
  let rest = ''
  socket.removeAllListeners('data')
  socket.on('data', (chunk) => {
    rest = (rest + chunk.toString('latin1')).slice(-8_192)
    if (wanted !== '' && rest.includes(`"name":"${wanted}"`)) tell()
  })
  socket.write(getRequest(`${collection}?watch=true`))
  return (name) =>
    new Promise((resolve) => {
      wanted = name
      tell = resolve
    })
}

export const distributedGateways: Line = {
  name: 'distributed-gateways',
  what: 'services apart: GET a 3 KB object at its latest, concurrency 64, with 2 gateways; floor: with 1',
  async run() {
    const one = await readRate(1)
    const two = await readRate(2)
    const note = `µs with 1: ${one.by}; with 2: ${two.by}`
    return [
      {
        value: two.perSecond,
        floor: one.perSecond,
        unit: 'req/s',
        ratio: two.perSecond / one.perSecond,
        target: 1,
        goal: 1.8,
        better: 'more',
        note,
      },
    ]
  },
}

function readRate(gateways: number): Promise<{ perSecond: number; by: string }> {
  return withSet({ gateway: gateways }, async (bench) => {
    const connections = await connect(bench, 64)
    const name = `apart-${serial++}`
    const { status } = await (connections[0] as Connection).send(bodyRequest('POST', collection, configMap(name, 3_000)))
    if (status !== 201) throw new Error(`create answered ${status}`)
    const request = getRequest(`${collection}/${name}`)
    const rounds: { perSecond: number; by: string }[] = []
    for (let round = 0; round < 3; round += 1) {
      const before = bench.cpu()
      const { count, perSecond } = await loadHttp1(connections, () => request, { durationMs: roundMs, expected: 200 })
      rounds.push({ perSecond, by: perOperation(before, bench.cpu(), count) })
    }
    for (const connection of connections) connection.close()
    return rounds.toSorted((a, b) => b.perSecond - a.perSecond)[0] ?? { perSecond: 0, by: '' }
  })
}

/** Opens watches with this number of different selectors, so that the watch service has work for each. */
const selections = 200
const burst = 200

export const distributedFanOut: Line = {
  name: 'distributed-fan-out',
  what: `services apart: ${selections} watches of ${selections} selections, a burst of ${burst} changes that all select, with 2 watches; floor: with 1`,
  async run() {
    const one = await eventRate(1)
    const two = await eventRate(2)
    const note = `µs an event with 1: ${one.by}; with 2: ${two.by}`
    const ratio = two.perSecond / one.perSecond
    return [{ value: two.perSecond, floor: one.perSecond, unit: 'events/s', ratio, target: 1, goal: 1.8, better: 'more', note }]
  },
}

function eventRate(watches: number): Promise<{ perSecond: number; by: string }> {
  return withSet({ watch: watches }, async (bench) => {
    const watchers = await connect(bench, selections)
    let bytes = 0
    for (const [index, { socket }] of watchers.entries()) {
      socket.removeAllListeners('data')
      socket.on('data', (chunk) => {
        bytes += chunk.length
      })
      socket.write(getRequest(`${collection}?watch=true&labelSelector=app!%3Dother-${index}`))
    }
    await sleep(1_500)
    const writers = await connect(bench, 16)
    const rounds: { perSecond: number; by: string }[] = []
    for (let round = 0; round < 3; round += 1) {
      const before = bench.cpu()
      const begun = performance.now()
      let left = burst
      await Promise.all(
        writers.map(async (writer) => {
          while (left-- > 0) await writer.send(bodyRequest('POST', collection, configMap(`apart-${serial++}`, 1_000)))
        }),
      )
      const endMs = await silence(() => bytes)
      const count = burst * selections
      rounds.push({ perSecond: (count / (endMs - begun)) * 1_000, by: perOperation(before, bench.cpu(), count) })
    }
    for (const connection of [...watchers, ...writers]) connection.close()
    return rounds.toSorted((a, b) => b.perSecond - a.perSecond)[0] ?? { perSecond: 0, by: '' }
  })
}

/** The time of the last bytes before a silence. */
async function silence(bytes: () => number): Promise<number> {
  let last = bytes()
  let atMs = performance.now()
  for (let quiet = 0; quiet < 15; quiet += 1) {
    await sleep(20)
    if (bytes() === last) continue
    last = bytes()
    atMs = performance.now()
    quiet = 0
  }
  return atMs
}
