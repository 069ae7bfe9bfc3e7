import { Environment } from '../../../shared/cel/src/environment.ts'
import { estimateCost } from '../../../shared/cel/src/estimate/estimate.ts'
import { plan } from '../../../shared/cel/src/eval/plan.ts'
import { kubernetesLibraries } from '../../../shared/cel/src/kubernetes/index.ts'
import { bindMacro } from '../../../shared/cel/src/macros/bind.ts'
import { listOf, mapOf, types } from '../../../shared/cel/src/types.ts'
import { createDraw, type Draw, pick } from './draw.ts'
import { noLeaves, TypedExpressions } from './typed-expressions.ts'

const environment = new Environment({
  libraries: [...kubernetesLibraries, { name: 'bind', since: 0, functions: {}, macros: [bindMacro] }],
  variables: { self: mapOf(types.string, listOf(types.string)), x: types.dyn, n: types.int },
})

const atoms = ['self', 'x', 'n', '1', '2u', '1.5', '"a"', "b'z'", 'true', 'null', '9223372036854775807', '-1', '"👑"', "r'\\d+'"]
const pieces = [
  ...atoms,
  ...['(', ')', '[', ']', '{', '}', '.', '?', ':', ',', '-', '==', '&&', '!', 'in', 'has', '.?', '[?', '//', '"""', '\\', 'é', '`a`', '0x'],
  ...['.all(y,', '\u0000', '\ud83d', '1e999', '0xffffffffffffffffff', "'\\u", '"\\x4', '.sortBy(', 'cel.bind(', '<=', '%', '|'],
]
const functions = ['size', 'string', 'int', 'type', 'dyn', 'quantity', 'has', 'optional.of', 'ip', 'url', 'lists.range']
const others = ['timestamp', 'duration', 'matches', 'cidr', 'semver', 'isIP', 'sets.contains', 'uint', 'double', 'bytes', 'format.named']
const members = ['size()', 'all(a, true)', 'map(a, [a])', 'filter(b, b != x)', 'orValue(1)', 'split(",")', 'sortBy(a, a)', 'f', '?g']
const macros = [
  'transformMap(k, v, v)',
  'optMap(o, o)',
  'exists_one(i, x)',
  'matches("(a|b)*")',
  'format([x])',
  'all(i, j, i == j)',
  'find("[")',
]
const binary = ['+', '-', '*', '/', '%', '==', '!=', '<', '>=', '&&', '||', 'in']

const leaves = {
  ...noLeaves,
  int: ['n', 'size(self)'],
  bool: ['has(x.y)', '(x == n)'],
  text: ['self.a[n]', 'string(x)'],
  texts: ['self.a'],
}

/** A text that may be an expression: random pieces, a well-formed expression, or a well-formed expression with one piece changed. */
function drawText(draw: Draw): string {
  const kind = draw(4)
  if (kind === 0) return Array.from({ length: 1 + draw(25) }, () => pick(draw, pieces)).join(pick(draw, ['', ' ', '\n']))
  const whole = draw(2) === 0 ? expression(draw, 1 + draw(4)) : new TypedExpressions(draw, { leaves }).bool(1 + draw(3))
  if (kind < 3) return whole
  const at = draw(whole.length)
  return whole.slice(0, at) + pick(draw, pieces) + whole.slice(at + draw(3))
}

function expression(draw: Draw, depth: number): string {
  if (depth <= 0) return pick(draw, atoms)
  const inner = () => expression(draw, depth - 1)
  switch (draw(8)) {
    case 0:
      return `(${inner()} ${pick(draw, binary)} ${inner()})`
    case 1:
      return `[${inner()}, ${inner()}]`
    case 2:
      return `{${inner()}: ${inner()}}`
    case 3:
      return `${pick(draw, draw(2) === 0 ? functions : others)}(${inner()})`
    case 4:
      return `${inner()}.${pick(draw, draw(2) === 0 ? members : macros)}`
    case 5:
      return `(${inner()} ? ${inner()} : ${inner()})`
    case 6:
      return `${inner()}[${inner()}]`
    default:
      return `cel.bind(v, ${inner()}, v)`
  }
}

/** The result of compiling texts. */
export interface Compilations {
  readonly compiled: number
  /** Texts that were neither compiled nor refused at a position, or were estimated or evaluated wrongly. */
  readonly faults: readonly string[]
  readonly slowest: { readonly text: string; readonly ms: number }
}

export interface CompilationOptions {
  readonly seed: number
  readonly from?: number
  readonly count: number
  /** Milliseconds so far. */
  readonly timer?: () => number
}

export function textAt(seed: number, index: number): string {
  return drawText(createDraw(Math.imul(seed, 0x85ebca6b) + Math.imul(index, 0xc2b2ae35)))
}

/** Compiles, estimates and evaluates texts drawn from a seed, each from its own index. */
export function compileTexts({ seed, from = 0, count, timer = () => 0 }: CompilationOptions): Compilations {
  const faults: string[] = []
  let compiled = 0
  let slowest = { text: '', ms: 0 }
  for (let index = from; index < from + count; index += 1) {
    const text = textAt(seed, index)
    const begun = timer()
    try {
      const fault = faultOf(text)
      if (fault === 'none') compiled += 1
      else if (fault !== 'refused') faults.push(`#${index} ${JSON.stringify(text)}: ${fault}`)
    } catch (error) {
      faults.push(`#${index} ${JSON.stringify(text)}: ${error instanceof Error ? error.stack : String(error)}`)
    }
    const ms = timer() - begun
    if (ms > slowest.ms) slowest = { text, ms }
  }
  return { compiled, faults, slowest }
}

const variables = { self: { a: ['b', 'c'], '': [] }, x: { y: [1, 1.5, null, 'text', { z: true }] }, n: 7 }

function faultOf(text: string): string {
  const result = environment.compile(text)
  if (result.kind === 'invalid') return result.message.startsWith('ERROR: <input>:') ? 'refused' : result.message
  const { min, max } = estimateCost(result.ast, { estimateSize: ({ length }) => (length > 3 ? undefined : { min: 0n, max: 10n }) })
  if (min > max) return `estimated at ${min} to ${max}`
  const planned = plan(result.ast)
  if (planned.kind === 'refused') return 'none'
  const { cost } = planned.program.evaluate(variables, { costLimit: 10_000 })
  return Number.isFinite(cost) && cost >= 0 ? 'none' : `costs ${cost}`
}
