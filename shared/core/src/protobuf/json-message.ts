import { type Field, isScalar, type Node, type StructNode } from '../description/node.ts'
import { resolveNode, resolveStruct } from '../schema/resolve.ts'
import { JsonTape, UnreadableTape } from './json-tape.ts'
import { valueWriterOf } from './message-writer.ts'
import { wireTypes } from './reader.ts'
import { scalarWriters, tagOf, type ValueWriter } from './scalar-writer.ts'
import { type WireStruct, wireStructOf } from './shape.ts'
import type { Writer } from './writer.ts'

/**
 * Writes the message of an object from its JSON, as `writeMessage` does from the object: texts are copied and never become strings. The
 * JSON is one that a printer of ours has written of an object that its type's decoder has read. False: it has something that only
 * `writeMessage` writes, such as keys beyond ASCII, and nothing was written.
 */
export function writeJsonMessage(type: string, target: Writer, json: Uint8Array): boolean {
  const before = target.length
  try {
    jsonMessages.write(planOf(resolveStruct(type)), target, json)
    return true
  } catch (error) {
    if (!(error instanceof UnreadableTape)) throw error
    target.back(before)
    return false
  }
}

/** How a value is written: as data, so that the few functions that interpret it are soon compiled. */
interface Shape {
  readonly kind: 'text' | 'boolean' | 'integer' | 'embedded' | 'message' | 'other'
  /** The type of a message. */
  readonly node: StructNode | undefined
  /** Writes a value by the general writer: types without a writer here, and defaults of absent values. */
  readonly byValue: ValueWriter
}

/** How a field is written. */
interface Step {
  readonly kind: 'single' | 'list' | 'map' | 'group'
  readonly tag: number
  /** The place of its token. */
  readonly place: number
  readonly value: Shape
  /** What is written for a field without a value; undefined: nothing. */
  readonly substitute: unknown
  /** Of a map's entry. */
  readonly valueTag: number
  /** Of a group. */
  readonly steps: readonly Step[]
}

/** How a struct is written. */
interface Plan {
  /** Names of the fields, in the order in which they are printed. */
  readonly names: readonly Uint8Array[]
  /** From the last number to the first. */
  readonly steps: readonly Step[]
}

const encoder = new TextEncoder()
const plans = new WeakMap<StructNode, Plan>()

function planOf(node: StructNode): Plan {
  const known = plans.get(node)
  if (known !== undefined) return known
  const names = node.fields.flatMap(({ name, tag }) => (tag === undefined ? [] : [name]))
  const places = new Map(names.map((name, place) => [name, place]))
  const plan = { names: names.map((name) => encoder.encode(name)), steps: stepsOf(wireStructOf(node), places) }
  plans.set(node, plan)
  return plan
}

const noSteps: readonly Step[] = []
/** Of a group, which has no value of its own. */
const noValue: Shape = { kind: 'other', node: undefined, byValue: scalarWriters.string }

function stepsOf({ fields, groups }: WireStruct, places: ReadonlyMap<string, number>): readonly Step[] {
  const steps = fields.map(({ tag, field }) => ({ number: tag, step: fieldStep(tag, field, places.get(field.name) ?? 0) }))
  for (const group of groups) {
    const step: Step = {
      kind: 'group',
      tag: tagOf(group.tag, wireTypes.bytes),
      place: 0,
      value: noValue,
      substitute: undefined,
      valueTag: 0,
      steps: stepsOf(group, places),
    }
    steps.push({ number: group.tag, step })
  }
  return steps.sort((left, right) => right.number - left.number).map(({ step }) => step)
}

function fieldStep(number: number, { node: fieldNode, pointer }: Field, place: number): Step {
  const node = resolveNode(fieldNode)
  if (node.kind === 'list' && !node.isWrapped) {
    const value = shapeOf(node.items)
    return { kind: 'list', tag: tagOf(number, value.byValue.wireType), place, value, substitute: undefined, valueTag: 0, steps: noSteps }
  }
  if (node.kind === 'map') {
    const value = shapeOf(node.values)
    const valueTag = tagOf(2, value.byValue.wireType)
    return { kind: 'map', tag: tagOf(number, wireTypes.bytes), place, value, substitute: undefined, valueTag, steps: noSteps }
  }
  const value = shapeOf(node)
  const { wireType, zero } = value.byValue
  return {
    kind: 'single',
    tag: tagOf(number, wireType),
    place,
    value,
    substitute: pointer ? undefined : zero,
    valueTag: 0,
    steps: noSteps,
  }
}

function shapeOf(node: Node): Shape {
  const resolved = resolveNode(node)
  const byValue = valueWriterOf(resolved)
  return { kind: kindOf(resolved), node: resolved.kind === 'struct' ? resolved : undefined, byValue }
}

function kindOf(node: Node): Shape['kind'] {
  if (node.kind === 'struct') return 'message'
  if (node.kind === 'string') return 'text'
  if (!isScalar(node)) return 'other'
  switch (node.kind) {
    case 'boolean':
      return 'boolean'
    case 'int32':
    case 'int64':
      return 'integer'
    case 'raw':
    case 'json':
    case 'fieldsV1':
      return 'embedded'
    default:
      return 'other'
  }
}

/** Token of a field that is absent or null. */
const absent = -1
const keyTag = tagOf(1, wireTypes.bytes)
const embeddedTextTag = tagOf(1, wireTypes.bytes)
const tokensAtStart = 8_192

/** Writes messages, one at a time. Tokens that it remembers on the way are a stack. */
class JsonMessages {
  readonly #tape = new JsonTape()
  #found = new Int32Array(tokensAtStart)
  #top = 0

  write(plan: Plan, target: Writer, json: Uint8Array): void {
    this.#tape.read(json)
    this.#top = 0
    this.#writeMessage(plan, target, 0)
  }

  #writeMessage({ names, steps }: Plan, target: Writer, token: number): void {
    const first = this.#reserve(names.length)
    this.#found.fill(absent, first, this.#top)
    this.#findFields(token, names, first)
    this.#writeSteps(steps, target, first)
    this.#top = first
  }

  #writeSteps(steps: readonly Step[], target: Writer, first: number): void {
    for (const step of steps) {
      if (step.kind === 'group') {
        const before = target.length
        this.#writeSteps(step.steps, target, first)
        target.varint(target.length - before)
        target.varint(step.tag)
        continue
      }
      const token = this.#found[first + step.place] ?? absent
      if (token !== absent) this.#writeField(step, target, token)
      else if (step.substitute !== undefined) {
        step.value.byValue.write(target, step.substitute)
        target.varint(step.tag)
      }
    }
  }

  #writeField(step: Step, target: Writer, token: number): void {
    if (step.kind === 'list') this.#writeList(step, target, token)
    else if (step.kind === 'map') this.#writeMap(step, target, token)
    else {
      this.#writeValue(step.value, target, token)
      target.varint(step.tag)
    }
  }

  #writeList({ tag, value }: Step, target: Writer, token: number): void {
    const tape = this.#tape
    if (!tape.isArray(token)) return
    const before = this.#top
    for (let item = token + 1; item < tape.next(token); item = tape.next(item)) this.#push(item)
    for (let index = this.#top - 1; index >= before; index--) {
      this.#writePresent(value, target, this.#found[index] ?? 0)
      target.varint(tag)
    }
    this.#top = before
  }

  /** Entries in the order of their keys. */
  #writeMap({ tag, value, valueTag }: Step, target: Writer, token: number): void {
    const before = this.#top
    this.#pushKeys(token)
    for (let index = this.#top - 1; index >= before; index--) {
      const key = this.#found[index] ?? 0
      const entryEnd = target.length
      this.#writePresent(value, target, key + 1)
      target.varint(valueTag)
      this.#writeText(target, key)
      target.varint(keyTag)
      target.varint(target.length - entryEnd)
      target.varint(tag)
    }
    this.#top = before
  }

  /** Writes a list item or a map value; null is written as the zero value of its type. */
  #writePresent(shape: Shape, target: Writer, token: number): void {
    if (this.#tape.isNull(token)) shape.byValue.write(target, shape.byValue.zero)
    else this.#writeValue(shape, target, token)
  }

  #writeValue(shape: Shape, target: Writer, token: number): void {
    if (!this.#writeJson(shape, target, token)) shape.byValue.write(target, this.#tape.valueOf(token))
  }

  /** False: the value has to be read. */
  #writeJson({ kind, node }: Shape, target: Writer, token: number): boolean {
    const tape = this.#tape
    switch (kind) {
      case 'text':
        if (!tape.isPlainText(token)) return false
        this.#writeText(target, token)
        return true
      case 'boolean':
        target.varint(tape.isTrue(token) ? 1 : 0)
        return true
      case 'integer': {
        const value = tape.smallInteger(token)
        if (value < 0) return false
        target.varint(value)
        return true
      }
      case 'embedded':
        this.#writeEmbedded(target, token)
        return true
      case 'message': {
        if (node === undefined) return false
        const before = target.length
        this.#writeMessage(planOf(node), target, token)
        target.varint(target.length - before)
        return true
      }
      case 'other':
        return false
    }
  }

  /** A text without its quotes, behind its length. */
  #writeText(target: Writer, token: number): void {
    const tape = this.#tape
    const start = tape.start(token) + 1
    const end = tape.end(token) - 1
    target.copy(tape.bytes, start, end)
    target.varint(end - start)
  }

  /** JSON that is passed through, in a message of its own. */
  #writeEmbedded(target: Writer, token: number): void {
    const tape = this.#tape
    const before = target.length
    target.copy(tape.bytes, tape.start(token), tape.end(token))
    target.varint(target.length - before)
    target.varint(embeddedTextTag)
    target.varint(target.length - before)
  }

  /** Notes the token of each field that is there, by its place. */
  #findFields(object: number, names: readonly Uint8Array[], first: number): void {
    const tape = this.#tape
    if (!tape.isObject(object)) throw new UnreadableTape('an object was expected')
    let expected = 0
    const end = tape.next(object)
    for (let key = object + 1; key < end; key = tape.next(key + 1)) {
      if (!tape.isPlainText(key)) throw new UnreadableTape('a name has escapes')
      const place = placeOf(tape, key, names, expected)
      if (place === absent) continue
      this.#found[first + place] = tape.isNull(key + 1) ? absent : key + 1
      expected = place + 1
    }
  }

  /** Puts the tokens of a map's keys on the stack, which are in their order. */
  #pushKeys(map: number): void {
    const tape = this.#tape
    if (!tape.isObject(map)) throw new UnreadableTape('an object was expected')
    let last = absent
    const end = tape.next(map)
    for (let key = map + 1; key < end; key = tape.next(key + 1)) {
      if (!tape.isPlainText(key) || (last !== absent && !isBefore(tape, last, key))) throw new UnreadableTape('keys are in another order')
      this.#push(key)
      last = key
    }
  }

  #push(token: number): void {
    const place = this.#reserve(1)
    this.#found[place] = token
  }

  /** Reserves places on the stack and returns the first. */
  #reserve(count: number): number {
    const first = this.#top
    this.#top += count
    if (this.#top > this.#found.length) {
      const found = new Int32Array(this.#top * 2)
      found.set(this.#found)
      this.#found = found
    }
    return first
  }
}

/** Encoding never waits, so one serves everybody in turn. */
const jsonMessages = new JsonMessages()

/** Fields come in their order, so that the one that is expected next, or one soon after it, is the one. */
function placeOf(tape: JsonTape, key: number, names: readonly Uint8Array[], expected: number): number {
  const start = tape.start(key) + 1
  const length = tape.end(key) - 1 - start
  for (let step = 0; step < names.length; step++) {
    const place = expected + step < names.length ? expected + step : expected + step - names.length
    const name = names[place]
    if (name?.length === length && isAt(tape.bytes, start, name)) return place
  }
  return absent
}

function isAt(bytes: Uint8Array, start: number, name: Uint8Array): boolean {
  for (let index = 0; index < name.length; index++) if (bytes[start + index] !== name[index]) return false
  return true
}

/** Whether an ASCII text comes before another one. */
function isBefore(tape: JsonTape, left: number, right: number): boolean {
  const { bytes } = tape
  for (let a = tape.start(left) + 1, b = tape.start(right) + 1; ; a++, b++) {
    // The quote that ends a text is not compared as a character.
    if (b === tape.end(right) - 1) return false
    if (a === tape.end(left) - 1) return true
    const [before, after] = [bytes[a] ?? 0, bytes[b] ?? 0]
    if (before >= 0x80 || after >= 0x80) throw new UnreadableTape('keys are not ASCII')
    if (before !== after) return before < after
  }
}
