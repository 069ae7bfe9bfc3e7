import type { ShardRange } from './selection.ts'

/** A parsed selector, or an error text. */
export type ShardSelectorReading = { kind: 'selector'; ranges: ShardRange[] } | { kind: 'malformed'; message: string }

const rangePattern =
  /^\s*shardRange\(\s*object\.metadata\.(uid|namespace)\s*,\s*(?:'([^']*)'|"([^"]*)")\s*,\s*(?:'([^']*)'|"([^"]*)")\s*\)\s*$/
const digitsMax = 17
const rangesMax = 64
/** 2^64, the end of the hash space. */
const spaceEnd = '1'.padEnd(digitsMax, '0')

/**
 * The ranges of a shard selector (KEP 5866), any of which may match:
 *
 *   shardRange(object.metadata.uid, '0x0', '0x8000000000000000') || shardRange(object.metadata.uid, '0xc000000000000000', '0x10000000000000000')
 */
export function parseShardSelector(text: string): ShardSelectorReading {
  const ranges: ShardRange[] = []
  const terms = text.split('||')
  if (terms.length > rangesMax) return malformed(text, `it has more than ${rangesMax} ranges`)
  for (const term of terms) {
    const match = rangePattern.exec(term)
    if (match === null) {
      const shape = "shardRange(object.metadata.uid, '0x0', '0x8000000000000000'), also with object.metadata.namespace"
      return malformed(text, `can't understand '${term.trim()}', ${shape} was expected`)
    }
    const [, field, fromSingle, fromDouble, toSingle, toDouble] = match
    const from = boundOf(fromSingle ?? fromDouble ?? '')
    const to = boundOf(toSingle ?? toDouble ?? '')
    if (from === undefined || to === undefined) {
      return malformed(text, `the bounds of '${term.trim()}' must be numbers of base 16, '0x0' to '0x10000000000000000'`)
    }
    if (from >= to) return malformed(text, `the range of '${term.trim()}' is empty`)
    ranges.push({ field: field === 'uid' ? 'uid' : 'namespace', from, to })
  }
  return { kind: 'selector', ranges }
}

function malformed(text: string, why: string): ShardSelectorReading {
  return { kind: 'malformed', message: `invalid shardSelector '${text}': ${why}` }
}

function boundOf(text: string): string | undefined {
  const digits = /^0x0*([0-9a-f]{1,17})$/i.exec(text)?.[1]
  const bound = digits?.toLowerCase().padStart(digitsMax, '0')
  return bound === undefined || bound > spaceEnd ? undefined : bound
}

/** True if an object is in one of the ranges; `fieldOf` returns its fields. */
export function isInShards(ranges: readonly ShardRange[], fieldOf: (field: ShardRange['field']) => string): boolean {
  return ranges.some(({ field, from, to }) => {
    const hash = shardHash(fieldOf(field))
    return from <= hash && hash < to
  })
}

const offset = { high: 0xcbf29ce4, low: 0x84222325 }
/** The FNV prime minus 2^40. */
const primeRest = 0x1b3
const two32 = 2 ** 32
/** 64-bit FNV-1a over the UTF-8 of a text, in the format of a bound. */
export function shardHash(text: string): string {
  let { high, low } = offset
  for (const byte of new TextEncoder().encode(text)) {
    low = (low ^ byte) >>> 0
    const product = low * primeRest
    high = (high * primeRest + Math.floor(product / two32) + low * 256) % two32
    low = product % two32
  }
  return `0${hex(high)}${hex(low)}`
}

function hex(word: number): string {
  return word.toString(16).padStart(8, '0')
}
