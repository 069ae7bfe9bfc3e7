import { listOf } from '@orch/cel/types'
import { isList, isMap, itemsOf, jsonOf, mapGet, mapKeys, unlimitedMeter } from '@orch/cel/values'
import { findUnownable, joinProblems, mergeApply, type Shape, Unownable } from '../apply/index.ts'
import { isJsonObject } from '../json/member.ts'
import { applyJsonPatch, type JsonPatch } from '../patch/json-patch.ts'
import type { Steps } from '../steps.ts'
import { type ConditionsReport, compileConditions, reportConditions } from './conditions.ts'
import { mutationTypes } from './declared.ts'
import { PolicyEvaluation, type PolicyInput, policyCostMax } from './evaluation.ts'
import { type Compiled, readsOf } from './language.ts'
import type { MutatingPolicySpec } from './spec.ts'
import { compileVariables } from './variables.ts'

interface CompiledMutation {
  readonly kind: 'apply' | 'patch'
  readonly expression: Compiled
}

/** A compiled MutatingAdmissionPolicy. */
export type CompiledMutatingPolicy = ReturnType<typeof compileMutatingPolicy>

/** The result types of expressions for the two kinds of mutation. */
export const mutationResults = { apply: mutationTypes.object, patch: listOf(mutationTypes.jsonPatch) }

/** Compiles a stored policy. Expressions that do not compile fail at evaluation. */
export function compileMutatingPolicy(spec: MutatingPolicySpec) {
  const { language, variables } = compileVariables(spec, { isMutating: true })
  const conditions = compileConditions(spec.matchConditions, spec.paramKind != null)
  const mutations = (spec.mutations ?? []).map(({ patchType, applyConfiguration, jsonPatch }): CompiledMutation => {
    const kind = patchType === 'JSONPatch' ? 'patch' : 'apply'
    const text = (kind === 'patch' ? jsonPatch : applyConfiguration)?.expression ?? ''
    return { kind, expression: language.compile(text, [mutationResults[kind]]) }
  })
  const expressions = [...[...conditions, ...variables].map(({ compiled }) => compiled), ...mutations.map(({ expression }) => expression)]
  return {
    isFailing: spec.failurePolicy !== 'Ignore',
    isReinvoked: spec.reinvocationPolicy === 'IfNeeded',
    conditions,
    variables,
    mutations,
    reads: readsOf(expressions),
  }
}

/** The result of a policy, and the counts of its match conditions, if any. */
export type MutationOutcome = Mutated & { readonly conditions?: ConditionsReport }

type Mutated =
  /** The match conditions are not met. */
  | { readonly kind: 'passed over' }
  /** The mutated object, without failed mutations. */
  | { readonly kind: 'object'; readonly object: unknown; readonly changes: readonly MadeChange[] }
  /** The match conditions could not be evaluated. */
  | { readonly kind: 'failed'; readonly message: string }

/** A mutation that was tried. */
interface MadeChange {
  /** The reason of its failure, if it failed. */
  readonly failure?: string
  readonly error: 'no_error' | 'compile_error' | 'invalid_error' | 'out_of_budget'
  readonly elapsedMs: number
}

/** Facts about an object's kind. */
export interface MutatedKind {
  readonly shape: Shape
  /** Returns unknown field paths and other errors of an object of this kind. */
  problemsOf(object: unknown): readonly string[]
}

/**
 * Applies a policy's mutations, with at most one parameter object. Each mutation sees the results of earlier ones; a failing mutation is
 * skipped, and later ones still run. Each is a step.
 */
export function* mutateBy(
  policy: CompiledMutatingPolicy,
  input: PolicyInput,
  described: MutatedKind,
  now = () => 0,
): Steps<MutationOutcome> {
  if (policy.conditions.length === 0) return yield* mutate(policy, input, described, now)
  const { outcome, report } = yield* reportConditions(policy.conditions, input, now)
  if (outcome.kind === 'met') return { ...(yield* mutate(policy, input, described, now)), conditions: report }
  const passedOver = outcome.kind === 'unmet' ? ({ kind: 'passed over' } as const) : ({ kind: 'failed', message: outcome.message } as const)
  return { ...passedOver, conditions: report }
}

function* mutate(policy: CompiledMutatingPolicy, input: PolicyInput, described: MutatedKind, now: () => number): Steps<Mutated> {
  let { object } = input
  let budget = policyCostMax
  const changes: MadeChange[] = []
  for (const { kind, expression } of policy.mutations) {
    const startedMs = now()
    const evaluation = new PolicyEvaluation({ ...input, object }, policy.variables, budget)
    const outcome = evaluation.evaluate(expression)
    budget = evaluation.budget
    const change = kind === 'apply' ? applyTo : patch
    const changed: Changed =
      outcome.kind === 'error' ? { kind: 'failed', message: outcome.message } : change(object, outcome.value, described)
    const elapsedMs = now() - startedMs
    if (changed.kind === 'failed') {
      const isOutOfBudget = outcome.kind === 'error' && outcome.isOutOfBudget
      const error = expression.kind === 'malformed' ? 'compile_error' : isOutOfBudget ? 'out_of_budget' : 'invalid_error'
      changes.push({ failure: changed.message, error, elapsedMs })
    } else {
      object = changed.object
      changes.push({ error: 'no_error', elapsedMs })
    }
    yield
  }
  return { kind: 'object', object, changes }
}

type Changed = { readonly kind: 'object'; readonly object: unknown } | { readonly kind: 'failed'; readonly message: string }

function applyTo(object: unknown, value: unknown, { shape }: MutatedKind): Changed {
  const problem = typeProblem(value, 'Object')
  if (problem !== undefined) return { kind: 'failed', message: problem }
  const config = jsonOf(value)
  const problems = findUnownable(shape, config)
  const failed = (text: string): Changed => ({ kind: 'failed', message: `error applying patch: ${text}` })
  if (problems.length > 0) return failed(`failed to convert patch object to typed object: ${joinProblems(problems)}`)
  const atomic = atomicPlaces(shape, config, '')
  if (atomic.length > 0) {
    return failed(`invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomic.join(', ')}`)
  }
  try {
    return { kind: 'object', object: mergeApply(shape, object, config) }
  } catch (error) {
    // Items of the object have duplicate keys.
    if (error instanceof Unownable) return failed(error.message)
    throw error
  }
}

/** Types of parts are named by their path from the root: `Object.spec.template`. */
function typeProblem(value: unknown, expected: string): string | undefined {
  if (isList(value))
    return valuesIn(value)
      .map((item) => typeProblem(item, expected))
      .find((problem) => problem !== undefined)
  const given = typeNameOf(value)
  if (given === undefined) return undefined
  if (given !== expected) {
    return `type mismatch: unexpected type name "${given}", expected "${expected}", which matches field name path from root Object type`
  }
  const meter = unlimitedMeter()
  for (const key of mapKeys(meter, value)) {
    const problem = typeProblem(mapGet(meter, value, key), `${given}.${String(key)}`)
    if (problem !== undefined) return problem
  }
  return undefined
}

function valuesIn(list: unknown): readonly unknown[] {
  return itemsOf(unlimitedMeter(), list)
}

function typeNameOf(value: unknown): string | undefined {
  const name = typeof value === 'object' && value !== null && 'typeName' in value ? value.typeName : undefined
  return typeof name === 'string' && (name === 'Object' || name.startsWith('Object.')) ? name : undefined
}

/** Paths of lists, maps and structs that are owned as a whole, since a merge would replace them. */
function atomicPlaces(shape: Shape, value: unknown, path: string): string[] {
  if (value === null || value === undefined) return []
  if (shape.kind === 'list') {
    if (shape.listType === 'atomic') return [path]
    return Array.isArray(value) ? value.flatMap((item, index) => atomicPlaces(shape.items, item, `${path}[${index}]`)) : []
  }
  if (shape.kind === 'untyped') return shape.isAtomic && typeof value === 'object' ? [path] : []
  if (shape.kind !== 'object' || !isJsonObject(value)) return []
  if (shape.isAtomic && path !== '') return [path]
  return Object.entries(value).flatMap(([name, inner]) => {
    const own = shape.fields.get(name)?.shape ?? shape.values
    return own === undefined ? [] : atomicPlaces(own, inner, `${path}.${name}`)
  })
}

/** The operations of a patch. */
function valuesOf(value: unknown): unknown[] {
  const list = isList(value) ? valuesIn(value) : []
  return list.flatMap((operation) => (isMap(operation) ? [mapGet(unlimitedMeter(), operation, 'value')] : []))
}

/** The type of a value must be the root of the types within it. */
function ownTypeProblem(value: unknown): string | undefined {
  if (isList(value))
    return valuesIn(value)
      .map(ownTypeProblem)
      .find((problem) => problem !== undefined)
  const name = typeNameOf(value)
  return name === undefined ? undefined : typeProblem(value, name)
}

const operations = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test'])

function patch(object: unknown, value: unknown, { problemsOf }: MutatedKind): Changed {
  const mismatch = valuesOf(value)
    .map(ownTypeProblem)
    .find((problem) => problem !== undefined)
  if (mismatch !== undefined) return { kind: 'failed', message: mismatch }
  const list = jsonOf(value)
  const failed = (text: string): Changed => ({ kind: 'failed', message: `JSON Patch: ${text}` })
  if (!Array.isArray(list) || !list.every(isJsonObject)) return failed('must be a list of JSONPatch')
  const operationsGiven: JsonPatch = list
  for (const { op, path } of operationsGiven) {
    if (typeof op !== 'string' || !operations.has(op)) return failed(`Unexpected kind: ${String(op ?? '')}`)
    if (typeof path !== 'string' || path === '') return failed('path is required')
  }
  const patched = applyJsonPatch(object, operationsGiven)
  if (patched.kind === 'patched') {
    const [problem] = problemsOf(patched.value)
    return problem === undefined ? { kind: 'object', object: patched.value } : failed(`strict decoding error: ${problem}`)
  }
  const { cause, message } = patched.error
  const text = cause instanceof Error ? cause.message : message
  // A failed test leaves the object unchanged.
  return text.includes('test failed') ? { kind: 'object', object } : failed(text)
}
