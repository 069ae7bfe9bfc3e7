import type { Client } from '@orch/client'
import { sleep, systemClock } from '@orch/platform'
import { findBackend } from '@orch/testkit/backends'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type CpuWaits, watchCpuWaits } from './cpu-waits.ts'
import { configMaps, namespace } from './load.ts'
import { type RoamingLoad, startRoamingLoad, type Track } from './roaming-load.ts'
import { openServiceSet, type ServiceSet } from './service-set.ts'
import { type SingleFault, singleFaults } from './single-faults.ts'

const [etcd, nats] = [await findBackend('etcd'), await findBackend('nats-server')]
const missing = [etcd, nats].flatMap((backend) => (backend.kind === 'missing' ? [`[skipped: ${backend.reason}]`] : []))
/** The duration of each fault. A momentary fault ends at once, and the run observes for the same time. */
const faultMs = Number(process.env['ORCH_CHAOS_FAULT_SECONDS'] ?? 5) * 1_000
/** A subset of the places or kinds; default: all. */
const wanted = new RegExp(process.env['ORCH_CHAOS_FAULTS'] ?? '')
/** The number of tries of each fault. */
const rounds = Number(process.env['ORCH_CHAOS_ROUNDS'] ?? 1)
/** The longest wait until all parts work as before. */
const recoveryMsMax = 60_000
/** The pause between two faults, so that the consequences of one fault do not count for the next. */
const restMs = 2_500
/** A single etcd has no other member, and stopped storages have no other replica, so the time counts from their first answer at each gateway. */
const afterReturnMs = 1_000

interface Row {
  readonly fault: SingleFault
  readonly anyMs: number
  /** The part of this time in which a process of the set or this process has waited for a CPU. */
  readonly cpuMs: number
  readonly failed: number
  /** The longest time without a success for clients that stay at one gateway. */
  readonly gatewayMs: readonly number[]
  /** The time from the end of the fault until each gateway answered and each link carried bytes. */
  readonly recoveredMs: number
  readonly whys: readonly string[]
}

describe.skipIf(missing.length > 0)(`every single fault of a process or a link ${missing.join('; ')}`, () => {
  test('CARD-25: leaves a client that may use any gateway without an answer for at most 3 s', { timeout: 3_600_000 }, async () => {
    const set = await openServiceSet({
      etcdPath: etcd.kind === 'found' ? etcd.path : '',
      natsPath: nats.kind === 'found' ? nats.path : '',
      counts: { admission: 2, controllers: 0 },
      hasBackendTls: true,
      flags: { storage: ['--watch-history=24h'] },
    })
    onTestFinished(() => set.close())
    const first = set.clients[0] as Client
    await first.request({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: namespace } } })
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'roaming', namespace } }
    await first.resource(configMaps).create(object)
    const load = startRoamingLoad(set.clients)
    const waits = watchCpuWaits(() => [...set.processes.values(), set.etcd, set.nats].map(({ pid }) => pid))
    onTestFinished(() => waits.close())
    const rows: Row[] = []
    const faults = singleFaults(set).filter(({ place, what }) => wanted.test(`${place} ${what}`))
    for (const fault of Array.from({ length: rounds }, () => faults).flat()) {
      await sleep(systemClock, restMs)
      rows.push(await tryOut(fault, set, { load, waits }))
      process.stdout.write(`${print(rows.slice(-1))}\n`)
    }
    await load.stop()
    process.stdout.write(`\n${print(rows)}\n`)
    const tooLong = rows.filter(({ fault, anyMs, cpuMs }) => anyMs - cpuMs > (fault.boundMs ?? afterReturnMs))
    const lost = rows.filter(({ recoveredMs }) => recoveredMs >= recoveryMsMax)
    expect({ tooLong: tooLong.map(nameOf), lost: lost.map(nameOf) }).toEqual({ tooLong: [], lost: [] })
  })
})

interface Watched {
  readonly load: RoamingLoad
  readonly waits: CpuWaits
}

async function tryOut(fault: SingleFault, set: ServiceSet, { load, waits }: Watched): Promise<Row> {
  const tracks = [load.writer, load.reader]
  const failedBefore = tracks.map(({ failures }) => failures.length)
  load.answerMs = fault.answerMs
  const beginMs = performance.now()
  await fault.begin()
  await sleep(systemClock, faultMs)
  await fault.end()
  const endMs = performance.now()
  const recoveredMs = await recovery(fault, load, endMs)
  const whole = [...set.processes.values()].map((one) => one.ready(recoveryMsMax).catch(() => recoveryMsMax))
  await Promise.all(whole)
  const until = performance.now()
  const fromMs = fault.boundMs === undefined ? endMs : beginMs
  const failures = tracks.flatMap((track, index) => track.failures.slice(failedBefore[index]))
  const any = longest(tracks.map(({ answered }) => longestGap(answered, { from: fromMs, until })))
  return {
    fault,
    anyMs: lengthOf(any),
    cpuMs: waits.between(any.from, any.until),
    failed: failures.length,
    gatewayMs: load.writers.map((writer, index) =>
      lengthOf(longest([writer, load.readers[index] as Track].map(({ answered }) => longestGap(answered, { from: fromMs, until })))),
    ),
    recoveredMs,
    whys: [...new Set(failures.map(({ why }) => why))],
  }
}

interface Span {
  readonly from: number
  readonly until: number
}

const lengthOf = ({ from, until }: Span) => until - from
const longest = (spans: readonly Span[]) => spans.reduce((one, other) => (lengthOf(other) > lengthOf(one) ? other : one))

/** The longest part of a time span without a good answer. */
function longestGap(answered: readonly number[], { from, until }: Span): Span {
  const within = answered.filter((at) => at >= from && at <= until)
  const edges = [from, ...within, until]
  return longest(edges.slice(1).map((at, index) => ({ from: edges[index] as number, until: at })))
}

/** The time until all tracks have continued and each link has carried an answer. */
async function recovery({ links }: SingleFault, load: RoamingLoad, sinceMs: number): Promise<number> {
  const tracks = [load.writer, load.reader, ...load.writers, ...load.readers]
  const isBack = () => tracks.every(({ answered }) => (answered.at(-1) ?? 0) > sinceMs) && links.every(({ heardMs }) => heardMs > sinceMs)
  while (!isBack() && performance.now() - sinceMs < recoveryMsMax) await sleep(systemClock, 5)
  return performance.now() - sinceMs
}

const nameOf = ({ fault: { place, what }, anyMs, cpuMs, recoveredMs }: Row) =>
  `${place}, ${what}: ${anyMs.toFixed(0)} ms (${cpuMs.toFixed(0)} ms of it without a CPU), back after ${recoveredMs.toFixed(0)} ms`

function print(rows: readonly Row[]): string {
  const head = 'place                   fault         any gateway  without CPU   gateway-0   gateway-1  back after   failed'
  const lines = rows.map(({ fault, anyMs, cpuMs, gatewayMs, recoveredMs, failed, whys }) => {
    const cells = [anyMs, cpuMs, ...gatewayMs, recoveredMs].map((ms) => `${ms.toFixed(0)} ms`.padStart(12)).join('')
    return `${fault.place.padEnd(24)}${fault.what.padEnd(15)}${cells}${String(failed).padStart(9)}${whys.length === 0 ? '' : `   ${whys.join(' | ').slice(0, 160)}`}`
  })
  return (rows.length === 1 ? lines : [head, ...lines]).join('\n')
}
