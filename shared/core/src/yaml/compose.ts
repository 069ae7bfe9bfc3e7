import { getOrMake } from '@orch/cel/memo'
import { type AliasEvent, EVENT_ID, type Event, type MappingEvent, type ScalarEvent, type SequenceEvent } from 'js-yaml'
import { copyValue, goQuote, setMember } from '../json/index.ts'
import { isPlainScalar, offsetOf, readScalar, sourceOf, tagOf } from './events.ts'
import { yamlLimits } from './limits.ts'
import { keyText, type Scalar } from './scalar.ts'
import { YamlError } from './yaml-error.ts'

const { aliasedValuesMax, aliasedCharactersMax, repeatsMax } = yamlLimits

/** A duplicate key, and where its value begins. */
interface Repeat {
  readonly key: string
  readonly offset: number
}

/** The offsets of map members and list items, by map and list; the parser converts them to lines. */
export type Places = Map<object, Map<string | number, number>>

/** A document converted to JSON. */
export interface Composed {
  readonly value: unknown
  readonly repeats: readonly Repeat[]
}

/** A member of a map, which a merge key may copy to other maps. */
interface Member {
  readonly key: Scalar
  readonly value: unknown
  readonly offset: number
}

/** A complete value. */
interface Node {
  readonly value: unknown
  readonly offset: number
  readonly scalar?: Scalar | undefined
  /** The members of a map that may be merged into another one. */
  readonly members?: readonly Member[] | undefined
  /** The items of a list below a merge key. */
  readonly items?: readonly Node[] | undefined
}

interface OpenNode {
  readonly offset: number
  readonly anchor: Anchor | undefined
}

/** A map whose end was not read yet. */
interface OpenMap extends OpenNode {
  readonly kind: 'map'
  readonly value: Record<string, unknown>
  /** The key of the next value, and its start. */
  key: Scalar | undefined
  keyOffset: number
  /** The types of keys with equal texts if one is not a text: `no` and `"false"` are two keys. */
  types: Map<string, readonly Scalar['type'][]> | undefined
  readonly members: Member[] | undefined
  /** True if its keys are compared when it is merged. */
  readonly isMerged: boolean
}

/** A list whose end was not read yet. */
interface OpenList extends OpenNode {
  readonly kind: 'list'
  readonly value: unknown[]
  readonly items: Node[] | undefined
}

/** The target of an alias; its node is undefined until its end was read. */
interface Anchor {
  readonly start: { readonly values: number; readonly characters: number; readonly repeats: number }
  node: Node | undefined
  values: number
  characters: number
  repeats: readonly Repeat[]
}

/**
 * Builds values from the events of a document, by the rules of sigs.k8s.io/yaml: YAML 1.1 words, keys that become texts, few supported
 * tags, merge keys that overwrite earlier keys, and the last value of a duplicate key.
 */
export class Composer {
  readonly #text: string
  readonly #places: Places | undefined
  readonly #anchors = new Map<string, Anchor>()
  readonly #open: (OpenMap | OpenList)[] = []
  readonly #repeats: Repeat[] = []
  #values = 0
  #characters = 0
  #aliasedValues = 0
  #root: unknown = null
  /** The error of a value without a JSON form, which is reported after all other errors. */
  #unsupported: string | undefined
  /** The end of the last scalar. */
  #end = 0

  constructor(text: string, places?: Places) {
    this.#text = text
    this.#places = places
  }

  /** The value of a document. */
  compose(events: readonly Event[]): Composed {
    for (const event of events) {
      switch (event.type) {
        case EVENT_ID.DOCUMENT:
          break
        case EVENT_ID.SEQUENCE:
          this.#beginList(event)
          break
        case EVENT_ID.MAPPING:
          this.#beginMap(event)
          break
        case EVENT_ID.SCALAR:
          this.#addScalar(event)
          break
        case EVENT_ID.ALIAS:
          this.#addAlias(event)
          break
        case EVENT_ID.POP:
          this.#finish()
          break
      }
    }
    if (this.#unsupported !== undefined) throw new YamlError(this.#unsupported)
    return { value: this.#root, repeats: this.#repeats }
  }

  #beginList(event: SequenceEvent): void {
    const items = this.#isBelowMerge() ? [] : undefined
    this.#open.push({ kind: 'list', value: [], items, ...this.#opened(event) })
  }

  #beginMap(event: MappingEvent): void {
    const parent = this.#open.at(-1)
    const isMerged = this.#isBelowMerge() || (parent?.kind === 'list' && parent.items !== undefined)
    const members = isMerged || event.anchorStart >= 0 ? [] : undefined
    const empty = { value: {}, key: undefined, keyOffset: 0, types: undefined }
    this.#open.push({ kind: 'map', ...empty, members, isMerged, ...this.#opened(event) })
  }

  #opened(event: SequenceEvent | MappingEvent): OpenNode {
    const anchor = this.#anchorOf(event)
    this.#values += 1
    return { offset: offsetOf(event, this.#end), anchor }
  }

  #isBelowMerge(): boolean {
    const parent = this.#open.at(-1)
    return parent?.kind === 'map' && parent.key?.type === 'merge'
  }

  /** Handles the end of a map, list or document. */
  #finish(): void {
    const open = this.#open.pop()
    if (open === undefined) return
    const { value, offset, anchor } = open
    const node: Node = open.kind === 'map' ? { value, offset, members: open.members } : { value, offset, items: open.items }
    this.#settle(anchor, node)
    this.#add(node)
  }

  #addScalar(event: ScalarEvent): void {
    const anchor = this.#anchorOf(event)
    const source = sourceOf(this.#text, event)
    const offset = offsetOf(event, this.#end)
    if (event.valueEnd >= 0) this.#end = event.valueEnd
    this.#values += 1
    this.#characters += source.length
    const tag = tagOf(this.#text, event)
    const scalar = readScalar(source, tag, isPlainScalar(event, tag))
    const node = { value: scalar.value, offset, scalar }
    this.#settle(anchor, node)
    this.#add(node)
  }

  #addAlias({ anchorStart, anchorEnd }: AliasEvent): void {
    const name = this.#text.slice(anchorStart, anchorEnd)
    const anchor = this.#anchors.get(name)
    if (anchor === undefined) throw new YamlError(`yaml: unknown anchor '${name}' referenced`)
    if (anchor.node === undefined) throw new YamlError(`yaml: anchor '${name}' value contains itself`)
    this.#values += 1 + anchor.values
    this.#characters += anchor.characters
    this.#aliasedValues += anchor.values
    if (this.#isExcessive()) throw new YamlError('yaml: document contains excessive aliasing')
    for (const repeat of anchor.repeats) if (this.#repeats.length < repeatsMax) this.#repeats.push(repeat)
    this.#end = anchorEnd
    const { scalar, members, value } = anchor.node
    // An alias of `<<` is not a merge key.
    const read: Scalar | undefined = scalar?.type === 'merge' ? { ...scalar, type: 'text' } : scalar
    this.#add({ value: copyValue(value), offset: anchorStart - 1, scalar: read, members })
  }

  /** Checks the alias ratio of sigs.k8s.io/yaml, and limits that also apply to short texts. */
  #isExcessive(): boolean {
    if (this.#aliasedValues > aliasedValuesMax || this.#characters > this.#text.length + aliasedCharactersMax) return true
    return this.#aliasedValues > aliasedAlways && this.#values > valuesAlways && this.#aliasedValues / this.#values > aliasedShareMax
  }

  #anchorOf({ anchorStart, anchorEnd }: ScalarEvent | MappingEvent | SequenceEvent): Anchor | undefined {
    if (anchorStart < 0) return undefined
    const start = { values: this.#values, characters: this.#characters, repeats: this.#repeats.length }
    const anchor: Anchor = { start, node: undefined, values: 0, characters: 0, repeats: [] }
    this.#anchors.set(this.#text.slice(anchorStart, anchorEnd), anchor)
    return anchor
  }

  #settle(anchor: Anchor | undefined, node: Node): void {
    if (anchor === undefined) return
    anchor.node = node
    anchor.values = this.#values - anchor.start.values
    anchor.characters = this.#characters - anchor.start.characters
    anchor.repeats = this.#repeats.slice(anchor.start.repeats)
  }

  #add(node: Node): void {
    const open = this.#open.at(-1)
    if (open === undefined) {
      this.#check(node.value)
      this.#root = node.value
    } else if (open.kind === 'list') {
      this.#check(node.value)
      this.#place(open, open.value.length, node.offset)
      open.value.push(node.value)
      open.items?.push(node)
    } else if (open.key === undefined) {
      if (node.scalar === undefined) throw new YamlError(`yaml: invalid map key: ${goSyntax(node.value)}`)
      open.key = node.scalar
      open.keyOffset = node.offset
    } else {
      const { key } = open
      open.key = undefined
      if (key.type === 'merge') this.#merge(open, node)
      else this.#set(open, key, node.value, node.offset)
    }
  }

  /** Merges maps in reverse, because the first one takes precedence. */
  #merge(open: OpenMap, node: Node): void {
    const sources = node.items?.toReversed() ?? [node]
    for (const { members } of sources) {
      if (members === undefined) throw new YamlError('yaml: map merge requires map or sequence of maps as the value')
      for (const { key, value, offset } of members) this.#set(open, key, copyValue(value), offset)
    }
  }

  #set(open: OpenMap, key: Scalar, value: unknown, offset: number): void {
    open.members?.push({ key, value, offset })
    if (key.type === 'null') {
      this.#unsupported ??= `unsupported map key of type: %!s(<nil>), key: <nil>, value: ${goSyntax(value)}`
      return
    }
    this.#check(value)
    const name = typeof key.value === 'string' ? key.value : keyText(key)
    if (isRepeated(open, name, key.type) && !open.isMerged) this.#noteRepeat(key, offset)
    this.#place(open, name, open.keyOffset)
    setMember(open.value, name, value)
  }

  #place({ value }: OpenMap | OpenList, at: string | number, offset: number): void {
    if (this.#places === undefined) return
    getOrMake(this.#places, value, () => new Map<string | number, number>()).set(at, offset)
  }

  #noteRepeat(key: Scalar, offset: number): void {
    if (this.#repeats.length < repeatsMax) this.#repeats.push({ key: keySyntax(key), offset })
  }

  #check(value: unknown): void {
    if (typeof value !== 'number' || Number.isFinite(value)) return
    this.#unsupported ??= `json: unsupported value: ${Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'}`
  }
}

/** The limit of sigs.k8s.io/yaml: above the first two numbers, aliased values may be at most this fraction of all values. */
const aliasedAlways = 100
const valuesAlways = 1_000
const aliasedShareMax = 0.99

function isRepeated(open: OpenMap, name: string, type: Scalar['type']): boolean {
  const isThere = Object.hasOwn(open.value, name)
  const known = open.types?.get(name)
  if (known === undefined && type === 'text') return isThere
  const types = known ?? (isThere ? ['text' as const] : [])
  if (types.includes(type)) return true
  open.types ??= new Map()
  open.types.set(name, [...types, type])
  return false
}

/** A key in the format of Go's `%#v`. */
function keySyntax(key: Scalar): string {
  return typeof key.value === 'string' ? goQuote(key.value) : keyText(key)
}

/** A value in the format of Go's `%#v` for an interface. */
function goSyntax(value: unknown, depth = 0): string {
  if (value === null) return depth > 0 ? 'interface {}(nil)' : '<nil>'
  if (typeof value !== 'object') return typeof value === 'string' ? goQuote(value) : String(value)
  if (depth === yamlLimits.keyDepthMax) return '...'
  if (Array.isArray(value)) return `[]interface {}{${value.map((item) => goSyntax(item, depth + 1)).join(', ')}}`
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return `map[interface {}]interface {}{${members.map(([key, inner]) => `${goQuote(key)}:${goSyntax(inner, depth + 1)}`).join(', ')}}`
}
