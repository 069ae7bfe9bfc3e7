import type { ViewNode } from '@orch/cel/views'
import type { ExpressionAge } from '../../expressions/libraries.ts'
import type { Steps } from '../../steps.ts'
import type { ExpressionRule, StructuralSchema } from '../schema.ts'
import type { SchemaPath, SchemaSteps, WrongSchemaPath } from '../schema-path.ts'
import { followPath } from '../schema-path.ts'
import type { DeclaredTypes } from './declared.ts'
import { compileExpression, type Expression, type Malformed, type Program } from './language.ts'
import { viewNodeOf } from './view-node.ts'

/** A compiled rule. */
export interface CompiledRule {
  readonly rule: ExpressionRule
  /** Undefined for an empty rule. */
  readonly program: { readonly kind: 'program'; readonly program: Program } | Malformed | undefined
  /** Undefined if there is no message expression, or it does not compile. */
  readonly message: Program | undefined
  readonly usesOldSelf: boolean
  /** The view through which the rule reads values. */
  readonly node: ViewNode
  /** The path for errors, relative to the rule's place: `a.b[key]`. */
  readonly fieldPath: string
}

/** A checked rule of a definition: its errors and its estimated cost. */
export interface ExaminedRule {
  readonly rule: Expression | Malformed | undefined
  readonly message: Expression | Malformed | undefined
}

/** Compiles a stored rule at the place of its schema. */
export function* compileRule(rule: ExpressionRule, schema: StructuralSchema, declared: DeclaredTypes): Steps<CompiledRule> {
  const examined = yield* examineRule(rule, declared)
  const path = rule.fieldPath === undefined ? undefined : followFieldPath(rule.fieldPath, schema)
  return {
    rule,
    program:
      examined.rule === undefined
        ? undefined
        : examined.rule.kind === 'malformed'
          ? examined.rule
          : { kind: 'program', program: examined.rule.program },
    message: examined.message?.kind === 'expression' ? examined.message.program : undefined,
    usesOldSelf: examined.rule?.kind === 'expression' && examined.rule.variables.has('oldSelf'),
    node: declared.self === undefined ? { kind: 'plain' } : viewNodeOf(declared.self),
    fieldPath: path?.kind === 'path' ? path.text : '',
  }
}

/** The age of a rule's expressions: stored, or new. */
export interface RuleAges {
  readonly rule: ExpressionAge
  readonly message: ExpressionAge
}

const stored: RuleAges = { rule: 'stored', message: 'stored' }

/** Compiles and checks a rule with its message. */
export function* examineRule(
  { rule, messageExpression = '', optionalOldSelf }: ExpressionRule,
  declared: DeclaredTypes,
  ages: RuleAges = stored,
): Steps<ExaminedRule> {
  const oldSelf = optionalOldSelf === true ? 'optional' : 'value'
  function* compile(text: string, age: ExpressionAge): Steps<Expression | Malformed | undefined> {
    return text.trim() === '' ? undefined : yield* compileExpression(text, declared, { oldSelf, age })
  }
  return { rule: asBool(yield* compile(rule, ages.rule)), message: asText(yield* compile(messageExpression, ages.message)) }
}

function asBool(expression: Expression | Malformed | undefined): Expression | Malformed | undefined {
  if (expression?.kind !== 'expression') return expression
  return expression.type.kind === 'bool' ? expression : { kind: 'malformed', problem: 'cel expression must evaluate to a bool' }
}

function asText(expression: Expression | Malformed | undefined): Expression | Malformed | undefined {
  if (expression === undefined) return undefined
  if (expression.kind === 'malformed') return { kind: 'malformed', problem: `messageExpression ${expression.problem}` }
  return expression.type.kind === 'string' ? expression : { kind: 'malformed', problem: 'messageExpression must evaluate to a string' }
}

const steps: SchemaSteps<StructuralSchema> = {
  hasProperties: ({ properties }) => (properties?.size ?? 0) > 0,
  property: ({ properties }, name) => properties?.get(name),
  values: ({ additionalProperties }) => (typeof additionalProperties === 'object' ? additionalProperties : undefined),
}

/** The schema to which a rule's `fieldPath` leads. */
export function followFieldPath(path: string, schema: StructuralSchema): SchemaPath<StructuralSchema> | WrongSchemaPath {
  return followPath(path, schema, { steps })
}
