import { memo } from '@orch/cel/memo'
import type { FieldNode, ListRule, ViewNode } from '@orch/cel/views'
import type { ExpressionAge } from '../../expressions/libraries.ts'
import type { Steps } from '../../steps.ts'
import type { ExpressionRule, StructuralSchema } from '../schema.ts'
import { followPath, type SchemaPath, type SchemaSteps, type WrongSchemaPath } from '../schema-path.ts'
import type { Declared, DeclaredTypes } from './declared.ts'
import { compileExpression, type Expression, type Malformed, type Program } from './language.ts'

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

const plain: ViewNode = { kind: 'plain' }
const plainLists = { ofNullable: plainList(true), ofOthers: plainList(false) }
const intOrString: ViewNode = { kind: 'intOrString' }
/** The view of a declared schema's values; plain JSON if that is equivalent. */
export const viewNodeOf: (declared: Declared) => ViewNode = memo((declared: Declared) => createNode(declared))

function createNode(declared: Declared): ViewNode {
  const { schema, type, items, values, fields } = declared
  switch (type.kind) {
    case 'double':
    case 'bytes':
    case 'duration':
      return { kind: type.kind }
    case 'timestamp':
      return { kind: schema.values?.format === 'date' ? 'date' : 'timestamp' }
    case 'list':
      return listNode(items === undefined ? plain : viewNodeOf(items), schema)
    case 'map':
      return values === undefined ? plain : { kind: 'map', values: viewNodeOf(values) }
    case 'object':
      return { kind: 'object', typeName: 'map', fields: new Map([...(fields ?? [])].map(([name, field]) => [name, fieldNode(field)])) }
    default:
      return schema.isIntOrString === true ? intOrString : plain
  }
}

function fieldNode({ property, declared }: { readonly property: string; readonly declared: Declared }): FieldNode {
  return { property, node: viewNodeOf(declared) }
}

function plainList(allowsNull: boolean): ViewNode {
  return { kind: 'plainList', allowsNull }
}

function listNode(items: ViewNode, schema: StructuralSchema): ViewNode {
  const rule = ruleOf(schema)
  const isNullable = schema.items === undefined || schema.items.nullable === true
  if (items.kind === 'plain' && rule.kind === 'atomic') return isNullable ? plainLists.ofNullable : plainLists.ofOthers
  return { kind: 'list', items: isNullable ? items : { kind: 'nonNull', node: items }, rule }
}

function ruleOf({ listType, listMapKeys = [], items }: StructuralSchema): ListRule {
  if (listType === 'set') return { kind: 'set' }
  return listType === 'map' && items !== undefined ? { kind: 'map', keys: listMapKeys } : { kind: 'atomic' }
}
