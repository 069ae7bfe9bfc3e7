import { type Implementation, type Implementations, of, on } from '../implementation.ts'
import { CelError, noSuchOverload, Opaque, toInt, type Value } from '../values/values.ts'

/** The result of `semver(text)`. */
export class Semver extends Opaque {
  override readonly typeName = 'kubernetes.Semver'
  readonly numbers: readonly [bigint, bigint, bigint]
  readonly prerelease: readonly string[]

  constructor(numbers: readonly [bigint, bigint, bigint], prerelease: readonly string[]) {
    super()
    this.numbers = numbers
    this.prerelease = prerelease
  }

  override equals(other: Opaque): boolean {
    return other instanceof Semver && order(this, other) === 0
  }
}

const numberMax = 2n ** 64n - 1n

/** Parses a version. `isTolerant`: it may begin with `v`, have leading zeros and lack the last numbers. */
export function parseSemver(text: string, isTolerant = false): Semver | CelError {
  const read = readSemver(isTolerant ? normalized(text) : text)
  return typeof read === 'string' ? new CelError(read) : read
}

/** A function of a text, with a switch to be tolerant. */
function onVersion(use: (read: Semver | CelError) => Value): Implementation {
  return of([1, 2], (text, normalize) => {
    if (typeof text !== 'string' || (normalize !== undefined && typeof normalize !== 'boolean')) return noSuchOverload()
    return use(parseSemver(text, normalize))
  })
}

/** The version without `v` and leading zeros, with `.0` for missing parts. */
function normalized(text: string): string {
  const plain = text.startsWith('v') ? text.slice(1) : text
  const end = plain.search(/[-+]/)
  const core = end < 0 ? plain : plain.slice(0, end)
  const numbers = core.split('.').map((number) => (/^0+\d/.test(number) ? number.replace(/^0+(?=\d)/, '') : number))
  if (numbers.length < 3 && end >= 0) return plain
  while (numbers.length < 3) numbers.push('0')
  return numbers.join('.') + (end < 0 ? '' : plain.slice(end))
}

/** The version, or the error of the text. */
function readSemver(text: string): Semver | string {
  if (text === '') return 'Version string empty'
  const match = /^([^.]*)\.([^.]*)\.([^-+]*)(?:-([^+]*))?(?:\+(.*))?$/s.exec(text)
  if (match === null) return 'No Major.Minor.Patch elements found'
  const [, major = '', minor = '', patch = '', prerelease, build] = match
  const numbers: bigint[] = []
  for (const [name, number] of [
    ['Major', major],
    ['Minor', minor],
    ['Patch', patch],
  ] as const) {
    if (!/^\d+$/.test(number)) return `Invalid character(s) found in ${name.toLowerCase()} number ${JSON.stringify(number)}`
    if (number.length > 1 && number.startsWith('0')) return `${name} number must not contain leading zeroes ${JSON.stringify(number)}`
    const value = number.length > 20 ? numberMax + 1n : BigInt(number)
    if (value > numberMax) return `${name} number is out of range`
    numbers.push(value)
  }
  const parts = prerelease === undefined ? [] : prerelease.split('.')
  for (const part of parts) {
    if (part === '') return 'Prerelease is empty'
    if (!/^[0-9A-Za-z-]+$/.test(part)) return `Invalid character(s) found in prerelease ${JSON.stringify(part)}`
    if (/^0\d+$/.test(part)) return `Numeric PreRelease version must not contain leading zeroes ${JSON.stringify(part)}`
  }
  for (const part of build === undefined ? [] : build.split('.')) {
    if (part === '') return 'Build meta data is empty'
    if (!/^[0-9A-Za-z-]+$/.test(part)) return `Invalid character(s) found in build meta data ${JSON.stringify(part)}`
  }
  const [a = 0n, b = 0n, c = 0n] = numbers
  return new Semver([a, b, c], parts)
}

function order(a: Semver, b: Semver): number {
  for (const index of [0, 1, 2] as const) {
    if (a.numbers[index] !== b.numbers[index]) return a.numbers[index] < b.numbers[index] ? -1 : 1
  }
  if (a.prerelease.length === 0 || b.prerelease.length === 0) return Math.sign(b.prerelease.length - a.prerelease.length)
  for (let index = 0; index < Math.min(a.prerelease.length, b.prerelease.length); index++) {
    const found = orderParts(a.prerelease[index] ?? '', b.prerelease[index] ?? '')
    if (found !== 0) return found
  }
  return Math.sign(a.prerelease.length - b.prerelease.length)
}

function orderParts(a: string, b: string): number {
  const aIsNumber = /^\d+$/.test(a)
  const bIsNumber = /^\d+$/.test(b)
  if (aIsNumber !== bIsNumber) return aIsNumber ? -1 : 1
  if (aIsNumber && a.length !== b.length) return a.length < b.length ? -1 : 1
  return a < b ? -1 : a > b ? 1 : 0
}

/** The order of two versions. */
export function compareVersions(a: Semver, b: Value): Value {
  return b instanceof Semver ? order(a, b) : noSuchOverload()
}

/** The functions of versions, besides the order. */
export const semverFunctions: Implementations = {
  semver: onVersion((read) => read),
  isSemver: onVersion((read) => read instanceof Semver),
  major: on(Semver, ({ numbers }) => toInt(numbers[0])),
  minor: on(Semver, ({ numbers }) => toInt(numbers[1])),
  patch: on(Semver, ({ numbers }) => toInt(numbers[2])),
}
