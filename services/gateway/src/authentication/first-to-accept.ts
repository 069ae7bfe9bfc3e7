import { type Authentication, none, type Refusal, refused } from './authenticator.ts'

/** An authenticator's answer, without a promise if possible. */
export type Answer = Authentication | Promise<Authentication>

interface Progress {
  readonly index: number
  readonly refusals: readonly Refusal[]
}

const start: Progress = { index: 0, refusals: [] }

/** Calls authenticators in order until one accepts. The reasons of refusals are joined; `none` if all are `none`. */
export function firstToAccept<Named extends { readonly name: string }>(
  authenticators: readonly Named[],
  ask: (authenticator: Named) => Answer,
  { index, refusals }: Progress = start,
): Answer {
  for (; index < authenticators.length; index += 1) {
    const authenticator = authenticators[index]
    if (authenticator === undefined) break
    const answer = askOne(authenticator, ask)
    if (answer instanceof Promise) {
      const next = index + 1
      return answer.then((settled) => {
        if (settled.kind === 'user') return settled
        return firstToAccept(authenticators, ask, { index: next, refusals: withRefusal(refusals, authenticator.name, settled) })
      })
    }
    if (answer.kind === 'user') return answer
    refusals = withRefusal(refusals, authenticator.name, answer)
  }
  if (refusals.length === 0) return none
  return joined(refusals)
}

/** The minimum of their cache times. */
function joined(refusals: readonly Refusal[]): Refusal {
  const details = refusals.flatMap(({ detail = [] }) => detail)
  return {
    kind: 'refused',
    ...(details.length === 0 ? {} : { detail: details.join(', ') }),
    reason: refusals.map(({ reason }) => reason).join('; '),
    dependsOn: refusals.flatMap(({ dependsOn = [] }) => dependsOn),
    validUntilMs: Math.min(...refusals.map(({ validUntilMs = Number.POSITIVE_INFINITY }) => validUntilMs)),
    keptMsMax: Math.min(...refusals.map(({ keptMsMax = Number.POSITIVE_INFINITY }) => keptMsMax)),
  }
}

/** A failed authenticator counts as a refusal, and the others are still called. It may recover at any time, so the refusal is not cached. */
function askOne<Named extends { readonly name: string }>(authenticator: Named, ask: (authenticator: Named) => Answer): Answer {
  try {
    const answer = ask(authenticator)
    return answer instanceof Promise ? answer.catch(failed) : answer
  } catch (error) {
    return failed(error)
  }
}

function failed(error: unknown): Authentication {
  return { ...refused(`failed: ${error instanceof Error ? error.message : String(error)}`), keptMsMax: 0 }
}

function withRefusal(refusals: readonly Refusal[], name: string, answer: Authentication): readonly Refusal[] {
  if (answer.kind !== 'refused') return refusals
  return [...refusals, { ...answer, reason: `${name}: ${answer.reason}` }]
}
