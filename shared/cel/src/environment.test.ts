import { expect, test } from 'vitest'
import { Environment } from './environment.ts'
import { estimateCost } from './estimate/estimate.ts'
import { kubernetesLibraries } from './kubernetes/index.ts'
import { bindMacro } from './macros/bind.ts'
import { listOf, mapOf, types } from './types.ts'

const environment = new Environment({
  libraries: [...kubernetesLibraries, { name: 'bind', since: 0, functions: [], macros: [bindMacro] }],
  variables: { self: mapOf(types.string, listOf(types.string)), x: types.dyn, n: types.int },
})

const atoms = ['self', 'x', 'n', '1', '2u', '1.5', '"a"', "b'z'", 'true', 'null']
const pieces = [
  ...atoms,
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  '.',
  '?',
  ':',
  ',',
  '-',
  '==',
  '&&',
  '!',
  'in',
  'has',
  '.?',
  '[?',
  '//',
  '"""',
  '\\',
  'é',
  '`a`',
  '0x',
  '.all(y,',
]
const functions = ['size', 'string', 'int', 'type', 'dyn', 'quantity', 'has', 'optional.of', 'ip', 'url', 'lists.range']
const members = [
  'size()',
  'all(a, true)',
  'map(a, [a])',
  'filter(b, b != x)',
  'orValue(1)',
  'split(",")',
  'sortBy(a, a)',
  'transformMap(k, v, v)',
  'optMap(o, o)',
  'f',
  '?g',
]

/** Texts drawn from a seed: half of them pieces in any order, half of them well formed. */
class Source {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  text(): string {
    if (this.#below(2) === 0) return this.expression(2 + this.#below(4))
    return Array.from({ length: 1 + this.#below(25) }, () => this.#one(pieces)).join(this.#one(['', ' ', '\n']))
  }

  expression(depth: number): string {
    const inner = () => this.expression(depth - 1)
    if (depth <= 0) return this.#one(atoms)
    const make = this.#one([
      () => `(${inner()} ${this.#one(['+', '-', '*', '==', '<', '&&', '||', 'in'])} ${inner()})`,
      () => `[${inner()}, ${inner()}]`,
      () => `{${inner()}: ${inner()}}`,
      () => `${this.#one(functions)}(${inner()})`,
      () => `${inner()}.${this.#one(members)}`,
      () => `(${inner()} ? ${inner()} : ${inner()})`,
      () => `${inner()}[${inner()}]`,
      () => `cel.bind(v, ${inner()}, v)`,
    ])
    return make()
  }

  #one<Item>(items: readonly Item[]): Item {
    return items[this.#below(items.length)]!
  }

  #below(bound: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) | 0
    return (this.#state >>> 8) % bound
  }
}

test(`any text is compiled or refused (seed ${process.env['TEST_SEED'] ?? 1})`, () => {
  const source = new Source(Number(process.env['TEST_SEED'] ?? 1))
  let compiled = 0
  for (let count = 0; count < 10_000; count += 1) {
    const text = source.text()
    const result = environment.compile(text)
    if (result.kind === 'invalid') {
      if (!result.message.startsWith('ERROR: <input>:')) expect.fail(`${JSON.stringify(text)}: ${result.message}`)
      continue
    }
    const { min, max } = estimateCost(result.ast, { estimateSize: ({ length }) => (length > 3 ? undefined : { min: 0n, max: 10n }) })
    if (min > max) expect.fail(`${JSON.stringify(text)} is estimated at ${min} to ${max}`)
    compiled += 1
  }
  expect(compiled).toBeGreaterThan(300)
})

test('an environment that extends another has its libraries and other variables', () => {
  const extended = environment.extend({ variables: { y: types.string } })
  expect(extended.compile('ip(y).family() == 4').kind).toBe('compiled')
  expect(extended.compile('n == 4').kind).toBe('invalid')
})
