import { isJsonObject, printJson, printLoosely } from '@orch/core/json'
import { invalid, type StatusError } from '@orch/core/meta'
import { invalidValue, type MismatchTexts } from '@orch/core/schema'
import { limits } from '../limits.ts'
import { type Candidate, type Described, decodeCandidate, unregisteredText } from '../write/candidate.ts'
import type { Live } from '../write/live.ts'
import type { OptionsParts } from '../write/options.ts'
import type { Change } from './change.ts'

type Members = Readonly<Record<string, unknown>>

interface Patched {
  readonly change: Change
  readonly value: Record<string, unknown>
  /** The patched object, in the type of the result; undefined for another type, or a new object. */
  readonly live?: Pick<Live, 'object' | 'isAsDecoded'>
}

/** Decodes the result of a patch as an object of its type. For an invalid one, the message shows it, as in kube-apiserver. */
export function decodePatched(described: Described, { change, value, live }: Patched, { level }: Pick<OptionsParts, 'level'>): Candidate {
  const refuse = (why: MismatchTexts): StatusError => leavesNoObject(change, value, why)
  const source = { ...change.body, isPatched: true, replaced: live }
  // The result of a strategic merge is not read as a document, which would need a kind.
  const otherKind = change.kind === 'strategic' ? undefined : findOtherKind(described, value, level)
  if (otherKind !== undefined) throw refuse({ text: otherKind, textWithoutPath: otherKind })
  const candidate = decodeCandidate(described, value, source, refuse)
  return change.kind === 'json' ? { ...candidate, problems: [...change.problems, ...candidate.problems] } : candidate
}

function findOtherKind(expected: Described, { kind, apiVersion }: Members, level: number): string | undefined {
  if (kind === expected.kind && apiVersion === expected.apiVersion) return undefined
  if (kind === undefined || kind === '') return "Object 'Kind' is missing"
  // The decoder reports a value of another type.
  if (typeof kind !== 'string' || (apiVersion !== undefined && typeof apiVersion !== 'string')) return undefined
  return unregisteredText({ kind, apiVersion: apiVersion ?? '' }, level)
}

/** The path of the wrong value is omitted if the message shows the whole object. */
function leavesNoObject(change: Change, value: Members, { text, textWithoutPath, restoreText }: MismatchTexts): StatusError {
  if (change.kind === 'strategic') {
    const shown = printLoosely(change.body.value).slice(0, limits.largeBytesMin)
    return invalid({ group: '', kind: '' }, '', [invalidValue('patch', shown, restoreText ?? textWithoutPath)])
  }
  const printed = printJson(inPatchOrder(value, touchedBy(change)), { hasBigIntegers: true })
  const shown = printed.slice(0, limits.largeBytesMin)
  const error = invalidValue('patch', shown, shown === printed ? textWithoutPath : text)
  return invalid({ group: '', kind: '' }, '', [error])
}

/** The members that a patch reads or changes, recursively. */
function touchedBy(change: Change): Members {
  if (change.kind !== 'json') return isJsonObject(change.body.value) ? change.body.value : {}
  const touched: Record<string, unknown> = {}
  for (const pointer of change.patch.flatMap(({ op, path, from }) => (op === 'move' || op === 'copy' ? [from, path] : [path]))) {
    let at = touched
    const steps = typeof pointer === 'string' ? pointer.split('/').slice(1, -1) : []
    for (const step of steps) {
      const below = Object.hasOwn(at, step) && isJsonObject(at[step]) ? at[step] : {}
      at[step] = below
      at = below
    }
  }
  return touched
}

/** Maximum sorted levels of an object in a message: no type is as deep, and an untyped value may be deeper than the call stack. */
const orderedDepthMax = 100

/** Patched objects have sorted members, as in the text of kube-apiserver. */
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
