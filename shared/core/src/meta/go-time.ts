import { shown } from '../json/go-quote.ts'
import type { Instant } from './time.ts'

/** The instant of a text, or its error in the words of Go's `time.Parse`, which clients know from other API servers. */
export type TimeReading = { readonly kind: 'instant'; readonly instant: Instant } | { readonly kind: 'malformed'; readonly problem: string }

/** A Time accepts any fraction of a second; a MicroTime has six digits. */
export type TimeKind = 'time' | 'microTime'

const layouts: Readonly<Record<TimeKind, string>> = { time: '2006-01-02T15:04:05Z07:00', microTime: '2006-01-02T15:04:05.000000Z07:00' }

/** Parses the value of a time field. */
export function readTimeText(text: string, kind: TimeKind): TimeReading {
  const reader = new TimeReader(text, layouts[kind])
  const instant = reader.read(kind)
  return instant === undefined ? { kind: 'malformed', problem: reader.problem } : { kind: 'instant', instant }
}

/** Reads a text and its layout in parallel. The first element that does not match is the error. */
class TimeReader {
  problem = ''
  readonly #text: string
  readonly #layout: string
  #rest: string

  constructor(text: string, layout: string) {
    this.#text = text
    this.#layout = layout
    this.#rest = text
  }

  read(kind: TimeKind): Instant | undefined {
    const year = this.#year()
    if (!this.#literal('-')) return undefined
    const month = this.#number('01', { digitsMin: 2, name: 'month', min: 1, max: 12 })
    if (!this.#literal('-')) return undefined
    const day = this.#number('02', { digitsMin: 2, name: 'day', min: 0, max: 99 })
    if (!this.#literal('T')) return undefined
    const hour = this.#number('15', { digitsMin: 1, name: 'hour', min: 0, max: 23 })
    if (!this.#literal(':')) return undefined
    const minute = this.#number('04', { digitsMin: 2, name: 'minute', min: 0, max: 59 })
    if (!this.#literal(':')) return undefined
    const second = this.#number('05', { digitsMin: 2, name: 'second', min: 0, max: 59 })
    const nanoseconds = kind === 'microTime' ? this.#microseconds() : this.#fraction()
    const offset = this.#offset()
    if (this.problem !== '') return undefined
    if (this.#rest !== '') return this.#fail(`extra text: ${quoted(this.#rest)}`)
    if (day < 1 || day > daysIn(year, month)) return this.#fail('day out of range')
    const seconds = secondsOf(year, month, day) + hour * 3600 + minute * 60 + second - offset
    if (seconds < secondsMin || seconds > secondsMax) return this.#fail('year out of range')
    return { seconds, nanoseconds }
  }

  #year(): number {
    const digits = /^\d.{3}/s.exec(this.#rest)?.[0]
    if (digits === undefined || !/^\d{4}$/.test(digits)) return this.#misfit('2006')
    this.#rest = this.#rest.slice(4)
    return Number(digits)
  }

  #literal(character: string): boolean {
    if (this.problem !== '') return false
    if (this.#rest.startsWith(character)) {
      this.#rest = this.#rest.slice(1)
      return true
    }
    this.#misfit(character)
    return false
  }

  /** Reads a number of two digits; an hour may have one. */
  #number(element: string, { digitsMin, name, min, max }: NumberElement): number {
    if (this.problem !== '') return 0
    const digits = /^\d{1,2}/.exec(this.#rest)?.[0] ?? ''
    if (digits.length < digitsMin) return this.#misfit(element)
    this.#rest = this.#rest.slice(digits.length)
    const value = Number(digits)
    if (value < min || value > max) this.#fail(`${name} out of range`)
    return value
  }

  #microseconds(): number {
    if (this.problem !== '') return 0
    const fraction = /^[.,](\d{6})/.exec(this.#rest)?.[1]
    if (fraction === undefined) return this.#misfit('.000000')
    this.#rest = this.#rest.slice(7)
    return Number(fraction) * 1000
  }

  #fraction(): number {
    const digits = /^[.,](\d+)/.exec(this.#rest)?.[1]
    if (this.problem !== '' || digits === undefined) return 0
    this.#rest = this.#rest.slice(1 + digits.length)
    return Number(digits.padEnd(9, '0').slice(0, 9))
  }

  /** The offset of local time from UTC in seconds. */
  #offset(): number {
    if (this.problem !== '') return 0
    if (this.#rest.startsWith('Z')) {
      this.#rest = this.#rest.slice(1)
      return 0
    }
    const match = /^([-+])(\d\d):(\d\d)/.exec(this.#rest)
    if (match === null) return this.#misfit('Z07:00')
    const [whole, sign, hours, minutes] = match
    this.#rest = this.#rest.slice(whole.length)
    if (Number(hours) > 24) this.#fail('time zone offset hour out of range')
    else if (Number(minutes) > 60) this.#fail('time zone offset minute out of range')
    return (Number(hours) * 3600 + Number(minutes) * 60) * (sign === '-' ? -1 : 1)
  }

  #misfit(element: string): 0 {
    const [text, layout, rest] = [this.#text, this.#layout, this.#rest].map(quoted)
    if (this.problem === '') this.problem = `parsing time ${text} as ${layout}: cannot parse ${rest} as ${quoted(element)}`
    return 0
  }

  #fail(why: string): undefined {
    if (this.problem === '') this.problem = `parsing time ${quoted(this.#text)}: ${why}`
  }
}

interface NumberElement {
  readonly digitsMin: 1 | 2
  readonly name: string
  readonly min: number
  readonly max: number
}

/** The range of years with four digits. */
const secondsMin = Date.parse('0000-01-01T00:00:00Z') / 1000
const secondsMax = Date.parse('9999-12-31T23:59:59Z') / 1000

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}

function secondsOf(year: number, month: number, day: number): number {
  const [years, months, days] = [String(year).padStart(4, '0'), String(month).padStart(2, '0'), String(day).padStart(2, '0')]
  return Date.parse(`${years}-${months}-${days}T00:00:00Z`) / 1000
}

/** Quotes the beginning of a text with numeric escapes for non-ASCII bytes and control characters. */
function quoted(text: string): string {
  return `"${Array.from(new TextEncoder().encode(shown(text)), printByte).join('')}"`
}

function printByte(byte: number): string {
  if (byte < 0x20 || byte > 0x7f) return `\\x${byte.toString(16).padStart(2, '0')}`
  return byte === 0x22 || byte === 0x5c ? `\\${String.fromCharCode(byte)}` : String.fromCharCode(byte)
}
