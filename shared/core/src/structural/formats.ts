import { checkRequestUri } from '@orch/cel/url'
import { checkLabel, checkSubdomain, parseDuration } from '../meta/index.ts'
import { cidrFamilyOf, parseIp } from '../validation/ip-address.ts'

interface Format {
  /** The first level that knows the format, if it is later than 1.0. */
  readonly since?: number
  /** Undefined for a number format, which the validation of numbers checks. */
  readonly test?: (text: string) => boolean
}

/** Formats by name. Dashes in names are ignored. */
const formats: Readonly<Record<string, Format>> = {
  bsonobjectid: { test: (text) => /^[0-9a-fA-F]{24}$/.test(text) },
  uri: { test: (text) => checkRequestUri(text) === undefined },
  email: { test: isEmail },
  hostname: { test: (text) => text.length <= 255 && hostname.test(text) && text.split('.').every((label) => label.length <= 63) },
  ipv4: { test: (text) => text.includes('.') && parseIp(text) !== undefined },
  ipv6: { test: (text) => text.includes(':') && parseIp(text) !== undefined },
  cidr: { test: (text) => cidrFamilyOf(text) !== undefined },
  mac: { test: isMac },
  uuid: { test: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text) },
  uuid3: { test: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text) },
  uuid4: { test: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i.test(text) },
  uuid5: { test: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i.test(text) },
  isbn: { test: (text) => isIsbn10(text) || isIsbn13(text) },
  isbn10: { test: isIsbn10 },
  isbn13: { test: isIsbn13 },
  creditcard: { test: isCreditCard },
  ssn: { test: (text) => /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text) },
  hexcolor: { test: (text) => /^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text) },
  rgbcolor: { test: (text) => rgb.test(text) },
  byte: { test: (text) => text !== '' && /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/.test(text) },
  password: { test: () => true },
  date: { test: isDate },
  duration: { test: isDuration },
  datetime: { test: isDateTime },
  int32: {},
  int64: {},
  float: {},
  double: {},
  k8sshortname: { since: 34, test: (text) => checkLabel(text).length === 0 },
  k8slongname: { since: 34, test: (text) => checkSubdomain(text).length === 0 },
}

/** The default level of formats, at which all are known. */
const newest = 37

/** True if the level `1.<minor>` checks the format; unknown formats are ignored. */
export function isKnownFormat(format: string, minor = newest): boolean {
  return formatOf(format, minor) !== undefined
}

/** The check of a text format; undefined if there is none. */
export function checkOfFormat(format: string): ((text: string) => boolean) | undefined {
  return formatOf(format, newest)?.test
}

function formatOf(name: string, minor: number): Format | undefined {
  const normal = name.replaceAll('-', '')
  const format = Object.hasOwn(formats, normal) ? formats[normal] : undefined
  return format === undefined || (format.since ?? 0) > minor ? undefined : format
}

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  if (match === null) return false
  const date = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

function isDateTime(text: string): boolean {
  const [date = '', time] = text.toLowerCase().split('t')
  if (time === undefined || !isDate(date)) return false
  const match = /^(\d{2}):(\d{2}):(\d{2})(.\d+)?(z|[+-]\d{2}:\d{2})$/.exec(time)
  if (match === null) return false
  const [, hours = '', minutes = '', seconds = ''] = match
  return hours <= '23' && minutes <= '59' && seconds <= '59'
}

/** Names of units. A text that begins with the last name of a row also names the unit. */
const units = [
  ['ns', 'nano'],
  ['us', '\u00b5s', 'micro'],
  ['ms', 'milli'],
  ['s', 'sec'],
  ['m', 'min'],
  ['h', 'hr', 'hour'],
  ['d', 'day'],
  ['w', 'wk', 'week'],
]
const int64Max = 2n ** 63n - 1n

/** True if a text is a duration of Go, or if a number with a unit is anywhere in it. */
function isDuration(text: string): boolean {
  if (parseDuration(text) !== undefined) return true
  let hasUnit = false
  // A match begins at the first digit of a number: from each digit the search would take the square of the length.
  for (const [, digits = '', unit = ''] of text.matchAll(/(?<!\d)(\d+)[\t\n\f\r ]*([A-Za-z\u00b5]+)/g)) {
    if (digits.length > 18 && (digits.length > 400 || BigInt(digits) > int64Max)) return false
    hasUnit ||= isUnit(unit.toLowerCase())
  }
  return hasUnit
}

function isUnit(unit: string): boolean {
  return units.some((names) => names.includes(unit) || unit.startsWith(names.at(-1) ?? ''))
}

function isEmail(text: string): boolean {
  const bare = /^[^<>]*<([^<>]+)>\s*$/.exec(text)?.[1] ?? text.trim()
  const at = bare.lastIndexOf('@')
  if (at < 1) return false
  const [local, domain] = [bare.slice(0, at), bare.slice(at + 1)]
  const isLocal = /^"(?:[^"\\]|\\.)*"$/.test(local) || /^[^\s"(),:;<>@[\\\].]+(?:\.[^\s"(),:;<>@[\\\].]+)*$/.test(local)
  return isLocal && (/^\[[^\s[\]\\]+\]$/.test(domain) || /^[^\s"(),:;<>@[\\\].]+(?:\.[^\s"(),:;<>@[\\\].]+)*$/.test(domain))
}

/** Parts of a name with dots may contain hyphens, except the last part. A name without dots may have one hyphen, after its first character. */
const hostname =
  /^(?:[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?|(?:[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63})$/u

function isMac(text: string): boolean {
  const isGrouped = /^[0-9a-f]{4}(?:\.[0-9a-f]{4})+$|^[0-9a-f]{2}([:-])[0-9a-f]{2}(?:\1[0-9a-f]{2})*$|^(?:[0-9a-f]{2})+$/i.test(text)
  return isGrouped && [12, 16, 40].includes(text.replace(/[:.-]/g, '').length)
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '')
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(digits)) return false
  const sum = [...digits].reduce((total, digit, index) => total + (10 - index) * (digit === 'X' ? 10 : Number(digit)), 0)
  return sum % 11 === 0
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '')
  if (!/^[0-9]{13}$/.test(digits)) return false
  return [...digits].reduce((total, digit, index) => total + Number(digit) * (index % 2 === 0 ? 1 : 3), 0) % 10 === 0
}

const cards =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '')
  if (!cards.test(digits)) return false
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 1 : 2)
    return total + (value > 9 ? value - 9 : value)
  }, 0)
  return sum % 10 === 0
}

const share = '\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*'
const rgb = new RegExp(`^rgb\\(${share},${share},${share}\\)$`)
