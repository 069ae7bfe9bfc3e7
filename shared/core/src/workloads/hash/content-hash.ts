import { jsonEqual } from '../../json/equal.ts'
import { memo } from '../../memo.ts'
import { templateDumperAt } from './dump.ts'

/** The label with the template hash on a ReplicaSet's Pods. */
export const templateHashLabel = 'pod-template-hash'

/** Hashes of Pod templates at a level. Templates must be immutable, because their dumps are cached. */
export type TemplateHashes = ReturnType<typeof templateHashesAt>

/**
 * The hashes at a level, such as 37 for 1.37: FNV-1a of the dump and of the collision count, 8 bytes (WL-HASH-01). Each level has different
 * hashes, because the dump contains all fields of the level.
 */
export function templateHashesAt(level: number) {
  const dump = templateDumperAt(level)
  const stateOf = memo((template: object) => ({ hash: fnv1a(new TextEncoder().encode(dump(template))) }))
  const unlabelled = memo(withoutHashLabel)
  /** The last comparison with a template: a ReplicaSet's is compared with that of its Deployment in each pass. */
  const compared = new WeakMap<object, { readonly one: object; readonly isEqual: boolean }>()
  return {
    /** The value of pod-template-hash. `collisionCount` is from the owner's status; undefined and 0 differ. */
    hashOf(template: object, collisionCount?: number | undefined) {
      const { hash } = stateOf(template)
      return encodeHash(collisionCount == null ? hash : fnv1a(countBytes(collisionCount), hash))
    },
    /** True if the templates are equivalent, ignoring the label pod-template-hash: absent and empty lists are equal. */
    areEqual(one: Labelled, other: Labelled) {
      const last = compared.get(other)
      if (last?.one === one) return last.isEqual
      const [left, right] = [unlabelled(one), unlabelled(other)]
      // Compared templates are mostly equal, and a dump takes ten times as long as a comparison.
      const isEqual = jsonEqual(left, right) || (stateOf(left).hash === stateOf(right).hash && dump(left) === dump(right))
      compared.set(other, { one, isEqual })
      return isEqual
    },
  }
}

function withoutHashLabel(template: Labelled): Labelled {
  const { [templateHashLabel]: hash, ...labels } = template.metadata?.labels ?? {}
  return hash === undefined ? template : { ...template, metadata: { ...template.metadata, labels } }
}

function countBytes(count: number): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setUint32(0, count, true)
  return bytes
}

/**
 * The data of a ControllerRevision: a patch that restores the template, as the API of the level prints it (WL-HASH-17, WL-HASH-18).
 *
 *   {"spec":{"template":{"$patch":"replace","metadata":{…},"spec":{…}}}}
 */
export function revisionData(template: object, level: number): string {
  const printed = withCreationTimes(template, level)
  return printSorted({ spec: { template: { ...printed, $patch: 'replace' } } })
}

/** The hash in the name of a StatefulSet's revision: FNV-1 of the data and of the collision count as text. */
export function revisionHash(data: string, collisionCount = 0): string {
  return encodeHash(fnv1(new TextEncoder().encode(`${data}${collisionCount}`)))
}

interface Metadata {
  readonly creationTimestamp?: string | null | undefined
  readonly labels?: Readonly<Record<string, string>> | undefined
}

interface Labelled {
  readonly metadata?: Metadata | null | undefined
}

interface Volume {
  readonly ephemeral?: { readonly volumeClaimTemplate?: { readonly metadata?: Metadata | null } }
}

/** Before 1.34, each metadata has an empty creationTimestamp. */
function withCreationTimes(template: Labelled & { readonly spec?: { readonly volumes?: readonly Volume[] } }, level: number): object {
  const metadataOf = (metadata: Metadata | null | undefined) => {
    const { creationTimestamp, ...rest } = metadata ?? {}
    return creationTimestamp == null && level >= 34 ? rest : { ...rest, creationTimestamp: creationTimestamp ?? null }
  }
  const volumes = template.spec?.volumes?.map((volume) => {
    const claim = volume.ephemeral?.volumeClaimTemplate
    if (claim === undefined) return volume
    const volumeClaimTemplate = { ...claim, metadata: metadataOf(claim.metadata) }
    return { ...volume, ephemeral: { ...volume.ephemeral, volumeClaimTemplate } }
  })
  const spec = volumes === undefined ? template.spec : { ...template.spec, volumes }
  return { ...template, metadata: metadataOf(template.metadata), spec }
}

/** JSON in the format of Go's maps: sorted, with HTML escapes. */
export function printSorted(value: unknown): string {
  const text = JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([left], [right]) => (left < right ? -1 : 1)))
      : member,
  )
  return text.replace(/[<>&\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const offset = 2_166_136_261
const prime = 16_777_619

/** 32-bit FNV-1a. `state` continues an earlier hash. */
function fnv1a(bytes: Uint8Array, state = offset): number {
  // An iterator would allocate an object for each byte.
  return bytes.reduce((hash, byte) => Math.imul(hash ^ byte, prime), state) >>> 0
}

/** 32-bit FNV-1. */
function fnv1(bytes: Uint8Array): number {
  let hash = offset
  for (const byte of bytes) hash = Math.imul(hash, prime) ^ byte
  return hash >>> 0
}

const alphabet = 'bcdfghjklmnpqrstvwxz2456789'

/** Encodes a hash for a name, without vowels that could form words: 0 is `4`, 10 is `54`. */
function encodeHash(hash: number): string {
  return [...String(hash)].map((digit) => alphabet[digit.charCodeAt(0) % alphabet.length]).join('')
}
