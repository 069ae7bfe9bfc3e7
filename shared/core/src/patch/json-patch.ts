import { cannotUnmarshal, copyValue, goQuote, isJsonObject, jsonEqual, memberOf, printJson, printValue, setMember } from '../json/index.ts'
import { jsonDepthMax } from '../json/scan.ts'
import { badRequest, failed, requestEntityTooLarge, type StatusError } from '../meta/status.ts'

/** Maximum number of operations per patch. */
export const jsonPatchOperationsMax = 10_000
/** Maximum size of the JSON that a patch's `copy` operations may write in total. */
const jsonPatchCopyBytesMax = 3 * 1024 * 1024
/** Bytes for which a value counts at least, since small values take as long to copy: a patch copies about twice the values of a body. */
const copiedValueBytesMin = 20
/** Maximum number of list items that a patch may shift: a thousand insertions at the front of a list of fifty thousand, about 20 ms. */
const jsonPatchMovedItemsMax = 50_000_000

/** Operations as sent; each is checked when it is applied, so that a malformed one fails like any other. */
export type JsonPatch = readonly Readonly<Record<string, unknown>>[]

/** `unknownFields` are paths in the list of operations, such as `[0].comment`. */
export type JsonPatchReading =
  | { kind: 'patch'; patch: JsonPatch; unknownFields: readonly string[] }
  | { kind: 'refused'; error: StatusError }

/** The new document, or an error for the client. */
export type JsonPatchOutcome = { kind: 'patched'; value: unknown } | { kind: 'refused'; error: StatusError }

/** The words of kube-apiserver's two readers: `request` checks the types of fields, `unchecked` does not. */
const words = {
  request: {
    failure: 'error decoding patch: ',
    list: '[]handlers.jsonPatchOp',
    operation: 'handlers.jsonPatchOp',
    fields: ['op', 'path', 'from'],
  },
  unchecked: { failure: '', list: 'jsonpatch.Patch', operation: 'jsonpatch.Operation', fields: [] },
} as const

const operationFields = ['op', 'path', 'from', 'value']

/** Parses JSON as a patch. kube-apiserver reads patches of webhooks, and of requests with `fieldValidation=Ignore`, `unchecked`. */
export function parseJsonPatch(body: unknown, reader: keyof typeof words): JsonPatchReading {
  const { failure, list, operation: type } = words[reader]
  const fields: readonly string[] = words[reader].fields
  const refused = (text: string): JsonPatchReading => ({ kind: 'refused', error: badRequest(`${failure}${text}`) })
  if (body === null) return { kind: 'patch', patch: [], unknownFields: [] }
  if (!Array.isArray(body)) return refused(cannotUnmarshal(body, list))
  const patch: Readonly<Record<string, unknown>>[] = []
  const unknownFields: string[] = []
  for (const [index, given] of (body as readonly unknown[]).entries()) {
    // As in Go, null is an operation without members.
    const operation = given ?? {}
    if (!isJsonObject(operation)) return refused(cannotUnmarshal(operation, type))
    for (const [name, value] of Object.entries(operation)) {
      if (!operationFields.includes(name)) unknownFields.push(`[${index}].${name}`)
      if (fields.includes(name) && typeof (value ?? '') !== 'string')
        return refused(cannotUnmarshal(value, 'string', `jsonPatchOp.${name}`))
    }
    patch.push(operation)
  }
  if (patch.length <= jsonPatchOperationsMax) return { kind: 'patch', patch, unknownFields }
  const message = `Request entity too large: The allowed maximum operations in a JSON patch is ${jsonPatchOperationsMax}, got ${patch.length}`
  return { kind: 'refused', error: requestEntityTooLarge(message) }
}

/** Applies a patch completely or not at all (RFC 6902). The document is not changed. */
export function applyJsonPatch(document: unknown, patch: JsonPatch): JsonPatchOutcome {
  const draft = new Draft(document)
  try {
    for (const operation of patch) applyOne(draft, operation)
  } catch (error) {
    if (!(error instanceof Impossible)) throw error
    return {
      kind: 'refused',
      error: failed(422, 'Invalid', 'the server rejected our request due to an error in our request', { details: {}, cause: error }),
    }
  }
  return { kind: 'patched', value: draft.root }
}

/** An operation cannot be applied. The client of a PATCH sees only that; the log and mutating policies show the message. */
class Impossible extends Error {}

/** A place in a document, as `path` or `from` name it (RFC 6901). */
interface Pointer {
  readonly text: string
  /** Empty for the whole document; undefined for a text without a slash, which leads nowhere. */
  readonly segments: readonly string[] | undefined
}

/** The object or list of the last segment does not exist. */
class MissingParent extends Impossible {
  readonly at: Pointer

  constructor(at: Pointer) {
    super('missing value')
    this.at = at
  }
}

/** The member of an object does not exist. */
class MissingKey extends Impossible {
  readonly key: string

  constructor(key: string) {
    super(`Unable to remove nonexistent key: ${key}: missing value`)
    this.key = key
  }
}

/** The item of a list does not exist. */
class MissingIndex extends Impossible {
  readonly at: Pointer

  constructor(at: Pointer, text: string) {
    super(text)
    this.at = at
  }
}

/** Like `apply`, but names the failing operation, in kube-apiserver's words. */
function applyOne(draft: Draft, operation: Readonly<Record<string, unknown>>): void {
  const op = memberOf(operation, 'op')
  const [path, from] = [pointerOf(memberOf(operation, 'path')), pointerOf(memberOf(operation, 'from'))]
  try {
    if (path === undefined) throw new Impossible('failed to decode path: missing value')
    if (from === undefined && (op === 'move' || op === 'copy')) throw new Impossible('failed to decode from: missing value')
    apply(draft, operation, path, from ?? path)
  } catch (error) {
    if (!(error instanceof Impossible)) throw error
    throw new Impossible(textOf(error, String(op), path?.text ?? '', from), { cause: error })
  }
}

function textOf(error: Impossible, op: string, path: string, from: Pointer | undefined): string {
  if (error instanceof MissingParent) {
    const places: Readonly<Record<string, string>> = {
      add: `doc is missing path: "${path}"`,
      remove: `doc is missing path: "${path}"`,
      replace: `doc is missing path: ${path}`,
      test: `is missing path: ${path}`,
    }
    const moved = error.at === from ? `doc is missing from path: ${from.text}` : `doc is missing destination path: ${path}`
    return `${op} operation does not apply: ${places[op] ?? moved}: ${error.message}`
  }
  if (error instanceof MissingKey) return `error in ${op} for path: '${op === 'move' ? error.key : path}': ${error.message}`
  if (!(error instanceof MissingIndex)) return `${op} operation ${error.message}`
  if (op === 'replace') return `replace operation does not apply: doc is missing key: ${path}: missing value`
  if (op === 'copy')
    return `${error.at === from ? `error in copy for from: '${from.text}'` : 'error while adding value during copy'}: ${error.message}`
  return `error in ${op} for path: '${error.at === from ? from.segments?.at(-1) : path}': ${error.message}`
}

function apply(draft: Draft, operation: Readonly<Record<string, unknown>>, path: Pointer, from: Pointer): void {
  switch (memberOf(operation, 'op')) {
    case 'add':
      draft.add(path, operandOf(operation))
      break
    case 'remove':
      draft.remove(path)
      break
    case 'replace':
      draft.replace(path, operandOf(operation))
      break
    case 'move':
      draft.add(path, draft.remove(from))
      break
    case 'copy':
      draft.copy(from, path)
      break
    case 'test':
      draft.test(path, operandOf(operation))
      break
    default:
      throw new Impossible(`does not apply: unknown operation ${printValue(memberOf(operation, 'op'))}`)
  }
}

/** The value of an operation; null if absent. */
function operandOf(operation: Readonly<Record<string, unknown>>): unknown {
  return memberOf(operation, 'value') ?? null
}

/** As in kube-apiserver, the text before the first slash has no meaning. Undefined for null and other values without a text. */
function pointerOf(text: unknown): Pointer | undefined {
  if (typeof text !== 'string') return undefined
  if (text === '') return { text, segments: [] }
  // A document has no place below more levels than JSON may have.
  const [, ...segments] = text.split('/', jsonDepthMax + 2)
  if (segments.length === 0 || segments.length > jsonDepthMax) return { text, segments: undefined }
  return { text, segments: text.includes('~') ? segments.map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~')) : segments }
}

type Container = unknown[] | Record<string, unknown>

function isContainer(value: unknown): value is Container {
  return Array.isArray(value) || isJsonObject(value)
}

/**
 * A document under change. A container is copied before its first change and then changed in place, so that the
 * input is unchanged and ten thousand operations on a list do not make ten thousand copies.
 */
class Draft {
  root: unknown
  readonly #own = new Set<unknown>()
  #copiedBytes = 0
  #movedItems = 0

  constructor(document: unknown) {
    this.root = document
  }

  add(at: Pointer, value: unknown): void {
    const { parent, key } = this.#ownParent(at)
    if (!Array.isArray(parent)) {
      setMember(parent, key, value)
      return
    }
    const index = key === '-' ? parent.length : indexIn(at, key, parent.length + 1, `value was not a proper array index: '${key}': `)
    this.#countMoved(parent.length - index)
    parent.splice(index, 0, value)
  }

  /** Returns the removed value. */
  remove(at: Pointer): unknown {
    const { parent, key } = this.#ownParent(at)
    if (Array.isArray(parent)) {
      const index = indexIn(at, key, parent.length)
      this.#countMoved(parent.length - index)
      return parent.splice(index, 1)[0]
    }
    if (!Object.hasOwn(parent, key)) throw new MissingKey(key)
    const value = parent[key]
    delete parent[key]
    return value
  }

  /** As in kube-apiserver, replacing an absent member of an existing object adds it. */
  replace(at: Pointer, value: unknown): void {
    if (at.segments?.length === 0) {
      this.root = value
      return
    }
    const { parent, key } = this.#ownParent(at)
    if (Array.isArray(parent)) parent[indexIn(at, key, parent.length)] = value
    else setMember(parent, key, value)
  }

  /** As in kube-apiserver, the copy of an absent member is null. */
  copy(from: Pointer, path: Pointer): void {
    const value = this.#get(from) ?? null
    let bytes = copiedValueBytesMin
    const requireRoom = () => {
      if (this.#copiedBytes + bytes > jsonPatchCopyBytesMax) throw new Impossible('does not apply: the copies are too large')
    }
    // The copies must not share containers.
    const copied = copyValue(value, (count) => {
      bytes += count * copiedValueBytesMin
      requireRoom()
    })
    bytes = Math.max(bytes, printJson(value, { hasBigIntegers: true }).length)
    requireRoom()
    this.#copiedBytes += bytes
    this.add(path, copied)
  }

  /** As in kube-apiserver, an absent member tests as null. */
  test(at: Pointer, expected: unknown): void {
    const value = at.segments?.length === 0 ? this.root : this.#get(at)
    if (!jsonEqual(value ?? null, expected)) throw new Impossible('does not apply: a test failed')
  }

  /** Undefined for an absent member. */
  #get(at: Pointer): unknown {
    const [key, parents] = splitOf(at)
    let parent = this.root
    for (const segment of parents) parent = memberIn(containerAt(parent, at), segment)
    const container = containerAt(parent, at)
    return Array.isArray(container) ? container[indexIn(at, key, container.length)] : memberOf(container, key)
  }

  #countMoved(items: number): void {
    this.#movedItems += items
    if (this.#movedItems > jsonPatchMovedItemsMax) throw new Impossible('does not apply: too many items of lists are moved')
  }

  /** The container of the last segment, copied like all containers above it, so that it may be changed. */
  #ownParent(at: Pointer): { parent: Container; key: string } {
    const [key, parents] = splitOf(at)
    let parent = this.#owned(this.root, at)
    this.root = parent
    for (const segment of parents) {
      const child = this.#owned(memberIn(parent, segment), at)
      if (Array.isArray(parent)) parent[placeOf(segment, parent.length) as number] = child
      else setMember(parent, segment, child)
      parent = child
    }
    return { parent, key }
  }

  #owned(value: unknown, at: Pointer): Container {
    const container = containerAt(value, at)
    if (this.#own.has(container)) return container
    const copy = Array.isArray(container) ? [...container] : { ...container }
    this.#own.add(copy)
    return copy
  }
}

/** The last segment and the segments before it. The whole document has neither. */
function splitOf(at: Pointer): [key: string, parents: readonly string[]] {
  const key = at.segments?.at(-1)
  if (at.segments === undefined || key === undefined) throw new MissingParent(at)
  return [key, at.segments.slice(0, -1)]
}

function containerAt(value: unknown, at: Pointer): Container {
  if (!isContainer(value)) throw new MissingParent(at)
  return value
}

/** Undefined for an absent member or item. */
function memberIn(container: Container, segment: string): unknown {
  if (!Array.isArray(container)) return memberOf(container, segment)
  const place = placeOf(segment, container.length)
  return typeof place === 'number' ? container[place] : undefined
}

/** The index of the last segment in a list with this number of places. `prefix` precedes the error about a segment that is not a number. */
function indexIn(at: Pointer, key: string, places: number, prefix = ''): number {
  const place = placeOf(key, places)
  if (typeof place === 'string') throw new MissingIndex(at, place.startsWith('strconv') ? `${prefix}${place}` : place)
  return place
}

/** The index that a segment names, or the error in Go's words. As in kube-apiserver, a negative index counts from the end. */
function placeOf(key: string, places: number): number | string {
  if (!/^[-+]?\d+$/.test(key)) return `strconv.Atoi: parsing ${goQuote(key)}: invalid syntax`
  const index = Number(key)
  if (!Number.isSafeInteger(index)) return `strconv.Atoi: parsing ${goQuote(key)}: value out of range`
  if (index >= places || index < -places) return `Unable to access invalid index: ${index}: invalid index referenced`
  return index < 0 ? index + places : index
}
