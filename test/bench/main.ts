/**
 * `npm run bench [-- name…]`: measures every line and its floor in the same run. Prints a table and writes JSON. Compare the ratios: the machine's speed
 * affects both sides.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type AgainstOptions, runAgainst } from './against/against.ts'
import type { Line } from './figure.ts'
import { applyLine } from './lines/apply.ts'
import { nodesLine, scaleNodes, workloadsLine } from './lines/cluster.ts'
import { customReadLine, customWriteLine, definitionMemory, definitionStart, definitionsLine } from './lines/custom.ts'
import { distributedCreate, distributedDelay, distributedFanOut, distributedGateways } from './lines/distributed.ts'
import { forkLine } from './lines/fork.ts'
import { formatsLine } from './lines/formats.ts'
import { identityLine } from './lines/identity.ts'
import { podMemory } from './lines/pod-memory.ts'
import { policiesLine } from './lines/policies.ts'
import { getLine, listLine, objectMemory, slowReaders } from './lines/read.ts'
import { requestLogLine } from './lines/request-log.ts'
import { scalePods, scaleSelectors, scaleWatchers } from './lines/scale.ts'
import { coldStart, idleMemory, loadStart, warmStart } from './lines/start.ts'
import { userLine } from './lines/user.ts'
import { eventDelay, fanOut, fanOutSteady, idleWatchers } from './lines/watch.ts'
import { webhooksLine } from './lines/webhooks.ts'
import { createLine, createPluginsLine, updateLine } from './lines/write.ts'
import { benchState, isInMemory } from './state.ts'
import { printRow, tableHead } from './table.ts'

const lines: readonly Line[] = [
  coldStart,
  warmStart,
  forkLine,
  requestLogLine,
  idleMemory,
  getLine,
  identityLine,
  userLine,
  listLine,
  formatsLine,
  slowReaders,
  idleWatchers,
  loadStart,
  createLine,
  createPluginsLine,
  webhooksLine,
  policiesLine,
  updateLine,
  applyLine,
  fanOut,
  fanOutSteady,
  eventDelay,
  objectMemory,
  podMemory,
  customReadLine,
  customWriteLine,
  definitionsLine,
  definitionMemory,
  definitionStart,
  workloadsLine,
  nodesLine,
  distributedCreate,
  distributedDelay,
  distributedGateways,
  distributedFanOut,
  scalePods,
  scaleWatchers,
  scaleSelectors,
  scaleNodes,
]

const report = new URL('../../.cache/bench.json', import.meta.url)

async function main(names: readonly string[]): Promise<number> {
  const unknown = names.filter((name) => !lines.some((line) => line.name === name))
  if (unknown.length > 0) {
    process.stderr.write(`no bench line is called ${unknown.join(', ')}; there are ${lines.map(({ name }) => name).join(', ')}\n`)
    return 1
  }
  const state = benchState()
  process.stdout.write(
    `Commit ${state.commit}, Node ${state.node}, ${state.cores} cores (${state.cpu}), embedded mode but where a line says otherwise; data in ${state.folder} (${state.fileSystem})\n\n`,
  )
  if (isInMemory(state.fileSystem)) {
    process.stderr.write(`${state.folder} is in memory, so durable writes wait for no disk: set TMPDIR to a folder on one\n`)
  }
  process.stdout.write(tableHead)
  const results: Record<string, unknown>[] = []
  let failures = 0
  for (const line of lines) {
    if (names.length > 0 ? !names.includes(line.name) : line.isByHand) continue
    try {
      for (const figure of await line.run()) {
        results.push({ line: line.name, what: line.what, ...figure })
        process.stdout.write(printRow(line.name, figure))
      }
    } catch (error) {
      failures++
      process.stdout.write(`| ${line.name} | failed: ${error instanceof Error ? error.message.split('\n')[0] : error} |\n`)
    }
  }
  mkdirSync(new URL('.', report), { recursive: true })
  writeFileSync(report, `${JSON.stringify({ ...state, mode: 'embedded', results }, undefined, 2)}\n`)
  return failures === 0 ? 0 : 1
}

/** The flags of a comparison with another server. */
function readAgainst(args: readonly string[]): AgainstOptions | undefined {
  const number = (of: number) => ({ type: 'string', default: String(of) }) as const
  const options = {
    against: { type: 'string' },
    pids: { type: 'string', default: '' },
    distributed: { type: 'boolean', default: false },
    flag: { type: 'string', multiple: true, default: [] as string[] },
    rounds: number(5),
    warm: number(3),
    seconds: number(4),
    objects: number(2_000),
    watchers: number(1_000),
    'steady-watchers': number(200),
    events: number(50),
  } as const
  if (!args.some((arg) => arg.startsWith('--'))) return undefined
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
  if (values.against === undefined) throw new Error('--against=<kubeconfig> is needed for other flags')
  return {
    kubeconfig: values.against,
    labels: positionals,
    pids: values.pids === '' ? [] : values.pids.split(',').map(Number),
    isDistributed: values.distributed,
    flags: values.flag,
    rounds: Number(values.rounds),
    warm: Number(values.warm),
    extent: {
      roundMs: Number(values.seconds) * 1000,
      objects: Number(values.objects),
      watchers: Number(values.watchers),
      steadyWatchers: Number(values['steady-watchers']),
      events: Number(values.events),
    },
  }
}

async function run(args: readonly string[]): Promise<number> {
  try {
    const against = readAgainst(args)
    return against === undefined ? await main(args) : await runAgainst(against)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
    return 1
  }
}

// A failed line may have left connections open.
process.exit(await run(process.argv.slice(2)))
