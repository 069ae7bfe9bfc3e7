import { jsonEqual } from '../json/equal.ts'
import { cannotUnmarshal } from '../json/go-errors.ts'
import { isJsonObject, memberOf, setMember } from '../json/member.ts'
import { printJson, printValue } from '../json/print.ts'
import { badRequest, failed, requestEntityTooLarge, type StatusError } from '../meta/status.ts'

/** Maximum number of operations per patch. */
export const jsonPatchOperationsMax = 10_000
/** Maximum size of the JSON that a patch's `copy` operations may write in total. */
const jsonPatchCopyBytesMax = 3 * 1024 * 1024
/** Maximum number of list items that a patch may shift: a thousand insertions at the front of a list of fifty thousand, about 20 ms. */
const jsonPatchMovedItemsMax = 50_000_000

/** Operations as sent; each is checked when it is applied, so that a malformed one fails like any other. */
export type JsonPatch = readonly Readonly<Record<string, unknown>>[]

export type JsonPatchReading = { kind: 'patch'; patch: JsonPatch } | { kind: 'refused'; error: StatusError }

/** The new document, or an error for the client. */
export type JsonPatchOutcome = { kind: 'patched'; value: unknown } | { kind: 'refused'; error: StatusError }

/** Parses the body of a request as a patch. */
export function parseJsonPatch(body: unknown): JsonPatchReading {
  if (body === null) return { kind: 'patch', patch: [] }
  if (!Array.isArray(body)) return undecodable(body, '[]handlers.jsonPatchOp')
  const stranger: unknown = body.find((operation) => !isJsonObject(operation))
  if (stranger !== undefined) return undecodable(stranger, 'handlers.jsonPatchOp')
  if (body.length > jsonPatchOperationsMax) {
    const message = `Request entity too large: The allowed maximum operations in a JSON patch is ${jsonPatchOperationsMax}, got ${body.length}`
    return { kind: 'refused', error: requestEntityTooLarge(message) }
  }
  return { kind: 'patch', patch: body as JsonPatch }
}

function undecodable(value: unknown, type: string): JsonPatchReading {
  return {
    kind: 'refused',
    error: badRequest(`error decoding patch: ${cannotUnmarshal(value, type)}`),
  }
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

/** The object or list of the last segment of a path does not exist. */
class MissingPath extends Impossible {
  readonly path: Path

  constructor(path: Path) {
    super('the path leads to nothing')
    this.path = path
  }
}

/** The member of an object that the last segment of a path names does not exist. */
class MissingKey extends Impossible {}

/** The item of a list that the last segment of a path names does not exist. */
class MissingIndex extends Impossible {}

type Path = readonly string[]

/** Like `apply`, but names the failing operation, in kube-apiserver's words if the path does not exist. */
function applyOne(draft: Draft, operation: Readonly<Record<string, unknown>>): void {
  try {
    apply(draft, operation)
  } catch (error) {
    if (!(error instanceof Impossible)) throw error
    throw new Impossible(textOf(error, operation), { cause: error })
  }
}

function textOf(error: Impossible, operation: Readonly<Record<string, unknown>>): string {
  const [op = '', path = '', from = ''] = ['op', 'path', 'from'].map((name) => String(memberOf(operation, name)))
  const missing = 'missing value'
  const key = error.message
  if (error instanceof MissingKey) {
    return `error in ${op} for path: '${op === 'move' ? key : path}': Unable to remove nonexistent key: ${key}: ${missing}`
  }
  if (error instanceof MissingIndex) {
    if (op === 'replace') return `replace operation does not apply: doc is missing key: ${path}: ${missing}`
    return `error in ${op} for path: '${path}': Unable to access invalid index: ${key}: invalid index referenced`
  }
  if (!(error instanceof MissingPath)) return `${op} operation does not apply: ${error.message}`
  const isSource = from.startsWith('/') && error.path.join('/') === parsePath(from).join('/')
  const places: Readonly<Record<string, string>> = {
    add: `doc is missing path: "${path}"`,
    remove: `doc is missing path: "${path}"`,
    replace: `doc is missing path: ${path}`,
    test: `is missing path: ${path}`,
  }
  const copied = isSource ? `doc is missing from path: ${from}` : `doc is missing destination path: ${path}`
  return `${op} operation does not apply: ${places[op] ?? copied}: ${missing}`
}

function apply(draft: Draft, operation: Readonly<Record<string, unknown>>): void {
  const path = parsePath(memberOf(operation, 'path'))
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
      draft.move(parsePath(memberOf(operation, 'from')), path)
      break
    case 'copy':
      draft.copy(parsePath(memberOf(operation, 'from')), path)
      break
    case 'test':
      draft.test(path, operandOf(operation))
      break
    default:
      throw new Impossible(`unknown operation ${printValue(memberOf(operation, 'op'))}`)
  }
}

/** The value of an operation; null if absent. */
function operandOf(operation: Readonly<Record<string, unknown>>): unknown {
  return memberOf(operation, 'value') ?? null
}

function parsePath(text: unknown): Path {
  if (text === '') return []
  if (typeof text !== 'string' || !text.startsWith('/')) throw new Impossible('a path must be a text that begins with a slash')
  const segments = text.slice(1).split('/')
  return text.includes('~') ? segments.map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~')) : segments
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

  add(path: Path, value: unknown): void {
    const key = path.at(-1)
    if (key === undefined) {
      this.root = value
      return
    }
    const parent = this.#ownParent(path)
    if (Array.isArray(parent)) {
      const index = key === '-' ? parent.length : toIndex(key, parent.length)
      this.#countMoved(parent.length - index)
      parent.splice(index, 0, value)
    } else setMember(parent, key, value)
  }

  remove(path: Path): void {
    this.#take(path)
  }

  /** As in kube-apiserver, replacing an absent member of an existing object adds it. */
  replace(path: Path, value: unknown): void {
    const key = path.at(-1)
    if (key === undefined) {
      this.root = value
      return
    }
    const parent = this.#ownParent(path)
    if (Array.isArray(parent)) parent[toIndex(key, parent.length - 1)] = value
    else setMember(parent, key, value)
  }

  move(from: Path, path: Path): void {
    if (from.length < path.length && from.every((segment, index) => segment === path[index]))
      throw new Impossible('a value can not move into itself')
    this.add(path, this.#take(from))
  }

  /** As in kube-apiserver, the copy of an absent member is null. */
  copy(from: Path, path: Path): void {
    const value = this.#get(from) ?? null
    this.#copiedBytes += printJson(value, { hasBigIntegers: true }).length
    if (this.#copiedBytes > jsonPatchCopyBytesMax) throw new Impossible('the copies are too large')
    // The copies must not share containers.
    this.add(path, copyOf(value))
  }

  /** As in kube-apiserver, an absent member tests as null. */
  test(path: Path, expected: unknown): void {
    if (!jsonEqual(this.#get(path) ?? null, expected)) throw new Impossible('a test failed')
  }

  /** Undefined for an absent last segment. Any other missing segment is an error. */
  #get(path: Path): unknown {
    let value = this.root
    for (const [depth, key] of path.entries()) {
      if (!isContainer(value)) throw new MissingPath(path)
      if (Array.isArray(value)) value = value[depth < path.length - 1 ? toInnerIndex(path, key, value) : toIndex(key, value.length - 1)]
      else value = memberOf(value, key)
      if (value === undefined && depth < path.length - 1) throw new MissingPath(path)
    }
    return value
  }

  #take(path: Path): unknown {
    const key = path.at(-1)
    if (key === undefined) throw new Impossible('the whole document can not be removed')
    const parent = this.#ownParent(path)
    if (Array.isArray(parent)) {
      const index = toIndex(key, parent.length - 1)
      this.#countMoved(parent.length - index)
      return parent.splice(index, 1)[0]
    }
    if (!Object.hasOwn(parent, key)) throw new MissingKey(key)
    const value = parent[key]
    delete parent[key]
    return value
  }

  #countMoved(items: number): void {
    this.#movedItems += items
    if (this.#movedItems > jsonPatchMovedItemsMax) throw new Impossible('too many items of lists are moved')
  }

  /** The container of the last segment, copied like all containers above it, so that it may be changed. */
  #ownParent(path: Path): Container {
    let parent = this.#owned(this.root, path)
    this.root = parent
    for (const key of path.slice(0, -1)) {
      if (Array.isArray(parent)) {
        const index = toInnerIndex(path, key, parent)
        const child: Container = this.#owned(parent[index], path)
        parent[index] = child
        parent = child
      } else {
        const child: Container = this.#owned(memberOf(parent, key), path)
        setMember(parent, key, child)
        parent = child
      }
    }
    return parent
  }

  #owned(value: unknown, path: Path): Container {
    if (!isContainer(value)) throw new MissingPath(path)
    if (this.#own.has(value)) return value
    const copy = Array.isArray(value) ? [...value] : { ...value }
    this.#own.add(copy)
    return copy
  }
}

/** A deep copy. It uses its own stack, since a value may be deeper than the call stack. */
function copyOf(value: unknown): unknown {
  const pending: Container[] = []
  const own = (member: unknown): unknown => {
    if (!isContainer(member)) return member
    const copy = Array.isArray(member) ? [...member] : { ...member }
    pending.push(copy)
    return copy
  }
  const whole = own(value)
  for (let copy = pending.pop(); copy !== undefined; copy = pending.pop()) {
    if (Array.isArray(copy)) for (const [index, item] of copy.entries()) copy[index] = own(item)
    else for (const key of Object.keys(copy)) setMember(copy, key, own(copy[key]))
  }
  return whole
}

/** An index of a list, from 0 to `last`. */
function toIndex(key: string, last: number): number {
  const index = /^(?:0|[1-9]\d{0,9})$/.test(key) ? Number(key) : -1
  if (index < 0 || index > last) throw new MissingIndex(key)
  return index
}

/** The index of a segment before the last one. */
function toInnerIndex(path: Path, key: string, list: readonly unknown[]): number {
  const index = Number(key)
  if (list[index] === undefined) throw new MissingPath(path)
  return toIndex(key, list.length - 1)
}
