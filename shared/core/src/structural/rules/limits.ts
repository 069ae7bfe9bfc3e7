import { ref } from '../../description/values.ts'
import type { FieldError } from '../../meta/status.ts'
import { goValue } from '../../schema/go-value.ts'
import { StepMeter, type Steps } from '../../steps.ts'
import { forbiddenValue, invalidValue } from '../../validation/field-errors.ts'
import { invalid } from '../field-path.ts'
import type { ExpressionRule, StructuralSchema } from '../schema.ts'
import { estimatedRuleCostMax, estimatedTotalCostMax } from './budgets.ts'
import { type ExaminedRule, examineRule, type RuleAges } from './compile.ts'
import { DeclaredTypes } from './declared.ts'
import { maxPlacesWithin } from './sizes.ts'

/** The first level with `optionalOldSelf`. */
const optionalSince = 29

const ruleType = ref('apiextensions/v1.ValidationRule')

/** Costs saturate here. */
const costMax = 2n ** 64n - 1n

/** The place of a schema in its definition. */
interface Place {
  readonly at: string
  /** The maximum number of its values in an object; undefined if only the size of requests limits it. */
  readonly places: bigint | undefined
  readonly isResource: boolean
  /** The path of the list or map whose items do not correlate with old values; undefined if old values are available. */
  readonly uncorrelatable: string | undefined
}

/** Options for checking a schema's rules. */
export interface RuleCheckOptions {
  /** True if rules may exceed the cost limit per rule because the schema is stored. */
  readonly forgivesCost?: boolean
  /** True if a place of the schema and everything below it has no other errors; rules elsewhere are not checked. */
  readonly isSound?: (at: string) => boolean
  /** True if members of a place have no old values because its map type is unknown. */
  readonly isUncorrelatable?: (at: string) => boolean
  /** Stored expressions, which may use libraries that new ones may not use yet. */
  readonly stored?: StoredExpressions
  /** The level of the server, whose libraries new expressions may use. */
  readonly level: number
}

/** The expressions of a stored definition. */
export interface StoredExpressions {
  readonly rules: ReadonlySet<string>
  readonly messageExpressions: ReadonlySet<string>
}

/** The errors of rules in a version's schema: they do not compile, or may cost too much. */
export function* validateRules(schema: StructuralSchema, at: string, options: RuleCheckOptions): Steps<FieldError[]> {
  const check = new Check(options)
  yield* check.visit(schema, { at, places: 1n, isResource: true, uncorrelatable: undefined })
  return [...check.errors, ...check.totalErrors(at)]
}

/** Size of a step in characters of expressions. Each schema counts as this many characters. */
const charactersPerStep = 4_000
const schemaCharacters = 2

class Check {
  readonly #meter = new StepMeter(charactersPerStep)
  readonly errors: FieldError[] = []
  readonly #options: RuleCheckOptions
  #total = 0n
  #expensive: { readonly at: string; readonly cost: bigint }[] = []

  constructor(options: RuleCheckOptions) {
    this.#options = options
  }

  *visit(schema: StructuralSchema, place: Place): Steps<void> {
    if (this.#meter.isFull(schemaCharacters)) yield
    const { isSound = () => true, isUncorrelatable = () => false } = this.#options
    const ofMembers = { uncorrelatable: place.uncorrelatable ?? (isUncorrelatable(place.at) ? place.at : undefined) }
    for (const [name, property] of schema.properties ?? []) {
      const isResource = property.isEmbeddedResource === true
      yield* this.visit(property, { ...place, ...ofMembers, at: `${place.at}.properties[${name}]`, isResource })
    }
    const { items, additionalProperties } = schema
    if (items !== undefined) {
      const uncorrelatable = place.uncorrelatable ?? (schema.listType === 'map' ? undefined : place.at)
      const places = timesPlaces(place.places, schema.values?.maxItems)
      yield* this.visit(items, { at: `${place.at}.items`, places, isResource: items.isEmbeddedResource === true, uncorrelatable })
    }
    if (typeof additionalProperties === 'object') {
      const places = timesPlaces(place.places, schema.values?.maxProperties)
      const isResource = additionalProperties.isEmbeddedResource === true
      yield* this.visit(additionalProperties, { ...ofMembers, at: `${place.at}.additionalProperties`, places, isResource })
    }
    if (schema.rules !== undefined && isSound(place.at)) yield* this.#examineAll(schema, schema.rules, place)
  }

  *#examineAll(schema: StructuralSchema, rules: readonly ExpressionRule[], place: Place): Steps<void> {
    const declared = new DeclaredTypes(schema, { isResource: place.isResource })
    const { self } = declared
    const places = place.places ?? maxPlacesWithin(self?.minSize ?? 0n)
    for (const [index, rule] of rules.entries()) {
      if (this.#meter.isFull(rule.rule.length + (rule.messageExpression?.length ?? 0))) yield
      const examined = yield* examineRule(rule, declared, this.#agesOf(rule))
      yield* this.#checkExamined(rule, examined, places, { ...place, at: `${place.at}.x-kubernetes-validations[${index}]` })
    }
  }

  *#checkExamined(rule: ExpressionRule, examined: ExaminedRule, places: bigint, { at, uncorrelatable }: Place): Steps<void> {
    if (examined.rule?.kind === 'malformed') this.errors.push(invalidValue(`${at}.rule`, goValue(ruleType, rule), examined.rule.problem))
    else if (examined.rule !== undefined) {
      const { max } = yield* examined.rule.estimate()
      this.#observe('estimated rule cost', `${at}.rule`, saturated(max * places))
    }
    const variables = examined.rule?.kind === 'expression' ? examined.rule.variables : undefined
    if (examined.rule !== undefined && (variables !== undefined || this.#options.level >= optionalSince))
      this.#checkOldSelf(rule, variables?.has('oldSelf') === true, at, uncorrelatable)
    if (examined.message?.kind === 'malformed')
      this.errors.push(invalidValue(`${at}.messageExpression`, goValue(ruleType, rule), examined.message.problem))
    else if (examined.message !== undefined) {
      const { max } = yield* examined.message.estimate()
      this.#observe('estimated messageExpression cost', `${at}.messageExpression`, saturated(max))
    }
  }

  #agesOf({ rule, messageExpression = '' }: ExpressionRule): RuleAges {
    const { stored, level } = this.#options
    return {
      rule: stored?.rules.has(rule) === true ? 'stored' : level,
      message: stored?.messageExpressions.has(messageExpression) === true ? 'stored' : level,
    }
  }

  #checkOldSelf(rule: ExpressionRule, usesOldSelf: boolean, at: string, uncorrelatable: string | undefined): void {
    if (usesOldSelf && uncorrelatable !== undefined) {
      const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`
      this.errors.push(invalid(`${at}.rule`, rule.rule, detail))
    }
    if (!usesOldSelf && rule.optionalOldSelf !== undefined) {
      this.errors.push(invalid(`${at}.optionalOldSelf`, rule.optionalOldSelf, 'may not be set if oldSelf is not used in rule'))
    }
  }

  #observe(name: string, at: string, cost: bigint): void {
    if (cost > estimatedRuleCostMax && this.#options.forgivesCost !== true)
      this.errors.push(forbiddenValue(at, exceeded(name, cost, estimatedRuleCostMax)))
    this.#total = saturated(this.#total + cost)
    if (cost < estimatedTotalCostMax / 100n) return
    this.#expensive = [...this.#expensive, { at, cost }].sort((left, right) => Number(right.cost - left.cost)).slice(0, 4)
  }

  totalErrors(at: string): FieldError[] {
    if (this.#total <= estimatedTotalCostMax) return []
    const total = exceeded(
      'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema',
      this.#total,
      estimatedTotalCostMax,
    )
    const detail = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'
    return [...this.#expensive.map((rule) => forbiddenValue(rule.at, detail)), forbiddenValue(at, total)]
  }
}

/** The maximum number of parts of a list or map in an object. */
export function timesPlaces(places: bigint | undefined, max: number | undefined): bigint | undefined {
  if (places === undefined || max === undefined) return undefined
  return saturated(places * BigInt(Math.trunc(max)))
}

function saturated(cost: bigint): bigint {
  return cost > costMax ? costMax : cost
}

function exceeded(name: string, cost: bigint, max: bigint): string {
  const hint = 'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared'
  return `${name} exceeds budget by factor of ${factorText(Number(cost) / Number(max))} (${hint})`
}

function factorText(factor: number): string {
  if (factor > 100) return 'more than 100x'
  return factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`
}
