import { runAtOnce, StepMeter, type Steps } from '../steps.ts'
import { canonicalText } from './canonical.ts'
import type { StructuralSchema } from './schema.ts'

/**
 * A number that changes with a schema's pruning, its defaults or the storage version: an object stored with the
 * same fingerprint is read without changes. Validation rules do not matter. It has 31 bits, so that V8 stores it without a heap object in
 * the index of storage, and is larger than the fingerprints of built-in kinds.
 */
export function fingerprintOf(schema: StructuralSchema, storedVersion: string): number {
  return runAtOnce(fingerprintInSteps(schema, storedVersion))
}

/** Like `fingerprintOf`, in steps. */
export function* fingerprintInSteps(schema: StructuralSchema, storedVersion: string): Steps<number> {
  const hash = yield* hashOf(schema, new StepMeter(schemasPerStep))
  const [a, b] = hashText(`${storedVersion} ${hash.join(' ')}`)
  return ((a ^ b) & 0x3fffffff) | 0x40000000
}

/** Number of schemas that are hashed per step, which takes some milliseconds. */
const schemasPerStep = 1_000

type Hash = readonly [number, number]

const known = new WeakMap<StructuralSchema, Hash>()

function* hashOf(schema: StructuralSchema, meter: StepMeter): Steps<Hash> {
  const before = known.get(schema)
  if (before !== undefined) return before
  if (meter.isFull()) yield
  const { nullable, preservesUnknownFields, isEmbeddedResource, items, additionalProperties, properties } = schema
  const parts: unknown[] = [nullable === true, preservesUnknownFields === true, isEmbeddedResource === true]
  parts.push(
    schema.default === undefined ? [] : [canonicalText(schema.default.value)],
    items === undefined ? null : yield* hashOf(items, meter),
  )
  parts.push(typeof additionalProperties === 'object' ? yield* hashOf(additionalProperties, meter) : additionalProperties !== undefined)
  for (const [name, property] of properties ?? []) parts.push(name, yield* hashOf(property, meter))
  const hash = hashText(JSON.stringify(parts))
  known.set(schema, hash)
  return hash
}

/** Two multiplicative hashes that are mixed at the end. */
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
