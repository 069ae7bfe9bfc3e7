import type { FieldDefinition } from '../description/fields.ts'
import { existsAt, plainNameOf } from '../description/levels.ts'
import type { DeviceExpressionFault } from '../expressions/device-selector.ts'
import type { IsGateOn } from '../feature-gates.ts'
import { isJsonObject, memberPath } from '../json/member.ts'
import type { FieldError } from '../meta/status.ts'
import type { Names } from '../names.ts'
import { type Field, goValue, isScalar, type ListFacets, type Node, resolveNode, resolveStruct, typeNameAt } from '../schema/index.ts'
import { duplicateValue, forbiddenValue, invalidTexts, invalidValue, requiredValue, tooManyValues } from './field-errors.ts'
import { checkOfScalar, checkOfText, type LeafCheck } from './leaves.ts'
import { isSame, type Part, repeatedPlaces } from './part.ts'
import { validateLabelMap } from './selector.ts'

/** The context of validating one object, besides the part to check. */
export interface RuleContext {
  /** The body as sent. */
  readonly body: unknown
  readonly object: Part
  /** The replaced object; undefined for a create. */
  readonly live: Part | undefined
  readonly names: Names
  readonly isGateOn: IsGateOn
  /** The minor version of the release whose rules apply. */
  readonly level: number
  readonly rules: RuleBook
  /** Errors to report after all others: those of declarative rules. */
  readonly declared: FieldError[]
  /** Errors of already compiled expressions about devices, by purpose and text. */
  readonly faults?: ReadonlyMap<string, DeviceExpressionFault | undefined>
}

/** Adds the errors of a part. `at` is its path, empty for the object itself. */
export type PartRule = (errors: FieldError[], part: Part, at: string, context: RuleContext) => void

/** A step that only some levels have, or that needs a feature. */
interface LevelStep {
  readonly since?: number
  readonly until?: number
  readonly gate?: string
  readonly step: string | PartRule | FieldStep
}

/** One of these fields must be given, and its facets are checked. Errors about further fields name them; an error about a missing field names the part. */
interface ChoiceStep {
  readonly oneOf: readonly string[]
  readonly many: string
  readonly none?: string
  /** Other names of fields in errors: of errors within the field, and of errors about extra fields. */
  readonly namedWithin?: Readonly<Record<string, string>>
  readonly namedToo?: Readonly<Record<string, string>>
}

/** A field with other facets than in its description, because its type is shared. */
interface FieldStep {
  readonly field: string
  readonly as: FieldDefinition
}

/** A field whose part, or whose list items, use these steps instead of the rules of its type. */
interface PlaceStep {
  readonly field: string
  readonly steps: TypeRules
}

/** A field after whose errors validation stops. */
interface DecisiveStep {
  readonly decisive: string | PartRule | FieldStep | PlaceStep
}

/** Steps that apply only to some parts. */
interface ConditionStep {
  readonly when: (part: Part, context: RuleContext) => boolean
  readonly steps: TypeRules
}

/** Fields without rules here, whatever the facets of their types. */
interface PassedOver {
  readonly passedOver: readonly string[]
}

/**
 * A step of a type's rules: a field name for the facets of that field, `*` for those of all fields without a step, a choice of fields, or a
 * function for a rule that facets cannot express.
 */
export type Step = string | PartRule | LevelStep | ChoiceStep | FieldStep | PlaceStep | DecisiveStep | ConditionStep | PassedOver

/** Steps of a type in the order of errors. Without `*`, fields without a step come last. */
export type TypeRules = readonly Step[]

/** A field with these facets instead of its own. */
export const as = (field: string, definition: FieldDefinition): FieldStep => ({ field, as: definition })

/** The part in the field, or each list item, with these steps instead of those of its type. */
export const within = (field: string, ...steps: TypeRules): PlaceStep => ({ field, steps })

/** Adds the errors of a value at a path. */
type ValueRule = (errors: FieldError[], value: unknown, path: string, context: RuleContext) => void

/** Rules by type; undefined for a type without rules. */
type Made = Map<string, PartRule | undefined>

type ListNode = Extract<Node, { readonly kind: 'list' }>

type Take = (name: string) => Field | undefined

/** The rules of types at one level. A type's rules are created at first use from its description and its steps. */
export class RuleBook {
  readonly #level: number
  readonly #rulesByType: Readonly<Record<string, TypeRules>>
  readonly #ofStructs: Made = new Map()
  readonly #ofMain: Made = new Map()
  readonly #ofStatus: Made = new Map()

  constructor(level: number, rulesByType: Readonly<Record<string, TypeRules>>) {
    this.#level = level
    this.#rulesByType = rulesByType
  }

  /** The rules for a part of a type such as `core/v1.Container`. */
  of(type: string): PartRule {
    return this.#ofStruct(type) ?? (() => undefined)
  }

  /** The errors of an object, either of its status or of everything else, except its metadata. */
  checkObject(type: string, part: 'main' | 'status', context: Omit<RuleContext, 'declared'>): FieldError[] {
    const errors: FieldError[] = []
    const declared: FieldError[] = []
    const made = part === 'main' ? this.#ofMain : this.#ofStatus
    kept(made, type, () => this.#rulesOf(type, part))?.(errors, context.object, '', { ...context, declared })
    errors.push(...declared)
    return errors
  }

  #ofStruct(type: string): PartRule | undefined {
    const name = typeNameAt(type, this.#level)
    return kept(this.#ofStructs, name, () => this.#rulesOf(type))
  }

  #rulesOf(type: string, part?: 'main' | 'status'): PartRule | undefined {
    const steps = this.#rulesByType[plainNameOf(type)] ?? []
    const { fields } = resolveStruct(typeNameAt(type, this.#level))
    if (part === undefined) return this.#inOrder(fields, steps)
    const isWanted = ({ name }: Field): boolean => name !== 'metadata' && (part === 'status') === (name === 'status')
    // Functions for an object itself only apply to its main part.
    return this.#inOrder(fields.filter(isWanted), part === 'status' ? [] : steps)
  }

  #inOrder(fields: readonly Field[], steps: TypeRules): PartRule | undefined {
    const left = new Map(fields.map((field) => [field.name, field]))
    const take = (name: string): Field | undefined => {
      const field = left.get(name)
      left.delete(name)
      return field
    }
    const decisive = new Set<PartRule>()
    const named = (steps.includes('*') ? steps : [...steps, '*']).map((step) => {
      const rule = step === '*' ? 'others' : this.#ruleOfStep(step, take)
      if (typeof rule === 'function' && typeof step === 'object' && 'decisive' in step) decisive.add(rule)
      return rule
    })
    const others = [...left.values()].map((field) => this.#ruleOfField(field))
    const inOrder = named.flatMap((rule) => (rule === 'others' ? others : [rule]))
    const kept = fields.filter(({ isImmutable }) => isImmutable).map((field) => ruleOfImmutable(field, this.#isDeclared(field)))
    return inTurn(
      [...inOrder, ...kept].filter((rule) => rule !== undefined),
      decisive,
    )
  }

  #ruleOfStep(step: Step, take: Take): PartRule | undefined {
    if (typeof step === 'function') return step
    if (typeof step === 'string') return this.#ruleOfNamed(take(step))
    if ('decisive' in step) return this.#ruleOfStep(step.decisive, take)
    if ('oneOf' in step) return ruleOfChoice(step, new Map(step.oneOf.map((name) => [name, this.#ruleOfNamed(take(name))])))
    if ('passedOver' in step) {
      step.passedOver.forEach(take)
      return undefined
    }
    if ('as' in step) return take(step.field) && this.#ruleOfField({ ...step.as, name: step.field })
    if ('when' in step) return this.#ruleOfCondition(step, take)
    if ('steps' in step) return this.#ruleOfPlace(take(step.field), step.steps)
    if (!existsAt(step, this.#level)) return undefined
    const { gate } = step
    const rule = this.#ruleOfStep(step.step, take)
    if (gate === undefined || rule === undefined) return rule
    return (errors, part, at, context) => (context.isGateOn(gate) ? rule(errors, part, at, context) : undefined)
  }

  #ruleOfNamed(field: Field | undefined): PartRule | undefined {
    return field && this.#ruleOfField(field)
  }

  #ruleOfCondition({ when, steps }: ConditionStep, take: Take): PartRule {
    const rules = steps.map((step) => this.#ruleOfStep(step, take)).filter((rule) => rule !== undefined)
    return (errors, part, at, context) => {
      if (when(part, context)) for (const rule of rules) rule(errors, part, at, context)
    }
  }

  #ruleOfPlace(field: Field | undefined, steps: TypeRules): PartRule | undefined {
    const node = field && resolveNode(field.node)
    const part = node?.kind === 'list' ? resolveNode(node.items) : node
    if (field === undefined || node === undefined || part?.kind !== 'struct') return undefined
    const named = new Set(
      steps.flatMap((step) => (typeof step === 'string' ? [step] : typeof step === 'object' && 'field' in step ? [step.field] : [])),
    )
    const ofPart = ofObject(
      this.#inOrder(
        part.fields.filter(({ name }) => named.has(name)),
        steps,
      ),
    )
    return ruleOfPart(field, node.kind === 'list' ? ruleOfList(node, ofPart, false) : ofPart)
  }

  /** Describes the type of a part only when a value has it, since most values lack most parts. */
  #ruleOfField(field: Field): PartRule | undefined {
    const { node, pointer, needed } = field
    const isLeftOut = node.kind === 'list' || (node.kind === 'ref' && pointer === true)
    return isLeftOut && needed === undefined ? whenGiven(field.name, () => this.#ruleOfGiven(field)) : this.#ruleOfGiven(field)
  }

  #ruleOfGiven(given: Field): PartRule | undefined {
    const { kind } = resolveNode(given.node)
    const isDeclared = this.#isDeclared(given)
    const field = isDeclared ? asDeclared(given) : given
    if (kind === 'struct' || kind === 'list') return ruleOfPart(field, this.#ruleOfValue(field.node, isDeclared), isDeclared)
    const rule = ruleOfLeaf(field)
    return isDeclared && rule ? (_errors, part, at, context) => rule(context.declared, part, at, context) : rule
  }

  #ruleOfValue(declared: Node, isDeclared = false): ValueRule | undefined {
    const node = resolveNode(declared)
    if (node.kind === 'list') return ruleOfList(node, this.#ruleOfValue(node.items), isDeclared)
    if (node.kind !== 'struct') return ruleOfPlain(node)
    return declared.kind === 'ref' ? ofObject(this.#ofStruct(declared.name)) : undefined
  }

  #isDeclared({ declaredSince = Infinity }: Field): boolean {
    return declaredSince <= this.#level
  }
}

/** A declarative rule has no detail for an absent value, and counts the bytes of a name. */
function asDeclared(field: Field): Field {
  const { needed, node } = field
  const isName = node.kind === 'string' && node.format === 'subdomain'
  return { ...field, ...(needed === undefined ? {} : { needed: true }), ...(isName ? { node: { ...node, format: 'longName' } } : {}) }
}

function kept(made: Made, type: string, make: () => PartRule | undefined): PartRule | undefined {
  if (made.has(type)) return made.get(type)
  // A type may contain itself.
  made.set(type, (...given) => made.get(type)?.(...given))
  const rule = make()
  made.set(type, rule)
  return rule
}

/** A rule that is made when a part first has the field. */
function whenGiven(name: string, make: () => PartRule | undefined): PartRule {
  let made: { readonly rule: PartRule | undefined } | undefined
  return (errors, part, at, context) => {
    if (part[name] === undefined || part[name] === null) return
    made ??= { rule: make() }
    made.rule?.(errors, part, at, context)
  }
}

/** The part of the replaced object at a path without list items; empty if absent. */
export function liveAt({ live }: RuleContext, at: string): Part {
  return partAt(live, at)
}

/** The part at a path such as `spec.jobTemplate.spec`; empty if absent. */
export function partAt(object: Part | undefined, at: string): Part {
  let part: unknown = object
  for (const name of at === '' ? [] : at.split('.')) part = isJsonObject(part) ? part[name] : undefined
  return isJsonObject(part) ? part : emptyPart
}

const emptyPart: Part = Object.freeze({})

function missing(field: string, needed: true | string): FieldError {
  return requiredValue(field, needed === true ? undefined : needed)
}

function ruleOfPart({ name, node, needed, pointer }: Field, rule: ValueRule | undefined, isDeclared = false): PartRule | undefined {
  if (rule === undefined && needed === undefined) return undefined
  const zero = resolveNode(node).kind === 'struct' && !pointer ? emptyPart : undefined
  return (errors, part, at, context) => {
    const value = part[name] ?? zero
    if (needed !== undefined && isEmpty(value)) (isDeclared ? context.declared : errors).push(missing(memberPath(at, name), needed))
    if (rule !== undefined && value !== undefined) rule(errors, value, memberPath(at, name), context)
  }
}

/** True if a list or map is empty. A present struct is not. */
function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === emptyPart || (Array.isArray(value) && value.length === 0)
}

/** Applies a rule for parts to any value; values other than objects pass. */
function ofObject(rule: PartRule | undefined): ValueRule | undefined {
  return (
    rule &&
    ((errors, value, path, context) => {
      if (isJsonObject(value)) rule(errors, value, path, context)
    })
  )
}

/** Applies rules in turn, and stops after errors of a decisive rule. */
function inTurn(rules: readonly PartRule[], decisive: ReadonlySet<PartRule>): PartRule | undefined {
  if (rules.length < 2) return rules[0]
  if (decisive.size === 0) {
    return (errors, part, at, context) => {
      for (const rule of rules) rule(errors, part, at, context)
    }
  }
  return (errors, part, at, context) => {
    for (const rule of rules) {
      const before = errors.length
      rule(errors, part, at, context)
      if (errors.length > before && decisive.has(rule)) return
    }
  }
}

/** The value of an absent non-pointer field. */
const zeros: Partial<Record<Node['kind'], string | number>> = { string: '', int32: 0, int64: 0, intOrString: 0 }

function ruleOfLeaf({ name, node: declared, needed, pointer, isAlwaysChecked }: Field): PartRule | undefined {
  const node = resolveNode(declared)
  if (node.kind === 'map') return ruleOfMap(name, node, needed)
  const check = checkOf(node)
  if (check === undefined && needed === undefined) return undefined
  const zero = pointer ? undefined : zeros[node.kind]
  // An absent number counts as zero, which may be out of bounds; an empty text counts as absent.
  const isSkipped = !isAlwaysChecked && (needed !== undefined || node.kind === 'string')
  return (errors, part, at) => {
    const value = part[name] ?? zero
    if (value === zero || value === undefined) {
      if (needed !== undefined) errors.push(missing(memberPath(at, name), needed))
      if (isSkipped || value === undefined) return
    }
    const problem = check?.(value)
    if (problem !== undefined) errors.push(...problem(memberPath(at, name)))
  }
}

function ruleOfMap(name: string, { isLabels }: { readonly isLabels?: boolean }, needed: true | string | undefined): PartRule | undefined {
  if (!isLabels && needed === undefined) return undefined
  return (errors, part, at) => {
    const value = part[name]
    const isGiven = isJsonObject(value) && Object.keys(value).length > 0
    if (!isGiven && needed !== undefined) errors.push(missing(memberPath(at, name), needed))
    if (isGiven && isLabels) errors.push(...validateLabelMap(part, name, memberPath(at, name)))
  }
}

function checkOf(node: Node): LeafCheck | undefined {
  if (node.kind === 'string') return checkOfText(node)
  return isScalar(node) ? checkOfScalar(node) : undefined
}

/** The rule for list items that are not objects. */
function ruleOfPlain(node: Node): ValueRule | undefined {
  const check = checkOf(node)
  return check && ((errors, value, path) => void errors.push(...(check(value)?.(path) ?? [])))
}

/** Errors of an object after which no further items of its lists are checked: a message shows fewer. */
const errorsMax = 2_000

function ruleOfList(facets: ListNode, ofItem: ValueRule | undefined, isDeclared: boolean): ValueRule | undefined {
  const { itemsMax = Infinity, isUnique, uniqueBy, isSet, keyedBy, starExcludes } = facets
  const isKeyed = isSet === true || keyedBy !== undefined
  const hasFacets = itemsMax < Infinity || isUnique || uniqueBy !== undefined || isKeyed || starExcludes !== undefined
  if (ofItem === undefined && !hasFacets) return undefined
  return (errors, items, path, context) => {
    if (!Array.isArray(items)) return
    const ofList = isDeclared ? context.declared : errors
    if (items.length > itemsMax) {
      ofList.push(tooManyValues(path, items.length, itemsMax))
      return
    }
    if (starExcludes !== undefined && items.length > 1 && items.includes('*')) {
      ofList.push(invalidTexts(path, items, `if '*' is present, must not specify other ${starExcludes}`, facets))
    }
    // Declarative rules report duplicate items before errors within items, other rules after them.
    if (isKeyed && isDeclared) ofList.push(...repeatedKeys(items, path, keyedBy, (item) => item))
    const repeated = (isUnique || uniqueBy !== undefined) && items.length > 1 ? repeatedIn(items, uniqueBy) : undefined
    for (let index = 0; index < items.length && errors.length + context.declared.length < errorsMax; index++) {
      const at = `${path}[${index}]`
      const before = errors.length
      ofItem?.(errors, items[index], at, context)
      if (repeated?.has(index)) insertRepeated(errors, before, items[index], { ...facets, at, level: context.level })
    }
    if (isKeyed && !isDeclared) errors.push(...repeatedKeys(items, path, keyedBy, (_item, key) => key))
  }
}

/** The errors of items that duplicate an earlier key; without a key field, the item itself is the key. `shown` is the value in the message. */
function repeatedKeys(
  items: readonly unknown[],
  path: string,
  keyedBy: string | undefined,
  shown: (item: unknown, key: unknown) => unknown,
): FieldError[] {
  if (items.length < 2) return []
  const keys = keyedBy === undefined ? items : items.map((item) => (isJsonObject(item) ? (item[keyedBy] ?? '') : ''))
  return [...repeatedPlaces(keys)].map((index) => duplicateValue(`${path}[${index}]`, shown(items[index], keys[index])))
}

function repeatedIn(items: readonly unknown[], uniqueBy: string | undefined): ReadonlySet<number> {
  if (uniqueBy === undefined) return repeatedPlaces(items)
  const seen = new Set<unknown>([undefined, ''])
  const places = new Set<number>()
  for (const [index, item] of items.entries()) {
    const key = isJsonObject(item) ? item[uniqueBy] : undefined
    if (key === undefined || key === '') continue
    if (seen.has(key)) places.add(index)
    seen.add(key)
  }
  return places
}

/** A duplicate key is reported before other errors of its item. */
function insertRepeated(
  errors: FieldError[],
  before: number,
  item: Part,
  { at, level, uniqueBy, comparesSound, isPlacedSince = Infinity }: ListFacets & { readonly at: string; readonly level: number },
): void {
  if (uniqueBy === undefined) {
    errors.push(duplicateValue(at, item))
    return
  }
  const field = level < isPlacedSince ? `${at}.${uniqueBy}` : at
  if (!comparesSound || errors[before]?.field !== field) errors.splice(before, 0, duplicateValue(field, item[uniqueBy]))
}

function ruleOfImmutable({ name, node, pointer }: Field, isDeclared: boolean): PartRule {
  const { kind } = resolveNode(node)
  const isStruct = kind === 'struct'
  const isShownByType = isStruct || kind === 'list' || kind === 'raw'
  return (errors, part, at, context) => {
    if (context.live === undefined || isSame(part[name], liveAt(context, at)[name])) return
    if (isDeclared) {
      context.declared.push(invalidValue(memberPath(at, name), undefined, 'field is immutable'))
      return
    }
    const value = part[name] ?? (isStruct && !pointer ? emptyPart : undefined)
    errors.push(
      invalidValue(memberPath(at, name), isShownByType && value !== undefined ? goValue(node, value) : value, 'field is immutable'),
    )
  }
}

function ruleOfChoice(
  { many, none, namedWithin = {}, namedToo = {} }: ChoiceStep,
  rules: ReadonlyMap<string, PartRule | undefined>,
): PartRule {
  return (errors, part, at, context) => {
    const given: string[] = []
    for (const name in part) if (rules.has(name) && part[name] != null) given.push(name)
    const [first, ...others] = given.length > 1 ? [...rules.keys()].filter((name) => given.includes(name)) : given
    const before = errors.length
    if (first !== undefined) rules.get(first)?.(errors, part, at, context)
    else if (none !== undefined) errors.push(requiredValue(at, none))
    const named = first === undefined ? undefined : namedWithin[first]
    if (first !== undefined && named !== undefined) {
      const place = memberPath(at, first).length
      for (const error of errors.splice(before)) errors.push({ ...error, field: `${memberPath(at, named)}${error.field.slice(place)}` })
    }
    for (const name of others) errors.push(forbiddenValue(memberPath(at, namedToo[name] ?? name), many))
  }
}
