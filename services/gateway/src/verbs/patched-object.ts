import { isJsonObject, printJson } from '@orch/core/json'
import { invalid, type StatusError } from '@orch/core/meta'
import { invalidValue, type MismatchTexts, printAsGoMap } from '@orch/core/schema'
import { limits } from '../limits.ts'
import { type Candidate, type Described, decodeCandidate, sharedOf, unregisteredText } from '../write/candidate.ts'
import type { Live } from '../write/live.ts'
import type { OptionsParts } from '../write/options.ts'
import type { Change } from './change.ts'

type Members = Readonly<Record<string, unknown>>

/** The result of a patch. */
interface Patched {
  readonly change: Change
  readonly value: Record<string, unknown>
  /** The object that was patched, in the type of the result; absent: another type, or a new object. */
  readonly live?: Pick<Live, 'object' | 'isAsDecoded'>
}

/** Decodes the result of a patch as an object of its type. If it is none, the message shows it, as that of kube-apiserver does. */
export function decodePatched(described: Described, { change, value, live }: Patched, { level }: Pick<OptionsParts, 'level'>): Candidate {
  const refuse = (why: MismatchTexts): StatusError => leavesNoObject(change, value, why)
  const source = { ...change.body, known: sharedOf(live) }
  if (change.kind === 'strategic') {
    // The result is not read as a document, which would need a kind and have an order.
    const candidate = decodeCandidate(described, value, source, refuse)
    return { ...candidate, problems: candidate.problems.toSorted() }
  }
  const otherKind = findOtherKind(described, value, level)
  if (otherKind !== undefined) throw refuse({ text: otherKind, textWithoutPath: otherKind })
  return decodeCandidate(described, value, source, refuse)
}

function findOtherKind(expected: Described, { kind, apiVersion }: Members, level: number): string | undefined {
  if (kind === expected.kind && apiVersion === expected.apiVersion) return undefined
  if (kind === undefined || kind === '') return "Object 'Kind' is missing"
  // The decoder reports a value of another type.
  if (typeof kind !== 'string' || (apiVersion !== undefined && typeof apiVersion !== 'string')) return undefined
  return unregisteredText({ kind, apiVersion: apiVersion ?? '' }, level)
}

/** The path of the wrong value is left out where the message shows all of the object, which has the value at its place. */
function leavesNoObject(change: Change, value: Members, { text, textWithoutPath, restoreText }: MismatchTexts): StatusError {
  if (change.kind === 'strategic') {
    const shown = printAsGoMap(change.body.value).slice(0, limits.largeBytesMin)
    return invalid({ group: '', kind: '' }, '', [invalidValue('patch', shown, restoreText ?? textWithoutPath)])
  }
  const printed = printJson(inPatchOrder(value, touchedBy(change)), { hasBigIntegers: true })
  const shown = printed.slice(0, limits.largeBytesMin)
  const error = invalidValue('patch', shown, shown === printed ? textWithoutPath : text)
  return invalid({ group: '', kind: '' }, '', [error])
}

/** The members that a patch names, each with those below it. */
function touchedBy(change: Change): Members {
  if (change.kind !== 'json') return isJsonObject(change.body.value) ? change.body.value : {}
  const touched: Record<string, unknown> = {}
  for (const { path } of change.patch) {
    let at = touched
    const steps = typeof path === 'string' ? path.split('/').slice(1, -1) : []
    for (const step of steps) {
      const below = Object.hasOwn(at, step) && isJsonObject(at[step]) ? at[step] : {}
      at[step] = below
      at = below
    }
  }
  return touched
}

/** Levels of an object that are put in order for a message: no type is as deep, and a value without type may be deeper than the call stack. */
const orderedDepthMax = 100

/** Objects that the patch looks into have their members in alphabetical order, as the patched text of kube-apiserver has. */
function inPatchOrder(value: Members, touched: Members, depth = 0): Members {
  if (depth === orderedDepthMax) return value
  const names = Object.keys(value).sort()
  return Object.fromEntries(
    names.map((name) => {
      const [member, below] = [value[name], Object.hasOwn(touched, name) ? touched[name] : undefined]
      return [name, isJsonObject(member) && isJsonObject(below) ? inPatchOrder(member, below, depth + 1) : member]
    }),
  )
}
