import { type IsGateOn, knownReleases } from '../../feature-gates.ts'
import { namesOf } from '../../names.ts'
import { decoderAt } from '../../schema/decode.ts'
import { applyDefaults, validateObject } from './readers-testing.ts'

/** A body, or a part of one. */
export type Body = Record<string, unknown>

const names = namesOf('orch')

interface Circumstances {
  readonly live?: Body
  readonly part?: 'main' | 'status'
  readonly isGateOn?: IsGateOn
  /** Default: 25. */
  readonly level?: number
}

/** The errors of an object after defaulting, as `field: message`. */
export function problemsOf(type: string, body: Body, { live, part = 'main', ...circumstances }: Circumstances = {}): string[] {
  const { level } = circumstances
  const before = live === undefined ? {} : { live: complete(type, live, level) }
  return validateObject({ type, body, object: complete(type, body, level), part, names, ...before, ...circumstances }).map(
    ({ field, message }) => `${field}: ${message}`,
  )
}

/** A deep copy with the value at a path replaced; undefined removes the field. */
export function withChange(body: Body, path: string, value: unknown): Body {
  const copy = structuredClone(body)
  const steps = path.split('/')
  const last = steps.pop() as string
  let at: Body = copy
  for (const step of steps) at = at[step] as Body
  if (value === undefined) delete at[last]
  else at[last] = value
  return copy
}

function complete(type: string, body: Body, level: number = knownReleases.own): Body {
  const decoded = decoderAt(type, level)(body, { trackUnknown: false })
  if (decoded.kind !== 'decoded') throw new Error(decoded.message)
  const object = structuredClone(decoded.object)
  applyDefaults(type, object, names, { level })
  return object
}
