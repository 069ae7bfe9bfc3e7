import { expect, test } from 'vitest'
import { type CompileResult, Environment } from './environment.ts'
import { planInSteps } from './eval/plan.ts'
import { kubernetesLibraries } from './kubernetes/index.ts'
import { bindMacro } from './macros/bind.ts'
import { listOf, objectOf, printType, types } from './types.ts'

test('an environment that extends another has its libraries and more variables', () => {
  const extended = new Environment({ libraries: kubernetesLibraries, variables: { n: types.int } }).extend({
    variables: { y: types.string },
  })
  expect(extended.compile('ip(y).family() == 4').kind).toBe('compiled')
  expect(extended.compile('n == 4').kind).toBe('invalid')
})

/** Repeats a text up to about a length. */
function fill(length: number, unit: string, separator: string): string {
  return Array(Math.floor(length / (unit.length + separator.length)))
    .fill(unit)
    .join(separator)
}

/** Expressions of about a given length; each is wide in another part of the grammar. */
function wideTexts(length: number): readonly string[] {
  const [ors, ones] = [fill(length, 'self.a==1', '||'), fill(length, '1', ',')]
  const calls = [fill(length, 'self.l.all(x,x>1)', '&&'), `size([${fill(length, 'dyn(1)', ',')}])>0`, `[${ones}].size()>0`]
  const literals = [
    `{${fill(length, "'a':1", ',')}}.?a.orValue(1)==1`,
    `{${fill(length, '[]:[]', ',')}}`,
    `object{${fill(length, 'a:1+1', ',')}}`,
  ]
  const loops = [`[1].all(x, ${ors})`, `self.l.map(x, [${ones}])`, `self.l.filter(x, ${ors})`, `[${ones}].all(x, x==1)`]
  const bindings = [`cel.bind(v, ${ors}, v)`, `cel.bind(v, 1, ${ors})`, `optional.of([${ones}]).optMap(y, y.size())`]
  return [
    ors,
    ...calls,
    ...literals,
    ...loops,
    ...bindings,
    `'%s%s%s'.format([1, 'a', [${ones}]])`,
    `[${fill(length, '[]', ',')}] == [[1]]`,
  ]
}

/** Like `wideTexts`, each with an error. */
function wrongWideTexts(length: number): readonly string[] {
  const items = [fill(length, "1,'a',b", ','), fill(length, "[],[1],['a']", ','), fill(length, '[],{},none', ',')]
  const wrong = [fill(length, 'a==a', '||'), fill(length, '(1||nope)', '&&'), fill(length, 'self.b.c==f(1)', '||')]
  const calls = [
    `f(${items[0]})`,
    `[${items[0]}].f(none)`,
    `nope{${fill(length, 'a:b', ',')}}`,
    `object{${fill(length, "a:'b',z:none", ',')}}`,
  ]
  const syntax = [`[${fill(length, 'as', ',')}]`, `[${items[0]})`, `${fill(length, '1==1', '||')} 1`, `[${fill(length, '1,$', ',')}]`]
  const refused = [fill(length, "self.s.matches('(')", '||'), fill(length, "duration('x')==duration('1s')", '||')]
  return [...items.map((each) => `[${each}]`), `{${fill(length, "1:'a','a':b", ',')}}`, ...wrong, ...calls, ...syntax, ...refused]
}

const fields = new Map(Object.entries({ a: types.int, s: types.string, l: listOf(types.int) }))
const wide = new Environment({
  libraries: [...kubernetesLibraries, { name: 'bind', since: 0, functions: {}, macros: [bindMacro] }],
  variables: { self: objectOf('object') },
  provider: { findType: (name) => (name === 'object' ? objectOf(name) : undefined), findField: (_, field) => fields.get(field) },
})

function countSteps<T>(steps: Generator<undefined, T, undefined>): { readonly count: number; readonly result: T } {
  for (let count = 1; ; count += 1) {
    const step = steps.next()
    if (step.done === true) return { count, result: step.value }
  }
}

/** Texts by their beginnings. */
function named(texts: readonly string[]) {
  return texts.map((text) => ({ start: text.slice(0, 30), text }))
}

/** The facts of an expression, except its text. */
function describe(result: CompileResult) {
  if (result.kind === 'invalid') return result
  const { expr, type, types: found, references } = result.ast
  const byId = <T>(entries: Iterable<[number, T]>) => [...entries].sort(([a], [b]) => a - b)
  return { expr, type: printType(type), types: byId(found).map(([id, each]) => [id, printType(each)]), references: byId(references) }
}

/** Makes a text long enough to be compiled in steps. */
const padding = `\n${' '.repeat(4_000)}`

test.each(named([...wideTexts(3_600), ...wrongWideTexts(3_600)]))(
  'a wide expression evaluated in steps has the same value as at once: $start…',
  ({ text }) => {
    const atOnce = countSteps(wide.compileInSteps(text))
    const inSteps = countSteps(wide.compileInSteps(text + padding))
    expect(atOnce.count).toBe(1)
    expect(inSteps.count).toBeGreaterThan(1)
    expect(describe(inSteps.result)).toEqual(describe(atOnce.result))
  },
)

test.each(named(wideTexts(98_000)))('a wide expression has many steps: $start…', ({ text }) => {
  const { count, result } = countSteps(wide.compileInSteps(text))
  if (result.kind === 'invalid') throw new Error(result.message.slice(0, 200))
  const parts = result.ast.types.size
  expect(parts).toBeGreaterThan(25_000)
  expect(parts / count).toBeLessThan(3_000)
  expect(parts / countSteps(planInSteps(result.ast)).count).toBeLessThan(6_000)
})
