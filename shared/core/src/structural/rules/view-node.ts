import { memo } from '@orch/cel/memo'
import type { FieldNode, ListRule, ViewNode } from '@orch/cel/views'
import type { StructuralSchema } from '../schema.ts'
import type { Declared } from './declared.ts'

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
