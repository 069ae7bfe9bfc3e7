import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Child } from '../bench/process.ts'

/** Options of a server. */
export interface ServerOptions {
  /** `main.js`, compiled or bundled. */
  readonly entry: string
  readonly isDistributed: boolean
  readonly nodeFlags: readonly string[]
  /** Further flags of `orch up`. */
  readonly flags: readonly string[]
  /** The data folder; a new one by default. */
  readonly folder?: string | undefined
  /** Additional variables for the processes' environment. */
  readonly environment?: Readonly<Record<string, string>>
}

/** A server of one or several processes. */
export type StartedServer = Awaited<ReturnType<typeof startServer>>

/** One process of each service. Without flags for their numbers, the gateway hosts admission and the storage hosts watch. */
const oneOfEach = ['--gateways=1', '--storages=1', '--controller-replicas=1']

/** Starts `orch up` with the flags of `npm start`. */
export async function startServer({ entry, isDistributed, nodeFlags, flags, environment, ...at }: ServerOptions) {
  const { folder = mkdtempSync(join(tmpdir(), 'orch-profile-')) } = at
  const apart = isDistributed ? ['--distributed', ...oneOfEach.filter((flag) => !isGiven(flag, flags))] : []
  const child = new Child(
    [
      ...['--max-semi-space-size=16', '--min-semi-space-size=8', ...nodeFlags],
      ...[entry, 'up', '--secure-port=0', `--data-dir=${folder}`, ...apart, ...flags],
    ],
    environment,
  )
  const stop = async () => {
    await child.stop('SIGTERM')
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const [text] = await child.printed(isDistributed ? processTable : /https:\/\/[^\s:]+:\d+/)
    await child.printed(/ready/i)
    const processes = isDistributed ? processesIn(text) : []
    const gateways = processes.filter(({ name }) => name.startsWith('gateway-'))
    const ports = gateways.length === 0 ? [text] : gateways.map(({ address }) => address)
    const read = (name: string) => readFileSync(join(folder, name))
    return {
      child,
      folder,
      pid: child.process.pid ?? 0,
      ports: ports.map((address) => Number(/https:\/\/[^\s:]+:(\d+)/.exec(address)?.[1])),
      shown: { ca: read('ca.crt'), cert: read('admin.crt'), key: read('admin.key') },
      /** The address of `/metrics`, by process (`storage-0`). */
      probes: new Map(processes.map(({ name, probes }) => [name, probes])),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The output of `orch up --distributed` when all processes are ready, up to the line after the table. */
const processTable = /^Processes, where[^\n]*\n(?: +\S[^\n]*\n)+\S/m

/** The lines of the table: a name, the address for calls if it exists, and the address of probes. */
function processesIn(table: string): { name: string; address: string; probes: string }[] {
  return [...table.matchAll(/^ +([a-z]+-\d+)\s+(\S+)(?:\s+(\S+))?$/gm)].map(([, name = '', first = '', second]) => ({
    name,
    address: second === undefined ? '' : first,
    probes: second ?? first,
  }))
}

function isGiven(flag: string, flags: readonly string[]): boolean {
  return flags.some((other) => other.split('=')[0] === flag.split('=')[0])
}
