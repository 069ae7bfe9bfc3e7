import { Numeral } from './numeral.ts'

/**
 * The JSON text of a tree; a cyclic value is a TypeError. A value with integers beyond 2^53 takes
 * a slower way, which keeps them exact, and so does a value that is deeper than the call stack. A caller that knows about such
 * integers avoids the first attempt.
 */
export function printJson(value: unknown, options: { readonly hasBigIntegers?: boolean } = {}): string {
  if (options.hasBigIntegers === true) return printExactly(value)
  try {
    return JSON.stringify(value)
  } catch (error) {
    // The value is too deep or contains a `bigint`.
    if (error instanceof RangeError || error instanceof TypeError) return printExactly(value)
    throw error
  }
}

/** Escapes in a JSON text what could end an HTML script, as Go does. */
export function escapeMarkup(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A value in a message. Every value that a client can send has a text: integers beyond 2^53, any depth, and undefined. */
export function printValue(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : printExactly(value)
}

/** Like `printValue`, with texts unquoted. */
export function printBare(value: unknown): string {
  return typeof value === 'string' ? value : printExactly(value)
}

/** An open container; a list has no `keys`. */
interface Frame {
  readonly container: Readonly<Record<string, unknown>> | readonly unknown[]
  readonly keys: readonly string[] | undefined
  readonly length: number
  next: number
}

function printExactly(value: unknown): string {
  const parts: string[] = []
  const open: Frame[] = []
  /** The containers of the open frames, to detect cycles. */
  const inside = new Set<object>()
  begin(value)
  for (let frame = open.at(-1); frame !== undefined; frame = open.at(-1)) {
    const { container, keys, length, next } = frame
    if (next === length) {
      parts.push(keys === undefined ? ']' : '}')
      open.pop()
      inside.delete(container)
      continue
    }
    frame.next += 1
    if (next > 0) parts.push(',')
    if (keys !== undefined) parts.push(JSON.stringify(keys[next]), ':')
    begin((container as Readonly<Record<string | number, unknown>>)[keys?.[next] ?? next])
  }
  return parts.join('')

  function begin(item: unknown): void {
    if (item instanceof Numeral) {
      parts.push(item.literal)
      return
    }
    if (typeof item !== 'object' || item === null) {
      parts.push(typeof item === 'bigint' ? String(item) : (JSON.stringify(item) ?? 'null'))
      return
    }
    if (inside.has(item)) throw new TypeError('a value that contains itself cannot be printed as JSON')
    inside.add(item)
    if (Array.isArray(item)) {
      parts.push('[')
      open.push({ container: item, keys: undefined, length: item.length, next: 0 })
    } else {
      const container = item as Readonly<Record<string, unknown>>
      // Undefined members are omitted, as in `JSON.stringify`.
      const keys = Object.keys(container).filter((key) => container[key] !== undefined)
      parts.push('{')
      open.push({ container, keys, length: keys.length, next: 0 })
    }
  }
}
