import { type Authentication, none, type Refusal, refused } from './authenticator.ts'

/** What a way answers: at once where it can. */
export type Answer = Authentication | Promise<Authentication>

interface Progress {
  readonly index: number
  readonly refusals: readonly Refusal[]
}

const start: Progress = { index: 0, refusals: [] }

/** Asks ways in order until one accepts. The reasons of those that refused are joined; if none looked at anything, neither do all. */
export function firstToAccept<Way extends { readonly name: string }>(
  ways: readonly Way[],
  ask: (way: Way) => Answer,
  { index, refusals }: Progress = start,
): Answer {
  for (; index < ways.length; index += 1) {
    const way = ways[index] as Way
    const answer = askOne(way, ask)
    if (answer instanceof Promise) {
      const next = index + 1
      return answer.then((settled) => {
        if (settled.kind === 'user') return settled
        return firstToAccept(ways, ask, { index: next, refusals: withRefusal(refusals, way.name, settled) })
      })
    }
    if (answer.kind === 'user') return answer
    refusals = withRefusal(refusals, way.name, answer)
  }
  if (refusals.length === 0) return none
  return joined(refusals)
}

/** As long as the shortest-lived of them stands. */
function joined(refusals: readonly Refusal[]): Refusal {
  const details = refusals.flatMap(({ detail = [] }) => detail)
  return {
    kind: 'refused',
    ...(details.length === 0 ? {} : { detail: details.join(', ') }),
    reason: refusals.map(({ reason }) => reason).join('; '),
    dependsOn: refusals.flatMap(({ dependsOn = [] }) => dependsOn),
    validUntilMs: Math.min(...refusals.map(({ validUntilMs = Number.POSITIVE_INFINITY }) => validUntilMs)),
  }
}

/** An authenticator that fails has refused; the others are still asked. It may recover at any time, so the refusal is not cached. */
function askOne<Way extends { readonly name: string }>(way: Way, ask: (way: Way) => Answer): Answer {
  try {
    const answer = ask(way)
    return answer instanceof Promise ? answer.catch(failed) : answer
  } catch (error) {
    return failed(error)
  }
}

function failed(error: unknown): Authentication {
  return { ...refused(`failed: ${error instanceof Error ? error.message : String(error)}`), validUntilMs: 0 }
}

function withRefusal(refusals: readonly Refusal[], name: string, answer: Authentication): readonly Refusal[] {
  if (answer.kind !== 'refused') return refusals
  return [...refusals, { ...answer, reason: `${name}: ${answer.reason}` }]
}
