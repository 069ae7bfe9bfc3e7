import { canonicalCidr, cidrFamilyOf, type IpFamily, parseIp } from '../validation/ip-address.ts'

/** A range of addresses: the first address as a number, and the prefix length. */
interface Range {
  readonly family: IpFamily
  readonly first: bigint
  readonly bits: number
}

/** The numbers of the first and the last part of a range, inclusive. */
interface Parts {
  readonly begin: number
  readonly end: number
}

/** Maximum difference between the prefix lengths of a node's range and of the cluster's, for IPv6. */
const longerMax = 16

/** The error of a prefix length for node ranges; undefined if it is valid. */
export function nodeRangeProblem(cluster: string, nodeBits: number): string | undefined {
  const range = parseRange(cluster)
  if (range === undefined) return `${cluster} is no range of addresses such as 10.244.0.0/16`
  const width = range.family === 'IPv4' ? 32 : 128
  const most = range.family === 'IPv4' ? width : Math.min(width, range.bits + longerMax)
  return nodeBits >= range.bits && nodeBits <= most
    ? undefined
    : `a node's range of ${cluster} has ${range.bits} to ${most} bits, not ${nodeBits}`
}

/**
 * Allocates node ranges within a cluster's range. The search starts after the last allocated range, so that a released range
 * is not reused immediately.
 *
 *   10.0.0.0/14 in ranges of 16 bits: allocate() → 10.0.0.0/16, 10.1.0.0/16; release the first; allocate() → 10.2.0.0/16
 */
export class NodeRanges {
  readonly #cluster: Range
  readonly #nodeBits: number
  readonly #count: number
  readonly #single = new Set<number>()
  /** Ranges that cover several parts, such as those of Services. */
  readonly #wide: Parts[] = []
  #next = 0

  constructor(cluster: string, nodeBits: number) {
    const range = parseRange(cluster)
    const problem = nodeRangeProblem(cluster, nodeBits)
    if (range === undefined || problem !== undefined) throw new RangeError(problem)
    this.#cluster = range
    this.#nodeBits = nodeBits
    this.#count = 2 ** (nodeBits - range.bits)
  }

  /** Returns a free range; undefined if all are taken. */
  allocate(): string | undefined {
    let at = this.#next
    for (let passed = 0; passed < this.#count; ) {
      const taken = this.#takenFrom(at)
      if (taken === 0) {
        this.#next = (at + 1) % this.#count
        this.#single.add(at)
        return this.#print(at)
      }
      passed += taken
      at = (at + taken) % this.#count
    }
    return undefined
  }

  /** Marks a range as taken. False if it does not overlap the cluster's range. */
  occupy(text: string): boolean {
    const parts = this.partsOf(text)
    if (parts === undefined) return false
    if (parts.begin === parts.end) this.#single.add(parts.begin)
    else if (!this.#wide.some((wide) => isSame(wide, parts))) this.#wide.push(parts)
    return true
  }

  release(text: string): void {
    const parts = this.partsOf(text)
    if (parts === undefined) return
    if (parts.begin === parts.end) this.#single.delete(parts.begin)
    const at = this.#wide.findIndex((wide) => isSame(wide, parts))
    if (at >= 0) this.#wide.splice(at, 1)
  }

  /** The numbers of the parts that a range covers. */
  partsOf(text: string): Parts | undefined {
    const range = parseRange(text)
    const { family, first, bits } = this.#cluster
    if (range === undefined || range.family !== family) return undefined
    const width = family === 'IPv4' ? 32 : 128
    const common = BigInt(width - Math.min(bits, range.bits))
    if (first >> common !== range.first >> common) return undefined
    if (range.bits <= bits) return { begin: 0, end: this.#count - 1 }
    const part = BigInt(width - this.#nodeBits)
    const begin = Number((range.first - first) >> part)
    const last = range.first + (1n << BigInt(width - range.bits)) - 1n
    return { begin, end: Number((last - first) >> part) }
  }

  /** The range of a node as text: `10.244.3.0/24`. */
  #print(index: number): string {
    const { family, first } = this.#cluster
    const width = family === 'IPv4' ? 32 : 128
    const value = first + (BigInt(index) << BigInt(width - this.#nodeBits))
    const [groupBits, radix, separator] = family === 'IPv4' ? ([8, 10, '.'] as const) : ([16, 16, ':'] as const)
    const groups = Array.from({ length: width / groupBits }, (_, at) =>
      BigInt.asUintN(groupBits, value >> BigInt(width - groupBits * (at + 1))),
    )
    return canonicalCidr(`${groups.map((group) => group.toString(radix)).join(separator)}/${this.#nodeBits}`) ?? ''
  }

  /** The number of taken parts from this one on, as far as one range shows. 0 if the part is free. */
  #takenFrom(index: number): number {
    if (this.#single.has(index)) return 1
    const wide = this.#wide.find(({ begin, end }) => begin <= index && index <= end)
    return wide === undefined ? 0 : wide.end - index + 1
  }
}

function isSame(left: Parts, right: Parts): boolean {
  return left.begin === right.begin && left.end === right.end
}

function parseRange(text: string): Range | undefined {
  const family = cidrFamilyOf(text)
  const [address = '', bits = ''] = text.split('/')
  const bytes = parseIp(address)
  if (family === undefined || bytes === undefined) return undefined
  const hostBits = BigInt((family === 'IPv4' ? 32 : 128) - Number(bits))
  const value = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)
  return { family, first: (value >> hostBits) << hostBits, bits: Number(bits) }
}
