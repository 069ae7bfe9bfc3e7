import { canonicalText } from './canonical.ts'
import type { StructuralSchema } from './schema.ts'

/**
 * Says what a schema prunes, which defaults it gives, and for which stored version it does so: objects that were stored under the
 * same fingerprint are read as they are. Rules, bounds and lists of values do not count. 31 bits, so that it takes no memory of its
 * own in the index of storage; above the numbers that the schemas of built-in kinds have.
 */
export function fingerprintOf(schema: StructuralSchema, storedVersion: string): number {
  const [a, b] = hashText(`${storedVersion} ${hashOf(schema).join(' ')}`)
  return ((a ^ b) & 0x3fffffff) | 0x40000000
}

type Hash = readonly [number, number]

const known = new WeakMap<StructuralSchema, Hash>()

function hashOf(schema: StructuralSchema): Hash {
  const before = known.get(schema)
  if (before !== undefined) return before
  const { nullable, preservesUnknownFields, isEmbeddedResource, items, additionalProperties, properties } = schema
  const parts: unknown[] = [nullable === true, preservesUnknownFields === true, isEmbeddedResource === true]
  parts.push(schema.default === undefined ? [] : [canonicalText(schema.default.value)], items === undefined ? null : hashOf(items))
  parts.push(typeof additionalProperties === 'object' ? hashOf(additionalProperties) : additionalProperties !== undefined)
  for (const [name, property] of properties ?? []) parts.push(name, hashOf(property))
  const hash = hashText(JSON.stringify(parts))
  known.set(schema, hash)
  return hash
}

/** Two multiplicative hashes that mix one another at the end. */
function hashText(text: string): Hash {
  let [a, b] = [0xdeadbeef, 0x41c6ce57]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    a = Math.imul(a ^ code, 2654435761)
    b = Math.imul(b ^ code, 1597334677)
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
  return [a >>> 0, b >>> 0]
}
