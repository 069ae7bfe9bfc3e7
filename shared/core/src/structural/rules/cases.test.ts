import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parseExactly } from '../../json/parse-exactly.ts'
import type { FieldError } from '../../meta/status.ts'
import { runAtOnce } from '../../steps.ts'
import { parseStructural } from '../parse.ts'
import { compileRule, examineRule, followFieldPath } from './compile.ts'
import { DeclaredTypes } from './declared.ts'
import { evaluateRules, type RuleCandidate, type RuleFindings } from './evaluate.ts'
import { timesPlaces } from './limits.ts'
import { compilationMeter, RuleTree } from './rule-tree.ts'

type Json = Readonly<Record<string, unknown>>

/** Reads the cases of a file, whose first line states the source. `same` lists members that equal those of the previous case. */
function casesOf<T>(file: string): T[] {
  const lines = readFileSync(new URL(`../cases/${file}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
  let before: Json = {}
  return lines.slice(1).map((line) => {
    const read = parseExactly(line)
    if (read.kind === 'malformed') throw new Error(read.problem)
    const { same = [], ...own } = read.value as { readonly same?: readonly string[] }
    before = { ...Object.fromEntries(same.map((name) => [name, before[name]])), ...own }
    return before as T
  })
}

function run(schema: unknown, candidate: RuleCandidate, isResource = false): RuleFindings {
  const tree = RuleTree.of(parseStructural(schema), { isResource })
  return tree === undefined ? { errors: [], budget: candidate.budget ?? 0 } : runAtOnce(evaluateRules(tree, { path: 'root', ...candidate }))
}

function texts(errors: readonly FieldError[]): string[] {
  return errors.map(({ field, message }) => `${field}: ${message}`)
}

interface ExpressionCase {
  readonly name: string
  readonly schema: Json
  readonly obj: unknown
  readonly oldObj?: unknown
  readonly rule: string
  readonly expect: 'valid' | 'error'
  readonly contains?: string
  readonly isRoot?: boolean
  readonly expectedCost?: number
  readonly expectSkipped?: boolean
}

it.each(casesOf<ExpressionCase>('cel-validation-expressions'))('CEL-26 CEL-35: a rule has the recorded errors: $name: $rule', (given) => {
  const schema = { ...given.schema, 'x-kubernetes-validations': [{ rule: given.rule }] }
  const isResource = given.isRoot === true || given.expect === 'error'
  const budget = 10_000_000
  const found = run(schema, { value: given.obj, old: given.oldObj, budget }, isResource)
  if (given.expect === 'valid') expect(texts(found.errors)).toEqual([])
  else expect(texts(found.errors).join('\n')).toContain(given.contains ?? '')
  if (given.expect === 'error') expect(found.errors.length).toBeGreaterThan(0)
  if (given.expectedCost !== undefined) expect(budget - found.budget).toBe(given.expectedCost)
})

interface LevelCase {
  readonly name: string
  readonly schema: unknown
  readonly obj: unknown
  readonly oldObj?: unknown
  readonly errors?: readonly string[]
}

const levelCases = [
  'cel-validation-expressions-at-schema-levels',
  'cel-optional-old-self',
  'cel-optional-old-self-check-for-null',
  'cel-optional-old-self-is-optional-type',
]

it.each(levelCases.flatMap((file) => casesOf<LevelCase>(file)))(
  'CEL-31 CEL-34: rules in a schema have the recorded errors: $name',
  ({ schema, obj, oldObj, errors = [] }) => {
    const found = texts(run(schema, { value: obj, old: oldObj }).errors)
    expect(found.length).toBe(errors.length)
    for (const error of errors) expect(found.join('\n')).toContain(error)
  },
)

interface RatchetingCase {
  readonly name: string
  readonly schema: unknown
  readonly oldObj: unknown
  readonly newObj: unknown
  readonly errors?: readonly string[]
  readonly warnings?: readonly string[]
  readonly runtimeCostBudget?: number
}

it.each(casesOf<RatchetingCase>('cel-ratcheting'))(
  'CRD-106 CRD-107: errors of unchanged parts are tolerated as recorded: $name',
  (given) => {
    const warnings: string[] = []
    const found = run(given.schema, {
      value: given.newObj,
      old: given.oldObj,
      ratchets: true,
      warn: (text) => warnings.push(text),
      ...(given.runtimeCostBudget === undefined ? {} : { budget: given.runtimeCostBudget }),
    })
    const errors = texts(found.errors)
    expect(errors.length).toBe(given.errors?.length ?? 0)
    for (const error of given.errors ?? []) expect(errors.join('\n')).toContain(error)
    expect(warnings.sort()).toEqual([...(given.warnings ?? [])].sort())
  },
)

interface CostCase {
  readonly name: string
  readonly schema: Json
  readonly obj: unknown
  readonly rule: string
  readonly expectRuntimeCost: number
}

it.each(casesOf<CostCase>('cel-cost-stability'))(
  'CEL-53: the cost of an evaluation: $name: $rule',
  ({ schema, obj, rule, expectRuntimeCost }) => {
    const budget = 10_000_000
    const found = run({ ...schema, 'x-kubernetes-validations': [{ rule }] }, { value: obj, budget }, true)
    expect({ errors: texts(found.errors), cost: budget - found.budget }).toEqual({ errors: [], cost: expectRuntimeCost })
  },
)

interface EstimateCase {
  readonly name: string
  readonly schema: unknown
  readonly rule: string
  readonly expectEstimatedCost: number | bigint
}

function estimateOf(schema: unknown, rule: string): bigint | string {
  const examined = runAtOnce(examineRule({ rule }, new DeclaredTypes(parseStructural(schema), { isResource: true })))
  return examined.rule?.kind === 'expression' ? runAtOnce(examined.rule.estimate()).max : (examined.rule?.problem ?? 'empty')
}

it.each(casesOf<EstimateCase>('cel-estimated-cost-stability'))(
  'CEL-53: the estimated cost of an evaluation: $name: $rule',
  ({ schema, rule, expectEstimatedCost }) => {
    expect(estimateOf(schema, rule)).toBe(BigInt(expectEstimatedCost))
  },
)

interface BoundCase {
  readonly name: string
  readonly schemaUnbounded: RuleSchema
  readonly schemaBounded: RuleSchema
  readonly expectedCalcCost?: number
  readonly expectCalcCostExceedsLimit?: number
  readonly expectedSetCost?: number
}

interface RuleSchema {
  readonly [name: string]: unknown
}

/** The only rule of a schema, and its estimated cost. */
function estimateWithin(schema: unknown): bigint | undefined {
  const tree = parseStructural(schema)
  const visit = (node: typeof tree): bigint | undefined => {
    if (node.rules?.[0] !== undefined) {
      const examined = runAtOnce(examineRule(node.rules[0], new DeclaredTypes(node, { isResource: false })))
      return examined.rule?.kind === 'expression' ? runAtOnce(examined.rule.estimate()).max : undefined
    }
    const below = [...(node.properties?.values() ?? []), node.items, node.additionalProperties]
    for (const part of below) {
      const found = typeof part === 'object' ? visit(part) : undefined
      if (found !== undefined) return found
    }
    return undefined
  }
  return visit(tree)
}

it.each(casesOf<BoundCase>('cel-cost-estimation'))('CEL-49 CEL-50 CEL-51: the cost of a rule is estimated as recorded: $name', (given) => {
  const unbounded = estimateWithin(given.schemaUnbounded)
  if (given.expectedCalcCost !== undefined) expect(unbounded).toBe(BigInt(given.expectedCalcCost))
  else expect(unbounded).toBeGreaterThan(BigInt(given.expectCalcCostExceedsLimit ?? 0))
  const bounded = estimateWithin(given.schemaBounded)
  if (given.expectedSetCost !== undefined) expect(bounded).toBe(BigInt(given.expectedSetCost))
  else expect(bounded).toBeGreaterThan(0n)
})

interface SizeCase {
  readonly name: string
  readonly inputSchema: unknown
  readonly expectedMaxElements: number
  readonly expectNilType?: boolean
}

it.each(casesOf<SizeCase>('cel-json-size-estimates'))(
  'CEL-49 CEL-50: the largest size of a value is estimated as recorded: $name',
  ({ inputSchema, expectedMaxElements, expectNilType }) => {
    const { self } = new DeclaredTypes(parseStructural(inputSchema), { isResource: false })
    expect(self === undefined).toBe(expectNilType === true)
    expect(self?.sizeMax ?? 0n).toBe(BigInt(expectedMaxElements))
  },
)

interface CardinalityCase {
  readonly name: string
  readonly schema: readonly Json[]
  readonly expectedMaxCardinality?: number | string
}

it.each(casesOf<CardinalityCase>('crd-cost-info'))(
  'CEL-51: the positions of a rule are counted as recorded: $name',
  ({ schema, expectedMaxCardinality }) => {
    let places: bigint | undefined = 1n
    for (const { type, values, additionalProperties } of schema.map((part) => parseStructural(part))) {
      if (type === 'array') places = timesPlaces(places, values?.maxItems)
      else if (additionalProperties !== undefined) places = timesPlaces(places, values?.maxProperties)
    }
    expect(places).toBe(expectedMaxCardinality === undefined ? undefined : BigInt(expectedMaxCardinality))
  },
)

interface MessageCase {
  readonly name: string
  readonly message?: string
  readonly messageExpression: string
  readonly costBudget: number
  readonly perCallLimit?: number
  readonly expectedValidationErr: string
  readonly expectedRemainingBudget?: number
}

it.each(casesOf<MessageCase>('cel-message-expression'))('CEL-27: a message expression has the recorded result: $name', (given) => {
  const { message, messageExpression } = given
  const rule = { rule: 'false', messageExpression, ...(message === undefined ? {} : { message }) }
  const schema = { type: 'object', properties: { str: { type: 'string' } }, 'x-kubernetes-validations': [rule] }
  const perRule = given.perCallLimit === undefined ? {} : { perRule: given.perCallLimit }
  const found = run(schema, { value: { str: 'a string' }, budget: given.costBudget, ...perRule })
  expect(texts(found.errors).join('\n')).toContain(given.expectedValidationErr)
  if (given.expectedRemainingBudget !== undefined) expect(found.budget).toBe(given.expectedRemainingBudget)
})

interface ReasonCase {
  readonly name: string
  readonly schema: unknown
  readonly obj: unknown
  readonly errors: readonly { readonly type: string; readonly field: string }[]
}

it.each(casesOf<ReasonCase>('cel-reason-and-fld-path'))(
  'CEL-29 CEL-30: an error has the recorded reason and path: $name',
  ({ schema, obj, errors }) => {
    const found = run(schema, { value: obj }).errors
    expect(found.map(({ reason, field }) => `${reason} ${field}`)).toEqual(errors.map(({ type, field }) => `${type} ${field}`))
  },
)

interface PathCase {
  readonly name: string
  readonly fieldPath: string
  readonly schema: unknown
  readonly errDetail?: string
  readonly errMsg?: string
  readonly validFieldPath?: string
}

const pathCases = ['cel-validate-field-path', 'crd-field-path'].flatMap((file) => casesOf<PathCase>(file))

it.each(pathCases)(
  'CEL-30: the path $fieldPath is accepted or refused as recorded',
  ({ fieldPath, schema, errMsg, errDetail = errMsg, validFieldPath }) => {
    const path = followFieldPath(fieldPath, parseStructural(schema))
    if (errDetail !== undefined) expect(path).toEqual({ kind: 'wrong', problem: errDetail })
    else expect(path.kind).toBe('path')
    if (validFieldPath !== undefined) expect(path.kind === 'path' && path.text).toBe(validFieldPath)
  },
)

it.each(casesOf<{ readonly name: string; readonly rule: { readonly rule: string } }>('cel-metadata-name-cost-is-bounded'))(
  'CEL-52: $name',
  ({ rule }) => {
    const examined = runAtOnce(examineRule(rule, new DeclaredTypes(parseStructural({ type: 'object' }), { isResource: true })))
    expect(examined.rule?.kind === 'expression' && runAtOnce(examined.rule.estimate()).max < 1_000n).toBe(true)
  },
)

interface LimitCase {
  readonly schema: Json
  readonly obj: unknown
  readonly valid: readonly string[]
}

it.each(casesOf<LimitCase>('cel-validation-limit'))(
  'CEL-38: an evaluation beyond its limit ends the validation',
  ({ schema, obj, valid }) => {
    const rules = valid.map((rule) => ({ rule }))
    const found = run({ ...schema, 'x-kubernetes-validations': rules }, { value: obj, perRule: 0 })
    expect(texts(found.errors).join()).toContain('no further validation rules will be run due to call cost exceeds limit for rule')
    expect(found.budget).toBe(-1)
  },
)

it('CEL-36: rules are compiled once, at their first evaluation', () => {
  const tree = RuleTree.of(parseStructural({ type: 'object', 'x-kubernetes-validations': [{ rule: 'true' }] }), { isResource: false })
  if (tree === undefined) throw new Error('there are no rules')
  expect(tree.compiled).toBeUndefined()
  const compiled = runAtOnce(tree.compile(compilationMeter()))
  expect(compiled).toHaveLength(1)
  expect(tree.compiled).toBe(compiled)
  expect(
    runAtOnce(compileRule({ rule: ' ' }, { type: 'object' }, new DeclaredTypes({ type: 'object' }, { isResource: false }))).program,
  ).toBeUndefined()
})

interface ObjectsCase {
  readonly name: string
  readonly schema?: unknown
  readonly objects?: readonly unknown[]
  readonly oldObjects?: readonly unknown[]
  readonly failingObjects?: readonly { readonly object: unknown; readonly oldObject?: unknown; readonly expectErrs: readonly string[] }[]
}

const withRules = casesOf<ObjectsCase>('schema-value-validation').filter(({ schema }) =>
  JSON.stringify(schema ?? '').includes('x-kubernetes-validations'),
)

it.each(withRules)(
  'CEL-31 CEL-34: rules of an object have the recorded errors: $name',
  ({ schema, objects = [], oldObjects = [], failingObjects = [] }) => {
    for (const [index, value] of objects.entries()) expect(run(schema, { value, old: oldObjects[index], path: '' }).errors).toEqual([])
    for (const { object, oldObject, expectErrs } of failingObjects) {
      expect(texts(run(schema, { value: object, old: oldObject, path: '' }).errors)).toEqual(expectErrs)
    }
  },
)

interface CompilationCase {
  readonly name: string
  readonly input: Json
  readonly unmodified?: boolean
  /** The results of each rule; a list also states if the rule reads the old value. */
  readonly expectedResults: readonly (Compilation | readonly [Compilation, unknown])[]
}

interface Compilation {
  readonly errorType?: string
  readonly contains?: string
}

/** Replaces the table's own function by one that stored expressions may use and new ones may not. */
const laterFunction = (rule: string): string =>
  rule.replace("fakeFunction('abc') == 'ABC'", '[1].includes(1)').replace('fakeFunction', 'includes')

it.each(casesOf<CompilationCase>('cel-compilation'))(
  'CEL-08 CEL-26 CEL-27 CEL-31: a schema compiles as recorded: $name',
  ({ input, unmodified, expectedResults }) => {
    const schema = parseStructural(input)
    const declared = new DeclaredTypes(schema, { isResource: false })
    const age = unmodified === true ? 'stored' : 37
    const examined = (schema.rules ?? []).map((rule) =>
      runAtOnce(examineRule({ ...rule, rule: laterFunction(rule.rule) }, declared, { rule: age, message: age })),
    )
    expect(examined.length).toBe(expectedResults.length)
    for (const [index, expected] of expectedResults.entries()) {
      const [{ contains }, usesOldSelf] = Array.isArray(expected) ? expected : [expected as Compilation, undefined]
      const { rule, message } = examined[index] ?? { rule: undefined, message: undefined }
      const problems = [rule, message].flatMap((found) => (found?.kind === 'malformed' ? [found.problem] : []))
      if (contains === undefined) expect(problems).toEqual([])
      else expect(problems.join()).toContain(laterFunction(contains))
      if (typeof usesOldSelf === 'boolean' && contains === undefined) {
        expect(rule?.kind === 'expression' && rule.variables.has('oldSelf')).toBe(usesOldSelf)
      }
    }
  },
)

it('CEL-54: a comprehension checks the request’s deadline each hundred iterations', () => {
  const list = { type: 'array', items: { type: 'integer' }, 'x-kubernetes-validations': [{ rule: 'self.all(x, x >= 0)' }] }
  const value = { list: Array.from({ length: 1_000 }, (_, index) => index) }
  const schema = { type: 'object', properties: { list } }
  let asked = 0
  const isInterrupted = () => {
    asked += 1
    return asked === 4
  }
  expect(texts(run(schema, { value, isInterrupted }).errors)).toEqual([
    'root.list: Invalid value: "array": operation interrupted evaluating rule: self.all(x, x >= 0)',
  ])
  expect(asked).toBe(4)
  expect(run(schema, { value, isInterrupted: () => false }).errors).toEqual([])
})

it('CEL-39: all rules together share the budget of an object', () => {
  const rules = Array.from({ length: 20 }, () => ({ rule: 'self.all(x, self.all(y, x + y >= 0))' }))
  const schema = { type: 'array', items: { type: 'integer' }, 'x-kubernetes-validations': rules }
  const value = Array.from({ length: 300 }, (_, index) => index)
  const once = run({ ...schema, 'x-kubernetes-validations': rules.slice(0, 1) }, { value, budget: 10_000_000 })
  expect(once.errors).toEqual([])
  expect(20 * (10_000_000 - once.budget)).toBeGreaterThan(10_000_000)
  const found = run(schema, { value })
  expect(texts(found.errors)).toEqual([
    'root: Invalid value: "array": validation failed due to running out of cost budget, no further validation rules will be run',
  ])
  expect(found.budget).toBe(-1)
})
