import { isJsonObject } from '@orch/core/json'
import { badRequest } from '@orch/core/meta'

/**
 * The members of an object in a request or a file. An unknown member, or one of another type, is a 400 that names it.
 *
 *   new Members({ times: '2' }, 'fault', ['times']).whole('times')   // fault.times: must be a whole number, not "2"
 */
export class Members {
  readonly #object: Readonly<Record<string, unknown>>
  readonly #at: string

  /** `at` is the path of the object, '' for a body. */
  constructor(value: unknown, at: string, known: readonly string[]) {
    this.#at = at
    if (value !== undefined && !isJsonObject(value)) throw badRequest(`${at || 'the body'}: must be an object, not ${shown(value)}`)
    this.#object = value ?? {}
    const unknown = Object.keys(this.#object).find((name) => !known.includes(name))
    if (unknown !== undefined) throw badRequest(`${this.pathOf(unknown)}: is no member: expected ${oneOf(known)}`)
  }

  pathOf(name: string): string {
    return this.#at === '' ? name : `${this.#at}.${name}`
  }

  get(name: string): unknown {
    return Object.hasOwn(this.#object, name) ? this.#object[name] : undefined
  }

  text(name: string): string | undefined {
    return this.#read(name, `a text of at most ${textMax} characters of Unicode`, (value) => (isText(value) ? value : undefined))
  }

  requiredText(name: string): string {
    const value = this.text(name)
    if (value === undefined || value === '') throw badRequest(`${this.pathOf(name)}: is required and must be a text`)
    return value
  }

  flag(name: string): boolean | undefined {
    return this.#read(name, 'true or false', (value) => (typeof value === 'boolean' ? value : undefined))
  }

  number(name: string): number | undefined {
    return this.#read(name, 'a number', (value) => (typeof value === 'number' ? value : undefined))
  }

  whole(name: string): number | undefined {
    return this.#read(name, 'a whole number', (value) => (Number.isSafeInteger(value) ? Number(value) : undefined))
  }

  choice<const T extends string>(name: string, choices: readonly T[]): T | undefined {
    return this.#read(name, oneOf(choices), (value) => choices.find((choice) => choice === value))
  }

  /** A list of texts, or one text. */
  texts(name: string): readonly string[] | undefined {
    return this.#read(name, `a list of texts of at most ${textMax} characters of Unicode`, (value) => {
      const list: readonly unknown[] = Array.isArray(value) ? value : [value]
      const texts = list.filter(isText)
      return texts.length === list.length ? texts : undefined
    })
  }

  list(name: string): readonly unknown[] | undefined {
    return this.#read(name, 'a list', (value) => (Array.isArray(value) ? value : undefined))
  }

  object(name: string): Readonly<Record<string, unknown>> | undefined {
    return this.#read(name, 'an object', (value) => (isJsonObject(value) ? value : undefined))
  }

  #read<T>(name: string, expected: string, read: (value: unknown) => T | undefined): T | undefined {
    const value = this.get(name)
    if (value === undefined) return undefined
    const found = read(value)
    if (found === undefined) throw badRequest(`${this.pathOf(name)}: must be ${expected}, not ${shown(value)}`)
    return found
  }
}

/** Texts of matches are compared with each request. */
const textMax = 1_000

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= textMax && value.isWellFormed()
}

const shownMax = 100

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text
}

function oneOf(names: readonly string[]): string {
  return names.length === 1 ? (names[0] ?? '') : `one of ${names.join(', ')}`
}
