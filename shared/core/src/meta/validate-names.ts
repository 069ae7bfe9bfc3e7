import {
  explain,
  label1035Pattern,
  labelLengthMax,
  labelPattern,
  qualifiedPattern,
  subdomainLengthMax,
  subdomainPattern,
  wrongLabel,
  wrongLabel1035,
  wrongLabelValue,
  wrongQualifiedName,
  wrongQualifiedPart,
  wrongSubdomain,
} from '@orch/cel/name-formats'
import { joinTexts, type LevelText, textSince } from './level-text.ts'

/**
 * The allowed names of a kind's objects. `pathSegment` is any text that can be a segment of a URL. `longName` is a subdomain by a rule of the
 * type, which does not check the base of a generated name.
 */
export type NameKind = 'subdomain' | 'longName' | 'label' | 'label1035' | 'pathSegment'

const dnsLabel = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
const dnsName = `${dnsLabel}(\\.${dnsLabel})*`
const dnsNamePattern = new RegExp(`^${dnsName}$`)
const wrongDnsName = explain(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
  ['example.com'],
  dnsName,
)

/** Returns the errors of a name, or of the prefix of a generated name. */
export type NameCheck = (name: string) => readonly LevelText[]

/** Maximum size of an object's annotations, keys and values together. */
export const annotationsBytesMax = 262_144

/** The first level whose errors about labels count bytes. */
const newTextsSince = 34

const tooManyParts = textSince(newTextsSince, {
  before: `a qualified name ${wrongQualifiedName}`,
  after: `a valid label key ${wrongQualifiedName}`,
})
const hasDots = textSince(27, { before: wrongLabel, after: 'must not contain dots' })

/** No errors; shared, so that valid names allocate nothing. */
const fine: readonly string[] = Object.freeze([])

const checksOfNames: Readonly<Record<NameKind, NameCheck>> = {
  subdomain: checkSubdomain,
  longName: checkLongName,
  label: checkLabel,
  label1035: checkLabel1035,
  pathSegment: checkPathSegment,
}

/** The errors of an object's name; empty if it is valid. */
export function checkName(kind: NameKind | NameCheck, name: string): readonly LevelText[] {
  return typeof kind === 'function' ? kind(name) : checksOfNames[kind](name)
}

/** The errors of the base of a generated name, which may end with a dash. */
export function checkNamePrefix(kind: NameKind | NameCheck, prefix: string): readonly LevelText[] {
  if (kind === 'longName') return fine
  if (kind === 'pathSegment') return forbiddenInPaths(prefix)
  if (typeof kind === 'function') return kind(prefix)
  const masked = prefix.length > 1 && prefix.endsWith('-') ? `${prefix.slice(0, -1)}a` : prefix
  return checkName(kind, masked)
}

/** The prefix of the generated names of an owner's objects: with a hyphen, if that is valid. */
export function toNamePrefix(name: string): string {
  return checkNamePrefix('subdomain', `${name}-`).length === 0 ? `${name}-` : name
}

/** An RFC 1123 label: the name of a namespace, a container, a port. */
export function checkLabel(text: string): readonly LevelText[] {
  const isSubdomain = text.includes('.') && text.length <= labelLengthMax * 16 && subdomainPattern.test(text)
  return checkDns(text, labelPattern, isSubdomain ? hasDots : wrongLabel, labelLengthMax)
}

/** An RFC 1035 label, which begins with a letter: the name of a Service. */
export function checkLabel1035(text: string): readonly string[] {
  return checkDns(text, label1035Pattern, wrongLabel1035, labelLengthMax)
}

/** An RFC 1123 subdomain: the name of most objects. */
export function checkSubdomain(text: string): readonly string[] {
  return checkDns(text, subdomainPattern, wrongSubdomain, subdomainLengthMax)
}

/** Like `checkSubdomain`, counting bytes. */
export function checkLongName(text: string): readonly string[] {
  return checkSubdomain(text).map((problem) => (problem === tooLongSubdomain ? inBytes : problem))
}

/** Like `checkSubdomain`, for a DNS name whose labels may contain underscores. */
export function checkDnsName(text: string): readonly string[] {
  return checkDns(text, dnsNamePattern, wrongDnsName, subdomainLengthMax)
}

function checkDns<T extends LevelText>(text: string, pattern: RegExp, wrong: T, lengthMax: number): readonly (T | string)[] {
  const isLong = text.length > lengthMax
  // A text far beyond the maximum is not matched, since it is invalid anyway.
  if (!isLong && pattern.test(text)) return fine
  const problems: (T | string)[] = isLong ? [tooLong(lengthMax)] : []
  if (text.length > lengthMax * 16 || !pattern.test(text)) problems.push(wrong)
  return problems
}

/** Any text that can be a segment of a path: names of roles and bindings. */
export function checkPathSegment(text: string): readonly string[] {
  if (text === '.' || text === '..') return [`may not be '${text}'`]
  return forbiddenInPaths(text)
}

function forbiddenInPaths(text: string): readonly string[] {
  return ['/', '%'].filter((character) => text.includes(character)).map((character) => `may not contain '${character}'`)
}

/** A label key, annotation key or finalizer: a short name, optionally after a DNS prefix and a slash. */
export function checkQualifiedName(text: string): readonly LevelText[] {
  const slash = text.indexOf('/')
  if (slash === -1) return checkNamePart(text)
  if (text.indexOf('/', slash + 1) !== -1) return [tooManyParts]
  const prefix = text.slice(0, slash)
  const name = checkNamePart(text.slice(slash + 1))
  if (prefix === '') return ['prefix part must be non-empty', ...name]
  const subdomain = checkSubdomain(prefix)
  return subdomain.length === 0 ? name : [...subdomain.map(problemOfPrefix), ...name]
}

function problemOfPrefix(problem: string): LevelText {
  const before = `prefix part ${problem}`
  return problem === tooLongSubdomain ? textSince(newTextsSince, { before, after: `prefix part ${inBytes}` }) : before
}

function checkNamePart(name: string): readonly LevelText[] {
  const isLong = name.length > labelLengthMax
  if (!isLong && qualifiedPattern.test(name)) return fine
  const problems: LevelText[] = []
  if (name === '') problems.push('name part must be non-empty')
  if (isLong) problems.push(joinTexts(['name part ', tooLongLabel]))
  if (!qualifiedPattern.test(name)) problems.push(`name part ${wrongQualifiedPart}`)
  return problems
}

/** The value of a label: empty, or a short name. */
export function checkLabelValue(value: string): readonly LevelText[] {
  const isLong = value.length > labelLengthMax
  if (!isLong && (value === '' || qualifiedPattern.test(value))) return fine
  const problems: LevelText[] = isLong ? [tooLongLabel] : []
  if (!qualifiedPattern.test(value)) problems.push(wrongLabelValue)
  return problems
}

/** True if the annotations are within the size limit. */
export function annotationsFit(annotations: Readonly<Record<string, string>>): boolean {
  let bytes = 0
  for (const key of Object.keys(annotations)) bytes += utf8Length(key) + utf8Length(annotations[key] ?? '')
  return bytes <= annotationsBytesMax
}

function utf8Length(text: string): number {
  let bytes = text.length
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    // A surrogate pair is four bytes: each half adds one to its own unit.
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1
  }
  return bytes
}

const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789'
const suffixLength = 5
const generatedBaseLengthMax = labelLengthMax - suffixLength

/**
 * A name from a base and five random characters without vowels, so that no word results.
 * `random(n)` gives a whole number from 0 to n - 1.
 */
export function generateName(base: string, random: (bound: number) => number): string {
  let name = base.slice(0, generatedBaseLengthMax)
  for (let count = 0; count < suffixLength; count += 1) name += suffixAlphabet[random(suffixAlphabet.length)]
  return name
}

function tooLong(lengthMax: number): string {
  return `must be no more than ${lengthMax} characters`
}

const tooLongSubdomain = tooLong(subdomainLengthMax)
const inBytes = `must be no more than ${subdomainLengthMax} bytes`
const tooLongLabel = textSince(newTextsSince, { before: tooLong(labelLengthMax), after: `must be no more than ${labelLengthMax} bytes` })
