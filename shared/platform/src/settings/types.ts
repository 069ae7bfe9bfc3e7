import { durationToMs, parseDuration } from '@orch/core/meta'

/** The type of a setting's value, with its parser. */
export interface SettingType<T> {
  /** The name of the value in the help: `--request-timeout duration`. '' for a boolean, which needs no value. */
  readonly word: string
  /** Completes the message `must be …` for an invalid value. */
  readonly expected: string
  /** The value; undefined for an invalid text. */
  parse(text: string): T | undefined
  /** The valid texts of a closed set; the message for an invalid value suggests the nearest. */
  readonly choices?: readonly string[]
  /** True for a list: a flag that is repeated adds values. */
  readonly isList?: boolean
  /** The separator of a repeated list. Default: a comma. */
  readonly between?: string
}

/** A range of ports, including both bounds. */
export interface PortRange {
  readonly first: number
  readonly last: number
}

/** A block of addresses: `10.0.0.0/24`. */
export interface Cidr {
  readonly text: string
  readonly family: 4 | 6
  readonly bits: number
  /** The first address as a number. */
  readonly first: bigint
}

/** A duration in Go's format, in milliseconds: `1h30m`, `500ms`, `0`. */
export const duration: SettingType<number> = {
  word: 'duration',
  expected: 'a length of time such as 30s, 5m or 1h30m',
  parse(text) {
    const parsed = parseDuration(text)
    return parsed === undefined || parsed < 0n ? undefined : durationToMs(parsed)
  },
}

/** A boolean. On the command line the bare flag means true. */
export const bool: SettingType<boolean> = {
  word: '',
  expected: 'true or false',
  choices: ['true', 'false'],
  parse: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
}

export const string: SettingType<string> = { word: 'string', expected: 'a text', parse: (text) => text }

/** The name of a file or folder; '' for none. */
export const path: SettingType<string> = { word: 'path', expected: 'the name of a file or folder', parse: (text) => text }

/** A whole number between two bounds, inclusive. */
export function int({ min, max }: { min: number; max: number }): SettingType<number> {
  return {
    word: 'int',
    expected: `a whole number between ${min} and ${max}`,
    parse(text) {
      if (!/^-?\d{1,15}$/.test(text)) return undefined
      const value = Number(text)
      return value >= min && value <= max ? value : undefined
    },
  }
}

/** A number from zero on, as a decimal fraction. */
export const fraction: SettingType<number> = {
  word: 'float',
  expected: 'a number such as 0.1, not below zero',
  parse: (text) => (/^\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : undefined),
}

/** One of several words. */
export function oneOf<const W extends string>(words: readonly W[]): SettingType<W> {
  return {
    word: words.join('|'),
    expected: `one of ${words.join(', ')}`,
    choices: words,
    parse: (text) => words.find((word) => word === text),
  }
}

/** A comma-separated list; '' is the empty list. */
export const list: SettingType<readonly string[]> = {
  word: 'list',
  expected: 'a list with commas between its items',
  isList: true,
  parse: (text) =>
    text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
}

/** `first-last` or one port. */
export const portRange: SettingType<PortRange> = {
  word: 'first-last',
  expected: 'a range of ports such as 30000-32767',
  parse(text) {
    const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text)
    if (match === null) return undefined
    const first = Number(match[1])
    const last = Number(match[2] ?? match[1])
    return first >= 1 && first <= last && last <= 65535 ? { first, last } : undefined
  },
}

/** A block of IPv4 or IPv6 addresses with at least eight addresses. */
export const cidr: SettingType<Cidr> = {
  word: 'cidr',
  expected: 'a block of at least 8 addresses such as 10.0.0.0/24',
  parse(text) {
    const [address = '', length = ''] = text.split('/')
    if (!/^\d{1,3}$/.test(length)) return undefined
    const parsed = parseAddress(address)
    const bits = Number(length)
    if (parsed === undefined) return undefined
    const width = parsed.family === 4 ? 32 : 128
    if (bits > width - 3) return undefined
    const hostBits = BigInt(width - bits)
    const first = (parsed.value >> hostBits) << hostBits
    return { text: `${printAddress(first, parsed.family)}/${bits}`, family: parsed.family, bits, first }
  },
}

/** A block, and one of the other family if there are two. */
export type CidrPair = readonly [Cidr, ...Cidr[]]

/** One block of addresses, or two of different families with a comma between them. */
export const cidrPair: SettingType<CidrPair> = {
  word: 'cidr[,cidr]',
  expected: `${cidr.expected}, or one of IPv4 and one of IPv6 with a comma between them`,
  parse(text) {
    const [first = '', second, ...further] = text.split(',')
    const own = cidr.parse(first)
    if (own === undefined || second === undefined) return own && [own]
    const other = cidr.parse(second)
    return other === undefined || other.family === own.family || further.length > 0 ? undefined : [own, other]
  },
}

/** The address at an index of a block; index 1 is the first usable one. */
export function addressAt(block: Cidr, index: number): string {
  return printAddress(block.first + BigInt(index), block.family)
}

/** True if an address of a block is usable: neither the block's first address nor, for IPv4, its last, the broadcast address. */
export function isUsable(block: Cidr, address: string): boolean {
  const parsed = parseAddress(address)
  if (parsed === undefined || parsed.family !== block.family) return false
  const index = parsed.value - block.first
  const size = 1n << BigInt((block.family === 4 ? 32 : 128) - block.bits)
  return index > 0n && index < (block.family === 4 ? size - 1n : size)
}

/** An address in its canonical form: `fd00::5` for `FD00:0::0005`. Other texts are unchanged. */
export function usualAddress(text: string): string {
  const parsed = parseAddress(text)
  return parsed === undefined ? text : printAddress(parsed.value, parsed.family)
}

function parseAddress(text: string): { family: 4 | 6; value: bigint } | undefined {
  if (text.includes(':')) return parseAddress6(text)
  const parts = text.split('.')
  // As in kube-apiserver, leading zeros change nothing.
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,8}$/.test(part) && Number(part) <= 255)) return undefined
  return { family: 4, value: parts.reduce((value, part) => (value << 8n) | BigInt(part), 0n) }
}

function parseAddress6(text: string): { family: 6; value: bigint } | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const [head = [], tail = []] = halves.map((half) => (half === '' ? [] : half.split(':')))
  const missing = 8 - head.length - tail.length
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined
  const groups = [...head, ...Array<string>(missing).fill('0'), ...tail]
  if (!groups.every((group) => /^[\da-f]{1,4}$/i.test(group))) return undefined
  return { family: 6, value: groups.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n) }
}

function printAddress(value: bigint, family: 4 | 6): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 255n)).join('.')
  const groups = Array.from({ length: 8 }, (_, index) => ((value >> BigInt(16 * (7 - index))) & 0xffffn).toString(16))
  const zeros = /(?:^|:)0(?::0)+(?=:|$)/.exec(groups.join(':'))
  if (zeros === null) return groups.join(':')
  const text = groups.join(':')
  const before = text.slice(0, zeros.index)
  const after = text.slice(zeros.index + zeros[0].length).replace(/^:/, '')
  return `${before}::${after}`
}
