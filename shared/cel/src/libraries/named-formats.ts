import { type Implementations, metered, of, onText } from '../implementation.ts'
import {
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
} from '../name-formats.ts'
import { checkRequestUri } from '../url.ts'
import type { Meter } from '../values/meter.ts'
import { parseDate, parseTimestamp } from '../values/time.ts'
import { none, noSuchOverload, Opaque, some } from '../values/values.ts'

/** The result of `format.dns1123Label()` and its like: a named check. */
export class NamedFormat extends Opaque {
  override readonly typeName = 'kubernetes.NamedFormat'
  readonly name: string
  /** The length of the pattern for the cost of `validate`. */
  readonly regexSize: number
  readonly check: (text: string, meter: Meter) => readonly string[]

  constructor(name: string, regexSize: number, check: (text: string, meter: Meter) => readonly string[]) {
    super()
    this.name = name
    this.regexSize = regexSize
    this.check = check
  }

  override equals(other: Opaque): boolean {
    return other instanceof NamedFormat && this.name === other.name
  }
}

const uuidPattern = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i
const base64Pattern = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/

function checkLength(text: string, lengthMax: number, pattern: RegExp, wrong: string): string[] {
  const problems = text.length > lengthMax ? [`must be no more than ${lengthMax} characters`] : []
  // A text that is far too long is not matched, since it is invalid anyway.
  if (text.length > lengthMax * 16 || !pattern.test(text)) problems.push(wrong)
  return problems
}

function checkLabel(text: string): string[] {
  return checkLength(text, labelLengthMax, labelPattern, wrongLabel)
}

function checkLabel1035(text: string): string[] {
  return checkLength(text, labelLengthMax, label1035Pattern, wrongLabel1035)
}

function checkSubdomain(text: string): string[] {
  return checkLength(text, subdomainLengthMax, subdomainPattern, wrongSubdomain)
}

function checkQualifiedName(text: string): string[] {
  const parts = text.split('/')
  if (parts.length > 2) return [`a qualified name ${wrongQualifiedName}`]
  const [prefix, name = ''] = parts.length === 2 ? parts : [undefined, text]
  const problems: string[] = []
  if (prefix === '') problems.push('prefix part must be non-empty')
  else if (prefix !== undefined) problems.push(...checkSubdomain(prefix).map((problem) => `prefix part ${problem}`))
  if (name === '') problems.push('name part must be non-empty')
  problems.push(...checkLength(name, labelLengthMax, qualifiedPattern, wrongQualifiedPart).map((problem) => `name part ${problem}`))
  return problems
}

function checkLabelValue(text: string): string[] {
  return text === '' ? [] : checkLength(text, labelLengthMax, qualifiedPattern, wrongLabelValue)
}

/** The same check of a prefix, which may end in a dash. */
function ofPrefix(check: (text: string) => string[]): (text: string) => string[] {
  return (text) => check(text.length > 1 && text.endsWith('-') ? `${text.slice(0, -1)}a` : text)
}

function unless(isRight: (text: string, meter: Meter) => boolean, problem: string): (text: string, meter: Meter) => string[] {
  return (text, meter) => (isRight(text, meter) ? [] : [problem])
}

function checkUri(text: string): string[] {
  const wrong = checkRequestUri(text)
  return wrong === undefined ? [] : [wrong]
}

/** Names in expressions and in messages, lengths of the patterns, and checks. */
const rows: readonly (readonly [string, string, number, NamedFormat['check']])[] = [
  ['dns1123Label', 'DNS1123Label', 30, checkLabel],
  ['dns1123Subdomain', 'DNS1123Subdomain', 60, checkSubdomain],
  ['dns1035Label', 'DNS1035Label', 30, checkLabel1035],
  ['qualifiedName', 'QualifiedName', 60, checkQualifiedName],
  ['dns1123LabelPrefix', 'DNS1123LabelPrefix', 30, ofPrefix(checkLabel)],
  ['dns1123SubdomainPrefix', 'DNS1123SubdomainPrefix', 60, ofPrefix(checkSubdomain)],
  ['dns1035LabelPrefix', 'DNS1035LabelPrefix', 30, ofPrefix(checkLabel1035)],
  ['labelValue', 'LabelValue', 40, checkLabelValue],
  ['uri', 'URI', 1120, checkUri],
  ['uuid', 'uuid', 70, unless((text) => uuidPattern.test(text), 'does not match the UUID format')],
  ['byte', 'byte', 84, unless((text) => base64Pattern.test(text), 'invalid base64')],
  ['date', 'date', 71, unless((text, meter) => parseDate(meter, text) !== undefined, 'invalid date')],
  ['datetime', 'datetime', 71, unless((text, meter) => parseTimestamp(meter, text) !== undefined, 'invalid datetime')],
]

const formats = new Map(rows.map(([key, name, regexSize, check]) => [key, new NamedFormat(name, regexSize, check)]))

/** The functions of named formats. */
export const formatFunctions: Implementations = {
  'format.named': onText((name) => {
    const found = formats.get(name)
    return found === undefined ? none : some(found)
  }),
  ...Object.fromEntries([...formats].map(([name, format]) => [`format.${name}`, of(0, () => format)])),
  validate: metered(2, (meter, format, text) => {
    if (!(format instanceof NamedFormat) || typeof text !== 'string') return noSuchOverload()
    const problems = format.check(text, meter)
    return problems.length === 0 ? none : some(problems)
  }),
}
