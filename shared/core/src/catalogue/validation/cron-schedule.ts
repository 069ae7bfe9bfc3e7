import { at } from '@orch/cel/at'
import { findDurationProblem } from '../../meta/duration.ts'

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

const shorthands = new Set(['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'])

/** The error of a CronJob's schedule; undefined for none. */
export function findScheduleProblem(text: string): string | undefined {
  if (text === '') return 'empty spec string'
  const [, zone, rest = text] = /^(?:CRON_)?TZ=(\S*)\s*(.*)$/s.exec(text) ?? []
  const zoneProblem = zone === undefined ? undefined : findZoneProblem(zone)
  if (zoneProblem !== undefined) return `provided bad location ${zone}: ${zoneProblem}`
  const schedule = rest.trim()
  if (schedule.startsWith('@')) return findShorthandProblem(schedule)
  const fields = schedule.split(/\s+/).filter((field) => field !== '')
  if (fields.length !== columns.length) return `expected exactly ${columns.length} fields, found ${fields.length}: [${fields.join(' ')}]`
  for (const [index, field] of fields.entries()) {
    const problem = findFieldProblem(field, at(columns, index))
    if (problem !== undefined) return problem
  }
  return undefined
}

/** The error of a time zone's name; undefined for none. */
export function findZoneProblem(name: string): string | undefined {
  if (name === '' || name === 'UTC' || name === 'Local') return undefined
  if (name.includes('..') || /^[\\/]/.test(name)) return 'time: invalid location name'
  return isTimeZone(name) ? undefined : `unknown time zone ${name}`
}

/** Names are those of files, in which capitals count; `Intl` accepts them in any case, and offsets such as `+01:00`, too. */
function isTimeZone(name: string): boolean {
  if (!name.split('/').every((part) => /^[A-Z]/.test(part))) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

function findShorthandProblem(text: string): string | undefined {
  if (shorthands.has(text)) return undefined
  if (!text.startsWith('@every ')) return `unrecognized descriptor: ${text}`
  const problem = findDurationProblem(text.slice('@every '.length))
  return problem === undefined ? undefined : `failed to parse duration ${text}: ${problem}`
}

function findFieldProblem(field: string, column: Column): string | undefined {
  for (const expression of field.split(',').filter((part) => part !== '')) {
    const problem = findRangeProblem(expression, column)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** One range of a field: `*`, `5`, `1-5`, each perhaps with a step after a slash. */
function findRangeProblem(expression: string, column: Column): string | undefined {
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
  return step === 0 ? `step of range should be a positive number: ${expression}` : undefined
}

/** A number, or the text that says why it is none. */
function readNumber(text: string, { names }: Column): number | string {
  const word = text.toLowerCase()
  const named = Object.hasOwn(names, word) ? names[word] : undefined
  if (named !== undefined) return named
  if (!/^[+-]?\d+$/.test(text)) return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`
  const value = Number(text)
  return value < 0 ? `negative number (${value}) not allowed: ${text}` : value
}
