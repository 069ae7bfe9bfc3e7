import { isScalar, type Node, type ScalarNode, structDepthMax } from '../description/node.ts'
import { hasMembers, isJsonObject, printJson, setMember } from '../json/index.ts'
import { Numeral } from '../json/numeral.ts'
import { parseExactly } from '../json/parse-exactly.ts'
import { resolveNode } from './resolve.ts'
import { Mismatch } from './scalars.ts'

/**
 * Replaces numerals: a quantity keeps the spelling, a floating-point number and free JSON the value. In an
 * integer field they stay, so that the decoder refuses them like Go's, for example `1.0`. The input is not changed.
 */
export function settleNumerals(node: Node, value: unknown, depth = 0): unknown {
  if (depth > structDepthMax) return value
  const target = resolveNode(node)
  if (isScalar(target)) return settleScalar(target.kind, value)
  switch (target.kind) {
    case 'ref':
      return settleNumerals(target, value, depth)
    case 'list':
      return Array.isArray(value) ? settleItems(target.items, value, depth) : value
    case 'map':
      return isJsonObject(value) ? settleMembers(value, () => target.values, depth) : value
    case 'struct': {
      if (!isJsonObject(value)) return value
      const fields = new Map(target.fields.map((field) => [field.name, field.node]))
      return settleMembers(value, (name) => fields.get(name), depth)
    }
    case 'variant': {
      const form = target.array !== undefined && Array.isArray(value) ? target.array : target.object
      return settleNumerals(form.node, value, depth)
    }
    case 'string':
      return value
  }
}

function settleItems(items: Node, list: readonly unknown[], depth: number): readonly unknown[] {
  let settled: unknown[] | undefined
  for (const [index, item] of list.entries()) {
    const next = settleNumerals(items, item, depth + 1)
    if (next === item) continue
    settled ??= [...list]
    settled[index] = next
  }
  return settled ?? list
}

function settleMembers(
  members: Record<string, unknown>,
  nodeOf: (name: string) => Node | undefined,
  depth: number,
): Record<string, unknown> {
  let settled: Record<string, unknown> | undefined
  for (const name in members) {
    const node = nodeOf(name)
    const member = members[name]
    const next = node === undefined ? member : settleNumerals(node, member, depth + 1)
    if (next === member) continue
    settled ??= { ...members }
    setMember(settled, name, next)
  }
  return settled ?? members
}

function settleScalar(kind: ScalarNode['kind'], value: unknown): unknown {
  switch (kind) {
    case 'quantity':
      return value instanceof Numeral ? value.literal : value
    case 'double':
      return value instanceof Numeral && Number.isFinite(value.value) ? value.value : value
    case 'raw':
    case 'json':
    case 'fieldsV1':
      return settleFree(value)
    default:
      return value
  }
}

/** Free JSON may be deeper than the call stack, so it is parsed again without numerals. */
function settleFree(value: unknown): unknown {
  if (!(value instanceof Numeral) && !hasMembers(value)) return value
  const read = parseExactly(printJson(value, { hasBigIntegers: true }))
  if (read.kind === 'malformed') throw new Mismatch(read.problem, { isOwn: true })
  return read.value
}
