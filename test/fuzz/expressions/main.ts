/**
 * `npm run fuzz -- expressions [--count=1000000 --rules=100000 --seed=1 --from=0]`: compiles, estimates and evaluates texts drawn from a
 * seed, then evaluates rules of random schemas on objects that the schemas allow, both by closures and by a walk over the tree. Fails if the compiler
 * neither compiles nor refuses a text, if a text takes longer than 100 ms of CPU, or if the value or the cost of a rule differs.
 */
import { parseArgs } from 'node:util'
import { compareRules } from './rules.ts'
import { compileTexts } from './texts.ts'

const stallMsMax = 100
const faultsShown = 20
const batch = 10_000

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '1000000' },
    rules: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    from: { type: 'string', default: '0' },
  },
})
const seed = wholeNumber(values.seed)
const from = wholeNumber(values.from)
const count = wholeNumber(values.count)
const rules = wholeNumber(values.rules)
process.stdout.write(`seed ${seed}, ${count} expressions, rules of ${rules} schemas\n`)

const faults: string[] = []
let compiled = 0
let slowest = { text: '', ms: 0 }
for (let done = 0; done < count; done += batch) {
  const part = compileTexts({ seed, from: from + done, count: Math.min(batch, count - done), timer: cpuMs })
  compiled += part.compiled
  faults.push(...part.faults)
  if (part.slowest.ms > slowest.ms) slowest = part.slowest
  if ((done / batch) % 10 === 9) process.stdout.write(`${done + batch} expressions\n`)
}
process.stdout.write(
  `${compiled} compiled, the others refused; longest ${slowest.ms.toFixed(0)} ms of CPU: ${slowest.text.slice(0, 300)}\n`,
)
if (slowest.ms > stallMsMax) faults.push(`longer than ${stallMsMax} ms: ${slowest.text}`)

let [evaluated, valued] = [0, 0]
for (let done = 0; done < rules; done += batch) {
  const part = compareRules({ seed, from: from + done, count: Math.min(batch, rules - done) })
  evaluated += part.evaluated
  valued += part.valued
  faults.push(...part.differences)
}
process.stdout.write(`${evaluated} evaluations, ${valued} with a value, by closures and by a walk over the tree\n`)
process.stdout.write(`${faults.length} faults\n${faults.slice(0, faultsShown).join('\n')}${faults.length > 0 ? '\n' : ''}`)
process.exitCode = faults.length === 0 ? 0 : 1

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

function wholeNumber(text: string): number {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number >= 0) return number
  process.stderr.write(`${text}: expected a whole number\n`)
  process.exit(1)
}
