import { at } from '@orch/cel/at'
import { findDurationProblem, parseDuration } from '../meta/duration.ts'
import { findZoneProblem } from './zones.ts'

interface Column {
  readonly min: number
  readonly max: number
  readonly names: Readonly<Record<string, number>>
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

const columns: readonly Column[] = [
  { min: 0, max: 59, names: {} },
  { min: 0, max: 23, names: {} },
  { min: 1, max: 31, names: {} },
  { min: 1, max: 12, names: Object.fromEntries(months.map((month, index) => [month, index + 1])) },
  { min: 0, max: 6, names: Object.fromEntries(days.map((day, index) => [day, index])) },
]

const shorthands: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
])

/** The values of one field of a schedule. */
interface CronField {
  readonly values: ReadonlySet<number>
  /** True if the field contains `*` or `?` without a step. */
  readonly isAny: boolean
}

/** A schedule by local times, in the order of its fields. */
export interface CronFields {
  readonly kind: 'fields'
  /** The time zone named in the text, if any. */
  readonly zone: string | undefined
  readonly minute: CronField
  readonly hour: CronField
  readonly day: CronField
  readonly month: CronField
  readonly weekday: CronField
}

/** A schedule of a CronJob. */
export type CronSchedule = CronFields | { readonly kind: 'every'; readonly intervalMs: number }

/** A field may repeat its ranges, of which each is read. */
const textLengthMax = 100_000

/** The error of a CronJob's schedule; undefined for none. */
export function findScheduleProblem(text: string): string | undefined {
  const parsed = parseSchedule(text)
  return typeof parsed === 'string' ? parsed : undefined
}

/** Parses a schedule, or returns an error text. */
export function parseSchedule(text: string): CronSchedule | string {
  if (text === '') return 'empty spec string'
  if (text.length > textLengthMax) return `must be no more than ${textLengthMax} characters`
  const [, zone, rest = text] = /^(?:CRON_)?TZ=(\S*)\s*(.*)$/s.exec(text) ?? []
  const zoneProblem = zone === undefined ? undefined : findZoneProblem(zone)
  if (zoneProblem !== undefined) return `provided bad location ${zone}: ${zoneProblem}`
  const schedule = rest.trim()
  if (schedule.startsWith('@')) return parseShorthand(schedule, zone)
  const texts = schedule.split(/\s+/).filter((field) => field !== '')
  return texts.length === columns.length
    ? parseFields(texts, zone)
    : `expected exactly ${columns.length} fields, found ${texts.length}: [${texts.join(' ')}]`
}

function parseShorthand(text: string, zone: string | undefined): CronSchedule | string {
  const fields = shorthands.get(text)
  if (fields !== undefined) return parseFields(fields.split(' '), zone)
  if (!text.startsWith('@every ')) return `unrecognized descriptor: ${text}`
  const duration = text.slice('@every '.length)
  const problem = findDurationProblem(duration)
  if (problem !== undefined) return `failed to parse duration ${text}: ${problem}`
  const seconds = Number((parseDuration(duration) ?? 0n) / 1_000_000_000n)
  return { kind: 'every', intervalMs: Math.max(1, seconds) * 1000 }
}

function parseFields(texts: readonly string[], zone: string | undefined): CronFields | string {
  const fields: CronField[] = []
  for (const [index, text] of texts.entries()) {
    const field = parseField(text, at(columns, index))
    if (typeof field === 'string') return field
    fields.push(field)
  }
  const [minute, hour, day, month, weekday] = [at(fields, 0), at(fields, 1), at(fields, 2), at(fields, 3), at(fields, 4)]
  return { kind: 'fields', zone, minute, hour, day, month, weekday }
}

function parseField(text: string, column: Column): CronField | string {
  const values = new Set<number>()
  let isAny = false
  for (const expression of text.split(',').filter((part) => part !== '')) {
    const range = parseRange(expression, column)
    if (typeof range === 'string') return range
    for (let value = range.low; value <= range.high; value += range.step) values.add(value)
    isAny ||= range.isAny && range.step === 1
  }
  return { values, isAny }
}

interface Range {
  readonly low: number
  readonly high: number
  readonly step: number
  readonly isAny: boolean
}

/** A range of a field: `*`, `5` or `1-5`, optionally with a step after a slash. */
function parseRange(expression: string, column: Column): Range | string {
  const [range = '', stepText, ...moreSteps] = expression.split('/')
  const [lowText = '', highText, ...moreBounds] = range.split('-')
  const isAny = lowText === '*' || lowText === '?'
  const low = isAny ? column.min : readNumber(lowText, column)
  if (typeof low === 'string') return low
  if (!isAny && moreBounds.length > 0) return `too many hyphens: ${expression}`
  const given = isAny || highText === undefined ? undefined : readNumber(highText, column)
  if (typeof given === 'string') return given
  if (moreSteps.length > 0) return `too many slashes: ${expression}`
  const step = stepText === undefined ? 1 : readNumber(stepText, { ...column, names: {} })
  if (typeof step === 'string') return step
  const high = given ?? (isAny || stepText !== undefined ? column.max : low)
  if (low < column.min) return `beginning of range (${low}) below minimum (${column.min}): ${expression}`
  if (high > column.max) return `end of range (${high}) above maximum (${column.max}): ${expression}`
  if (low > high) return `beginning of range (${low}) beyond end of range (${high}): ${expression}`
  return step === 0 ? `step of range should be a positive number: ${expression}` : { low, high, step, isAny }
}

/** Parses a number, or returns an error text. */
function readNumber(text: string, { names }: Column): number | string {
  const word = text.toLowerCase()
  const named = Object.hasOwn(names, word) ? names[word] : undefined
  if (named !== undefined) return named
  if (!/^[+-]?\d+$/.test(text)) return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`
  const value = Number(text)
  return value < 0 ? `negative number (${value}) not allowed: ${text}` : value
}
