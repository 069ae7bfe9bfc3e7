import { expect, test } from 'vitest'
import { Environment } from '../../../shared/cel/src/environment.ts'
import { plan } from '../../../shared/cel/src/eval/plan.ts'
import { kubernetesLibraries } from '../../../shared/cel/src/kubernetes/index.ts'
import { bindMacro } from '../../../shared/cel/src/macros/bind.ts'
import { listOf, mapOf, types } from '../../../shared/cel/src/types.ts'
import { equal } from '../../../shared/cel/src/values/equal.ts'
import { unlimitedMeter } from '../../../shared/cel/src/values/meter.ts'
import { CelError } from '../../../shared/cel/src/values/values.ts'
import { createDraw, pick } from './draw.ts'
import { noLeaves, TypedExpressions } from './typed-expressions.ts'
import { Walker } from './walker.ts'

const environment = new Environment({
  libraries: [...kubernetesLibraries, { name: 'bind', since: 0, functions: {}, macros: [bindMacro] }],
  mixedLiterals: true,
  variables: {
    n: types.int,
    s: types.string,
    b: types.bool,
    ln: listOf(types.int),
    ls: listOf(types.string),
    m: mapOf(types.string, types.int),
    o: types.dyn,
  },
})

const variables = {
  n: 2,
  s: 'some text 👑',
  b: true,
  ln: [1, 2, 3],
  ls: ['a', 'bb'],
  m: { k: 1, text: 2 },
  o: { a: { b: 3 }, list: [1, 2] },
}

const leaves = {
  ...noLeaves,
  bool: ['b', 'has(o.a.b)', 'has(o.z)', '(o.a.b == n)', '(o.list[n] > 1)'],
  int: ['n', 'o.a.b', 'ln[0]', "m['k']", '{n: 4}[n]', 'cel.bind(y, n + 1, y * y)'],
  text: ['s', 'ls[0]'],
  ints: ['ln', '[n, 2, n]', 'cel.bind(z, ln + [n], z + z)'],
  texts: ['ls'],
  amounts: ['m'],
}

/** The results of both ways of evaluation, if they differ. */
function differenceOf(text: string): unknown {
  const compiled = environment.compile(text)
  if (compiled.kind === 'invalid') throw new Error(compiled.message)
  const planned = plan(compiled.ast)
  if (planned.kind === 'refused') return { text, planned }
  const evaluation = planned.program.evaluate(variables)
  const walker = new Walker(compiled.ast)
  const value = walker.walk(compiled.ast.expr, variables)
  const isSame =
    evaluation.kind === 'error'
      ? value instanceof CelError && value.message === evaluation.message
      : equal(unlimitedMeter(), value, evaluation.value) === true
  return isSame && evaluation.cost === walker.cost ? undefined : { text, evaluation, value, cost: walker.cost }
}

const seed = Number(process.env['TEST_SEED'] ?? 1)

test(`CEL-53: closures give the values and costs of a walk over the tree, for 2,000 expressions of seed ${seed}`, () => {
  const draw = createDraw(seed)
  const different: unknown[] = []
  for (let count = 0; count < 2_000 && different.length < 3; count++) {
    const difference = differenceOf(new TypedExpressions(draw, { leaves }).bool(pick(draw, [1, 2, 3, 4])))
    if (difference !== undefined) different.push(difference)
  }
  expect(different).toEqual([])
})
