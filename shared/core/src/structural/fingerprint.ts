import { canonicalText } from './canonical.ts'
import type { StructuralSchema } from './schema.ts'

/**
 * 64 bits that say what a schema prunes and which defaults it gives: objects that were stored under the same fingerprint are
 * read as they are. Rules, bounds and lists of values do not count.
 */
export function fingerprintOf(schema: StructuralSchema): bigint {
  const hash = hashOf(schema)
  return (BigInt(hash[0]) << 32n) | BigInt(hash[1])
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
