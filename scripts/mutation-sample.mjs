/**
 * Draws some of the mutants of a scope, so that a score with a known error takes minutes instead of hours: `npm run mutate -- <scope> --sample=<n>
 * --seed=<s>`. Stryker asks the checker below about each mutant and runs the tests only on the drawn ones.
 */
import { createHash } from 'node:crypto'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** The file in the copy of the sources that holds the keys of the drawn mutants. */
const drawnFile = 'mutation-sample.json'

/** The key of a mutant of a scope, equal in the list and in the checker. */
function keyOf({ fileName, location, mutatorName, replacement }) {
  const { start, end } = location
  return [resolve(fileName), start.line, start.column, end.line, end.column, mutatorName, replacement].join(':')
}

/** Draws `count` of the keys by the seed, each with equal probability. `root` is removed from the keys, as it differs between copies. */
export function draw(keys, { count, seed, root = '' }) {
  const rank = (key) =>
    createHash('sha256')
      .update(`${seed} ${key.replace(root, '')}`)
      .digest('hex')
  return keys
    .map((key) => ({ key, rank: rank(key) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
    .slice(0, count)
    .map(({ key }) => key)
}

/** The 95 % Wilson interval of a score, as fractions. */
export function intervalOf(killed, drawn) {
  const z = 1.96
  const share = killed / drawn
  const middle = (share + (z * z) / (2 * drawn)) / (1 + (z * z) / drawn)
  const half = (z / (1 + (z * z) / drawn)) * Math.sqrt((share * (1 - share)) / drawn + (z * z) / (4 * drawn * drawn))
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) }
}

class Sample {
  #drawn = new Set()
  #file

  constructor(file = drawnFile) {
    this.#file = file
  }

  init() {
    this.#drawn = new Set(JSON.parse(readFileSync(this.#file, 'utf8')))
  }

  check(mutants) {
    const answer = (mutant) => (this.#drawn.has(keyOf(mutant)) ? { status: 'passed' } : { status: 'compileError', reason: 'not drawn' })
    return Object.fromEntries(mutants.map((mutant) => [mutant.id, answer(mutant)]))
  }

  group(mutants) {
    return [mutants.map(({ id }) => id)]
  }
}

export const strykerPlugins = [{ kind: 'Checker', name: 'sample', injectableClass: Sample }]

/** Lists the mutants of the patterns in a copy of the sources, draws a sample, and writes the keys for the checker. */
async function prepareSample(root, { mutate, excludedMutations, count, seed }) {
  const core = createRequire(createRequire(join(root, 'package.json')).resolve('@stryker-mutator/core'))
  const { Instrumenter } = await import(pathToFileURL(core.resolve('@stryker-mutator/instrumenter')).href)
  const exclude = new Set(mutate.filter((one) => one.startsWith('!')).flatMap((one) => globSync(one.slice(1), { cwd: root })))
  const names = mutate.filter((one) => !one.startsWith('!')).flatMap((one) => globSync(one, { cwd: root }))
  const files = names.filter((name) => !exclude.has(name) && !name.endsWith('.test.ts'))
  const sources = files.map((name) => ({ name: join(root, name), mutate: true, content: readFileSync(join(root, name), 'utf8') }))
  const silent = { debug() {}, info() {}, isDebugEnabled: () => false }
  const options = { ignorers: [], excludedMutations, plugins: null, noHeader: false }
  const { mutants } = await new Instrumenter(silent).instrument(sources, options)
  const keys = mutants.filter(({ status }) => status !== 'Ignored').map(keyOf)
  const drawn = draw(keys, { count, seed, root })
  writeFileSync(join(root, drawnFile), JSON.stringify(drawn))
  process.stdout.write(`drew ${drawn.length} of ${keys.length} mutants with seed ${seed}\n`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await prepareSample(process.cwd(), JSON.parse(process.argv[2]))
