import { memo } from '@orch/cel/memo'
import { StepMeter, type Steps } from '../../steps.ts'
import type { ExpressionRule, StructuralSchema } from '../schema.ts'
import { type CompiledRule, compileRule } from './compile.ts'
import { DeclaredTypes } from './declared.ts'

const none: readonly CompiledRule[] = []

/** Limits the characters of CEL compiled per step. */
export function compilationMeter(): StepMeter {
  return new StepMeter(4_000)
}

/**
 * The rules of a schema and of all its subschemas. The rules of a schema in an `allOf` apply to the values of the surrounding schema.
 * Rules are compiled when a value first reaches them.
 */
export class RuleTree {
  readonly schema: StructuralSchema
  readonly #rulesOf: StructuralSchema
  readonly #isResource: boolean
  readonly #properties = new Map<string, RuleTree>()
  #compiled: readonly CompiledRule[] | undefined
  #items: RuleTree | undefined
  #values: RuleTree | undefined
  #allOf: readonly RuleTree[] | undefined

  private constructor(rulesOf: StructuralSchema, schema: StructuralSchema, isResource: boolean) {
    this.#rulesOf = rulesOf
    this.schema = schema
    this.#isResource = isResource
  }

  /** The rules of a whole schema; undefined if it has none. With `isResource`, values have `apiVersion`, `kind` and a name. */
  static of(schema: StructuralSchema, { isResource }: { readonly isResource: boolean }): RuleTree | undefined {
    return RuleTree.#at(schema, schema, isResource)
  }

  static #at(rulesOf: StructuralSchema, schema: StructuralSchema | undefined, isResource: boolean): RuleTree | undefined {
    return schema === undefined || !hasRules(rulesOf) ? undefined : new RuleTree(rulesOf, schema, isResource)
  }

  /** The rules at this place; undefined before they are compiled. */
  get compiled(): readonly CompiledRule[] | undefined {
    return this.#rulesOf.rules === undefined ? none : this.#compiled
  }

  /** Compiles the rules at this place; `meter` decides where steps end. */
  *compile(meter: StepMeter): Steps<readonly CompiledRule[]> {
    this.#compiled = yield* this.#compileAll(this.#rulesOf.rules ?? [], meter)
    return this.#compiled
  }

  *#compileAll(rules: readonly ExpressionRule[], meter: StepMeter): Steps<readonly CompiledRule[]> {
    const declared = new DeclaredTypes(this.schema, { isResource: this.#isResource })
    const compiled: CompiledRule[] = []
    for (const rule of rules) {
      if (meter.isFull(rule.rule.length)) yield
      compiled.push(yield* compileRule(rule, this.schema, declared))
    }
    return compiled
  }

  get allOf(): readonly RuleTree[] {
    this.#allOf ??= (this.#rulesOf.junctors?.allOf ?? []).flatMap((part) => RuleTree.#at(part, this.schema, this.#isResource) ?? [])
    return this.#allOf
  }

  /** The rules of a property, or of the values of a map. */
  member(name: string): { readonly tree: RuleTree; readonly isProperty: boolean } | undefined {
    const property = this.#property(name)
    if (property !== undefined) return { tree: property, isProperty: true }
    if (this.#rulesOf.properties?.has(name) === true) return undefined
    const values = this.#valueTree()
    return values === undefined ? undefined : { tree: values, isProperty: false }
  }

  #property(name: string): RuleTree | undefined {
    const known = this.#properties.get(name)
    if (known !== undefined) return known
    const rulesOf = this.#rulesOf.properties?.get(name)
    const schema = this.schema.properties?.get(name)
    const tree = rulesOf === undefined ? undefined : RuleTree.#at(rulesOf, schema, schema?.isEmbeddedResource === true)
    if (tree !== undefined) this.#properties.set(name, tree)
    return tree
  }

  #valueTree(): RuleTree | undefined {
    const [rulesOf, schema] = [this.#rulesOf.additionalProperties, this.schema.additionalProperties]
    if (typeof rulesOf !== 'object' || typeof schema !== 'object') return undefined
    this.#values ??= RuleTree.#at(rulesOf, schema, schema.isEmbeddedResource === true)
    return this.#values
  }

  get items(): RuleTree | undefined {
    const [rulesOf, schema] = [this.#rulesOf.items, this.schema.items]
    if (rulesOf === undefined || schema === undefined) return undefined
    this.#items ??= RuleTree.#at(rulesOf, schema, schema.isEmbeddedResource === true)
    return this.#items
  }
}

/** True if a schema has rules that are evaluated; rules in junctors other than `allOf` are not. */
const hasRules: (schema: StructuralSchema) => boolean = memo((schema: StructuralSchema) => {
  const { rules, items, additionalProperties, properties, junctors } = schema
  const has =
    rules !== undefined ||
    (items !== undefined && hasRules(items)) ||
    (typeof additionalProperties === 'object' && hasRules(additionalProperties)) ||
    [...(properties?.values() ?? [])].some(hasRules) ||
    (junctors?.allOf ?? []).some(hasRules)
  return has
})
