import { mkdirSync, writeFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { type ClientConfiguration, loadConfiguration } from '@orch/client'
import { processesBelow } from '../../profile/processes.ts'
import { startServer } from '../../profile/server.ts'
import { median } from '../figure.ts'
import { serverEntry } from '../orch-server.ts'
import { benchState } from '../state.ts'
import { type Extent, listMeasures, type Measure, objectMeasures, type Round } from './operations.ts'
import { Side } from './side.ts'
import { watchMeasures } from './watches.ts'

/** All lines that the bench can measure at any Kubernetes API server. */
const measures: readonly Measure[] = [...objectMeasures, ...listMeasures, ...watchMeasures]

/** The measurement of one side. */
interface Measured {
  /** Operations per second, one number for each round. */
  readonly rates: readonly number[]
  /** CPU time of the server per operation, in microseconds; absent if the server does not report it. */
  readonly cpuMicros: readonly number[]
}

/** One line of the comparison. */
export interface Compared {
  readonly label: string
  readonly unit: string
  readonly ours: Measured
  readonly other: Measured
}

const report = new URL('../../../.cache/bench-against.json', import.meta.url)

export interface AgainstOptions {
  /** A client configuration of the other server, with rights to make namespaces. */
  readonly kubeconfig: string
  readonly rounds: number
  /** Warm-up rounds that do not count. */
  readonly warm: number
  readonly extent: Extent
  /** Only lines whose labels begin so; absent: all lines. */
  readonly labels: readonly string[]
  /** Processes of the other server on this machine, with its etcd, whose CPU time counts; absent: the server's metrics give the CPU time. */
  readonly pids: readonly number[]
  /** This server with one process for each service. */
  readonly isDistributed: boolean
  /** Further flags of `orch up`. */
  readonly flags: readonly string[]
}

/**
 * `npm run bench -- --against=<kubeconfig>`: measures every line at this server and at another server in alternating rounds; prints both results and
 * their ratio.
 */
export async function runAgainst({ kubeconfig, labels, pids, isDistributed, flags, ...options }: AgainstOptions): Promise<number> {
  const chosen = measures.filter(({ label }) => labels.length === 0 || labels.some((one) => label.startsWith(one)))
  if (chosen.length === 0) {
    process.stderr.write(`no line begins with ${labels.join(', ')}; there are ${measures.map(({ label }) => label).join(', ')}\n`)
    return 1
  }
  const configuration = await loadConfiguration(kubeconfig)
  const state = benchState()
  const server = await startServer({ entry: serverEntry, isDistributed, nodeFlags: [], flags: ['--profile=kubernetes', ...flags] })
  const { ca, cert, key } = server.shown
  const own: ClientConfiguration = {
    server: `https://127.0.0.1:${server.ports[0]}`,
    certificateAuthority: String(ca),
    clientCertificate: String(cert),
    clientKey: String(key),
  }
  try {
    process.stdout.write(
      `Commit ${state.commit}, Node ${state.node}, ${state.cores} cores (${state.cpu}); data in ${state.folder} (${state.fileSystem})\n\n${tableHead}`,
    )
    const sides = {
      ours: { configuration: own, pids: processesBelow(server.pid).map(({ pid }) => pid) },
      other: { configuration, pids },
    }
    const results = await compare(sides, { ...options, measures: chosen, print: (row) => void process.stdout.write(row) })
    mkdirSync(new URL('.', report), { recursive: true })
    writeFileSync(report, `${JSON.stringify({ ...state, results }, undefined, 2)}\n`)
    return 0
  } finally {
    await server.stop()
  }
}

/** One side of the comparison: how the bench reaches the server, and the processes on this machine whose CPU time counts. */
interface Compare {
  readonly configuration: ClientConfiguration
  readonly pids?: readonly number[]
}

interface CompareOptions {
  readonly measures: readonly Measure[]
  readonly rounds: number
  readonly warm: number
  readonly extent: Extent
  readonly print: (row: string) => void
}

/** Measures both sides in new namespaces, and removes the namespaces at the end. */
export async function compare(
  { ours: own, other: behind }: { readonly ours: Compare; readonly other: Compare },
  { rounds, warm, extent, measures: chosen, print }: CompareOptions,
): Promise<readonly Compared[]> {
  const sides = [await Side.open('orch', own.configuration, own.pids), await Side.open('other', behind.configuration, behind.pids)]
  const run = `bench-${process.pid}-${Date.now() % 1_000_000}`
  // The same server may be both sides.
  const namespaceOf = ({ name }: Side) => `${run}-${name}`
  const namespacesOf = (side: Side) => [namespaceOf(side), `${namespaceOf(side)}-list`]
  const results: Compared[] = []
  try {
    for (const side of sides) for (const one of namespacesOf(side)) await openNamespace(side, one)
    for (const measure of chosen) {
      const opened = await Promise.all(sides.map((side) => measure.open(side, namespaceOf(side), extent)))
      const ours = { rates: [] as number[], cpuMicros: [] as number[] }
      const other = { rates: [] as number[], cpuMicros: [] as number[] }
      for (let round = -warm; round < rounds; round++) {
        for (const [index, side] of sides.entries()) {
          const { rate, micros } = await measuredRound(side, () => (opened[index] as (typeof opened)[0]).round())
          if (round < 0) continue
          const measured = index === 0 ? ours : other
          measured.rates.push(rate)
          if (micros !== undefined) measured.cpuMicros.push(micros)
        }
      }
      for (const one of opened) await one.close()
      const compared = { label: measure.label, unit: measure.unit, ours, other }
      results.push(compared)
      print(printCompared(compared))
    }
  } finally {
    for (const side of sides) {
      for (const one of namespacesOf(side)) await side.ask({ method: 'DELETE', path: `/api/v1/namespaces/${one}` }).catch(() => undefined)
      side.close()
    }
  }
  return results
}

async function measuredRound(side: Side, round: () => Promise<Round>): Promise<{ rate: number; micros: number | undefined }> {
  const before = await side.cpuSeconds()
  const { operations, seconds } = await round()
  const after = await side.cpuSeconds()
  const micros = before === undefined || after === undefined ? undefined : ((after - before) * 1e6) / operations
  return { rate: operations / seconds, micros }
}

/** Creates a namespace with its Pods' account, which a server without controllers does not make. */
async function openNamespace(side: Side, name: string): Promise<void> {
  const { status, body } = await side.ask({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name } } })
  if (status !== 201) throw new Error(`${side.name}: the namespace ${name} cannot be made: ${status} ${body}`)
  await setTimeout(500)
  const account = await side.ask({
    method: 'POST',
    path: `/api/v1/namespaces/${name}/serviceaccounts`,
    body: { metadata: { name: 'default' } },
  })
  if (account.status !== 201 && account.status !== 409)
    throw new Error(`${side.name}: no account for Pods: ${account.status} ${account.body}`)
}

const tableHead =
  '| line | orch, per second | other, per second | ratio | orch, CPU | other, CPU | ratio |\n|---|---|---|---|---|---|---|\n'

/** A row of the table: medians with the slowest and the fastest round, and our median divided by the other. */
export function printCompared({ label, unit, ours, other }: Compared): string {
  const rates = [ours, other].map(({ rates: all }) => `${printSpread(all)} ${unit}`)
  const costs = [ours, other].map(({ cpuMicros }) => (cpuMicros.length === 0 ? '–' : `${printSpread(cpuMicros)} µs`))
  const cells = [label, ...rates, ratioOf(ours.rates, other.rates), ...costs, ratioOf(ours.cpuMicros, other.cpuMicros)]
  return `| ${cells.join(' | ')} |\n`
}

function printSpread(values: readonly number[]): string {
  return values.length === 1
    ? short(median(values))
    : `${short(median(values))} (${short(Math.min(...values))}–${short(Math.max(...values))})`
}

function ratioOf(ours: readonly number[], other: readonly number[]): string {
  return ours.length === 0 || other.length === 0 ? '–' : short(median(ours) / median(other))
}

function short(value: number): string {
  if (value >= 100) return value.toFixed(0)
  return value >= 10 ? value.toFixed(1) : value.toFixed(2)
}
