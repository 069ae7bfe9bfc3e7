/**
 * `npm run profile -- <operation> [--distributed] [flags of orch up]`: the time of an operation, by process, thread
 * and step. CPU time, context switches and system calls are the kernel's counts from a run without a profiler. The shares of steps come from V8's
 * profiler in each process, in a second run.
 */
import { parseArgs } from 'node:util'
import { callsOf } from './calls.ts'
import { isOperation, openLoad, operations } from './load.ts'
import { countsOf, processesBelow } from './processes.ts'
import { type Measured, printReport } from './report.ts'
import { openSampling, type Sampling, samplerEnvironment } from './sampling.ts'
import { startServer } from './server.ts'
import { type CpuProfile, timeBySteps } from './steps.ts'

/** The code is not bundled, so functions keep their source files. */
const ownEntry = new URL('../../services/orch/dist/main.js', import.meta.url).pathname

const sampledMs = 3_000

async function main(args: readonly string[]): Promise<number> {
  const { values, flags, names } = readArguments(args)
  if (names.length === 0 || !names.every(isOperation)) {
    const unknown = names.filter((name) => !isOperation(name))
    const which = unknown.length === 0 ? 'no operation is given' : `no operation is called ${unknown.join(', ')}`
    process.stderr.write(`${which}; there are ${Object.keys(operations).join(', ')}\n`)
    return 1
  }
  const sampling = await openSampling()
  const server = await startServer({
    entry: values.server ?? ownEntry,
    isDistributed: values.distributed,
    nodeFlags: values.node,
    flags,
    environment: samplerEnvironment(sampling),
  }).catch((error) => {
    sampling.close()
    throw error
  })
  try {
    for (const operation of names.filter(isOperation)) {
      const load = await openLoad(operation, server.ports, server.shown)
      await load.run(Number(values.warm) * 1000, Number(values.requests))
      const found = processesBelow(server.pid)
      const [before, callsBefore] = [found.map(({ pid }) => countsOf(pid)), await callsOf(server)]
      const result = await load.run(Number(values.seconds) * 1000)
      const [after, callsAfter] = [found.map(({ pid }) => countsOf(pid)), await callsOf(server)]
      const profiles = values.bare ? new Map<number, CpuProfile>() : await sampled(sampling, () => load.run(sampledMs))
      load.close()
      const processes = found.flatMap(({ pid, role }, index): Measured[] => {
        const [one, other] = [before[index], after[index]]
        const profile = profiles.get(pid)
        if (one === undefined || other === undefined || (role === 'up' && values.distributed) || role === 'backends') return []
        return [{ role, before: one, after: other, times: profile === undefined ? undefined : timeBySteps(profile) }]
      })
      process.stdout.write(`${printReport({ operation, ...result, processes, calls: { before: callsBefore, after: callsAfter } })}\n`)
    }
  } finally {
    await server.stop()
    sampling.close()
  }
  return 0
}

/** Profiles of all processes while a function runs. */
async function sampled(sampling: Sampling, run: () => Promise<unknown>): Promise<ReadonlyMap<number, CpuProfile>> {
  sampling.begin()
  await run()
  return sampling.end()
}

/** The tool passes flags that it does not know to `orch up`. */
function readArguments(args: readonly string[]) {
  const options = {
    distributed: { type: 'boolean', default: false },
    bare: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '5' },
    /** The longest warm-up in seconds, and the sufficient number of requests. Before that, V8 has not compiled the code. */
    warm: { type: 'string', default: '30' },
    requests: { type: 'string', default: '5000' },
    server: { type: 'string' },
    node: { type: 'string', multiple: true, default: [] as string[] },
  } as const
  const isOwn = (arg: string) => Object.hasOwn(options, arg.slice(2).split('=')[0] ?? '')
  const own = args.filter((arg) => !arg.startsWith('--') || isOwn(arg))
  const { values, positionals } = parseArgs({ args: own, options, allowPositionals: true })
  return { values, names: positionals, flags: args.filter((arg) => arg.startsWith('--') && !isOwn(arg)) }
}

process.exitCode = await main(process.argv.slice(2))
