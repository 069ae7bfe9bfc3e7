import { none, some, unlimitedMeter } from '@orch/cel/values'
import { viewOf } from '@orch/cel/views'
import { isJsonObject } from '../../json/member.ts'
import type { ComparisonTimer, RuleTimer } from '../../kind/kind-readers.ts'
import type { FieldError, PlainFieldError } from '../../meta/status.ts'
import { type StepMeter, type Steps, timed } from '../../steps.ts'
import { Correlation, itemsByKey, keyOfItem } from '../correlation.ts'
import { fieldError, invalid, noField } from '../field-path.ts'
import type { ExpressionRule, StructuralSchema } from '../schema.ts'
import { messageBytesMax, objectCostMax, ruleCostMax } from './budgets.ts'
import type { CompiledRule } from './compile.ts'
import type { EvaluationBounds } from './language.ts'
import { compilationMeter, type RuleTree } from './rule-tree.ts'

/** A new value, and the replaced one. */
export interface RuleCandidate {
  readonly value: unknown
  /** Undefined for a create. */
  readonly old?: unknown
  /** True if errors in unchanged parts become warnings. */
  readonly ratchets?: boolean
  readonly warn?: ((text: string) => void) | undefined
  /** The path of the value for messages; undefined for a whole object. */
  readonly path?: string
  /** The minor version of the release whose messages are used. */
  readonly level?: number | undefined
  readonly budget?: number
  /** The cost limit of one evaluation. */
  readonly perRule?: number
  /** Called every hundred iterations of a comprehension; true ends the evaluation with an error. */
  readonly isInterrupted?: (() => boolean) | undefined
  readonly comparisons?: ComparisonTimer | undefined
  readonly timer?: RuleTimer | undefined
  /** Bounds the compilation across several evaluations. */
  readonly compilation?: StepMeter
}

/** The errors of the rules, and the remaining budget, which is negative if exceeded. */
export interface RuleFindings {
  readonly errors: readonly PlainFieldError[]
  readonly budget: number
}

/** Evaluates a schema's rules on a value, node by node: a node's rules first, then those below it. */
export function* evaluateRules(tree: RuleTree, candidate: RuleCandidate): Steps<RuleFindings> {
  const evaluation = new Evaluation(candidate)
  const { value, old, ratchets, comparisons } = candidate
  const pair = ratchets === true ? { current: new Correlation(tree.schema, value, old, comparisons), parent: undefined } : undefined
  yield* evaluation.visit(tree, value, old, pair)
  return { errors: evaluation.errors, budget: evaluation.budget }
}

/** The old value that correlates with a place, or else with the nearest place above. */
interface Ratchet {
  readonly current: Correlation | undefined
  readonly parent: Correlation | undefined
}

/** The cost after which evaluation pauses, which takes some milliseconds; and the number of work steps that take as long as one unit of cost. */
const stepCost = 50_000
const workPerCost = 6

/** The default level of messages. */
const newest = 37

/** A value with its schema, the value that it replaces, and the old value that correlates with it. */
interface Place {
  readonly schema: StructuralSchema
  readonly value: unknown
  readonly old: unknown
  readonly ratchet: Ratchet | undefined
}

class Evaluation {
  readonly errors: PlainFieldError[] = []
  budget: number
  readonly #bounds: EvaluationBounds & { readonly costLimit: number }
  readonly #warn: ((text: string) => void) | undefined
  readonly #pieces: string[]
  readonly #compilation: StepMeter
  readonly #timer: RuleTimer | undefined
  readonly #level: number
  #pausedAt: number
  /** Work since the last pause. */
  #work = 0

  constructor(candidate: RuleCandidate) {
    const { path = '', budget = objectCostMax, perRule = ruleCostMax, level = newest } = candidate
    const { warn, isInterrupted, compilation, timer } = candidate
    this.#timer = timer
    this.#level = level
    this.budget = budget
    this.#pausedAt = budget
    this.#bounds = { costLimit: perRule, ...(isInterrupted && { isInterrupted }) }
    this.#warn = warn
    this.#compilation = compilation ?? compilationMeter()
    this.#pieces = path === '' ? [] : [path]
  }

  *visit(tree: RuleTree, value: unknown, old: unknown, ratchet: Ratchet | undefined): Steps<void> {
    if (value === null || value === undefined) return
    yield* this.#evaluateAll(tree, value, old, ratchet)
    if (this.budget < 0) return
    for (const part of tree.allOf) {
      yield* this.visit(part, value, old, ratchet === undefined ? undefined : { current: undefined, parent: ratchet.parent })
      if (this.budget < 0) return
    }
    if (Array.isArray(value)) yield* this.#visitItems(tree, value, old, ratchet)
    else if (isJsonObject(value)) yield* this.#visitMembers(tree, value, old, ratchet)
  }

  *#visitItems(tree: RuleTree, list: readonly unknown[], old: unknown, ratchet: Ratchet | undefined): Steps<void> {
    const { items, schema } = tree
    if (items === undefined) return
    const oldItems = schema.listType === 'map' && Array.isArray(old) ? itemsByKey(schema.listMapKeys ?? [], old) : undefined
    for (const [index, item] of list.entries()) {
      const oldItem = oldItems?.get(keyOfItem(schema.listMapKeys ?? [], item) ?? '')
      this.#pieces.push(`[${index}]`)
      yield* this.visit(
        items,
        item,
        oldItem,
        below(ratchet, (pair) => pair.index(index)),
      )
      this.#pieces.pop()
      if (this.budget < 0) return
    }
  }

  *#visitMembers(tree: RuleTree, object: Readonly<Record<string, unknown>>, old: unknown, ratchet: Ratchet | undefined): Steps<void> {
    const oldObject = tree.schema.mapType !== 'atomic' && isJsonObject(old) ? old : {}
    for (const name in object) {
      const member = tree.member(name)
      if (member === undefined) continue
      // Errors of an object's own type are never ignored.
      const isOwnType = ratchet !== undefined && ratchet.parent === undefined && (name === 'apiVersion' || name === 'kind')
      this.#pieces.push(member.isProperty ? `.${name}` : `[${name}]`)
      const inner = isOwnType ? undefined : below(ratchet, (pair) => pair.key(name))
      yield* this.visit(member.tree, object[name], Object.hasOwn(oldObject, name) ? oldObject[name] : undefined, inner)
      this.#pieces.pop()
      if (this.budget < 0) return
    }
  }

  *#evaluateAll(tree: RuleTree, value: unknown, old: unknown, ratchet: Ratchet | undefined): Steps<void> {
    const rules = tree.compiled ?? (yield* this.#compile(tree))
    if (rules.length === 0) return
    if (this.budget <= 0) {
      this.#giveUp(outOfBudget(this.#path(), tree.schema))
      return
    }
    const timer = this.#timer
    let beganMs = timer?.monotonic() ?? 0
    let spentMs = 0
    for (const rule of rules) {
      this.#evaluate(rule, { schema: tree.schema, value, old, ratchet })
      if (this.budget < 0) break
      if (this.#pausedAt - this.budget + this.#work / workPerCost > stepCost) {
        this.#pausedAt = this.budget
        this.#work = 0
        spentMs += (timer?.monotonic() ?? 0) - beganMs
        yield
        beganMs = timer?.monotonic() ?? 0
      }
    }
    timer?.evaluated(spentMs + timer.monotonic() - beganMs)
  }

  *#compile(tree: RuleTree): Steps<readonly CompiledRule[]> {
    const timer = this.#timer
    const steps = tree.compile(this.#compilation)
    if (timer === undefined) return yield* steps
    const { result, elapsedMs } = yield* timed(steps, () => timer.monotonic())
    timer.compiled(elapsedMs)
    return result
  }

  #evaluate(compiled: CompiledRule, { schema, value, old, ratchet }: Place): void {
    const { rule, program } = compiled
    if (program === undefined) return
    if (program.kind === 'malformed') {
      this.errors.push(brokenRule(this.#path(), schema, `rule compile error: ${program.problem}`))
      return
    }
    const hasOld = old !== undefined && old !== null
    if (compiled.usesOldSelf && !hasOld && rule.optionalOldSelf !== true) return
    const variables = variablesOf(compiled, value, hasOld ? { value: old } : undefined)
    const result = program.program.evaluate(variables, this.#bounds)
    this.#work += result.work
    if (result.cost > this.budget) {
      this.#giveUp(outOfBudget(this.#path(), schema))
      return
    }
    this.budget -= result.cost
    if (result.kind === 'error') {
      this.errors.push(brokenRule(this.#path(), schema, errorText(result.message, ruleText(rule), result.isOverLimit)))
      if (result.isOverLimit) this.budget = -1
      return
    }
    if (result.value !== true) this.#refuse(compiled, { schema, value, old, ratchet }, variables)
  }

  #refuse(compiled: CompiledRule, { schema, value, ratchet }: Place, variables: Readonly<Record<string, unknown>>): void {
    const { fieldPath } = compiled
    const path = `${this.#path()}${fieldPath === '' || fieldPath.startsWith('[') ? fieldPath : `.${fieldPath}`}`.replace(/^\./, '')
    const isPassedOver = !compiled.usesOldSelf && (ratchet?.current ?? ratchet?.parent)?.isEqual() === true
    const report = (error: PlainFieldError): void => {
      if (isPassedOver) this.#warn?.(`${error.field}: ${error.message}`)
      else this.errors.push(error)
    }
    const message = evaluateMessage(compiled, variables, { budget: this.budget, bounds: this.#bounds })
    if (message.kind === 'stopped') {
      report(brokenRule(path, schema, message.problem))
      this.budget = -1
      return
    }
    this.budget -= message.cost
    report(failedRule(path, { schema, value, level: this.#level }, message.text, compiled.rule.reason))
  }

  #giveUp(error: PlainFieldError): void {
    this.errors.push(error)
    this.budget = -1
  }

  #path(): string {
    const path = this.#pieces.join('').replace(/^\./, '')
    return path === '' ? noField : path
  }
}

function below(ratchet: Ratchet | undefined, step: (pair: Correlation) => Correlation | undefined): Ratchet | undefined {
  if (ratchet?.current === undefined) return ratchet
  return { current: step(ratchet.current), parent: ratchet.current }
}

function variablesOf(
  { rule, node, usesOldSelf }: CompiledRule,
  value: unknown,
  old: { readonly value: unknown } | undefined,
): Record<string, unknown> {
  const meter = unlimitedMeter()
  const self = viewOf(meter, node, value)
  if (!usesOldSelf) return { self }
  const oldSelf = old === undefined ? undefined : viewOf(meter, node, old.value)
  if (rule.optionalOldSelf === true) return { self, oldSelf: old === undefined ? none : some(oldSelf) }
  return { self, oldSelf }
}

function errorText(problem: string, rule: string, isOverLimit: boolean): string {
  if (isOverLimit) return `'${problem}': no further validation rules will be run due to call cost exceeds limit for rule: ${rule}`
  if (problem.startsWith('no such overload')) {
    return `'${problem}': call arguments did not match a supported operator, function or macro signature for rule: ${rule}`
  }
  return `${problem} evaluating rule: ${rule}`
}

/** The message of a violated rule, or the fact that the message exhausted the budget. */
type RuleMessage =
  | { readonly kind: 'text'; readonly text: string; readonly cost: number }
  | { readonly kind: 'stopped'; readonly problem: string }

/** Evaluates the message of a rule. If its expression gives no usable text, the rule's own message applies. */
function evaluateMessage(
  { rule, message }: CompiledRule,
  variables: Readonly<Record<string, unknown>>,
  { budget, bounds }: { readonly budget: number; readonly bounds: EvaluationBounds },
): RuleMessage {
  if (message === undefined) return { kind: 'text', text: messageOf(rule), cost: 0 }
  const result = message.evaluate(variables, bounds)
  if (result.cost > budget) {
    const problem = 'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run'
    return { kind: 'stopped', problem }
  }
  if (result.kind === 'error' && result.isOverLimit) {
    const text = JSON.stringify(rule.messageExpression)
    return {
      kind: 'stopped',
      problem: `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${text}`,
    }
  }
  const text = result.kind === 'value' && typeof result.value === 'string' ? result.value.trim() : ''
  return { kind: 'text', text: isUsable(text) ? text : messageOf(rule), cost: result.cost }
}

function isUsable(text: string): boolean {
  return text !== '' && !text.includes('\n') && new TextEncoder().encode(text).length <= messageBytesMax
}

/** The name of a rule for messages. */
function ruleText({ rule, message }: ExpressionRule): string {
  return (message ?? rule).trim()
}

/** The message of a violated rule. */
function messageOf(rule: ExpressionRule): string {
  return rule.message === undefined ? `failed rule: ${ruleText(rule)}` : rule.message.trim()
}

/** The error of a rule that could not be evaluated. The message names the type of the value. */
function brokenRule(field: string, { type }: StructuralSchema, detail: string): PlainFieldError {
  return invalid(field, type ?? '', detail)
}

/** The error of an exhausted budget. */
function outOfBudget(field: string, schema: StructuralSchema): PlainFieldError {
  return brokenRule(field, schema, 'validation failed due to running out of cost budget, no further validation rules will be run')
}

/** The first level at which the message of a violated rule has the value; before, it has the type. */
const valueSince = 35

/** A value that violates a rule. */
interface Violation {
  readonly schema: StructuralSchema
  readonly value: unknown
  readonly level: number
}

/** The error of a violated rule, with the reason that it states. */
function failedRule(field: string, violation: Violation, detail: string, reason: string | undefined): PlainFieldError {
  const value = violation.level < valueSince ? (violation.schema.type ?? '') : violation.value
  switch (reason) {
    case 'FieldValueForbidden':
      return hidden(reason, field, `Forbidden: ${detail}`)
    case 'FieldValueRequired':
      return hidden(reason, field, `Required value: ${detail}`)
    case 'FieldValueDuplicate':
      return isShown(value)
        ? fieldError(reason, field, { title: 'Duplicate value', value, detail: '' })
        : hidden(reason, field, 'Duplicate value')
    default:
      return isShown(value) ? invalid(field, value, detail) : hidden('FieldValueInvalid', field, `Invalid value: ${detail}`)
  }
}

/** Objects and lists are omitted from messages, since they may be large. */
function isShown(value: unknown): boolean {
  return typeof value !== 'object' || value === null
}

function hidden(reason: FieldError['reason'], field: string, message: string): PlainFieldError {
  return { reason, field, message }
}
