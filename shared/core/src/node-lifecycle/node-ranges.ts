import { canonicalCidr, cidrFamilyOf, type IpFamily, parseIp } from '../validation/ip-address.ts'

/** A range of addresses: its first one as a number, and the length of its network in bits. */
interface Range {
  readonly family: IpFamily
  readonly first: bigint
  readonly bits: number
}

/** Numbers of the parts of a range, both included. */
interface Parts {
  readonly begin: number
  readonly end: number
}

/** Bits by which a node's range may be longer than the cluster's, of IPv6. */
const longerMax = 16

/** Why nodes cannot have ranges of that length. Undefined: they can. */
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
 * The ranges of nodes within the range of a cluster. The next free one is looked for after the last one that was given, so that a range that
 * was given back rests for some time.
 *
 *   10.0.0.0/14 in ranges of 16 bits: allocate() → 10.0.0.0/16, 10.1.0.0/16; release the first; allocate() → 10.2.0.0/16
 */
export class NodeRanges {
  readonly #cluster: Range
  readonly #nodeBits: number
  readonly #count: number
  readonly #single = new Set<number>()
  /** Ranges of several parts, as those of Services. */
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

  /** Undefined: all are taken. */
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

  /** False: the range has nothing in common with the cluster's. */
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

  /** The text of the part with that number. */
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

  /** Taken parts from that one on, as far as one range tells. 0: the part is free. */
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
